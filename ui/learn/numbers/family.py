"""Families, effects and what a prior does to them.

Lab 15: what a promise to one person means for a group, and what it costs to protect the group as one.

Source: Dwork, Roth 2014, Theorem 2.2; Dong, Roth, Su 2022, Theorem 2.14 (group privacy of Gaussian noise, exact).

Lab 7: a prior as privacy: Dirichlet-multinomial draws of the Race counts.

Source: Machanavajjhala, Kifer, Abowd, Gehrke, Vilhuber 2008; Quick 2021.

Figures read off one noisy table, with what its noise and the sampling of its records do to them. Blind.

Lab 17: is an effect real? Intervals for a difference of two shares, with and without the noise taken into account.

Source: Karwa, Vadhan 2018 and Gaboardi, Lim, Rogers, Vadhan 2016 on what ignoring the noise does; delta method.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.privacy import Budget, best_guess, best_guess_of_mu
from dpsyn_core.questions import CombinedTruth, Floats, Gaps, Quantity, centred, sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class Promise:
    """What a group gets.

    epsilon: of the whole group, at the same delta. guess: best chance to tell, from one noisy count, whether the group
    is in the table. noise: standard deviation of that count, in records.
    """

    epsilon: float
    guess: float
    noise: float


def laplace(epsilon: float, people: int, *, unit: int = 1) -> Promise:
    """Noise for `unit` people as one individual; a group of `people` is `people / unit` times as well hidden, at least.

    Two-sided geometric noise of scale unit / epsilon: the group moves the count by `people`, so that the ratio is at
    most e^(epsilon people / unit), which is attained.
    """
    whole = epsilon * people / unit
    a = math.exp(-Budget(epsilon=epsilon, delta=0.0).pure().epsilon / unit)
    # the best attack on one count tells two shifted laws apart: half of one plus their distance (see `shifted`)
    return Promise(epsilon=whole, guess=shifted(a, people), noise=math.sqrt(2 * a) / (1 - a))


def shifted(a: float, shift: int) -> float:
    """Best chance to tell apart two-sided geometric noise, P(z) ~ a^|z|, from the same noise moved by `shift`.

    The ratio of the laws falls with z, so the best attack cuts in the middle: P(noise > -shift / 2), ties halved.
    """
    if shift % 2:
        below = a ** ((shift + 1) // 2) / (1 + a)  # P(noise <= -(shift + 1) / 2)
        return 1 - below
    half = shift // 2
    tie = (1 - a) / (1 + a) * a**half  # P(noise = -shift / 2)
    below = a ** (half + 1) / (1 + a)
    return 1 - below - tie / 2


def bound(epsilon: float, people: int) -> float:
    """The best guess that the promise allows: e^x / (1 + e^x) with x = epsilon people."""
    return best_guess(min(epsilon * people, 700.0))


def gaussian(epsilon: float, delta: float, people: int, *, unit: int = 1) -> Promise:
    """The same with Gaussian noise: a group of k is protected with k mu, exactly."""
    from dpsyn_core.privacy import gdp_epsilon  # scipy is heavy

    cost = Budget(epsilon=epsilon, delta=delta).gaussian()
    mu = math.sqrt(2 * cost.rho) * people / unit
    return Promise(epsilon=gdp_epsilon(mu, delta), guess=best_guess_of_mu(mu), noise=cost.sigma(float(unit)))


def simple_delta(epsilon: float, delta: float, people: int) -> float:
    """The textbook delta of a group: k e^((k - 1) epsilon) delta, at k epsilon; `exact_delta` is far smaller."""
    return people * math.exp(min((people - 1) * epsilon, 700.0)) * delta


def exact_delta(epsilon: float, delta: float, people: int) -> float:
    """The delta that Gaussian noise for one person gives a group at k epsilon, exactly."""
    from dpsyn_core.privacy import gdp_delta  # scipy is heavy

    mu = math.sqrt(2 * Budget(epsilon=epsilon, delta=delta).gaussian().rho)
    return gdp_delta(people * epsilon, people * mu)


COUNTS = np.array([816, 109, 7, 39, 6, 17])  # a published teaching example
PUBLISHED = np.array([776, 118, 6, 53, 22, 19])  # the draw that it shows, at epsilon 5
STEPS = ("alpha", "theta", "y")


def least_alpha(m: int, eps: float) -> float:
    """Smallest prior count a cell that makes m draws epsilon-DP for one exchanged person: m / (e^epsilon - 1)."""
    return m / math.expm1(eps)


def moments(counts: NDArray[np.int64], m: int, eps: float) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each synthetic count, in records."""
    a = counts + least_alpha(m, eps)
    whole, share = a.sum(), a / a.sum()
    return m * share, np.sqrt(m * share * (1 - share) * (whole + m) / (whole + 1))


