"""Gaussian noise on Poisson samples, as a Gaussian cost beside a failure: what it dominates, and its calibration.

T steps, each a sum over a sample that holds every record with probability q, plus noise. Their privacy-loss
distribution is discretised pessimistically and convolved T times; then follows the least mu for which "a
Gaussian mechanism of that mu, except that everything is revealed with probability delta" dominates it. So sampled
noise is paid for in the same currency as all other Gaussian noise. Proof: docs/proofs/sampling.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.loss_convolution import self_convolved

Floats = NDArray[np.float64]
Profile = tuple[Floats, Floats]  # grid of privacy losses, and the delta (rounded up) at each

MOST_RECORDS = 64  # records of one individual, each sampled by itself, for which losses are composed
MOST_STEPS = 1_000_000
LEAST_DELTA = 1e-11  # below, rounding of the Fourier transforms would decide
SHARE = 1 / 20  # of a run's delta, usually: the mu that is left over loses least
_WIDEST = 60.0  # privacy loss of one step beyond which samples are not told from the whole
_REACH = 9.5  # standard deviations of noise that are laid out; the rest, 1e-21, is added to delta
# grid points in one standard deviation of a step's privacy loss, by the number of steps: fewer make mu larger
_FINE = ((1_000, 64), (10_000, 32), (100_000, 16), (MOST_STEPS, 8))
_MOST_POINTS = 1 << 16  # of the grid of one step
_LARGE = 8.0  # a mu (epsilon above 50) for which the noise is calibrated as if there were no samples
_HOPELESS = 1e4  # a mu that promises nothing
_CLOSE = 1e-4  # how near a calibrated mu must come to the one that is paid for
_MARGIN = 1e-6  # a computed mu is rounded up by this share, so that other machines find no larger one


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """T steps on Poisson samples.

    rate: probability q of a record to be in a sample. multiplier: standard deviation of the noise in units of the
    largest norm of one record's vector. steps: T. records: of one individual (theta), each sampled by itself.
    exchanged: replace neighbours.
    """

    rate: float
    multiplier: float
    steps: int
    records: int = 1
    exchanged: bool = False

    @property
    def unsampled_mu(self) -> float:
        """The mu of the same steps on all records, which bounds that of samples."""
        return math.sqrt(self.steps) * self.records * (2 if self.exchanged else 1) / self.multiplier


def sampling_of(charge: Charge) -> Sampling:
    """The steps that a sampled-gaussian charge paid for."""
    return Sampling(
        rate=charge.sampling,
        multiplier=charge.scale / charge.sensitivity,
        steps=charge.steps,
        records=charge.records,
        exchanged=charge.exchanged,
    )


def sampled_mu(sampling: Sampling, delta: float) -> float:
    """Least mu (rounded up) so that all steps are dominated by a mu-Gaussian mechanism that fails with `delta`.

    Raises:
        BudgetError: a number is outside what can be accounted.
    """
    check(sampling, delta)
    return _sampled_mu(sampling, delta)


def sampled_multiplier(
    mu: float, delta: float, *, rate: float, steps: int, records: int = 1, exchanged: bool = False
) -> float:
    """Least noise multiplier (rounded up, within a share of 2e-4) whose `sampled_mu` is at most `mu`.

    Raises:
        BudgetError: a number is outside what can be accounted.
    """
    check(Sampling(rate=rate, multiplier=1.0, steps=steps, records=records, exchanged=exchanged), delta)
    return _multiplier(mu, delta, rate, steps, records, exchanged)


def check(sampling: Sampling, delta: float) -> None:
    """Raises BudgetError for numbers that cannot be accounted."""
    if not 0 < sampling.rate <= 1:
        msg = f"the sampling rate is {sampling.rate:g}; it must be above 0 and at most 1, for example 0.05"
        raise BudgetError(msg)
    if isinstance(sampling.steps, bool) or not 1 <= sampling.steps <= MOST_STEPS:
        msg = f"the number of steps is {sampling.steps}; it must lie between 1 and {MOST_STEPS:,}, for example 200"
        raise BudgetError(msg)
    if not 1 <= sampling.records <= MOST_RECORDS:
        msg = (
            f"noise on samples is accounted for at most {MOST_RECORDS} records per individual, and the unit has "
            f"{sampling.records}; lower max_records, or use the method 'rls'"
        )
        raise BudgetError(msg)
    if not (math.isfinite(sampling.multiplier) and sampling.multiplier > 0):
        msg = f"the noise multiplier is {sampling.multiplier}; it must be a finite number above 0"
        raise BudgetError(msg)
    least = max(LEAST_DELTA, 1e-14 * sampling.steps)  # ten times what Fourier transforms may err by
    if not least <= delta < 1:
        msg = (
            f"{sampling.steps} steps on samples were given a delta of {delta:g} for failures; they need at least "
            f"{least:g}: choose a delta of at least {least / SHARE:g} for the run, fewer steps, or the method 'rls'"
        )
        raise BudgetError(msg)


@lru_cache(maxsize=256)
def _multiplier(mu: float, delta: float, rate: float, steps: int, records: int, exchanged: bool) -> float:
    whole = Sampling(rate=rate, multiplier=1.0, steps=steps, records=records, exchanged=exchanged)
    high = whole.unsampled_mu / mu * (1 + 2 * _MARGIN)  # enough without samples
    if mu > _LARGE:
        return high
    # in the limit of many steps mu^2 = steps rate^2 (exp(1 / multiplier^2) - 1)
    guess = whole.unsampled_mu / math.sqrt(steps) / math.sqrt(math.log1p((mu / rate) ** 2 / steps))
    guess, slope, last = min(guess, high), -1.0, (0.0, 0.0)
    best = high
    for _ in range(16):
        got = _sampled_mu(replace(whole, multiplier=guess), delta)
        if got <= mu:
            best = min(best, guess)
            if got >= mu * (1 - _CLOSE):
                break
        if last[0] and last[0] != guess and last[1] != got:
            slope = min(-0.25, math.log(got / last[1]) / math.log(guess / last[0]))
        last = (guess, got)
        guess = min(high, guess * (mu * (1 - _CLOSE / 2) / got) ** (1 / slope))
    return best


@lru_cache(maxsize=256)
def _sampled_mu(sampling: Sampling, delta: float) -> float:
    bound = sampling.unsampled_mu
    if sampling.rate == 1:
        return bound
    bounds = [_covering_mu(profile, delta) for profile in profiles(sampling)]
    return min(bound, max(bounds) * (1 + _MARGIN)) if bounds else bound


def profiles(sampling: Sampling) -> list[Profile]:
    """(loss, delta at that loss, rounded up) of all steps, for both orders of two neighbours; none when too wide.

    The steps are dominated by the pair P = sum of w_j N(j, s^2) and Q = N(0, s^2), w binomial and s the multiplier
    (replace: Q = sum of w_j N(-j, s^2), and the other order is its mirror image).
    """
    pair = _Pair(sampling)
    grid = pair.grid()
    if grid is None:
        return []
    out = []
    for lowest, masses, endless in pair.discretised(grid)[: 1 if sampling.exchanged else 2]:
        first, whole, lost = self_convolved(masses, endless, sampling.steps)
        out.append(_profile(grid, lowest * sampling.steps + first, whole, lost, sampling.steps))
    return out


class _Pair:
    """Two densities on a line, in units of the noise, whose log ratio (the privacy loss) rises."""

    def __init__(self, sampling: Sampling) -> None:
        n, q = sampling.records, sampling.rate
        self.weights = np.array([math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(n + 1)])
        self.upper = np.arange(n + 1) / sampling.multiplier
        self.lower = -self.upper if sampling.exchanged else 0 * self.upper
        self.low, self.high = float(self.lower.min()) - _REACH, float(self.upper.max()) + _REACH
        self.steps = sampling.steps

    def loss(self, x: Floats) -> Floats:
        """Log of the ratio of both densities at x."""
        return self._log(x, self.upper) - self._log(x, self.lower)

    def _log(self, x: Floats, shifts: Floats) -> Floats:
        """Log density at x over that of the noise alone."""
        terms = [np.log(w) + m * x - m * m / 2 for w, m in zip(self.weights, shifts, strict=True) if w > 0]
        return np.asarray(np.logaddexp.reduce(terms))

    def grid(self) -> float | None:
        """Width of the grid of losses; None when the losses of one step reach too far."""
        ends = self.loss(np.array([self.low, self.high]))
        if np.abs(ends).max() > _WIDEST:
            return None
        x = np.linspace(self.low, self.high, 4001)
        density = self._density(x, self.lower)
        density /= density.sum()
        loss = self.loss(x)
        spread = math.sqrt(max(float(density @ (loss - density @ loss) ** 2), 1e-24))
        fine = next(points for most, points in _FINE if self.steps <= most)
        return max(spread / fine, float(ends[1] - ends[0]) / _MOST_POINTS)

    def _density(self, x: Floats, shifts: Floats) -> Floats:
        return np.asarray(sum(w * np.exp(-((x - m) ** 2) / 2) for w, m in zip(self.weights, shifts, strict=True)))

    def discretised(self, grid: float) -> list[tuple[int, Floats, float]]:
        """(first loss in steps of the grid, masses, mass at infinity) of the loss of P against Q, and of Q against P.

        Between two points of the grid both densities keep their masses, which go to the two ends (Doroshenko,
        Ghazi, Kamath, Kumar, Manurangsi 2022, "connect the dots"): pessimistic, and exact at the points.
        """
        ends = self.loss(np.array([self.low, self.high]))
        first, last = math.floor(ends[0] / grid), math.ceil(ends[1] / grid)
        losses = np.arange(first, last + 1) * grid
        cuts = self._where(losses)
        p, q = self._masses(cuts, self.upper), self._masses(cuts, self.lower)
        share = -math.expm1(-grid)
        up = np.clip((p - q * np.exp(losses[:-1])) / share, 0.0, p)  # mass of P that goes to the upper end
        down = np.clip((q - p * np.exp(-losses[1:])) / share, 0.0, q)  # mass of Q that goes to the lower end
        ahead = np.append(p - up, 0.0) + np.append(0.0, up)
        back = np.append(down, 0.0) + np.append(0.0, q - down)
        lost_p, lost_q = max(0.0, 1 - float(ahead.sum())), max(0.0, 1 - float(back.sum()))
        return [(first, ahead, lost_p), (-last, back[::-1].copy(), lost_q)]

    def _where(self, losses: Floats) -> Floats:
        """Places at which the loss has these values, by bisection, at most those of the laid out part."""
        low, high = np.full(losses.size, self.low), np.full(losses.size, self.high)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.loss(middle) < losses
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        high[0], high[-1] = self.low, self.high
        return high

    def _masses(self, cuts: Floats, shifts: Floats) -> Floats:
        """Mass between successive cuts, from whichever tail is nearer, so that small ones keep their digits."""
        out = np.zeros(cuts.size - 1)
        for w, m in zip(self.weights, shifts, strict=True):
            a, b = cuts[:-1] - m, cuts[1:] - m
            out += w * np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
        return np.maximum(out, 0.0)


def _profile(grid: float, lowest: int, masses: Floats, endless: float, steps: int) -> Profile:
    """Delta at every loss of the grid from -grid on: sum over larger losses l of (1 - exp(loss - l)) mass, rounded up.

    Fourier transforms err by less than 1e-15 a step in the sum of all masses.
    """
    from scipy.linalg import solve_banded

    losses = (lowest + np.arange(masses.size)) * grid
    back = np.maximum(masses, 0.0)[::-1]
    above = np.cumsum(back) - back
    decay = math.exp(-grid)
    # sum over larger losses of exp(loss - l) mass: each is decay times the one before it and the mass there
    bands = np.stack([np.ones_like(back), np.full_like(back, -decay)])
    discounted = solve_banded((1, 0), bands, decay * np.append(0.0, back[:-1]), check_finite=False)
    delta = (above - discounted)[::-1] + endless + 1e-13 + 1e-15 * steps
    kept = losses >= -grid
    return np.asarray(losses[kept], dtype=np.float64), np.asarray(delta[kept], dtype=np.float64)


def _covering_mu(profile: Profile, delta: float) -> float:
    """Least mu so that delta + (1 - delta) delta_mu lies above the profile at every epsilon of at least 0.

    Between two points of its grid the profile is below its value at the lower one, and delta_mu above its value at
    the upper one: these are compared.
    """
    losses, needed = profile
    if losses.size < 2 or needed[-1] >= delta:
        return math.inf
    goal = (needed[:-1] - delta) / (1 - delta)
    open_ = goal > 0
    at, goal = losses[1:][open_], np.log(goal[open_])
    if not goal.size:
        return 0.0
    few = np.unique(np.linspace(0, goal.size - 1, 256).astype(np.int64))
    covering = 1e-9
    while True:  # some points decide; those that a mu for them misses are added until it holds for all
        low, high = covering, _HOPELESS
        while high / low > 1 + 1e-9:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if (_log_delta(at[few], middle) >= goal[few]).all() else (middle, high)
        if high > _HOPELESS * 0.99:  # near certainty, rounding errors of the profile are all that decides
            return math.inf
        covering = high
        short = goal - _log_delta(at, covering)
        missed = np.flatnonzero(short > 0)
        if not missed.size:
            return covering
        spread = missed[np.unique(np.linspace(0, missed.size - 1, 256).astype(np.int64))]
        few = np.union1d(missed[np.argsort(short[missed])[-64:]], spread)


def _log_delta(epsilon: Floats, mu: float) -> Floats:
    """Logarithm of the delta of mu-GDP at each epsilon; see `conversions.gdp_log_delta`."""
    first = log_ndtr(mu / 2 - epsilon / mu)
    second = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.asarray(first + np.log(-np.expm1(np.minimum(second - first, -1e-300))))
