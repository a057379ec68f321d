"""The schema document and its explanation in words.

Turns a pydantic complaint about a schema document into one sentence that names the path of the field.

Schema document, version 1: everything that is declared public about a table, as people write and read it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictFloat, StrictInt, StrictStr, ValidationError
from pydantic import model_validator as validator

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.files import RepeatedFieldError, fields_once, unfit_text, write_text
from dpsyn_core.privacy import Charge, HangingTable
from dpsyn_core.schema.attributes.registry import KINDS, Attribute
from dpsyn_core.schema.domain import Domain
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.registry import KINDS as RULES
from dpsyn_core.schema.rules.registry import AnyRule, check_rule

VERSIONS = {1: "dpsyn_core.schema.document:TableSchema", 2: "dpsyn_core.schema.linked:LinkedSchema"}  # of documents
Loaded = TypeVar("Loaded")  # a schema, whatever its version

# names that pydantic puts into a path for a member of a union; they are no fields
TAGS = {*KINDS, *RULES, "CountBins", "EdgeBins", "EveryBins"}
SHOWN = 7  # columns that the text of a schema shows
KNOWN = f"{', '.join(KINDS[:-1])} and {KINDS[-1]}"
PLAIN = {
    "missing": "is required",
    "extra_forbidden": "is no known field; remove it, or check its spelling",
    "union_tag_invalid": f"has an unknown kind; known are {KNOWN}",
    "union_tag_not_found": f"needs a kind; known are {KNOWN}",
    "finite_number": "must be finite",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
}


def describe(error: ValidationError, document: object) -> str:
    """One sentence: the path of the first wrong field, what was got, what is allowed."""
    first = error.errors(include_url=False)[0]
    kind, got = first["type"], first.get("input")
    path, name = _path(first["loc"], document)
    text = _allowed(kind, path, first)
    shown = ""
    if kind not in ("missing", "value_error", "extra_forbidden") and not isinstance(got, dict | list | tuple):
        shown = f" is {repr(got)[:80]} and"
    return (
        f"{path or 'the schema'}{name}{shown} {text}" if kind != "value_error" else f"{path}{name}: {text}".lstrip(": ")
    )


def _path(location: tuple[int | str, ...], document: object) -> tuple[str, str]:
    """The path as attributes[3].bins.count, and the attribute's name in parentheses."""
    path, name, here = "", "", document
    for part in location:
        inside = isinstance(here, dict) and part in here
        if isinstance(part, int):
            path += f"[{part}]"
        elif inside or not (part in TAGS or part.startswith("constrained-") or part in ("int", "float", "str", "bool")):
            path += f".{part:.80}"
        else:
            continue
        here = _step(here, part)
        if isinstance(here, dict) and isinstance(here.get("name"), str) and path.startswith(".attributes["):
            name = f" ('{here['name'][:80]}')"
    return path.removeprefix("."), name


def _step(here: Any, part: int | str) -> Any:
    try:
        return here[part]
    except (LookupError, TypeError):
        return None


def _allowed(kind: str, path: str, first: Any) -> str:
    if path.endswith("bins") and kind.startswith("union_tag"):
        return "must be an object such as {'count': 10}, {'edges': [0, 5, 20]} or, for dates, {'every': 'month'}"
    if kind.startswith("union_tag") and path.startswith("rules"):
        return f"needs a known kind; known are {', '.join(RULES)}"
    if kind == "missing" and path.endswith("bins.count"):
        return "is required; bins are {'count': 10}, {'edges': [0, 5, 20]} or, for dates, {'every': 'month'}"
    if kind in PLAIN:
        return PLAIN[kind]
    if kind in ("bool_type", "int_type", "float_type", "string_type"):
        if ".values[" in path:
            return "must be text, a number, true or false"
        if kind == "bool_type":
            return "must be true or false"
        whole = path.endswith(("max_records", "n_records", "count", "cells"))
        return "must be text" if kind == "string_type" else f"must be a {'whole ' * whole}number"
    text = str(first["msg"]).removeprefix("Value error, ")
    if text.startswith("Input should be"):
        return "must be" + text.removeprefix("Input should be")
    return text[0].lower() + text[1:]


