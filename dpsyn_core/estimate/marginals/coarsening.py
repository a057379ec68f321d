"""Coarsening: which values of an attribute are counted as one, how that is chosen, and how tables follow it. Blind.

>>> ages = Coarsening.of([0, 0, 0, 1, 1])
>>> ages.sum(np.array([5.0, 1.0, 2.0, 4.0, 4.0]))
array([8., 8.])
>>> ages.expand(np.array([8.0, 8.0]))
array([8., 8., 8., 8., 8.])
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpsyn_core.errors import EngineError, TableError
from dpsyn_core.schema import CodedAttribute, Domain

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

LEAST = 12  # fewer values than this show no order
LAGS = 8  # values this far apart still count as neighbours
CLEAR = 4.0  # standard deviations above the mean of values in random order
MOST_STARTS = 400  # values that merging by mean starts from; more are first joined where the least is lost

WIDE = 32  # stretches without records as wide as this part of all values tell clusters apart
HOLLOW = 8.0  # part of the records of a coarse value that such a stretch holds at most


@dataclass(frozen=True, eq=False, slots=True)
class Coarsening:
    """Sends each value of an attribute to a coarse value.

    map: (values,), the coarse value of each value, from 0 to below `size`; it is not changed by anybody. size: number
    of coarse values. Two are equal where both are.
    """

    map: Codes
    size: int

    def __post_init__(self) -> None:
        """Raises EngineError unless every value has a coarse value."""
        if self.map.ndim != 1 or not len(self.map) or self.map.min() < 0 or self.map.max() >= self.size:
            msg = f"a coarsening sends each of its values to a number from 0 to below {self.size}; this one does not"
            raise EngineError(msg)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coarsening) and self.size == other.size and np.array_equal(self.map, other.map)

    def __hash__(self) -> int:
        return hash((self.size, self.map.tobytes()))

    @classmethod
    def of(cls, codes: ArrayLike) -> Coarsening:
        """From the coarse value of each value; there are as many as the largest of them says."""
        codes_array = np.asarray(codes, dtype=np.intp)
        return cls(codes_array, int(codes_array.max(initial=-1)) + 1)

    @classmethod
    def identity(cls, size: int) -> Coarsening:
        """Every value stays as it is."""
        return cls(np.arange(size), size)

    @classmethod
    def even(cls, attribute: CodedAttribute, count: int) -> Coarsening:
        """The values in front, in at most `count` runs of nearly equal length; special values keep a code each."""
        ranked = attribute.size - attribute.special
        count = min(count, ranked)
        return cls.of(np.append(np.arange(ranked) * count // max(ranked, 1), count + np.arange(attribute.special)))

    @classmethod
    def rare(cls, kept: NDArray[np.bool_]) -> Coarsening:
        """Values to keep, in their order, and one last coarse value for all others; all are kept where one is rare."""
        if np.count_nonzero(~kept) < 2:
            return cls.identity(len(kept))
        codes = np.full(len(kept), np.count_nonzero(kept), dtype=np.intp)
        codes[kept] = np.arange(np.count_nonzero(kept))
        return cls.of(codes)

    @classmethod
    def by_mass(
        cls, counts: Floats, attribute: CodedAttribute, *, least: float, gaps: bool = False, apart: float = math.inf
    ) -> Coarsening:
        """Merges values until each coarse value holds at least `least` records, as far as there are that many.

        Neighbours merge in an ordered attribute, the rarest values merge in an unordered one; values without order
        ("missing", "other") merge with each other. Reads released counts only.

        Args:
            counts: float64 (values,), non-negative estimates.
            attribute: its order and its special values.
            least: records that a coarse value should hold.
            gaps: values on both sides of a wide stretch without records do not merge; see `_clusters`.
            apart: records from which on a coarse value does not join a value that holds `least` alone, where it would
                be lost.
        """
        ranked = attribute.size - attribute.special if attribute.ordered else 0
        rest = ranked + np.argsort(-counts[ranked:], kind="stable")
        codes = np.zeros(attribute.size, dtype=np.intp)
        code = 0
        for cluster in _clusters(counts[:ranked], least) if gaps else [np.arange(ranked)]:
            _merge_by_mass(counts, cluster, least, codes, code, apart=apart)
            code = int(codes[cluster].max(initial=-1)) + 1
        _merge_by_mass(counts, rest, least, codes, code, apart=apart)
        return cls.of(codes)

    @classmethod
    def by_mean(cls, counts: Floats, numbers: Floats, *, most: int = 64, noise: float = 0.0) -> Coarsening:
        """Merges runs of values so that sums of the numbers, by group, follow best from noisy counts of the runs.

        What a coarse value adds to the error of a sum has two parts. It hides the spread of its numbers: a group whose
        records lie differently inside it has another sum, by a share of its count times that spread. And its count is
        noisy, which moves the sum by the noise times the distance of its mean from the mean of all. Both are squared
        and added up, and dynamic programming finds the runs that make the whole least. A long upper tail holds few
        records and much of a sum; it gets narrow runs where equal counts would merge it. Reads released or public
        counts only.

        Args:
            counts: float64 (values,), estimates; negative ones count as 0.
            numbers: what each value stands for, (values,); NaN for values without a number, which share the last code.
            most: coarse values of those with numbers, at least 1.
            noise: standard deviation of the noise of one count, in records, over the share of a spread that is hidden.
        """
        numbered = np.flatnonzero(~np.isnan(numbers))
        order = numbered[np.argsort(numbers[numbered], kind="stable")]
        codes = np.zeros(len(numbers), dtype=np.intp)
        runs = 0
        if len(order):
            mass = np.maximum(counts[order], 0.0)
            mass = mass + max(float(mass.sum()), 1.0) * 1e-6 / len(mass)  # empty values still have a place in between
            starts = _best_starts(mass, numbers[order], min(most, len(order)), noise)
            run = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
            codes[order] = run
            runs = int(run[-1]) + 1
        codes[np.isnan(numbers)] = runs
        return cls.of(codes)

    @property
    def is_identity(self) -> bool:
        """Whether every value stays where it is."""
        return self.size == len(self.map) and np.array_equal(self.map, np.arange(self.size))

    @property
    def width(self) -> Codes:
        """How many values each coarse value stands for, (size,)."""
        return np.bincount(self.map, minlength=self.size)

    @property
    def first(self) -> Codes:
        """The first value of each coarse value that has one."""
        return np.unique(self.map, return_index=True)[1]

    def compose(self, then: Coarsening) -> Coarsening:
        """First this one, then another of its coarse values."""
        return Coarsening(then.map[self.map], then.size)

    def without(self, before: Coarsening) -> Coarsening:
        """What was done after `before`: `before.compose(c).without(before)` is c."""
        return Coarsening(self.map[before.first], self.size)

    def refines(self, other: Coarsening) -> bool:
        """Whether values that are together here are together in the other one."""
        return bool(np.array_equal(other.map, other.map[self.first][np.unique(self.map, return_inverse=True)[1]]))

    def sum(self, values: NDArray[Any], axis: int = 0) -> Floats:
        """Adds up what values of one coarse value hold along an axis of a table, one after the other."""
        if values.ndim == 1:
            return np.bincount(self.map, weights=values, minlength=self.size).astype(np.float64)
        shape = list(values.shape)
        before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        cell = (np.arange(before)[:, None] * self.size + self.map)[:, :, None] * after + np.arange(after)
        shape[axis] = self.size
        sums = np.bincount(cell.ravel(), weights=values.ravel(), minlength=math.prod(shape))
        return sums.astype(np.float64).reshape(shape)

    def expand(self, values: NDArray[Any], axis: int = 0) -> NDArray[Any]:
        """Gives each value what its coarse value holds along an axis."""
        return np.take(values, self.map, axis=axis)

    def within(self, weights: Floats) -> Floats:
        """The share of each value in its coarse value, (values,); even where the weights of a coarse value are 0."""
        totals = self.sum(weights)[self.map]
        return np.divide(weights, totals, out=1 / self.width[self.map], where=totals > 0)


Recodes = Mapping[str, Coarsening]  # attribute -> its coarsening; attributes without one keep all values
NO_RECODES: Recodes = MappingProxyType({})


def coarsen(values: NDArray[Any], names: Sequence[str], recodes: Recodes) -> NDArray[Any]:
    """A table over some attributes with its cells added up, axis by axis."""
    for axis, name in enumerate(names):
        if name in recodes:
            values = recodes[name].sum(values, axis)
    return values


def coarse_shape(domain: Domain, names: Sequence[str], recodes: Recodes) -> tuple[int, ...]:
    """Shape of a marginal. Raises TableError for a coarsening of another number of values than its attribute has."""
    shape = list(domain.shape(names))
    for i, name in enumerate(names):
        if name in recodes:
            if len(recodes[name].map) != shape[i]:
                msg = f"the coarse map of '{name}' must give one coarse code to each of its {shape[i]} values"
                raise TableError(msg)
            shape[i] = recodes[name].size
    return tuple(shape)


def coarse_domain(domain: Domain, recodes: Recodes) -> Domain:
    """The domain of the coarse values, for coarsenings that keep order and special values."""
    return Domain(tuple(replace(a, size=recodes[a.name].size) if a.name in recodes else a for a in domain.attributes))


def in_order(counts: Floats) -> bool:
    """Whether neighbouring codes have similar counts, so that they seem to be ordered although nobody declared it.

    The sum of the autocorrelations of the ranks at the first lags, in standard deviations of a random order, where
    each has mean -1 / n or so and variance 1 / n (Wald and Wolfowitz 1943). Several lags are used because
    of heaped values, as in hours worked. Ages, years and values sorted by frequency pass; values sorted by name do not.
    Reads released counts only, shape (size,).
    """
    n = len(counts)
    if n < LEAST:
        return False
    _, place, ties = np.unique(counts, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties + 1) / 2)[place]
    ranks = ranks - ranks.mean()
    spread = float((ranks**2).sum())
    if spread <= 0:
        return False
    lags = np.arange(1, min(LAGS, n // 4) + 1)
    statistic = sum(float((ranks[lag:] * ranks[:-lag]).sum()) / spread + (n - lag) / (n * (n - 1)) for lag in lags)
    return bool(statistic > CLEAR * float(np.sqrt(((n - lags) / n**2).sum())))


def _clusters(counts: Floats, least: float) -> list[Codes]:
    """Runs of values between wide stretches that hold next to no records, each with at least `least` records.

    A stretch counts where it is a `WIDE`-th of all values and holds a `HOLLOW`-th of `least`. Ages have none; places on
    a map have some, and a coarse value with the end of one group and the beginning of the next would exchange their
    records.
    """
    n, mass = len(counts), np.append(0.0, np.cumsum(np.maximum(counts, 0.0)))
    width = max(2, n // WIDE)
    if n <= width:
        return [np.arange(n)]
    hollow = mass[width:] - mass[:-width] <= least / HOLLOW
    edges = np.flatnonzero(np.diff(np.append(np.append(0, hollow), 0).astype(np.int8)))
    cuts = [0]
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        cut = (first + last + width) // 2  # windows that begin at first .. last - 1 are hollow
        if mass[cut] - mass[cuts[-1]] >= least and mass[n] - mass[cut] >= least:
            cuts.append(cut)
    return np.split(np.arange(n), cuts[1:])


def _merge_by_mass(counts: Floats, values: Codes, least: float, codes: Codes, first: int, *, apart: float) -> None:
    """Numbers runs of values from `first` on; a last run that is too small joins the one before it."""
    code, mass, before = first, 0.0, 0.0
    for position, value in enumerate(values):
        if position and (mass >= least or (mass >= apart and counts[value] >= least)):
            code, mass, before = code + 1, 0.0, counts[values[position - 1]]
        codes[value] = code
        mass += counts[value]
    if mass < least and code > 0 and len(values) and not (mass >= apart and (code == first or before >= least)):
        codes[values[codes[values] == code]] = code - 1


def _best_starts(counts: Floats, numbers: Floats, most: int, noise: float) -> Codes:
    """First positions of the best runs, at most so many, by dynamic programming over their ends."""
    first = _joined(counts, numbers, MOST_STARTS) if len(counts) > MOST_STARTS else np.arange(len(counts))
    w, x, x2 = (np.add.reduceat(v, first) for v in (counts, counts * numbers, counts * numbers**2))
    cost = _costs(w, x, x2, noise)
    n = len(first)
    rows = np.arange(n)
    best, cuts, ends = cost[0], [np.zeros(n, dtype=np.intp)], [float(cost[0, -1])]
    for _ in range(1, min(most, n)):
        # the last run starts at j and ends at i: what is best up to j - 1, and the cost of j .. i
        tried = np.append(np.inf, best[:-1])[:, None] + cost
        cuts.append(np.argmin(tried, axis=0))
        best = tried[cuts[-1], rows]
        ends.append(float(best[-1]))
    starts, end = [0], n - 1
    for k in range(int(np.argmin(ends)), 0, -1):
        starts.append(int(cuts[k][end]))
        end = starts[-1] - 1
    return np.unique(first[starts])


def _costs(w: Floats, x: Floats, x2: Floats, noise: float) -> Floats:
    """What a run from j to i adds to the squared error of a sum, shape (n, n); infinite where i is before j."""
    sums = [np.concatenate([[0.0], np.cumsum(v)]) for v in (w, x, x2)]
    count, first, second = (s[None, 1:] - s[:-1, None] for s in sums)
    after = np.arange(len(w))[None, :] >= np.arange(len(w))[:, None]
    spread = np.maximum(count * second - first**2, 0.0)
    mean = np.divide(first, count, out=np.zeros_like(first), where=after)
    middle = float(x.sum() / w.sum())
    return np.where(after, spread + (noise * (mean - middle)) ** 2, np.inf)


def _joined(counts: Floats, numbers: Floats, most: int) -> Codes:
    """Starts of at most `most` runs of values, of about equal counts times distances."""
    step = np.diff(numbers, append=numbers[-1])
    mass = np.cumsum(np.sqrt(counts) * (step + step.mean() + 1e-300))
    key = np.floor(mass / mass[-1] * (most - 1)).astype(np.int64)
    return np.unique(key, return_index=True)[1]
