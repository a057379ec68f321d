"""What every kind of rule says and does. A kind is one class in one file of this folder, and one line in `registry`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, StrictStr

from dpsyn_core.schema.attributes.base import SchemaPart

if TYPE_CHECKING:
    from dpsyn_core.tables import Clause

Group = dict[str, Any]  # `columns.RuleColumn` by name
Name = Annotated[StrictStr, Field(min_length=1)]
Where = Annotated[StrictStr, Field(min_length=1, max_length=10_000)]
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
Change = Mapping[str, Any]  # new plain values, or cells of other records


class Key(str):
    """A text of the catalogue of pages that stands inside another one."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleProposal:
    """New cells for some records, to be accepted where fewer rules are broken after it.

    rows: (m,) places of the records. cells: by column, (m,). block: (m,) numbers, of which records with equal ones
    change together or not at all; None: each by itself.
    """

    rows: Rows
    cells: Group
    block: Rows | None = None


class Narrowing(Protocol):
    """A part of a table that a condition selects: what is left of its columns and of conditions on them."""

    def attribute(self, name: str) -> Any | None:
        """The narrowed column, or None where the condition does not name it."""

    def clause(self, clause: Clause) -> Clause:
        """A condition on listed values by those that are left; perhaps none."""


class RecordRule:
    """What can be asked of a rule that is kept record by record; `group` is the columns of some records."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the rule names, each once."""
        raise NotImplementedError

    @property
    def gives(self) -> tuple[str, tuple[str, ...]] | None:
        """A column and those that it follows from in one way; None: the rule does not say so."""
        return None

    def filled(self, group: Group) -> Group:
        """Columns with what follows, where something does."""
        del group
        return {}

    @property
    def orders(self) -> bool:
        """Whether the rule puts two columns in order."""
        return False

    def broken(self, group: Group) -> Bools:
        """Which records (n,) break the rule."""
        raise NotImplementedError

    def inside_bins(self, rows: Group, rng: Generator, still: Collection[str] = ()) -> Iterator[Group]:
        """Numbers and dates moved inside their bins towards the rule, so that no count of a bin changes.

        Args:
            rows: records that break the rule.
            rng: for values that are drawn.
            still: columns that stay.
        """
        del rows, rng, still
        return iter(())

    def exchanges(self, rules: Sequence[RecordRule], columns: Group, rng: Generator) -> Iterator[RuleProposal]:
        """Proposals of cells that records exchange, so that every column keeps its counts.

        `columns` holds all records, and contains the accepted part of a proposal when the next one is asked for.
        """
        del rules, columns, rng
        return iter(())

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """Changes of single records that break the rule, the mildest first.

        Args:
            rules: all of the group.
            rows: records that break this one.
            keepers: records to take cells from (`givers`).
            rng: for what is drawn.
        """
        del rules, rows, keepers, rng
        return iter(())

    def givers(self, whole: Group) -> Rows:
        """Places of the records from which `moves` may take cells: those that keep the rule."""
        return np.flatnonzero(~self.broken(whole))


class Rule(RecordRule, SchemaPart):
    """What every rule of a schema says and does."""

    if TYPE_CHECKING:
        kind: str

    source: Literal["public", "proposed", "data"] | None = Field(
        default=None,
        description="Where the rule comes from: public; proposed, by names and declared ranges alone, and agreed; or "
        "data, chosen by how many records break it (NOT PRIVATE until a person confirms it); null: not said, which is "
        "public as long as nobody had the breaks of rules counted",
    )

    @property
    def known(self) -> Self:
        """The rule as public knowledge by a person's word; one that was proposed and agreed to is that already."""
        return self if self.source == "proposed" else self.model_copy(update={"source": "public"})

    @property
    def table_wide(self) -> bool:
        """Whether the rule is about all records of a table together, so that it cannot be kept record by record."""
        return False

    @property
    def unique(self) -> bool:
        """Whether the rule lets no two records agree."""
        return False

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns do not fit, or no values agree with the rule."""

    def words(self) -> tuple[str, dict[str, Any]]:
        """The text of the page catalogue that says the rule, and what it is filled with; no text: `str(rule)`."""
        return "", {}

    def per_record(self, group: Group, kept: Bools, rules: Sequence[Rule]) -> RecordRule | None:
        """The rule as it is kept record by record in one table; None where it cannot be.

        Args:
            group: the records of the table.
            kept: which of them to go by, where the table decides what the rule says.
            rules: all of the group.
        """
        del group, kept, rules
        return self

    def zeros(self, table: Any) -> Bools | None:
        """Mask of the cells of a table of codes that no record can have, broadcastable; None: no cell is excluded."""
        del table
        return None

    def computes(self, schema: Any, computed: Collection[str]) -> str | None:
        """The column that the others of the rule give for every record; None: none, or it is to be measured.

        computed: columns that other rules compute.
        """
        del schema, computed
        return None

    @property
    def computed_last(self) -> bool:
        """Whether the rule computes its column after the columns that other rules compute."""
        return False

    def implied(self, schema: Any) -> tuple[str, ...]:
        """Columns that the others of the rule would give: a computed one is coarse, and a divided one too."""
        del schema
        return ()

    def values(self, name: str, group: Group, rng: Generator) -> NDArray[Any]:
        """Values (n,) of the column that `computes` names, which may lie outside its range."""
        raise NotImplementedError

    def computation(self, name: str) -> tuple[tuple[str, ...], str]:
        """The columns of the table from which a column is computed, and a sentence that says so."""
        sources = tuple(n for n in self.columns if n != name)
        return sources, f"'{name}' is not measured: it is computed from {' and '.join(sources)} ({self})"

    @property
    def counts(self) -> bool:
        """Of a link: whether the rule is about the number of children of a parent."""
        return False

    @property
    def movable(self) -> tuple[str, ...]:
        """Of a rule of a link: columns of which a repair must be able to change one of the child's; or none."""
        return self.columns

    def broken_parents(self, children: Any) -> Bools:
        """Of a link: the parents (n_parents,) one of whose children breaks the rule."""
        return np.asarray(children.per_parent(self.broken(children.columns(self.columns))) > 0)

    def within(self, narrowing: Narrowing) -> Iterator[Rule]:
        """The rule among the records that a condition selects; nothing where none of these can break it."""
        del narrowing
        yield self
