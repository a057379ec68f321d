"""Lab 7: a prior as privacy: Dirichlet-multinomial draws of the Race counts.

Source: Machanavajjhala, Kifer, Abowd, Gehrke, Vilhuber 2008; Quick 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]


COUNTS = np.array([816, 109, 7, 39, 6, 17])  # a published teaching example


PUBLISHED = np.array([776, 118, 6, 53, 22, 19])  # the draw that it shows, at epsilon 5


STEPS = ("alpha", "theta", "y")


def least_alpha(m: int, eps: float) -> float:
    """Smallest prior count a cell that makes m draws epsilon-DP for one exchanged person: m / (e^epsilon - 1)."""
    return m / math.expm1(eps)


def moments(counts: NDArray[np.int64], m: int, eps: float) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each synthetic count, in records."""
    a = counts + least_alpha(m, eps)
    whole = a.sum()
    share = a / whole
    variance = m * share * (1 - share) * (whole + m) / (whole + 1)
    return m * share, np.sqrt(variance)


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
    return PriorSteps(
        alpha=alpha,
        counts=np.asarray(counts + alpha, dtype=np.float64),
        shares=shares,
        drawn=rng.multinomial(m, shares),
    )
