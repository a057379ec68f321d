"""Budget: the epsilon and delta of one run, and the costs that it can buy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.cost import Cost

# Pure costs are made smaller by this share: what an Account tolerates in rounding then stays inside epsilon.
_PURE_MARGIN = 2e-13
# Below, noise would pass the samplers' largest sigma (2^50) on a large workload; above, nobody is protected.
SMALLEST_EPSILON = 1e-6
LARGEST_EPSILON = 1000.0
# From this delta on, a mechanism that publishes one whole record in a hundred unprotected would keep the promise.
LARGEST_DELTA = 0.01


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
        if not SMALLEST_EPSILON <= self.epsilon <= LARGEST_EPSILON:
            why = "the noise would drown any table" if self.epsilon < 1 else "it would protect nobody"
            msg = (
                f"epsilon is {self.epsilon:g}, at which {why}; "
                f"it must lie between {SMALLEST_EPSILON:g} and {LARGEST_EPSILON:g}, for example 1.0"
            )
            raise BudgetError(msg)
        if not (math.isfinite(self.delta) and 0 <= self.delta < 1):
            msg = f"delta is {self.delta}; it must be 0 (pure DP) or lie between 0 and 1, for example 1e-9"
            raise BudgetError(msg)

    def check_spendable(self) -> None:
        """Refuses a delta that promises nothing, before a run is charged. Raises BudgetError.

        Conversions and limits of the ledger take any delta below 1; runs do not.
        """
        if self.delta >= LARGEST_DELTA:
            msg = (
                f"delta is {self.delta:g}: at that rate whole records could be published unprotected; "
                f"it must lie below {LARGEST_DELTA:g}, for example 1e-9"
            )
            raise BudgetError(msg)

    def gaussian(self, *, spare_delta: float = 0.0) -> Cost:
        """Cost of an all-Gaussian run by exact GDP accounting (rho = mu^2 / 2). Raises when delta is 0.

        Args:
            spare_delta: the part of delta kept for failures that noise does not cover (partition selection).
        """
        from dpsyn_core.privacy.conversions import gdp_mu  # scipy is heavy

        return Cost(rho=gdp_mu(self.epsilon, self._delta_left(spare_delta)) ** 2 / 2)

    def zcdp(self, *, spare_delta: float = 0.0) -> Cost:
        """Cost of a run that mixes Gaussian, Laplace and exponential mechanisms, by the tight zCDP conversion."""
        from dpsyn_core.privacy.conversions import zcdp_rho  # scipy is heavy

        return Cost(rho=zcdp_rho(self.epsilon, self._delta_left(spare_delta)), mixed=True)

    def pure(self) -> Cost:
        """Cost of a pure-DP run by basic composition (2e-13 below epsilon, for rounding)."""
        return Cost(epsilon=self.epsilon * (1 - _PURE_MARGIN))

    def _delta_left(self, spare: float) -> float:
        if self.delta == 0:
            msg = "delta is 0, which allows pure DP only; choose a delta such as 1e-9, or a method with Laplace noise"
            raise BudgetError(msg)
        if not 0 <= spare < self.delta:
            msg = f"{spare} of delta {self.delta} cannot be kept apart; it must be at least 0 and less than delta"
            raise BudgetError(msg)
        return self.delta - spare
