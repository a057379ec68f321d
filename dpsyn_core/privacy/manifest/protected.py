"""Protected: whom the runs of a ledger protect, and how many steps of one run's promise another unit is away.

docs/proofs/accounting.md, section 8, proves every number of steps that is given here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpsyn_core.privacy.ledger.entry import UNPROTECTED
from dpsyn_core.privacy.unit import Neighbours, Unit

if TYPE_CHECKING:
    from dpsyn_core.privacy.ledger.entry import Entry

RECORDS = ""  # what an entry says where no column names individuals


@dataclass(frozen=True, kw_only=True, slots=True)
class Protected:
    """Whom a sum is for: those whom a column names, or (identifier None) any `records` records together.

    theta is no part of a named individual: each run bounds the records of everybody by itself, and its promise is
    for all records of an individual, kept or not.
    """

    identifier: str | None = None
    records: int = 1
    neighbours: Neighbours = "add-remove"

    @classmethod
    def by(cls, unit: Unit) -> Protected:
        """Whom a run of this unit protects."""
        records = unit.max_records if unit.identifier is None else 1
        return cls(identifier=unit.identifier, records=records, neighbours=unit.neighbours)

    @property
    def words(self) -> str:
        """For sentences."""
        if self.identifier is not None:
            return f"individuals named by '{self.identifier}'"
        return "single records" if self.records == 1 else f"any {self.records} records together"

    def steps(self, entry: Entry) -> int | None:
        """How many neighbours of the run's own kind lie between two neighbours of this one; None: no bound."""
        if entry.purpose == UNPROTECTED:
            return None
        if entry.neighbours == "replace" and self.neighbours == "add-remove":
            return None  # the number of individuals is public to such a run
        exchange = 1 if entry.neighbours == self.neighbours else 2  # to remove one and to add one
        if self.identifier is not None:
            return exchange if entry.individuals == self.identifier else None
        if entry.individuals == RECORDS:
            return exchange * -(-self.records // entry.max_records)
        if entry.neighbours == "replace":
            return None  # a record may be all that an individual has
        return 2 * exchange * self.records  # of each record's individual: out, and in again with the others


def protected(entries: Iterable[Entry]) -> list[Protected]:
    """Everybody whom one of these runs protects, each once; for replace as soon as one run is.

    Runs whose unit was not written down stand for single records: they have a bound for those, whatever it was.
    """
    runs = list(entries)
    neighbours: Neighbours = "replace" if any(e.neighbours == "replace" for e in runs) else "add-remove"
    found = {
        Protected(
            identifier=e.individuals or None,
            records=e.max_records if e.individuals == RECORDS else 1,
            neighbours=neighbours,
        ): None
        for e in runs
    }
    return list(found)


def unbounded(entries: Iterable[Entry], who: Protected) -> tuple[Entry, ...]:
    """The runs that promise `who` nothing."""
    return tuple(e for e in entries if who.steps(e) is None)
