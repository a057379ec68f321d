"""Composition: what charges or spends, in any mixture, cost together in rho, mu and (epsilon, delta).

Several bounds are valid at once; the smallest is reported. All-Gaussian: exact (GDP). All pure: the sum at delta 0.
Mixtures: zCDP with its tight conversion, pure parts added to the exact Gaussian one, and the privacy-loss
distributions of `dp_accounting`. Theorems and sources: docs/proofs/accounting.md.
"""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.conversions import gdp_epsilon, gdp_mu, zcdp_epsilon, zcdp_rho

_MOST_LOSS = 500.0  # privacy loss beyond which nothing is computed: e^710 is no float, and nobody is protected there
_MOST_PARTS = 64  # different mechanisms that are convolved; beyond, the closed forms must do
Sampled = tuple[float, float, int]  # sampling probability, noise multiplier, steps


@dataclass(frozen=True, kw_only=True, slots=True)
class Composition:
    """Everything that was spent, sorted by how it composes.

    mu2: sum of (sensitivity / sigma)^2 of Gaussian noise. pure: epsilons of pure mechanisms. ranged: epsilons of
    exponential mechanisms. rho: zCDP without other structure. pairs: (epsilon, delta) without other structure.
    delta: failure probabilities that add. sampled: Gaussian noise on Poisson samples (add/remove only).
    """

    mu2: float = 0.0
    pure: tuple[float, ...] = ()
    ranged: tuple[float, ...] = ()
    rho: float = 0.0
    pairs: tuple[tuple[float, float], ...] = ()
    delta: float = 0.0
    sampled: tuple[Sampled, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was spent."""
        return self == Composition()

    @property
    def gaussian(self) -> bool:
        """Whether Gaussian noise is all there is (failure probabilities may stand beside it)."""
        return not (self.pure or self.ranged or self.rho or self.pairs or self.sampled)

    @property
    def mu(self) -> float | None:
        """Exact GDP cost; None when other mechanisms took part."""
        return math.sqrt(self.mu2) if self.gaussian else None

    @property
    def pure_epsilon(self) -> float | None:
        """Sum of pure epsilons, rounded once; None when anything spent has no pure guarantee."""
        if self.mu2 or self.rho or self.pairs or self.sampled or self.delta:
            return None
        return math.fsum((*self.pure, *self.ranged))

    @property
    def zcdp(self) -> float | None:
        """The rho of all parts; None when something spent has none. Pure e: e^2 / 2; bounded range e: e^2 / 8."""
        if self.pairs or self.sampled:
            return None
        return math.fsum((self.mu2 / 2, self.rho, *(e * e / 2 for e in self.pure), *(e * e / 8 for e in self.ranged)))

    def grouped(self, size: int) -> Composition:
        """The same spends seen by neighbours that are `size` steps apart (replace = remove and add: 2).

        Source: Bun, Steinke 2016, Proposition 1.9; Dong, Roth, Su 2022, Theorem 2.14; Dwork, Roth 2014, Theorem 2.2.
        Raises EngineError for parts without a simple group bound (failures, sampled noise).
        """
        if self.sampled or self.delta:
            msg = "failure probabilities and sampled noise have no group bound here"
            raise EngineError(msg)
        return Composition(
            mu2=self.mu2 * size**2,
            pure=tuple(size * e for e in (*self.pure, *self.ranged)),
            rho=self.rho * size**2,
            pairs=tuple((size * e, _grouped_delta(e, d, size)) for e, d in self.pairs),
        )

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon that can be proved at this delta; infinite when none can."""
        if self.empty:
            return 0.0
        quick = self.closed_form_epsilon(delta)
        if self.gaussian:
            return quick
        return min(quick, _pld_epsilon(self, self._left(delta)))

    def within(self, epsilon: float, delta: float) -> bool:
        """Whether (epsilon, delta) covers everything: strictly, for calibrated costs hold a margin back."""
        if self.empty:
            return True
        left = self._left(delta)
        if left > 0:
            if self.gaussian:
                return math.sqrt(self.mu2) <= gdp_mu(epsilon, left) * (1 + 1e-12)
            if self.zcdp is not None and self.zcdp <= zcdp_rho(epsilon, left) * (1 + 1e-12):
                return True
        if self.closed_form_epsilon(delta) <= epsilon:
            return True
        return _pld_epsilon(self, left) <= epsilon

    def _left(self, delta: float) -> float:
        return delta - self.delta

    def closed_form_epsilon(self, delta: float) -> float:
        """The best of the bounds that need no numerical convolution; infinite when none holds."""
        sums = [] if self.pure_epsilon is None else [self.pure_epsilon]
        left = self._left(delta) - math.fsum(d for _, d in self.pairs)
        paid = [e for e, _ in self.pairs]
        noisy = bool(self.mu2 or self.rho)
        if self.sampled or left < 0 or (left == 0 and noisy):
            return min(sums, default=math.inf)
        # the pure parts beside the rest: exact GDP for Gaussian noise alone, zCDP with others
        rest = 0.0
        if noisy:
            rho = self.mu2 / 2 + self.rho
            rest = zcdp_epsilon(rho, left) if self.rho else gdp_epsilon(math.sqrt(self.mu2), left)
        sums.append(math.fsum((*paid, *self.pure, *self.ranged, rest)))
        total = replace(self, pairs=(), delta=0.0).zcdp
        if left > 0 and total:
            sums.append(math.fsum((*paid, zcdp_epsilon(total, left))))
        return min(sums)


def _grouped_delta(epsilon: float, delta: float, size: int) -> float:
    """Of a pair, delta (1 + e^epsilon + ... + e^((size - 1) epsilon)), rounded up; 1 promises nothing."""
    if size == 1 or delta == 0:
        return delta
    if size * epsilon > _MOST_LOSS:
        return 1.0
    times = math.expm1(size * epsilon) / math.expm1(epsilon) if epsilon > 0 else size
    return min(1.0, delta * times * (1 + 1e-12))


@lru_cache(maxsize=256)
def _pld_epsilon(spent: Composition, delta: float) -> float:
    """Epsilon at delta by the privacy-loss distributions of dp_accounting, rounded pessimistically.

    A pure mechanism is replaced by randomised response with its epsilon, which dominates it. Convolution by
    fast Fourier transform errs by less than 1e-13 in delta, which is taken off; below 1e-12 nothing is claimed.
    """
    pures = (*spent.pure, *spent.ranged)
    if delta < 1e-12 or spent.rho or len({*pures, *spent.pairs, *spent.sampled}) > _MOST_PARTS:
        return math.inf
    from dp_accounting.pld import common  # heavy: only for mixtures
    from dp_accounting.pld import privacy_loss_distribution as pld

    mu = math.sqrt(spent.mu2)
    width = math.fsum((*pures, *(e for e, _ in spent.pairs))) + mu * mu / 2 + 6 * mu
    if width > _MOST_LOSS or math.fsum(d for _, d in spent.pairs) >= delta:
        return math.inf  # the closed forms bound it
    grid = 1e-4 if spent.sampled else min(max(width * 1e-5, 1e-8), 1e-2)
    parts = []
    if spent.mu2:
        parts.append(pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=grid))
    for (e, d), times in Tally([*((e, 0.0) for e in pures), *spent.pairs]).items():
        one = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(e, d), grid)
        parts.append(one.self_compose(times) if times > 1 else one)
    for (q, multiplier, steps), times in Tally(spent.sampled).items():
        one = pld.from_gaussian_mechanism(multiplier, sampling_prob=q, value_discretization_interval=grid)
        parts.append(one.self_compose(steps * times) if steps * times > 1 else one)
    whole = reduce(lambda a, b: a.compose(b), parts)
    return float(whole.get_epsilon_for_delta(delta - 1e-13))


