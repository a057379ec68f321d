"""Quantiles and Gini indices of a noisy table in which each value of a number has a separate cell, with intervals.

Neither follows from a mean, and both bend where noise is large: what is drawn again around a noisy table is off in one
direction. So both intervals hold those values of the figure that the table does not contradict (a test that is turned
round: Neyman 1937; for a ratio, Fieller 1954).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Groups, quantiles

Floats = NDArray[np.float64]

STEPS = 8  # of a bin, at which places in it are tried
TRIED = 501  # values of a Gini index


@dataclass(frozen=True, kw_only=True, slots=True)
class RankedCounts:
    """Noisy counts of a number in its order.

    counts: float64 (groups, values). sigma: standard deviation of their noise. low, high, middle: of each value
    (values,), ascending: its bin, in which records are spread evenly, and the number it counts as. whole: whether
    records of a bin may lie anywhere in it, so that intervals end where bins do.
    """

    counts: Floats
    sigma: float
    low: Floats
    high: Floats
    middle: Floats
    whole: bool = False

    def quantiles(self, at: float, z: float) -> tuple[Floats, Floats, Floats]:
        """A quantile of each group, and lower and upper end of its interval: (groups,) each.

        At the true quantile, (1 - at) times the records below less `at` times those above is 0. An interval goes from
        the first place at which the noisy number may be 0 or more to the last at which it may be 0 or less, within z
        standard deviations. There are such places: at one end of all bins the number is 0 or more, at the other end
        0 or less.

        Args:
            at: from 0 to 1.
            z: standard deviations.
        """
        values = self.counts.shape[1]
        part = np.linspace(0, 1, 2 if self.whole else STEPS + 1)
        below = np.cumsum(self.counts, axis=1) - self.counts
        reached = below[:, :, None] + part * self.counts[:, :, None]  # (groups, values, places of a bin)
        apart = reached - at * self.counts.sum(axis=1)[:, None, None]
        rank = np.arange(values)[:, None]
        spread = (1 - at) ** 2 * rank + (part - at) ** 2 + at**2 * (values - 1 - rank)
        off = z * self.sigma * np.sqrt(spread)
        enough, few = ((apart >= -off).reshape(len(apart), -1), (apart <= off).reshape(len(apart), -1))
        place = (self.low[:, None] + part * (self.high - self.low)[:, None]).ravel()
        first, last = enough.argmax(axis=1), few.shape[1] - 1 - few[:, ::-1].argmax(axis=1)
        low, high = place[np.maximum(first - 1, 0)], place[np.minimum(last + 1, len(place) - 1)]  # a step outwards
        return np.clip(self._read(at), low, high), low, high

    def _read(self, at: float) -> Floats:
        """The quantile of counts that lost what must be noise.

        Where negative counts were 0 by themselves, noise above 0 would stay, and empty cells would count. So the
        numbers of records up to each value become monotone: the mean of the largest before and the least after.
        """
        sums = np.cumsum(self.counts, axis=1)
        after = np.minimum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
        rising = np.maximum((np.maximum.accumulate(sums, axis=1) + after) / 2, 0.0)
        size = len(sums)
        low, high, middle = (np.tile(v, size) for v in (self.low, self.high, self.middle))
        cells = Groups(
            group=np.repeat(np.arange(size), self.counts.shape[1]),
            numbers=middle,
            weights=np.diff(rising, axis=1, prepend=0.0).ravel(),
            size=size,
        )
        return quantiles(cells, at, ends=(low, high) if (self.low < self.high).any() else None)

    def gini_parts(self, variance: float) -> Floats:
        """Two sums of which one less the ratio is the Gini index, (2, groups); negative numbers count as 0.

        The integral of the squared number of records above each number, and the number of records times their sum.
        Both lose what noise of this variance adds to them on average.
        """
        numbers = np.maximum(self.middle, 0.0)
        above = np.cumsum(self.counts[:, ::-1], axis=1)[:, ::-1]  # records of this value or more
        cells = np.arange(self.counts.shape[1], 0, -1)
        squares = (above**2 - variance * cells) @ np.diff(numbers, prepend=0.0)
        product = self.counts.sum(axis=1) * (self.counts @ numbers) - variance * numbers.sum()
        return np.stack([squares, product])


def gini_interval(parts: Floats, drawn: Floats, z: float) -> tuple[Floats, Floats, Floats]:
    """Gini index of each group, and both ends of its interval: (groups,) each; an empty one is NaN.

    Args:
        parts: of `RankedCounts.gini_parts`.
        drawn: the same of tables with noise once more, (draws, 2, groups).
        z: standard deviations.
    """
    tried = np.linspace(0.0, 1.0, TRIED)[:, None]
    squares, product = parts
    spread = drawn.std(axis=0)
    both = ((drawn - drawn.mean(axis=0)).prod(axis=1)).mean(axis=0)
    variance = spread[0] ** 2 - 2 * (1 - tried) * both + ((1 - tried) * spread[1]) ** 2
    fits = np.abs(squares - (1 - tried) * product) <= z * np.sqrt(np.maximum(variance, 0.0))
    there = fits.any(axis=0)
    low = np.where(there, np.maximum(fits.argmax(axis=0) - 1, 0) / (TRIED - 1), np.nan)
    high = np.where(there, np.minimum(TRIED - fits[::-1].argmax(axis=0), TRIED - 1) / (TRIED - 1), np.nan)
    ratio = np.divide(squares, product, out=np.full(len(product), np.nan), where=product > 0)
    return np.clip(1 - ratio, low, high), low, high
