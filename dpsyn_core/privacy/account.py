"""Account: what one run has spent of its cap; the gate debits it before anything is counted."""

from __future__ import annotations

import math

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.cost import Cost

# Shares of a split add up to the whole only to rounding; a budget's costs hold back at least twice this share.
TOLERANCE = 1e-13


class Account:
    """Charges of one run.

    cap: what was reserved on the ledger for the run. A Cost is kept in its own currency: pure epsilon; rho of
    Gaussian noise, which admits nothing else; or mixed rho, which admits every mechanism that has one. A Budget is
    kept by composing all charges exactly at every debit (needed for sampled Gaussian noise, which has no rho).
    delta: how much the failure probabilities of the charges may add up to, beside a Cost.
    """

    def __init__(self, cap: Cost | Budget, *, delta: float = 0.0) -> None:
        """Starts with nothing spent."""
        self.cap = cap
        self.delta = delta
        self.charges: list[Charge] = []

    @property
    def spent(self) -> float:
        """Spent so far, in the currency of the cap (composed epsilon when the cap is a Budget)."""
        return self._total(self.charges)

    @property
    def limit(self) -> float:
        """The cap as a number in the same currency."""
        return self.cap.epsilon if isinstance(self.cap, Budget) or self.cap.pure else self.cap.rho

    def debit(self, charge: Charge) -> None:
        """Books a charge, or raises BudgetError when it is above the cap or not covered by its currency."""
        self._check_currency(charge)
        booked = [*self.charges, charge]
        over = math.fsum(c.delta for c in booked) > (self.delta if isinstance(self.cap, Cost) else self.cap.delta)
        if over or not self._fits(booked):
            msg = f"'{charge.name}' would overdraw the budget of this run; nothing was counted for it"
            raise BudgetError(msg)
        self.charges.append(charge)

    def _check_currency(self, charge: Charge) -> None:
        if isinstance(self.cap, Budget):
            return
        if not (charge.epsilon if self.cap.pure else charge.rho) > 0:
            msg = f"'{charge.name}' has no cost in the currency of this run"
            raise BudgetError(msg)
        # partition selection may threshold Gaussian noise: then it has a rho, a delta and no epsilon
        gaussian = charge.mechanism in {"gaussian", "partition-selection"} and charge.epsilon == 0
        if not self.cap.pure and not self.cap.mixed and not gaussian:
            kind = charge.mechanism
            msg = f"'{charge.name}' is of the kind {kind}, which a Gaussian cost does not cover; use Budget.zcdp()"
            raise BudgetError(msg)

    def _fits(self, charges: list[Charge]) -> bool:
        if isinstance(self.cap, Budget):
            from dpsyn_core.privacy.accountant import compose  # scipy is heavy

            return compose(charges).within(self.cap.epsilon, self.cap.delta)
        return self._total(charges) <= self.limit * (1 + TOLERANCE)

    def _total(self, charges: list[Charge]) -> float:
        if isinstance(self.cap, Budget):
            from dpsyn_core.privacy.accountant import compose  # scipy is heavy

            return compose(charges).epsilon(self.cap.delta)
        return math.fsum(c.epsilon if self.cap.pure else c.rho for c in charges)
