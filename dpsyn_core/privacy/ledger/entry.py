"""One entry of the ledger and what it spends.

Spend: the whole cost of one run as it is debited on the ledger, before anything is counted.

Entry: one run's debit, as a row of the ledger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Neighbours

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
