"""Bins of numbers: whole-number bins (integers, days, seconds) and real bins, with exact public boundaries."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.grids import exact

WHOLE_MIN, WHOLE_MAX = -(2**62), 2**62  # so that widths fit in int64
MAX_BINS = 10_000_000
NUDGE = 1e-6  # part of a step by which a number may miss an edge from below, as computed numbers do
# how round the numbers of a bin are, by public boundaries alone: people round, so round values are heaped
ROUNDEST = 255  # of the bin that holds 0
LEVELS = 8  # units that are tried: four powers of ten, and the half of each
EVEN = 2.0  # times the shortest bin, up to which a longest one counts as equally long
CLOSE = 1e-9  # of a unit, by which a boundary may miss its multiple, as computed numbers do


@dataclass(frozen=True, slots=True)
class WholeBins:
    """Bins of integers: bin i holds starts[i] .. starts[i+1]-1, the last one up to and including `last`.

    step: drawn numbers are multiples of it, where the bin holds one. only: the only integers that are drawn, rising,
    at least one in each bin; None: all, or the multiples of the step.
    """

    starts: NDArray[np.int64]
    last: int
    step: int = 1
    only: NDArray[np.int64] | None = None

    @classmethod
    def equal(cls, low: int, high: int, count: int, step: int = 1) -> WholeBins:
        """`count` bins whose widths differ by at most 1; never more bins than integers."""
        _check_whole(low, high)
        n = high - low + 1
        k = min(count, n)
        _check_count(k)
        if n * k < 2**62:
            starts = low + (np.arange(k, dtype=np.int64) * n) // k
        else:  # beyond int64 the products are taken in Python integers, once a bin
            starts = np.array([low + (i * n) // k for i in range(k)], dtype=np.int64)
        return cls(starts, high, step)

    @classmethod
    def edged(cls, low: int, high: int, edges: Sequence[float], step: int = 1) -> WholeBins:
        """Bins [edge, next edge), the last closed at `high`; every bin must hold an integer."""
        _check_whole(low, high)
        inner = [e for e in edges if low < e <= high]
        if inner and inner[-1] == high and len(inner) > 1:
            inner = inner[:-1]
        elif inner == [high]:
            inner = []
        starts = np.array([low, *(math.ceil(e) for e in inner)], dtype=np.int64)
        if (np.diff(starts) <= 0).any():
            msg = "a bin holds no whole number; move its edges apart, or use dtype float"
            raise SchemaError(msg)
        return cls(starts, high, step)

    @classmethod
    def fine(cls, low: int, high: int, starts: Sequence[Fraction], step: int = 1) -> WholeBins:
        """Bins that begin at these places (see `grids.fine_starts`)."""
        _check_whole(low, high)
        return cls(np.unique(np.array([math.ceil(s) for s in starts], dtype=np.int64)), high, step)

    @property
    def size(self) -> int:
        """Number of bins."""
        return len(self.starts)

    @property
    def single(self) -> bool:
        """Whether every bin is one integer."""
        return self.last - int(self.starts[0]) + 1 == self.size

    def find(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Bin of each value, shape as given; values outside the range fall into the first or last bin."""
        if self.single:
            low = int(self.starts[0])
            out: NDArray[np.intp] = (np.clip(values, low, self.last) - low).astype(np.intp)
            return out
        return np.maximum(np.searchsorted(self.starts, values, side="right") - 1, 0)

    def draw(self, bins: NDArray[np.integer], rng: Generator) -> NDArray[np.int64]:
        """One integer a record, uniform over its bin."""
        drawn: NDArray[np.int64] = self.starts[bins]
        if self.single:
            return drawn
        if self.only is not None:
            first, points = self.places()
            drawn = self.only[first[bins] + rng.integers(0, points[bins])]
        elif self.step == 1:
            widths = np.diff(np.append(self.starts, self.last + 1))
            drawn = drawn + rng.integers(0, widths[bins])
        else:
            least, points = self._multiples()
            multiples = (least[bins] + rng.integers(0, np.maximum(points, 1)[bins])) * self.step
            drawn = np.where(points[bins] > 0, multiples, drawn)
        return drawn

    def _multiples(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each bin the first multiple of the step, in steps, and how many it holds."""
        first, last = self.bounds()
        least = -(-first // self.step)
        return least, np.maximum(last // self.step - least + 1, 0)

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each bin the position in `only` of its first integer, and how many it holds."""
        only = self.starts if self.only is None else self.only
        first, last = self.bounds()
        at = np.searchsorted(only, first)
        return at, np.searchsorted(only, last, side="right") - at

    def alone(self) -> NDArray[np.bool_]:
        """Which bins hold one value alone."""
        single: NDArray[np.bool_] = (self._multiples() if self.only is None else self.places())[1] == 1
        return single

    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last integer of each bin."""
        return self.starts, np.append(self.starts[1:] - 1, self.last)

    def middles(self) -> NDArray[np.float64]:
        """Mean of each bin's integers, of those that can be drawn."""
        first, last = self.bounds()
        middles: NDArray[np.float64] = first / 2 + last / 2
        if self.only is not None:
            at, points = self.places()
            sums = np.append(0, np.cumsum(self.only))
            return np.asarray((sums[at + points] - sums[at]) / points)
        if self.step == 1:
            return middles
        least, points = self._multiples()
        return np.where(points > 0, (least + (points - 1) / 2) * self.step, middles)


@dataclass(frozen=True, slots=True)
class RealBins:
    """Bins of reals: bin i is [edges[i], edges[i+1]), the last one closed.

    decimals: digits kept when drawing. step: numbers are its multiples; one that was computed, and misses an edge by
    a millionth of a step, counts as standing on it.
    """

    edges: NDArray[np.float64]
    decimals: int | None = None
    step: Fraction | None = None

    @classmethod
    def equal(
        cls, low: float, high: float, count: int, decimals: int | None = None, step: Fraction | None = None
    ) -> RealBins:
        """`count` bins of equal width; one bin when low equals high."""
        _check_count(count)
        edges = np.linspace(low, high, count + 1)
        if count > 1 and (np.diff(edges) <= 0).any():
            msg = f"{count} bins between {low} and {high} are narrower than the numbers' precision; use fewer bins"
            raise SchemaError(msg)
        return cls(edges, decimals, step)

    @classmethod
    def edged(
        cls, low: float, high: float, edges: Sequence[float], decimals: int | None = None, step: Fraction | None = None
    ) -> RealBins:
        """Bins between declared edges; min and max are added at the ends when they are not listed."""
        return cls(np.array([low, *(e for e in edges if low < e < high), high], dtype=np.float64), decimals, step)

    @classmethod
    def fine(cls, low: float, high: float, starts: Sequence[Fraction], step: Fraction | None) -> RealBins:
        """Bins that begin at these places (see `grids.fine_starts`).

        The largest value has a separate bin where a step says how far such a bin reaches.
        """
        reach = low if step is None else low + NUDGE * float(step)  # up to there `find` counts into the next bin
        inner = starts[bisect_right(starts, Fraction(reach)) :]
        edges = np.unique(np.array([low, *map(float, inner), high], dtype=np.float64))
        if step is not None and starts[-1] == exact(high) and len(starts) > 1:
            edges = np.append(edges, high + float(step) / 2)
        return cls(edges if len(edges) > 1 else np.array([low, high], dtype=np.float64), None, step)

    @property
    def size(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    def find(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Bin of each value, shape as given; values outside the range fall into the first or last bin."""
        inner = self.edges[1:-1]
        if self.step is not None:
            inner = inner - NUDGE * float(self.step)
        return np.searchsorted(inner, values, side="right")

    def draw(self, bins: NDArray[np.integer], rng: Generator) -> NDArray[np.float64]:
        """One number a record, uniform over the multiples of the grid (`step` or `decimals`) inside its bin."""
        low, high = self.edges[:-1], self.edges[1:]
        first, points = self._points()
        picked = first[bins] + np.floor(rng.random(len(bins)) * points[bins])
        grid = self._grid
        values = picked * grid.numerator / float(grid.denominator)  # 3 / 10 is what 0.3 reads as; 3 * 0.1 is not
        # a bin without a grid point, or a rounding at its border: fall back on the bin itself
        nudge = 0.0 if self.step is None else NUDGE * float(self.step)  # so far below a border `find` counts upwards
        below = np.maximum(np.nextafter(high - nudge, low), low)
        below[-1] = high[-1]
        inside: NDArray[np.float64] = np.clip(values, low[bins], below[bins])
        return inside

    @property
    def _grid(self) -> Fraction:
        """Distance of drawn numbers."""
        return self.step if self.step is not None else Fraction(1, 10 ** self.grid_digits())

    def _points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each bin its first grid point, in grid distances, and how many it holds."""
        grid = self._grid
        place = self.edges * float(grid.denominator) / float(grid.numerator)
        nearest = np.round(place)  # an edge on the grid must stay there: 1.1 * 10 is 11.000000000000002
        place = np.where(np.abs(place - nearest) <= np.abs(place) * 2.0**-50, nearest, place)
        first, last = np.ceil(place[:-1]), np.ceil(place[1:]) - 1
        last[-1] = np.floor(place[-1])
        return first, np.maximum(last - first + 1, 0)

    def alone(self) -> NDArray[np.bool_]:
        """Which bins hold one multiple of the step alone; none where no step is declared."""
        return self._points()[1] == 1 if self.step is not None else np.zeros(self.size, dtype=bool)

    def grid_digits(self) -> int:
        """Digits after the point of drawn values: declared, or enough for 10,000 steps in the narrowest bin."""
        if self.decimals is not None:
            return self.decimals
        width = float(np.diff(self.edges).min())
        largest = float(np.abs(self.edges).max())
        digits = 4 - math.floor(math.log10(width)) if width > 0 else 0
        room = 15 - math.ceil(math.log10(largest)) if largest > 0 else digits
        return max(0, min(digits, room, 300))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper edge of each bin."""
        return self.edges[:-1], self.edges[1:]

    def middles(self) -> NDArray[np.float64]:
        """Middle of each bin; the mean of its multiples of the step where one is declared."""
        middles: NDArray[np.float64] = self.edges[:-1] / 2 + self.edges[1:] / 2
        if self.step is None:
            return middles
        first, points = self._points()
        return np.where(points > 0, (first + (points - 1) / 2) * float(self.step), middles)


def _check_whole(low: int, high: int) -> None:
    if low < WHOLE_MIN or high > WHOLE_MAX:
        msg = f"the range {low:g} to {high:g} goes beyond 2^62; narrow it, or use dtype float"
        raise SchemaError(msg)


def _check_count(count: int) -> None:
    if count > MAX_BINS:
        msg = f"{count} bins are above the cap of {MAX_BINS}; use fewer or wider bins"
        raise SchemaError(msg)


def roundness(low: NDArray[Any], end: NDArray[Any]) -> bytes:
    """One number a bin: larger where it holds a rounder number, 0 where it holds none; 255 for 0 itself.

    Round are the multiples of the largest power of ten that is not above the width of the range, then of its half,
    then of the next smaller power, and so on.

    Args:
        low: smallest number of each bin, rising.
        end: where each bin ends; this number is in the next bin.
    """
    first, last = np.asarray(low, dtype=np.float64), np.asarray(end, dtype=np.float64)
    out = np.zeros(len(first), dtype=np.uint8)
    width = float(last[-1] - first[0])
    if not np.isfinite(width) or width <= 0:
        return out.tobytes()
    power = int(np.floor(np.log10(width)))
    for level in range(LEVELS):
        unit = 10.0 ** (power - level // 2) / (2 if level % 2 else 1)
        multiple = np.ceil(first / unit - CLOSE) * unit
        new = (multiple < last - CLOSE * unit) & (out == 0)
        out[new] = LEVELS - level
    out[(first <= 0) & (last > 0)] = ROUNDEST
    return out.tobytes()


def lengths(low: NDArray[Any], end: NDArray[Any]) -> bytes:
    """One float64 a bin: its length on a scale that is linear near 0 and logarithmic further away.

    Counts of amounts are smooth along it, and jump where bins of 10 follow bins of 1. Empty where all bins are equally
    long, or nearly.

    Args:
        low: smallest number of each bin, rising.
        end: where each bin ends; this number is in the next bin.
    """
    first, last = np.asarray(low, dtype=np.float64), np.asarray(end, dtype=np.float64)
    shortest = float((last - first)[:-1].min(initial=np.inf))  # the last bin may be cut off by the range
    if not 0 < shortest < np.inf or float((last - first).max()) <= EVEN * shortest:
        return b""
    return np.diff(np.arcsinh(np.append(first, last[-1]) / shortest)).tobytes()
