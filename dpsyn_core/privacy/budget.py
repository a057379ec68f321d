"""The budget of a run, and what its releases cost of it.

Cost: a share of a run's budget in the currency in which it adds up (rho, or pure epsilon).

Budget: the epsilon and delta of one run, and the costs that it can buy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.errors import BudgetError

WEAK = 20.0  # an epsilon above it is answered with a caution


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

    @property
    def caution(self) -> str:
        """A sentence on an epsilon that promises next to nothing; empty for others."""
        if self.epsilon <= WEAK:
            return ""
        return (
            f"epsilon {self.epsilon:g} promises next to nothing: what is published may be e^{self.epsilon:g} times as "
            "likely with one individual as without; usual are 0.1 to 10"
        )

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
