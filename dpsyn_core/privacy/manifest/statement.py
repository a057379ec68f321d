"""Statement: the fields of a manifest as people and programs read them, and its promise in words."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge, is_table
from dpsyn_core.privacy.charge_record import MOST, WHOLE, ChargeRecord
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.unit import Neighbours, Unit

NOT_PRIVATE = "NOT PRIVATE"
MOST_LISTED = 500  # charges up to which a manifest lists each by itself: some 200 KB
EXACT_BITS = 53  # of whole numbers that every reader of JSON keeps (RFC 7493, section 2.2)
OWNERS_WORD: Literal["owner's word"] = "owner's word"


class TableDigests(BaseModel):
    """SHA-256, as hex, of one table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: str | None = Field(default=None, description="Of the table's content, the same in CSV, TSV and Parquet")
    excel: str | None = Field(default=None, description="Of the content as an Excel file keeps it")
    files: dict[str, str] = Field(default_factory=dict, description="Of the bytes of a file, by its ending")


class PartDigests(BaseModel):
    """SHA-256, as hex, of one file of a table that was written as a folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="Of the file in the folder; the parts follow each other in this order")
    n_records: int = Field(ge=0, le=WHOLE)
    content: str = Field(description="Of the part's content, as of a table of its own")
    file: str = Field(description="Of the bytes of the file")


class Digests(TableDigests):
    """SHA-256, as hex, of what was written beside a manifest. That of the schema is the statement's schema_hash."""

    tables: tuple[TableDigests, ...] = Field(
        default=(), description="Of every table, where one release was written as several; the first stands above too"
    )
    parts: tuple[PartDigests, ...] = Field(
        default=(), description="Of every file, where the table was written as a folder; then `content` is null"
    )
    measurements: str | None = Field(default=None, description="Of the bytes of the file of released marginals")
    model: str | None = Field(default=None, description="Of the bytes of a saved model")