def of_charge(charge: Charge) -> Composition:
    """One charge, recomputed from its sensitivity and scale where it has them."""
    if charge.mechanism == "gaussian":
        return Composition(mu2=(charge.sensitivity / charge.scale) ** 2)
    if charge.mechanism == "sampled-gaussian":
        if charge.delta:
            from dpsyn_core.privacy.subsampling import sampled_mu, sampling_of  # only where there are samples

            return Composition(mu2=sampled_mu(sampling_of(charge), charge.delta) ** 2, delta=charge.delta)
        if charge.records > 1 or charge.exchanged:
            msg = f"the samples of '{charge.name}' have no delta for failures, without which they are not accounted"
            raise EngineError(msg)
        return Composition(sampled=((charge.sampling, charge.scale / charge.sensitivity, charge.steps),))
    if charge.mechanism == "geometric":
        return Composition(pure=(charge.sensitivity / charge.scale,))
    if charge.mechanism == "exponential":
        return Composition(ranged=(charge.epsilon,))
    if charge.mechanism == "partition-selection":
        if charge.epsilon == 0:  # a threshold on Gaussian noise
            return Composition(mu2=(charge.sensitivity / charge.scale) ** 2, delta=charge.delta)
        return Composition(pure=(charge.epsilon,), delta=charge.delta)
    if charge.mechanism == "dirichlet":
        return Composition(pure=(charge.epsilon,))
    msg = f"composition does not know the mechanism '{charge.mechanism}' of '{charge.name}'"
    raise EngineError(msg)


def compose(charges: Iterable[Charge]) -> Composition:
    """All charges together; sums are exact to rounding (fsum), whatever their order."""
    parts = [of_charge(c) for c in charges]
    return Composition(
        mu2=math.fsum(p.mu2 for p in parts),
        pure=tuple(e for p in parts for e in p.pure),
        ranged=tuple(e for p in parts for e in p.ranged),
        pairs=tuple(e for p in parts for e in p.pairs),
        delta=math.fsum(p.delta for p in parts),
        sampled=tuple(s for p in parts for s in p.sampled),
    )
