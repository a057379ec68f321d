"""Noise on one count, and what a leak and a clipped sum show.

Lab 1: the law of one noisy count, with and without one person.

Source: Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009.

Lab 8: why a list of values read from the data breaks the guarantee, and what buying it costs.

Source: Desfontaines, Voss, Gipson, Mandayam 2022.

Lab 13: a private mean needs a bound on each value; too low is wrong, too high is noisy.

Source: Amin, Kulesza, Munoz, Vassilvitskii 2019 (the best bound leaves out about as many people as the noise is wide).
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.measure import reach_for
from dpsyn_core.privacy import Budget

Floats = NDArray[np.float64]
DELTA = 1e-6
BOUNDS = np.geomspace(50, 20_000, 241)  # of a mean of incomes, in dollars


def law(mechanism: str, eps: float, reach: int | None = None) -> tuple[NDArray[np.int64], Floats]:
    """Noise values z and their probabilities: two-sided geometric, or a Gaussian rounded to whole numbers."""
    if mechanism == "laplace":
        scale = Budget(epsilon=eps, delta=0.0).pure().scale(1.0)
        far = reach or int(12 * scale) + 5
        z = np.arange(-far, far + 1)
        a = np.exp(-1 / scale)
        return z, (1 - a) / (1 + a) * np.exp(-np.abs(z) / scale)
    from scipy.special import ndtr

    sigma = Budget(epsilon=eps, delta=DELTA).gaussian().sigma(1.0)
    far = reach or int(6 * sigma) + 5
    z = np.arange(-far, far + 1)
    return z, ndtr((z + 0.5) / sigma) - ndtr((z - 0.5) / sigma)


def log_ratio(mechanism: str, eps: float) -> tuple[NDArray[np.int64], Floats]:
    """Ln of P(answer with you) / P(answer without you), by answer minus the count with you."""
    z, with_you = law(mechanism, eps)
    _, wide = law(mechanism, eps, reach=int(z[-1]) + 1)
    without = wide[2:]  # the count without you is one less: the same noise, shifted by one
    return z, np.log(with_you) - np.log(without)


def chance_shown(count: int, eps: float, delta: float) -> float:
    """Chance that partition selection lists a value which `count` individuals hold, for truncated geometric noise.

    The noise lies in -k..k, P(x) = c a^|x|; the value is listed when count + noise > k (engine: partitions).
    """
    scale = 1 / eps
    k = reach_for(scale, 1, delta)
    x = np.arange(-k, k + 1)
    p = np.exp(-np.abs(x) / scale)
    p /= p.sum()
    return float(p[count + x > k].sum())


def enough(eps: float, delta: float) -> int:
    """How many individuals must share a value for it to be listed in 99 of 100 runs."""
    count = 1
    while chance_shown(count, eps, delta) < 0.99:
        count += max(1, count // 50)
    return count


@lru_cache(maxsize=8)
def incomes(people: int) -> Floats:
    """Yearly incomes of invented people, in dollars, sorted: log-normal, median 900, with a long upper tail."""
    from scipy.special import ndtri  # heavy

    # quantiles instead of draws, so that the shape is the same for every number of people
    return np.asarray(np.exp(math.log(900) + 0.9 * ndtri((np.arange(people) + 0.5) / people)))


def bias(values: Floats, bound: float) -> float:
    """How much lower the mean is when values above the bound count as the bound."""
    return float(np.maximum(values - bound, 0).mean())


def noise(people: int, bound: float, epsilon: float) -> float:
    """Standard deviation of the noise on the mean: sqrt(2) bound / (epsilon n); one person moves the sum by the bound.

    The number of people is public here, so that only the sum needs noise.
    """
    return math.sqrt(2) * Budget(epsilon=epsilon, delta=0.0).pure().scale(bound) / people


def error(values: Floats, bound: float, epsilon: float) -> float:
    """Root of the mean squared error: bias and noise together."""
    return math.hypot(bias(values, bound), noise(len(values), bound, epsilon))


def curves(values: Floats, epsilon: float) -> tuple[Floats, Floats, Floats]:
    """Bias, noise and error at each of BOUNDS, in dollars."""
    # sorted values: the mean above a bound comes from one cumulative sum
    above = np.searchsorted(values, BOUNDS, side="right")
    tail = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
    n = len(values)
    low = (tail[above] - BOUNDS * (n - above)) / n
    wide = BOUNDS * noise(n, 1.0, epsilon)
    return low, wide, np.hypot(low, wide)


def best_bound(values: Floats, epsilon: float) -> float:
    """The bound with the smallest error, by golden section between the smallest value and the largest (at least)."""
    low, high = float(values[0]), float(max(values[-1], BOUNDS[-1]))
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if error(values, a, epsilon) < error(values, b, epsilon):
            high = b
        else:
            low = a
    return (low + high) / 2


def above(values: Floats, bound: float) -> int:
    """How many people have more than the bound."""
    return int((values > bound).sum())
