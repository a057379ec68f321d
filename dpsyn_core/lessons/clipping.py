"""Lab 13: a private mean needs a bound on each value; too low is wrong, too high is noisy.

Source: Amin, Kulesza, Munoz, Vassilvitskii 2019 (the best bound leaves out about as many people as the noise is wide).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy.budget import Budget

Floats = NDArray[np.float64]
SEED = 13
BOUNDS = np.geomspace(50, 20_000, 241)


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


def answers(values: Floats, bound: float, epsilon: float, *, times: int, seed: int) -> Floats:
    """Private means of repeated runs; (times,)."""
    rng = np.random.default_rng((SEED, seed))
    scale = Budget(epsilon=epsilon, delta=0.0).pure().scale(bound) / len(values)
    return np.asarray(np.minimum(values, bound).mean() + rng.laplace(0, scale, times))
