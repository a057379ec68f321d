"""Cost: a share of a run's budget in the currency in which it adds up (rho, or pure epsilon)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.errors import BudgetError


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Exactly one of: rho (zCDP; mu^2 = 2 rho, all-Gaussian runs) or epsilon (pure DP, Laplace runs).

    mixed: the rho was converted for zCDP at large, so that the run may also use Laplace noise and the exponential
    mechanism; a rho that was converted exactly for Gaussian noise (mixed False) buys Gaussian noise alone.
    """

    rho: float = 0.0
    epsilon: float = 0.0
    mixed: bool = False

    def __post_init__(self) -> None:
        """Refuses anything but one positive finite currency."""
        if not (self.rho >= 0 and self.epsilon >= 0) or (self.rho > 0) == (self.epsilon > 0):
            msg = f"a cost has one positive currency, got rho {self.rho} and epsilon {self.epsilon}"
            raise BudgetError(msg)
        if not math.isfinite(self.rho + self.epsilon):
            msg = "a cost must be finite"
            raise BudgetError(msg)
        if self.mixed and self.pure:
            msg = "a mixed cost is in rho; a pure epsilon needs no mark to pay for several mechanisms"
            raise BudgetError(msg)

    @property
    def pure(self) -> bool:
        """Whether the currency is epsilon."""
        return self.epsilon > 0

    def scaled(self, factor: float) -> Cost:
        """This cost times a positive factor."""
        return Cost(rho=self.rho * factor, epsilon=self.epsilon * factor, mixed=self.mixed)

    def less(self, part: Cost) -> Cost:
        """What is left of this cost after a part of the same currency; never more than that.

        Raises:
            BudgetError: the part is in another currency, or nothing would be left.
        """
        mine, other = (self.epsilon, part.epsilon) if self.pure else (self.rho, part.rho)
        if self.pure != part.pure or other >= mine:
            msg = f"cannot take {part} from {self}: the part must be smaller and in the same currency"
            raise BudgetError(msg)
        return self.scaled((mine - other) / mine * (1 - 1e-15))

    def split(self, shares: Sequence[float]) -> list[Cost]:
        """Parts in proportion to positive shares; they add up to no more than the whole."""
        total = math.fsum(shares)
        return [self.scaled(s / total * (1 - 1e-15)) for s in shares]

    def sigma(self, l2: float) -> float:
        """Standard deviation of Gaussian noise that spends this rho, rounded up."""
        if self.pure:
            msg = "Gaussian noise needs a delta above 0; use Laplace noise for pure DP"
            raise BudgetError(msg)
        return math.nextafter(l2 / math.sqrt(2 * self.rho) * (1 + 4e-16), math.inf)

    def scale(self, l1: float) -> float:
        """Scale b of two-sided geometric (Laplace) noise that spends this cost, rounded up.

        A pure e costs rho = e^2 / 2. Source: Bun, Steinke 2016, Proposition 1.4.
        """
        if self.pure:
            return math.nextafter(l1 / self.epsilon, math.inf)
        self._refuse_gaussian_rho("Laplace noise")
        return math.nextafter(l1 / math.sqrt(2 * self.rho) * (1 + 4e-16), math.inf)

    def selection(self) -> float:
        """Epsilon of an exponential mechanism that spends this cost, rounded down.

        Its epsilon-bounded range costs rho = epsilon^2 / 8. Source: Cesar, Rogers 2021, Lemma 3.4.
        """
        if self.pure:
            return self.epsilon
        self._refuse_gaussian_rho("the exponential mechanism")
        return math.nextafter(math.sqrt(8 * self.rho) * (1 - 4e-16), 0.0)

    def _refuse_gaussian_rho(self, what: str) -> None:
        if not self.mixed:
            msg = f"this rho was converted for Gaussian noise alone and cannot pay for {what}; use Budget.zcdp()"
            raise BudgetError(msg)
