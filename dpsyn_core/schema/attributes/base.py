"""What every kind of attribute has: its fields in the schema document, and the verbs that a codec and a page call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictFloat, StrictInt, StrictStr

from dpsyn_core.schema.domain import CodedAttribute
from dpsyn_core.tables import blanks, canonical, to_text, uniques

Number = Annotated[StrictInt, Field(ge=-(10**30), le=10**30)] | Annotated[StrictFloat, Field(ge=-1e300, le=1e300)]
Value = StrictBool | Number | StrictStr
Places = Annotated[
    Annotated[StrictInt, Field(ge=1, le=15)] | None,
    Field(description="Digits after the mark that each cell of a text file has: 2 for 3.50; absent: as needed"),
]
Source = Literal["public", "bought", "data", "bought-unconfirmed"]
EXTRAS = (
    "label",
    "description",
    "group",
    "decimals",
    "step",
    "scale",
    "written",
    "places",
    "formats",
    "special_values",
    "other_word",
    "blank_word",
    "notes",
)  # written only where they are set


FAR = 1e150  # numbers farther out than this have squares beyond all floats
NO_MISSING = "declare missing: true for it, or fill the blank cells"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfit:
    """Which cells of a column its attribute does not describe: private.

    blank, unread, outside, off_rhythm: bool masks (n,). Unread cells are not blank, and are none of the declared
    values. unread_are: what they are, in words. mend: what would describe them.
    """

    blank: NDArray[np.bool_]
    unread: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    off_rhythm: NDArray[np.bool_]
    unread_are: str
    mend: str


class SchemaPart(BaseModel):
    """Frozen, and nothing beside the declared fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=(), populate_by_name=True
    )


