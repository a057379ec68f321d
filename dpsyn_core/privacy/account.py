"""Account: what one run has spent of its cap; the gate debits it before anything is counted."""

from __future__ import annotations

import math

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.cost import Cost


class Account:
    """Charges of one run. `cap` is the cost that was reserved on the ledger for the run."""

    def __init__(self, cap: Cost) -> None:
        """Starts with nothing spent."""
        self.cap = cap
        self.charges: list[Charge] = []

    @property
    def spent(self) -> float:
        """Spent so far, in the currency of the cap."""
        return math.fsum(c.epsilon if self.cap.pure else c.rho for c in self.charges)

    def debit(self, charge: Charge) -> None:
        """Books a charge, or raises BudgetError when it is above the cap."""
        cap = self.cap.epsilon if self.cap.pure else self.cap.rho
        amount = charge.epsilon if self.cap.pure else charge.rho
        if not amount > 0:
            msg = f"'{charge.name}' has no cost in the currency of this run"
            raise BudgetError(msg)
        if self.spent + amount > cap * (1 + 1e-9):
            msg = f"'{charge.name}' would overdraw the budget of this run; nothing was counted for it"
            raise BudgetError(msg)
        self.charges.append(charge)
