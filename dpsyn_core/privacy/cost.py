"""Cost: a share of a run's budget in the currency in which it adds up (rho, or pure epsilon)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.errors import BudgetError


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Exactly one of: rho (zCDP; mu^2 = 2 rho, all-Gaussian runs) or epsilon (pure DP, Laplace runs)."""

    rho: float = 0.0
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        """Refuses anything but one positive finite currency."""
        if not (self.rho >= 0 and self.epsilon >= 0) or (self.rho > 0) == (self.epsilon > 0):
            msg = f"a cost has one positive currency, got rho {self.rho} and epsilon {self.epsilon}"
            raise BudgetError(msg)
        if not math.isfinite(self.rho + self.epsilon):
            msg = "a cost must be finite"
            raise BudgetError(msg)

    @property
    def pure(self) -> bool:
        """Whether the currency is epsilon."""
        return self.epsilon > 0

    def scaled(self, factor: float) -> Cost:
        """This cost times a positive factor."""
        return Cost(rho=self.rho * factor, epsilon=self.epsilon * factor)

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
        """Scale b of two-sided geometric (Laplace) noise that spends this epsilon, rounded up."""
        if not self.pure:
            msg = "a zCDP cost has no Laplace scale here; split the budget in epsilon"
            raise BudgetError(msg)
        return math.nextafter(l1 / self.epsilon, math.inf)