class BaseAttribute(SchemaPart):
    """What every column has."""

    coded: ClassVar[bool] = True  # synthesized
    released: ClassVar[bool] = True  # stands in the synthetic table
    listed: ClassVar[bool] = False  # holds values of a public list, and neither numbers nor dates of a range
    dated: ClassVar[bool] = False  # holds dates or times
    names_individuals: ClassVar[bool] = False

    name: StrictStr = Field(min_length=1, description="Header of the column")
    source: Source = Field(
        "public",
        description="Where this knowledge comes from: public, bought with budget, read from the data (NOT PRIVATE), or "
        "bought for a kind and a form that were read from the data (NOT PRIVATE until a person confirms them)",
    )
    label: StrictStr | None = Field(None, description="Short name for figures")
    description: StrictStr | None = Field(None, description="What the column means")
    notes: dict[StrictStr, JsonValue] = Field(default_factory=dict, description="Facts kept from an imported file")

    def __eq__(self, other: object) -> bool:
        """The same declaration. Binnings that one of the two has built and kept are arrays, and are not compared."""
        if not isinstance(other, BaseAttribute) or type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, f) == getattr(other, f) for f in type(self).model_fields)

    __hash__ = SchemaPart.__hash__

    @property
    def origins(self) -> tuple[str, ...]:
        """The attributes that its value follows from; none where it is synthesized or left out."""
        return ()

    def check_origins(self, attributes: Mapping[str, Any]) -> None:
        """Checks it against the other attributes of its schema, by name. Raises ValueError."""

    def describe(self) -> str:
        """Its kind and what is declared of its values, in words, for the person who confirms it."""
        kind: str = self.kind  # type: ignore[attr-defined]
        return f"{kind}: {self.description}" if self.description else kind

    def declared(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """What a codebook says of its values, as fields of `tables.declared.DeclaredColumn`.

        Args:
            attributes: those of the schema, by name.
        """
        del attributes
        return {"kind": self.kind}  # type: ignore[attr-defined]

    def document(self) -> dict[str, Any]:
        """Plain JSON values; optional extras only where they are set."""
        values = self.model_dump(mode="json", by_alias=True)
        out = {"name": values.pop("name"), "kind": values.pop("kind")}
        source = values.pop("source")
        if values.get("bins", ...) is None:  # bins stand among the required fields where they are declared
            del values["bins"]
        extras = {k: v for k in EXTRAS if (v := values.pop(k, None)) not in (None, [], {})}
        return out | values | {"source": source} | extras


class CodedBase(BaseAttribute, ABC):
    """A column that is synthesized."""

    group: StrictStr | None = Field(None, description="Columns of one group are kept together by field groups")
    missing: StrictBool = Field(False, description="Whether blank cells have a cell of their own")
    blank_word: StrictStr | None = Field(
        None,
        min_length=1,
        max_length=60,
        description="What stands in blank cells of the synthetic table where the table has a word for them: k. A.",
    )

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of cells, the special ones included."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of a table that its codes follow from."""
        return (self.name,)

    @property
    def special(self) -> int:
        """Cells without order at the end: other, then missing."""
        return int(self.missing)

    @property
    def in_order(self) -> bool:
        """Whether neighbouring codes are neighbouring values."""
        return True

    @property
    def is_number(self) -> bool:
        """Whether codes are bins of a number or of a date, whose values have distances."""
        return True

    @property
    def plain(self) -> int:
        """Number of cells but for the special ones."""
        return self.size - self.special

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers, or are counted in whole days or seconds."""
        return False

    @property
    def keys(self) -> tuple[str, ...]:
        """The listed values as canonical text; none where values are of a range."""
        return ()

    @property
    def single_values(self) -> tuple[Value, ...]:
        """Values that have a separate cell by declaration: those of a list, or special ones beside a range."""
        return ()

    @property
    def limits(self) -> tuple[float, float] | None:
        """Smallest and largest public number; None where it holds none or they are listed."""
        return None

    @property
    def binning(self) -> Any:
        """The bins of its range; None where values are listed."""
        return None

    @property
    def decimal_comma(self) -> bool:
        """Whether its cells are written with a decimal comma."""
        return False

    @property
    def marks(self) -> dict[bytes, bytes]:
        """What the metadata of a table says of how text files write its numbers; empty: with a point, as it needs."""
        return {}

    @property
    def constant(self) -> bool:
        """Whether a column of a single cell always holds the same value."""
        return True

    def coded_attribute(self) -> CodedAttribute:
        """This column in the engine's domain."""
        return CodedAttribute(
            name=self.name,
            size=self.size,
            ordered=self.in_order,
            special=self.special,
            group=self.group,
            number=self.is_number,
            round=self.round_codes(),
            lengths=self.lengths(),
        )

    def round_codes(self) -> bytes:
        """How round a number each code in order holds; empty where unknown."""
        return b""

    def lengths(self) -> bytes:
        """How long the bin of each code in order is; empty where all are equally long."""
        return b""

    def declared(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Text, for a codebook that has no word for its values."""
        del attributes
        return {"kind": "text", "blank": self.missing}

    @abstractmethod
    def labels(self) -> list[str]:
        """One text a cell, for figures and tables."""

    def middles(self) -> NDArray[np.float64] | None:
        """A number a cell (NaN for special cells), or None when the column holds no numbers."""
        return None

    def numbers(self) -> NDArray[np.float64] | None:
        """The number that each cell stands for, as `middles`; None where they cannot be added up, as of dates."""
        return self.middles()

    @abstractmethod
    def encode(self, *columns: Any, comma: bool = False, strict: bool = False) -> NDArray[np.signedinteger]:
        """Codes (n,) of the pyarrow columns that it reads; -1 where it has no cell for a value.

        Args:
            columns: as `reads` names them.
            comma: whether numbers are written with a decimal comma.
            strict: raise TableError, which names the column and never a cell, in place of -1.
        """

    @abstractmethod
    def decode(
        self, codes: NDArray[Any], rng: Generator, *, scores: NDArray[np.floating] | None = None, listed: bool = False
    ) -> Any:
        """A pyarrow array (n,) of values, drawn inside their cells; the arguments are those of `Codec.decode`."""

    def without_other(self, codes: NDArray[Any], rng: Generator) -> NDArray[Any]:
        """Codes (n,) with released values in place of a cell for other values that no table can show."""
        del rng
        return codes

    @abstractmethod
    def unfit(self, column: Any, *, comma: bool = False) -> Unfit:
        """Which cells of a pyarrow column it does not describe. Reads the data: private."""

    @abstractmethod
    def values_of(self, column: Any, codes: NDArray[Any], *, comma: bool = False) -> NDArray[np.float64]:
        """Exact numbers (n,) of a pyarrow column, NaN where a cell holds none; dates as days or seconds since 1970."""

    def further_cells(self, column: Any) -> dict[str, bool]:
        """Fields that give cells to blank and other cells of a pyarrow column, where it has none for them."""
        if self.missing:
            return {}
        entries, index = uniques(column)
        empty = np.append(blanks(to_text(entries)), True)
        return {"missing": True} if empty[index].any() else {}

    def _tail(self) -> list[str]:
        return ["(missing)"] if self.missing else []


def common_type(values: Iterable[Value]) -> Literal["text", "integer", "float", "boolean"]:
    """Type of a column that holds these values; text when they are mixed."""
    listed = list(values)
    kinds = {type(v) for v in listed}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer" if all(-(2**63) <= v < 2**63 for v in listed) else "float"  # type: ignore[operator]
    return "float" if kinds <= {int, float} else "text"


def array_of(values: Sequence[Any], type_: Literal["text", "integer", "float", "boolean"]) -> Any:
    """A pyarrow array of listed values; None is null."""
    import pyarrow as pa

    kind = {"text": pa.string(), "integer": pa.int64(), "float": pa.float64(), "boolean": pa.bool_()}[type_]
    casts: dict[str, Callable[[Any], Any]] = {"text": canonical, "float": float}
    cast = casts.get(type_, lambda v: v)
    return pa.array([None if v is None else cast(v) for v in values], kind)
