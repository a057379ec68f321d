"""Account: the charges of one run and the most they may add up to; the gate debits it before it counts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.charge import Charge

if TYPE_CHECKING:
    from dpsyn_core.privacy.composition import Composition

# Shares of a split add up to the whole only to rounding; a budget's costs hold back at least twice this share.
TOLERANCE = 1e-13
_GAUSSIAN = {"gaussian", "sampled-gaussian", "partition-selection"}


class Account:
    """Charges of one run.

    cap: what was reserved on the ledger for the run. A Cost has the currency of its mechanism: pure epsilon; rho of
    Gaussian noise, which admits nothing else; or mixed rho, which admits every mechanism that has one. A Budget is
    kept by composing all charges exactly at every debit (needed for sampled Gaussian noise, which has no rho); the
    sizes of its steps must not depend on earlier outputs.
    delta: how much the failure probabilities of the charges may add up to, beside a Cost.
    """

    def __init__(self, cap: Cost | Budget, *, delta: float = 0.0) -> None:
        """Starts with nothing spent."""
        self.cap = cap
        self.delta = delta
        self.charges: list[Charge] = []
        self._sums = (Fraction(), Fraction())  # of amounts and failures of the first _summed charges, exactly
        self._summed = 0

    @property
    def spent(self) -> float:
        """Spent so far, in the currency of the cap (composed epsilon when the cap is a Budget)."""
        if isinstance(self.cap, Budget):
            return self._composed(self.charges).epsilon(self.cap.delta)
        return float(self._totals()[0])

    @property
    def limit(self) -> float:
        """The cap as a number in the same currency."""
        return self.cap.epsilon if isinstance(self.cap, Budget) or self.cap.pure else self.cap.rho

    def debit(self, charge: Charge) -> None:
        """Books a charge, or raises BudgetError when it is above the cap or not covered by its currency."""
        self._check_currency(charge)
        amounts, failures = self._added(self._totals(), charge)
        if isinstance(self.cap, Budget):
            fits = self._composed([*self.charges, charge]).within(self.cap.epsilon, self.cap.delta)
        else:
            fits = failures <= self.delta * (1 + TOLERANCE) and amounts <= self.limit * (1 + TOLERANCE)
        if not fits:
            msg = f"'{charge.name}' would overdraw the budget of this run; nothing was counted for it"
            raise BudgetError(msg)
        self.charges.append(charge)
        self._sums, self._summed = (amounts, failures), len(self.charges)

    def _check_currency(self, charge: Charge) -> None:
        if isinstance(self.cap, Budget):
            return
        if not (charge.epsilon if self.cap.pure else charge.rho) > 0:
            msg = f"'{charge.name}' has no cost in the currency of this run"
            raise BudgetError(msg)
        # samples are dominated by Gaussian noise that may fail; partition selection may threshold Gaussian noise:
        # both then have a rho, a delta and no epsilon
        gaussian = charge.mechanism in _GAUSSIAN and charge.epsilon == 0
        if not self.cap.pure and not self.cap.mixed and not gaussian:
            kind = charge.mechanism
            msg = f"'{charge.name}' is of the kind {kind}, which a Gaussian cost does not cover; use Budget.zcdp()"
            raise BudgetError(msg)

    def _totals(self) -> tuple[Fraction, Fraction]:
        """Exact sums of what is booked: a run of thousands of charges must not add all of them at each debit."""
        if self._summed != len(self.charges):
            sums = (Fraction(), Fraction())
            for charge in self.charges:
                sums = self._added(sums, charge)
            self._sums, self._summed = sums, len(self.charges)
        return self._sums

    def _added(self, sums: tuple[Fraction, Fraction], charge: Charge) -> tuple[Fraction, Fraction]:
        amount = charge.epsilon if isinstance(self.cap, Cost) and self.cap.pure else charge.rho
        return sums[0] + Fraction(amount), sums[1] + Fraction(charge.delta)

    @staticmethod
    def _composed(charges: list[Charge]) -> Composition:
        from dpsyn_core.privacy.composition import compose  # scipy is heavy

        return compose(charges)