def synthetic(counts: NDArray[np.int64], m: int, eps: float) -> NDArray[np.int64]:
    """One draw for the figure: shares from the counts plus prior, then m records from the shares."""
    return walk(counts, m, eps, np.random.default_rng()).drawn


@dataclass(frozen=True, kw_only=True)
class PriorSteps:
    """The three steps to a synthetic table. counts: y + alpha. shares: theta*, never to be released. drawn: y*."""

    alpha: float
    counts: Floats
    shares: Floats
    drawn: NDArray[np.int64]


def walk(counts: NDArray[np.int64], m: int, eps: float, rng: Generator) -> PriorSteps:
    """Step 1: alpha imaginary people in every cell. Step 2: shares theta* ~ Dirichlet(y + alpha). Step 3: m draws."""
    alpha = least_alpha(m, eps)
    shares = rng.dirichlet(counts + alpha)
    whole = np.asarray(counts + alpha, dtype=np.float64)
    return PriorSteps(alpha=alpha, counts=whole, shares=shares, drawn=rng.multinomial(m, shares))


def log_chance(drawn: NDArray[np.int64], counts: NDArray[np.int64], alpha: float) -> float:
    """Logarithm of the chance that these synthetic counts are drawn, (8) of the slides: theta is integrated out."""
    from scipy.special import gammaln  # heavy

    a, m = counts + alpha, int(drawn.sum())
    each = gammaln(drawn + a) - gammaln(a) - gammaln(drawn + 1)
    return float(gammaln(m + 1) + gammaln(a.sum()) - gammaln(m + a.sum()) + each.sum())


@dataclass(frozen=True, kw_only=True, slots=True)
class Derivation:
    """Equations (8) to (13) of the slides in numbers, for one person who is counted in another cell.

    log_chance: (8). by_gamma: (9), the logarithm of the ratio of chances. by_four: (10), the same from the two cells
    that differ, with the indices in their places. least, largest: (11). epsilon: (12). alpha: (13).
    """

    log_chance: float
    by_gamma: float
    by_four: float
    least: float
    largest: float
    epsilon: float
    alpha: float


def derivation(
    counts: NDArray[np.int64], drawn: NDArray[np.int64], eps: float, *, left: int, joined: int
) -> Derivation:
    """Why the draw keeps the promise.

    Args:
        counts: with the person in cell `left`, which has at least one.
        drawn: synthetic counts, as many people.
        eps: for which alpha is least.
        left: the cell in which the person no longer is in the other table.
        joined: the cell in which the person is there.
    """
    m = int(drawn.sum())
    alpha = least_alpha(m, eps)
    other = counts.copy()
    other[left] -= 1
    other[joined] += 1
    here, there = counts[left] - 1 + alpha, counts[joined] + alpha
    four, largest = (drawn[left] + here) / here * there / (drawn[joined] + there), (m + alpha) / alpha
    mine, others = log_chance(drawn, counts, alpha), log_chance(drawn, other, alpha)
    ends = {"least": 1 / largest, "largest": largest, "epsilon": math.log(largest), "alpha": alpha}
    return Derivation(log_chance=mine, by_gamma=mine - others, by_four=math.log(four), **ends)


@dataclass(frozen=True, kw_only=True, slots=True)
class Direct:
    """K figures of a noisy table. estimate, noise, sampling: float64 (K,), NaN where a group has no records.

    noise and sampling: variances of the estimate because of the noise, and because the records are a sample.
    """

    estimate: Floats
    noise: Floats
    sampling: Floats

    def half(self, truth: CombinedTruth = "table") -> Floats:
        """Half-widths of intervals for the real table (noise alone), or for the population (noise and sampling)."""
        return Z * np.sqrt(self.noise if truth == "table" else self.noise + self.sampling)

    def forgetful(self) -> Floats:
        """Half-widths of an analyst who takes the noisy counts for exact ones: sampling alone. Too narrow."""
        return Z * np.sqrt(self.sampling)


