"""Entry: one run's debit, as a row of the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from dpsyn_core.privacy.spend import Kind, Spend
from dpsyn_core.privacy.unit import Neighbours

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