class Signature(BaseModel):
    """An owner's signature over the manifest without this field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    algorithm: Literal["ed25519"] = "ed25519"
    key: str = Field(pattern=r"^[0-9a-f]{64}$", description="The public key, hex")
    value: str = Field(pattern=r"^[0-9a-f]{128}$", description="The signature, hex")


class AskedQuestions(BaseModel):
    """The questions that were declared for a run. Public: nothing in them comes from the data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str = Field(
        pattern=r"^[0-9a-f]{64}$", description="Of the document as JSON with sorted keys, without spaces"
    )
    share: float = Field(ge=0, le=1, description="Of what pairs of columns would get, spent on what questions need")
    document: dict[str, Any] = Field(description="The questions, as questions.json of version 1")

    def digest(self) -> str:
        """SHA-256, as hex, of the document as JSON with sorted keys, without spaces, in UTF-8."""
        text = json.dumps(self.document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class UsedTable(BaseModel):
    """A table that the owner vouches is public, from which the run learnt or by which its settings were chosen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="Of the file")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="Of the bytes of the file")
    n_records: int = Field(ge=1, le=WHOLE, description="Of its records that the schema describes")
    columns: tuple[str, ...] = Field(min_length=1, description="That it shares with the schema")
    vouched: Literal["owner's word"] = Field(default="owner's word", description="Who says that it is public")
    candidates: tuple[str, ...] = Field(
        default=(), description="Of a choice by runs on it; empty: the run learnt from it"
    )


Vouched = Literal["owner's word", "proposed and agreed", "bought", "not said", "nobody"]


class StatedRule(BaseModel):
    """A rule that every synthetic record keeps. Public: declared in the schema, or a value that the run released."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: str | None = Field(default=None, description="Of linked tables: the table, or the child; null: one table")
    rule: str = Field(min_length=1, description="In words, as in reports")
    vouched: Vouched = Field(
        description="Who says that it is public: the owner; the draft, from names alone, and a person agreed; bought: "
        "the run released it and charged for it; not said: the schema does not tell; nobody: chosen by looking"
    )


class HangingTable(BaseModel):
    """A table whose records hang on the individual, of linked tables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: str = Field(description="Name of the table")
    max_children: int = Field(ge=1, description="Records of one individual that were counted, at most")


class Booking(NamedTuple):
    """Where a run stands on the ledger; chain: hash of its row, which covers all rows before it."""

    dataset: str
    run_id: str
    chain: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicFacts:
    """Where everything that a run takes for public comes from, as its manifest states it; `runs.open.public_facts`.

    No field has a default: whoever opens a way to the data and forgets one of them does not get past the type checker.

    name, digest: of the schema or the list of items. reasons: why the run is NOT PRIVATE; empty when it is. bought: by
    earlier charges. query_vouched: that the query behind the records reads each record by itself is the owner's word.
    rules: of the schema, with who vouches for each.
    """

    name: str
    digest: str
    reasons: tuple[str, ...]
    bought: tuple[Charge, ...]
    query_vouched: bool
    hanging: tuple[HangingTable, ...]
    public_table: UsedTable | None
    rules: tuple[StatedRule, ...]


class Refit(BaseModel):
    """How a table was synthesized again from what a run had released, at no privacy cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    release: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the file that it was made from")
    by: str | None = Field(
        default=None, min_length=1, description="Who published the tables and promises something; null: the run"
    )
    method: str = Field(description="The system that made the records, of what `method` measured")
    settings: dict[str, Any] = Field(default_factory=dict, description="Of that system")
    where: str | None = Field(default=None, description="The condition that every record meets; null: none")
    columns: tuple[str, ...] | None = Field(default=None, description="The columns that were kept; null: all")
    rules: tuple[dict[str, Any], ...] = Field(default=(), description="Rules that the schema of the run did not have")


class Statement(BaseModel):
    """The fields of a manifest.

    In a long document, equal charges are one entry (`privacy.ledger.grouping`); `charges` and `bought` here hold each
    by itself. Version 3 is what is written, and its signature is over canonical JSON (RFC 8785). Versions 1, without
    groups, and 2, with them, are read for good; their signatures are over sorted JSON as Python writes it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1, 2, 3] = Field(
        default=1, description="1: no charges are grouped; 2: they are; 3: they are where there are many"
    )
    private: bool = Field(description="False: something was learnt from the data without paying; see the reasons")
    not_private_because: tuple[str, ...] = ()
    guarantee: str = Field(description="What is promised, in one sentence")
    epsilon: float = Field(gt=0, le=MOST)
    delta: float = Field(ge=0, lt=1)
    mu: float | None = Field(default=None, description="Exact Gaussian cost of all charges; null for mixed runs")
    rho: float | None = Field(default=None, description="zCDP cost of all charges; null where there is none")
    neighbours: Neighbours
    max_records: int = Field(ge=1)
    identifier: str | None = Field(default=None, description="Column that names individuals; null: each record is one")
    hanging: tuple[HangingTable, ...] = Field(
        default=(), description="Of linked tables: what hangs on the individual and is protected with it"
    )
    dataset: str = Field(description="Name under which the run stands on the ledger")
    run_id: str = Field(description="Entry of the ledger that paid for this run")
    ledger_chain: str | None = Field(
        default=None, description="Hash of that entry: it covers every row of the ledger before it"
    )
    schema_name: str
    schema_hash: str
    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    questions: AskedQuestions | None = Field(
        default=None, description="The questions that were declared for the run; null: none"
    )
    query: Literal["owner's word"] | None = Field(
        default=None,
        description="Who says that the query behind the records reads each one by itself; null: checked, or no query",
    )
    public_table: UsedTable | None = Field(default=None, description="A public table that the run used")
    rules: tuple[StatedRule, ...] | None = Field(
        default=None,
        description="What every record keeps, and who vouches for it; null: not known, of an early version",
    )
    n_records: int = Field(ge=0, le=WHOLE, description="Records of the synthetic table; a public number")
    columns: tuple[str, ...] = Field(default=(), description="Which groups of charges name by their places, from 0")
    charges: tuple[ChargeRecord, ...] = ()
    bought: tuple[ChargeRecord, ...] = Field(default=(), description="Earlier charges that bought parts of the schema")
    refit: Refit | None = Field(
        default=None, description="How the table was made again from the release of the run; null: by the run itself"
    )
    seed: int | None = Field(default=None, description="Seed of post-processing; noise has none")
    versions: dict[str, str] = Field(default_factory=dict)
    digests: Digests | None = Field(default=None, description="What was written with this manifest; null: not known")
    signature: Signature | None = Field(default=None, description="The owner's; null: unsigned")
    seconds: float = Field(ge=0, description="Wall time of what follows the last count, in tenths")

    def noise_of_records(self, table: str = "") -> float:
        """Standard deviation of the number of records as estimated from all released tables; infinite without one.

        table: the root of linked tables; only tables of its columns count.
        """
        tables = [c for c in self.charges if is_table(c.kind) and c.mechanism in {"gaussian", "geometric"}]
        if table:
            tables = [c for c in tables if c.name.startswith(f"marginal {table}.")]
        sums = [c.cells * (c.sigma or math.sqrt(2) * (c.scale or 0.0)) ** 2 for c in tables]
        return 1 / math.sqrt(precision) if (precision := sum(1 / v for v in sums if v)) else math.inf

    @property
    def nearly_empty(self) -> bool:
        """Whether the number of records is within four deviations of noise: what was counted may be next to nothing."""
        return self.n_records < 4 * self.noise_of_records() < math.inf

    @model_validator(mode="before")
    @classmethod
    def _list(cls, document: Any) -> Any:
        """Every charge by itself, of a document that groups them."""
        if not isinstance(document, dict) or document.get("version") not in (2, 3):
            return document
        columns = document.get("columns", ())
        if not isinstance(columns, list | tuple) or not all(isinstance(c, str) for c in columns):
            msg = "columns must be a list of names"
            raise ValueError(msg)
        lists = {k: document[k] for k in ("charges", "bought") if isinstance(document.get(k), list | tuple)}
        if not any(isinstance(e, dict) and "count" in e for entries in lists.values() for e in entries):
            return document | {k: list(v) for k, v in lists.items()}
        from dpsyn_core.privacy.ledger.grouping import listed_entries

        return document | {k: listed_entries(v, columns) for k, v in lists.items()}

    @model_serializer(mode="wrap")
    def _group(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As a document: equal charges of a long one grouped, and without what most runs do not have."""
        grouped = self._grouped
        document: dict[str, Any] = dump(self.model_copy(update={"charges": (), "bought": ()}) if grouped else self)
        if self.refit is None:
            document.pop("refit", None)
        if self.public_table is None:
            document.pop("public_table", None)
        elif not self.public_table.candidates:
            document["public_table"].pop("candidates")
        if self.rules is None:
            document.pop("rules", None)
        for rule in document.get("rules", ()):
            if rule["table"] is None:
                del rule["table"]
        if self.version == 3 and self.seed is not None and self.seed.bit_length() > EXACT_BITS:
            document["seed"] = str(self.seed)
        if not self.hanging:
            document.pop("hanging", None)
        if not grouped:
            document.pop("columns", None)
            return document
        from dpsyn_core.privacy.ledger.grouping import grouped_entries

        groups = {k: grouped_entries(getattr(self, k), self.columns) for k in ("charges", "bought")}
        return document | {k: v for k, v in groups.items() if k in document}

    @property
    def _grouped(self) -> bool:
        """Whether equal charges are one entry of the document."""
        many = len(self.charges) + len(self.bought) > MOST_LISTED
        return self.version == 2 or (self.version == 3 and many)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.columns and not self._grouped:
            msg = f"columns belong to documents in which charges are grouped, of more than {MOST_LISTED} charges"
            raise ValueError(msg)
        if self.private == bool(self.not_private_because):
            msg = "private and not_private_because disagree: a release is private when no reason speaks against it"
            raise ValueError(msg)
        return self

    def faults(self) -> tuple[str, ...]:
        """What does not add up: every number that follows from the charges is computed anew from them."""
        out = [f"the charge '{c.name}' states a cost that its noise does not have" for c in self.charges if c.wrong]
        whole = compose(r.charge() for r in self.charges)
        if not whole.within(self.epsilon, self.delta):
            out.append(
                f"its charges cost epsilon {whole.epsilon(self.delta):.6g} at delta {self.delta:g}, and it states "
                f"{self.epsilon:g}"
            )
        if self.questions is not None and self.questions.sha256 != self.questions.digest():
            out.append("its questions are not those of its hash")
        if not (_near(self.mu, whole.mu) and _near(self.rho, whole.zcdp)):
            out.append("its mu and rho are not those of its charges")
        return tuple(out)

    def promise_faults(self) -> tuple[str, ...]:
        """What the promise says against the numbers beside it; nobody signs such a manifest."""
        budget = Budget(epsilon=self.epsilon, delta=self.delta)
        out = []
        by = None if self.refit is None else self.refit.by
        promised = guarantee(
            budget, Unit.of(self), private=self.private, noisy=bool(self.charges), hanging=self.hanging, by=by
        )
        if self.guarantee != promised:
            out.append("the manifest's sentence of the guarantee is not what its numbers say")
        if self.private and not self.charges:
            out.append("the manifest states a guarantee, and no charge at all: nothing in the table was paid for")
        return tuple(out)

    def recomputed_epsilon(self, *, with_bought: bool = False) -> float:
        """Epsilon at this manifest's delta, composed anew from the sensitivities and scales of its charges.

        Args:
            with_bought: also counts what was paid earlier for parts of the schema.
        """
        records = (*self.charges, *self.bought) if with_bought else self.charges
        return compose(r.charge() for r in records).epsilon(self.delta)

    def second_epsilon(self) -> float | None:
        """A coarser bound by Renyi divergences, which share next to nothing with `recomputed_epsilon`.

        None where no samples took part: a second computation of all else would say the same.
        """
        if not any(c.mechanism == "sampled-gaussian" for c in self.charges):
            return None
        from dpsyn_core.privacy.renyi import renyi_epsilon  # heavy: only where there are samples

        return renyi_epsilon((c.charge() for c in self.charges), self.delta)


def _near(stated: float | None, found: float | None) -> bool:
    if stated is None or found is None:
        return stated is found
    return math.isclose(stated, found, rel_tol=1e-6, abs_tol=1e-300)


def guarantee(
    budget: Budget,
    unit: Unit,
    *,
    private: bool = True,
    noisy: bool = True,
    hanging: Sequence[HangingTable] = (),
    by: str | None = None,
) -> str:
    """What is promised, in one sentence.

    Args:
        budget: of the run.
        unit: whom it protects.
        private: whether the promise holds, as far as the run knows.
        noisy: some noise was added, whatever it is worth.
        hanging: tables that hang on the individual.
        by: who published the tables, where no run of ours did.
    """
    if by is not None:
        stated = f"epsilon {budget.epsilon:g}, delta {budget.delta:g} for {individual(unit)}"
        return f"{NOT_PRIVATE} by any proof here: the tables are those of {by}, whose own statement is {stated}."
    if not private and not noisy:
        return f"{NOT_PRIVATE}: no noise was added, and nothing is promised to anybody."
    delta = f", delta {budget.delta:g}" if budget.delta else " (pure)"
    change = "more or less" if unit.neighbours == "add-remove" else "exchanged for another"
    text = f"epsilon {budget.epsilon:g}{delta}: differential privacy for {individual(unit, hanging)} {change}"
    if private:
        return text[0].upper() + text[1:] + "."
    return f"{NOT_PRIVATE}: the noise alone would give {text}, but the reasons listed undo it."


def individual(unit: Unit, hanging: Sequence[HangingTable] = ()) -> str:
    """One individual, in words: who is meant, and how many records they hold."""
    if hanging:
        most = ", ".join(f"at most {h.max_children} of '{h.table}'" for h in hanging)
        return f"one individual (named by '{unit.identifier}', with all that hangs on it, of which {most} are counted)"
    if unit.identifier is not None:
        records = "one record is" if unit.max_records == 1 else f"at most {unit.max_records} records are"
        return f"one individual (named by '{unit.identifier}', of whom {records} counted)"
    if unit.max_records == 1:
        return "one record (each is an individual)"
    return f"one individual (who is said to hold at most {unit.max_records} records)"