def read_directly(quantity: Quantity, table: Floats, sigma: float) -> Direct:
    """Figures of a noisy table and their variances, by the delta method: sums exactly, others by first derivatives.

    Args:
        quantity: K figures.
        table: noisy counts over its attributes; independent noise of standard deviation `sigma` in every cell.
        sigma: in counts.
    """
    influence = quantity.influence(table)
    return Direct(
        estimate=quantity.values(table),
        noise=sigma**2 * np.square(influence).reshape(len(influence), -1).sum(axis=1),
        sampling=sampling(centred(influence, np.maximum(table, 0.0)), table),
    )


SEED = 17
BASE = 0.30  # share of recoveries without the treatment
Z = 1.959963984540054  # two-sided 95 %
AT_ONCE = 200  # studies that are read together: weights of 200 x 800 cells


@dataclass(frozen=True, kw_only=True, slots=True)
class Studies:
    """Repeated studies. estimate, naive, honest: (studies,), the difference and the half widths of both intervals."""

    truth: float
    estimate: Floats
    naive: Floats
    honest: Floats

    def covers(self, half: Floats) -> NDArray[np.bool_]:
        """Whether each interval of this half width holds the truth."""
        return np.asarray(np.abs(self.estimate - self.truth) <= half)

    def finds(self, half: Floats) -> NDArray[np.bool_]:
        """Whether each interval leaves out zero: an effect is claimed."""
        return np.asarray(np.abs(self.estimate) > half)


def sigma(epsilon: float, delta: float) -> float:
    """Standard deviation of the noise on each of the four counts: one table, each person in one of its cells."""
    return Budget(epsilon=epsilon, delta=delta).gaussian().sigma(1.0)


def studies(people: int, effect: float, noise: float, *, times: int, seed: int) -> Studies:
    """`times` studies of `people` patients, half of them treated; each releases a 2 x 2 table with noise.

    Each share is recovered / (recovered + not), both noisy. The intervals are those of the engine for one noisy table;
    for a share p of n patients its variances are p (1 - p) / n for the patients drawn, and
    noise^2 ((1 - p)^2 + p^2) / n^2 for the noise, by the delta method.
    """
    rng = np.random.default_rng((SEED, seed, people))
    half = people // 2
    shares = np.array([BASE, BASE + effect])
    got = rng.binomial(half, shares[:, None], (2, times)).astype(np.float64)
    table = np.stack([half - got, got])  # (recovered or not, arm, study)
    table = table + np.rint(noise * rng.standard_normal(table.shape))[::-1]
    tables = np.moveaxis(table, (0, 1, 2), (2, 1, 0))  # (study, arm, not recovered or recovered)
    found = [_read(part, noise) for part in np.array_split(tables, -(-times // AT_ONCE))]
    return Studies(
        truth=effect,
        estimate=np.concatenate([f.estimate for f in found]),
        naive=np.concatenate([f.forgetful() for f in found]),
        honest=np.concatenate([f.half("population") for f in found]),
    )


def _read(tables: Floats, noise: float) -> Direct:
    """The engine's intervals for the difference of two shares, which is a gap of means of 0 and 1, one a study.

    An arm whose noisy counts show nobody is read as one patient, half recovered, so that every study has an estimate.
    """
    tables = np.maximum(tables, 0.0)
    tables = np.where(tables.sum(axis=2, keepdims=True) > 0, tables, 0.5)
    gaps = Gaps(attributes=("study", "arm", "recovered"), axis=2, side=1, codes=(1, 0), numbers=np.array([0.0, 1.0]))
    return read_directly(gaps, tables, noise)


def expected_coverage(people: int, effect: float, noise: float) -> float:
    """Coverage of the naive interval by the normal approximation: 2 Phi(z r) - 1, r the ratio of the deviations."""
    drawn, added = variances(people, effect, noise)
    return math.erf(Z * math.sqrt(drawn / (drawn + added)) / math.sqrt(2))


def variances(people: int, effect: float, noise: float) -> tuple[float, float]:
    """Variance of the difference by the patients drawn, and by the noise."""
    n = people // 2
    shares = (BASE, BASE + effect)
    drawn = sum(p * (1 - p) / n for p in shares)
    return drawn, sum(noise**2 * ((1 - p) ** 2 + p**2) / n**2 for p in shares)
