"""Budget: the epsilon and delta of one run, and the costs that it can buy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.cost import Cost


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """(epsilon, delta) of one run; delta 0 means pure DP."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Refuses budgets that promise nothing."""
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            msg = f"epsilon is {self.epsilon}; it must be a finite number above 0, for example 1.0"
            raise BudgetError(msg)
        if not (math.isfinite(self.delta) and 0 <= self.delta < 1):
            msg = f"delta is {self.delta}; it must be 0 (pure DP) or lie between 0 and 1, for example 1e-9"
            raise BudgetError(msg)

    def gaussian(self) -> Cost:
        """Cost of an all-Gaussian run by exact GDP accounting (rho = mu^2 / 2). Raises when delta is 0."""
        from dpsyn_core.privacy.accounting import gdp_mu  # scipy is heavy

        if self.delta == 0:
            msg = "delta is 0, which allows pure DP only; choose a delta such as 1e-9, or a method with Laplace noise"
            raise BudgetError(msg)
        return Cost(rho=gdp_mu(self.epsilon, self.delta) ** 2 / 2)

    def pure(self) -> Cost:
        """Cost of an all-Laplace run by basic composition."""
        return Cost(epsilon=self.epsilon)