__all__ = ["BoughtCharge", "Schema", "SchemaUnit", "TableSchema"]

Number = StrictInt | StrictFloat
READ = ("data", "bought-unconfirmed")  # sources that stamp a run


class Document(BaseModel):
    """Frozen, and nothing beside the declared fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SchemaUnit(Document):
    """Who is protected: what one neighbour changes."""

    neighbours: Literal["add-remove", "replace"] = Field(
        default="add-remove", description="add-remove: one individual more or less; replace: one individual exchanged"
    )
    identifier: StrictStr | None = Field(
        default=None, description="Column that names the individual of a record; null: each record is one individual"
    )
    max_records: StrictInt = Field(
        default=1, ge=1, le=1_000_000, description="At most so many records an individual (theta)"
    )
    source: Literal["public", "data"] | None = Field(
        default=None,
        description="Where identifier and max_records come from: public, or read from the data (NOT PRIVATE until a "
        "person confirms them); null: not said, as in files of earlier versions (see docs/schema.md)",
    )

    @property
    def usual(self) -> bool:
        """Whether each record is one individual: what holds where nobody has looked at the table."""
        return self.identifier is None and self.max_records == 1


class BoughtCharge(Document):
    """One charge of knowledge that was bought from the data with budget; the manifest carries it on."""

    name: StrictStr
    mechanism: StrictStr
    sensitivity: Annotated[Number, Field(ge=0)]
    scale: Annotated[Number, Field(ge=0)]
    cells: Annotated[StrictInt, Field(ge=1)]
    rho: Annotated[Number, Field(ge=0)] = 0.0
    epsilon: Annotated[Number, Field(ge=0)] = 0.0
    delta: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    unit: SchemaUnit | None = Field(default=None, description="Whom the charge protects; null: the schema's unit")

    def charge(self) -> Charge:
        """The charge as the value that is composed."""
        return Charge(**self.model_dump(exclude={"unit"}))


def load_document(path: str | Path, loads: Callable[[bytes], Loaded]) -> Loaded:
    """Reads a file of a schema; what is wrong names the file. Raises SchemaError."""
    try:
        return loads(Path(path).read_bytes())
    except OSError as error:
        msg = f"the schema file '{path}' cannot be read ({error.strerror}); check the path"
        raise SchemaError(msg) from error
    except DPSynError as error:
        msg = f"{path}: {error}"
        raise SchemaError(msg) from error


class Schema(Document):
    """The public description of a tree of tables, as documents of two versions hold it.

    One table is a tree without links: its document has version 1 (`TableSchema`), that of linked ones version 2
    (`dpsyn_core.schema.linked.LinkedSchema`). `of` and `load` open both. What a schema of linked tables says of its
    columns stands in the schemas of its tables; it has no attributes and no number of records.
    """

    if TYPE_CHECKING:  # fields of both versions, or of one of them
        name: str
        dataset: str | None
        unit: SchemaUnit
        from_data: tuple[str, ...]
        unit_from_data: bool
        n_records: int | None
        attributes: tuple[Any, ...]
        bought: tuple[BoughtCharge, ...]
        notes: Any
        rules: Any
        questions: Any
        tables: Any
        links: Any
        one_file: Any
        version: Any

        def __getitem__(self, name: str) -> Any:
            """An attribute of the one table, or a table of linked ones."""

        def protected_by(self, bought: SchemaUnit | None) -> bool:
            """See `TableSchema.protected_by`."""

    hanging: ClassVar[tuple[HangingTable, ...]] = ()  # on an individual

    @property
    def root(self) -> LinkedTable:
        """The table whose records are individuals, or belong to them."""
        root: LinkedTable = self.tables[0]
        return root

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the tables that a run writes; tables of one file are one."""
        return (self.name,) if self.one_file else tuple(t.name for t in self.tables)

    @property
    def ledger_name(self) -> str:
        """The name under which runs on these tables add up, unless a run names another."""
        return self.name if self.dataset is None else self.dataset

    def booked_as(self, dataset: str) -> Self:
        """The same schema, which keeps this name for the ledger."""
        kept = None if dataset == self.name else dataset
        return self if kept == self.dataset else self.model_copy(update={"dataset": kept})

    @property
    def coded(self) -> tuple[Any, ...]:
        """The attributes that are synthesized: all but derived ones, identifiers and ignored ones."""
        return tuple(a for a in self.attributes if a.coded)

    @property
    def derived(self) -> tuple[Any, ...]:
        """The attributes that are filled in when decoding, since they follow from another one."""
        return tuple(a for a in self.attributes if a.origins)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Columns of a decoded table: the coded and the derived ones, in order."""
        return tuple(a.name for a in self.attributes if a.released)

    def domain(self) -> Domain:
        """The coded attributes and their sizes, in order."""
        return Domain(tuple(a.coded_attribute() for a in self.coded))

    def alone(self, why: str) -> TableSchema:
        """The schema of the one table that it describes. why: there may be no links. Raises SchemaError."""
        if isinstance(self, TableSchema):
            return self
        msg = f"the schema '{self.name}' describes {len(self.tables)} linked tables, and {why}"
        raise SchemaError(msg)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a run with this schema is NOT PRIVATE, one sentence a reason; empty when it is private."""
        raise NotImplementedError

    @property
    def private(self) -> bool:
        """Whether nothing here was read from the data without paying for it, for whom this schema protects."""
        return not self.reasons

    # ---- JSON in and out

    @classmethod
    def of(cls, document: object) -> Self:
        """Builds a schema from a parsed JSON document. Raises SchemaError that names the path of the field."""
        if cls is Schema:
            tree = isinstance(document, Mapping) and document.get("version") == 2 and "attributes" not in document
            module, _, kind = VERSIONS[2 if tree else 1].partition(":")
            opened: Self = getattr(import_module(module), kind).of(document)
            return opened
        if unfit := unfit_text(document):
            msg = f"the schema holds {unfit}"
            raise SchemaError(msg)
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise SchemaError(describe(error, document)) from error

    @classmethod
    def loads(cls, text: str | bytes) -> Self:
        """Reads JSON text. Raises SchemaError."""
        try:
            document = json.loads(text, object_pairs_hook=fields_once)
        except RepeatedFieldError as error:
            msg = f"the schema has the field {error} twice, and only one of them would count; keep one"
            raise SchemaError(msg) from error
        except (ValueError, RecursionError) as error:
            where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            msg = f"the schema is not JSON{where}; write one with 'dpsyn schema draft' or 'dpsyn schema import'"
            raise SchemaError(msg) from error
        return cls.of(document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a schema file. Raises SchemaError."""
        return load_document(path, cls.loads)

    @classmethod
    def given(cls, schema: object) -> Self:
        """A schema from itself, the path of its file or its document as a dictionary. Raises SchemaError."""
        if isinstance(schema, cls):
            return schema
        if isinstance(schema, str | PathLike):
            return cls.load(Path(schema))
        if isinstance(schema, Mapping):
            return cls.of(dict(schema))
        msg = (
            f"the schema is a {type(schema).__name__}; give the path of its file, its document as a dictionary, or "
            "what draft_schema returns"
        )
        raise SchemaError(msg)

    def document(self) -> dict[str, Any]:
        """The schema as plain JSON values."""
        raise NotImplementedError

    def dumps(self) -> str:
        """The schema as JSON text that `loads` reads back to an equal schema."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False) + "\n"

    def dump(self, path: str | Path) -> None:
        """Writes the schema file atomically; for the owner alone while parts were read from the data.

        Raises OutputError.
        """
        write_text(Path(path), self.dumps(), private=bool(self.reasons))


class TableSchema(Schema):
    """The public description of a table: attributes in order, the unit of privacy, and n when it is public."""

    model_config = ConfigDict(title="Schema")

    links: ClassVar[tuple[Any, ...]] = ()  # type: ignore[misc]
    one_file: ClassVar[bool] = False  # type: ignore[misc]

    version: Literal[1] = Field(description="Version of this file format")
    name: StrictStr = Field(min_length=1, max_length=200, description="Name of the table")
    dataset: StrictStr | None = Field(
        None, min_length=1, max_length=200, description="Name of the table on the ledger; null: its name"
    )
    unit: SchemaUnit = Field(SchemaUnit(), description="Who is protected")
    n_records: Annotated[StrictInt, Field(ge=0, le=1 << 62)] | None = Field(
        None, description="Number of records when that is public; null: it is private"
    )
    attributes: tuple[Attribute, ...] = Field(min_length=1, description="Columns, in the order of the output")
    bought: tuple[BoughtCharge, ...] = Field((), description="Charges for what was bought from the data")
    notes: dict[StrictStr, JsonValue] = Field(default_factory=dict, description="Facts kept from an imported file")
    rules: tuple[AnyRule, ...] = Field((), max_length=500, description="What no synthetic record breaks")
    questions: JsonValue = Field(
        None, description="Questions that will be asked (docs/questions.md), as a document or as a list; null: none"
    )

    def __repr__(self) -> str:
        """Ten lines at most: who is protected, the first columns, and what makes it NOT PRIVATE."""
        who = "record" if self.unit.identifier is None else f"'{self.unit.identifier}'"
        lines = [f"Schema('{self.name}'): {len(self.attributes)} columns; one individual is one {who}"]
        shown = self.attributes[: SHOWN if len(self.attributes) > SHOWN else None]
        lines += [f"  {a.name[:40]}: {a.describe()}"[:100] for a in shown]
        if len(self.attributes) > SHOWN:
            lines.append(f"  and {len(self.attributes) - SHOWN} more")
        return "\n".join([*lines, *([f"NOT PRIVATE: {self.reasons[0]}"[:100]] if self.reasons else [])])

    __str__ = __repr__

    @validator(mode="after")
    def _names_differ(self) -> TableSchema:
        names = [a.name for a in self.attributes]
        if len(set(names)) != len(names):
            repeated = next(n for n in names if names.count(n) > 1)
            msg = f"attribute '{repeated}' is declared twice; every attribute needs its own name"
            raise ValueError(msg)
        key = self.unit.identifier
        for a in self.attributes:
            if a.name == key and not a.names_individuals:
                msg = f"'{key}' names individuals (unit.identifier) but is declared {a.kind}; declare it identifier"
                raise ValueError(msg)
        by_name = {a.name: a for a in self.attributes}
        for a in self.attributes:
            a.check_origins(by_name)
        if not self.coded:
            msg = "no attribute is left to synthesize; declare at least one categorical, numeric or datetime attribute"
            raise ValueError(msg)
        attributes = {a.name: a for a in self.coded}
        for number, rule in enumerate(self.rules, 1):
            check_rule(number, rule, attributes)
        return self

    @property  # type: ignore[misc]
    def tables(self) -> tuple[LinkedTable, ...]:
        """The one table."""
        return (LinkedTable.model_construct(name=self.name, key=self.unit.identifier, columns=self),)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The name of the one table."""
        return (self.name,)

    @property  # type: ignore[misc]
    def from_data(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of attributes of which something was read from the data: a run with any of them is NOT PRIVATE.

        Columns that are left out count too: that they have too many values, or none, was seen in the data.
        """
        return tuple(a.name for a in self.attributes if a.source in READ)

    @property  # type: ignore[misc]
    def unit_from_data(self) -> bool:  # type: ignore[override]
        """Whether the identifier or max_records was read from the data: a run is NOT PRIVATE then.

        Where the document does not say, it is taken to be so in a draft that nobody has finished confirming, for who
        drafted the columns by looking may have chosen the unit in the same way. In a document whose columns are public
        or bought, it is what the person who wrote or confirmed it declares.
        """
        if self.unit.source is None:
            return bool(self.from_data) and not self.unit.usual
        return self.unit.source == "data"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a run with this schema is NOT PRIVATE, one sentence a reason; empty when it is private."""
        out = []
        if self.unit_from_data:
            read = "the unit of privacy (identifier, max_records) was read from the data"
            out.append("nobody has said who is one individual" if self.unit.usual else read)
        for a in self.attributes:
            if a.source in READ:
                what = "schema" if a.source == "data" else "kind or the form"
                out.append(f"the {what} of attribute '{a.name}' was read from the data")
            elif a.source == "bought" and not self.bought:
                out.append(f"the schema of attribute '{a.name}' is said to be bought, and no charge for it is listed")
        used = any(a.source.startswith("bought") for a in self.attributes)
        if used and not all(self.protected_by(b.unit) for b in self.bought):
            out.append("parts of the schema were bought for another unit of privacy than this run protects")
        if used and any(b.unit is not None and b.unit.source == "data" for b in self.bought):
            out.append("parts of the schema were bought for a unit of privacy that was read from the data")
        return (*out, *rules_from_data(self.rules))

    def protected_by(self, bought: SchemaUnit | None) -> bool:
        """Whether a charge under that unit promises as much to whom this schema protects (theta: of the charge)."""
        mine = self.unit
        if bought is None:
            return True
        if (bought.neighbours, bought.identifier) != (mine.neighbours, mine.identifier):
            return False
        return mine.identifier is not None or bought.max_records >= mine.max_records

    def __getitem__(self, name: str) -> Any:
        """The attribute of this name. Raises SchemaError when there is none."""
        for a in self.attributes:
            if a.name == name:
                return a
        msg = f"the schema has no attribute '{name}'; it has {', '.join(a.name for a in self.attributes)}"
        raise SchemaError(msg)

    def document(self) -> dict[str, Any]:
        """The schema as plain JSON values; optional extras appear only where they are set."""
        out = self.model_dump(mode="json")
        for key in ("dataset", "bought", "notes", "rules", "questions"):
            if not out[key]:
                del out[key]
        for rule in out.get("rules", ()):
            for key in ("measured", "on", "source"):
                if key in rule and not rule[key]:
                    del rule[key]
        for unit in (out["unit"], *(b["unit"] for b in out.get("bought", ()) if b["unit"] is not None)):
            if unit["source"] is None:  # a document of an earlier version keeps its text, and so its digest
                del unit["source"]
        for charge in out.get("bought", ()):
            if charge["unit"] is None:
                del charge["unit"]
        out["attributes"] = [a.document() for a in self.attributes]
        return out


class LinkedTable(Document):
    """One table: its key and the schema of its columns, a document of version 1."""

    name: StrictStr = Field(min_length=1, max_length=200, description="Name of the table")
    key: StrictStr | None = Field(None, min_length=1, description="Column that names a record; null: none does")
    columns: TableSchema | None = Field(None, alias="schema", description="Schema of version 1; null: only keys")

    @property
    def coded(self) -> tuple[Any, ...]:
        """The attributes that are synthesized."""
        return () if self.columns is None else self.columns.coded

    def position(self, column: str) -> int:
        """Place of a coded attribute among them. Raises ValueError."""
        names = [a.name for a in self.coded]
        if column not in names:
            msg = f"table '{self.name}' has no column '{column}' that is synthesized; it has {', '.join(names) or '-'}"
            raise ValueError(msg)
        return names.index(column)


def rules_from_data(rules: Iterable[Rule]) -> list[str]:
    """Why rules undo the promise: they were chosen by how many records break them."""
    return [
        f"the rule '{str(r)[:200]}' was chosen after rules were tried on the data" for r in rules if r.source == "data"
    ]


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the document, as exported to docs/schema.v1.json."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TableSchema.model_json_schema()}


def export(path: str | Path) -> None:
    """Writes the JSON Schema to a file."""
    write_text(Path(path), json.dumps(json_schema(), indent=2) + "\n")
