"""Bins of numbers: whole-number bins (integers, days, seconds) and real bins, with exact public boundaries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError

WHOLE_MIN, WHOLE_MAX = -(2**62), 2**62  # so that widths fit in int64
MAX_BINS = 10_000_000


@dataclass(frozen=True, slots=True)
class WholeBins:
    """Bins of integers: bin i holds starts[i] .. starts[i+1]-1, the last one up to and including `last`."""

    starts: NDArray[np.int64]
    last: int

    @classmethod
    def equal(cls, low: int, high: int, count: int) -> WholeBins:
        """`count` bins whose widths differ by at most 1; never more bins than integers."""
        _check_whole(low, high)
        n = high - low + 1
        k = min(count, n)
        _check_count(k)
        if n * k < 2**62:
            starts = low + (np.arange(k, dtype=np.int64) * n) // k
        else:  # beyond int64 the products are taken in Python integers, once a bin
            starts = np.array([low + (i * n) // k for i in range(k)], dtype=np.int64)
        return cls(starts, high)

    @classmethod
    def edged(cls, low: int, high: int, edges: Sequence[float]) -> WholeBins:
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
        return cls(starts, high)

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
        if not self.single:
            widths = np.diff(np.append(self.starts, self.last + 1))
            drawn = drawn + rng.integers(0, widths[bins])
        return drawn

    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last integer of each bin."""
        return self.starts, np.append(self.starts[1:] - 1, self.last)

    def middles(self) -> NDArray[np.float64]:
        """Mean of each bin's integers."""
        first, last = self.bounds()
        return first / 2 + last / 2


@dataclass(frozen=True, slots=True)
class RealBins:
    """Bins of reals: bin i is [edges[i], edges[i+1]), the last one closed. decimals: digits kept when drawing."""

    edges: NDArray[np.float64]
    decimals: int | None = None

    @classmethod
    def equal(cls, low: float, high: float, count: int, decimals: int | None = None) -> RealBins:
        """`count` bins of equal width; one bin when low equals high."""
        _check_count(count)
        edges = np.linspace(low, high, count + 1)
        if count > 1 and (np.diff(edges) <= 0).any():
            msg = f"{count} bins between {low} and {high} are narrower than the numbers' precision; use fewer bins"
            raise SchemaError(msg)
        return cls(edges, decimals)

    @classmethod
    def edged(cls, low: float, high: float, edges: Sequence[float], decimals: int | None = None) -> RealBins:
        """Bins between own edges; min and max are added at the ends when they are not listed."""
        return cls(np.array([low, *(e for e in edges if low < e < high), high], dtype=np.float64), decimals)

    @property
    def size(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    def find(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Bin of each value, shape as given; values outside the range fall into the first or last bin."""
        return np.searchsorted(self.edges[1:-1], values, side="right")

    def draw(self, bins: NDArray[np.integer], rng: Generator) -> NDArray[np.float64]:
        """One number a record, uniform over its bin, on a grid of `decimals` digits that stays inside the bin."""
        low, high = self.edges[:-1], self.edges[1:]
        digits = self.grid_digits()
        # grid points of bin i are first[i] .. first[i] + points[i] - 1, times 10^-digits
        scale = 10.0**digits
        first = np.ceil(low * scale)
        last = np.ceil(high * scale) - 1
        last[-1] = np.floor(high[-1] * scale)
        points = np.maximum(last - first + 1, 0)
        steps = np.floor(rng.random(len(bins)) * points[bins])
        values = (first[bins] + steps) / scale
        # a bin without a grid point, or a rounding at its border: fall back on the bin itself
        below = np.nextafter(high, low)
        below[-1] = high[-1]
        inside: NDArray[np.float64] = np.clip(values, low[bins], below[bins])
        return inside

    def grid_digits(self) -> int:
        """Digits after the point of drawn values: declared, or enough for 10,000 steps in the narrowest bin."""
        if self.decimals is not None:
            return self.decimals
        width = float(np.diff(self.edges).min())
        largest = float(np.abs(self.edges).max())
        wanted = 4 - math.floor(math.log10(width)) if width > 0 else 0
        room = 15 - math.ceil(math.log10(largest)) if largest > 0 else wanted
        return max(0, min(wanted, room, 300))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper edge of each bin."""
        return self.edges[:-1], self.edges[1:]

    def middles(self) -> NDArray[np.float64]:
        """Middle of each bin."""
        return self.edges[:-1] / 2 + self.edges[1:] / 2


def _check_whole(low: int, high: int) -> None:
    if low < WHOLE_MIN or high > WHOLE_MAX:
        msg = f"the range {low} to {high} goes beyond 2^62; narrow it, or use dtype float"
        raise SchemaError(msg)


def _check_count(count: int) -> None:
    if count > MAX_BINS:
        msg = f"{count} bins are above the cap of {MAX_BINS}; use fewer or wider bins"
        raise SchemaError(msg)
