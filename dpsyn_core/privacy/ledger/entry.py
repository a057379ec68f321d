"""One entry of the ledger, what it spends, and whom it protects.

Spend: the whole cost of one run as it is debited on the ledger, before anything is counted.

Entry: one run's debit, as a row of the ledger.

Protected: whom the runs of a ledger protect, and how many steps of one run's promise another unit is away
(docs/proofs/accounting.md, section 8, proves every number of steps).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Neighbours, Unit

if TYPE_CHECKING:
    from dpsyn_core.privacy.composition import Composition

Kind = Literal["gaussian", "pure", "zcdp", "approximate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Spend:
    """What one run may cost.

    amount: mu (gaussian), epsilon (pure), rho (zcdp), or epsilon (approximate: an (epsilon, delta) without other
    structure). delta: of the approximate pair; for the others, failure probabilities that stand beside the noise.
    """

    kind: Kind
    amount: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        """Refuses a spend that is no positive finite number."""
        if not (math.isfinite(self.amount) and self.amount > 0 and 0 <= self.delta < 1):
            msg = f"a spend needs a finite amount above 0 and a delta in [0, 1), got {self.amount} and {self.delta}"
            raise BudgetError(msg)

    @classmethod
    def of(cls, cap: Cost | Budget, *, delta: float = 0.0) -> Spend:
        """The spend of a run whose account has this cap (and this much delta for failures)."""
        if isinstance(cap, Budget):
            return cls(kind="approximate", amount=cap.epsilon, delta=cap.delta)
        if cap.pure:
            return cls(kind="pure", amount=cap.epsilon, delta=delta)
        if cap.mixed:
            return cls(kind="zcdp", amount=cap.rho, delta=delta)
        return cls(kind="gaussian", amount=math.sqrt(2 * cap.rho), delta=delta)


def composition(spend: Spend) -> Composition:
    """One spend as it is composed."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    if spend.kind == "approximate":
        return Composition(pairs=((spend.amount, spend.delta),))
    return Composition(
        mu2=spend.amount**2 if spend.kind == "gaussian" else 0.0,
        pure=(spend.amount,) if spend.kind == "pure" else (),
        rho=spend.amount if spend.kind == "zcdp" else 0.0,
        delta=spend.delta,
    )


UNPROTECTED = "no promise"  # purpose of a run that adds no noise; it bounds nothing for anybody


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One debit. `recorded` is for people; the order is that of `seq`.

    individuals: the public name of the column that names them, "" where each record is one (or any `max_records` of
    them are), None where an earlier version of this program did not write it down. chain: the row's hash, over itself
    and all rows before it.
    """

    seq: int
    dataset: str
    run_id: str
    method: str
    purpose: str
    neighbours: Neighbours
    max_records: int
    kind: Kind
    amount: float
    failure: float
    epsilon: float
    delta: float
    recorded: str
    individuals: str | None = None
    chain: str = ""

    @property
    def spend(self) -> Spend:
        """What was debited."""
        return Spend(kind=self.kind, amount=self.amount, delta=self.failure)


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
        """Steps of the entry's neighbour relation between two neighbours of this (group privacy); None: no bound."""
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
    units = {
        Protected(
            identifier=e.individuals or None,
            records=e.max_records if e.individuals == RECORDS else 1,
            neighbours=neighbours,
        ): None
        for e in runs
    }
    return list(units)


def unbounded(entries: Iterable[Entry], who: Protected) -> tuple[Entry, ...]:
    """The runs that promise `who` nothing."""
    return tuple(e for e in entries if who.steps(e) is None)
