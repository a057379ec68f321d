"""What a release does not hide, what it breaks, and what it may pass over in silence.

Lab 22: a long watch for one alarm, by the sparse vector and by noise on every day.

Source: Dwork, Naor, Reingold, Rothblum, Vadhan 2009.

Lab 25: a conclusion about everybody reaches those who stayed out too. Source: Kasiviswanathan, Smith 2014.

Lab 26: synthetic stays in hospital whose end lies before their beginning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.lessons.choosing import above_mark
from dpsyn_core.privacy.budget import Budget

Floats = NDArray[np.float64]
SEED = 26
STAYS, YEAR = 2_000, 365
Kept = Literal["alone", "pairs", "rule"]
NODES = 2001  # of the integral over the noise of the mark


def found_by_sparse(days: int, gap: float, epsilon: float) -> float:
    """Chance that the sparse vector stays silent on all days but the last, and names that one.

    gap: by how many people quiet days lie below the mark, and the last one above it.
    """
    scores = np.append(np.full(days - 1, -gap), gap)
    return float(above_mark(scores, 0.0, epsilon, 1.0, nodes=NODES)[days - 1])


def found_by_each(days: int, gap: float, epsilon: float) -> float:
    """The same when every day's count gets Laplace noise and all of them share epsilon."""
    wrong = 0.5 * math.exp(-gap * Budget(epsilon=epsilon / days, delta=0.0).epsilon)
    return (1 - wrong) ** days


def conclusion(people: int, ill: float, epsilon: float) -> tuple[float, float, float]:
    """The share of ill smokers that is released with Ann among them and without her, and its standard deviation.

    Ann is ill. The number of smokers is public; two-sided geometric noise on the count of the ill.
    """
    with_ann = round(people * ill) / people
    without = max(0.0, (round(people * ill) - 1) / (people - 1))
    a = math.exp(-Budget(epsilon=epsilon, delta=0.0).epsilon)
    return with_ann, without, math.sqrt(2 * a) / ((1 - a) * people)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stays:
    """Days of admission and discharge (n,), counted from the first of January, and the length that stands beside."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    length: NDArray[np.int64]

    @property
    def backwards(self) -> NDArray[np.bool_]:
        """Stays that end before they begin."""
        return np.asarray(self.end < self.start)

    @property
    def wrong_length(self) -> NDArray[np.bool_]:
        """Stays whose length is not the difference of their days."""
        return np.asarray(self.length != self.end - self.start)


@lru_cache(maxsize=1)
def stays() -> Stays:
    """Invented stays: any day of a year, six nights on average."""
    rng = np.random.default_rng(SEED)
    start = rng.integers(0, YEAR, STAYS)
    length = rng.geometric(1 / 7, STAYS) - 1
    return Stays(start=start, end=start + length, length=length)


@lru_cache(maxsize=64)
def synthetic(kept: Kept, width: int) -> Stays:
    """Synthetic stays of a table that noise did not touch, so that what breaks is the logic alone.

    alone: every column is right by itself. pairs: the three pairs of columns too, in classes of `width` days, and
    values anywhere inside them. rule: as pairs; then the day of discharge is admission plus length.
    """
    rng, real = np.random.default_rng((SEED, width)), stays()
    if kept == "alone":
        return Stays(
            start=rng.permutation(real.start), end=rng.permutation(real.end), length=rng.permutation(real.length)
        )
    start, end, length = (
        column // width * width + rng.integers(0, width, STAYS) for column in (real.start, real.end, real.length)
    )
    return Stays(start=start, end=start + length if kept == "rule" else end, length=length)
