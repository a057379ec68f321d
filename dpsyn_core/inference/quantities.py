"""Quantities: what a question asks of a table, as figures of its counts and as the influence of one record on them.

Every quantity reads one table of counts over its attributes, at the resolution of the schema. `values` are its figures,
float64 (K,); `influence` is what one more record in a cell would change each of them by, (K, *sizes): exact for sums,
the first derivative for means, gaps, Gini indices and quantiles (Hampel 1974; for complex statistics of tables Deville
1999). NaN where a group has no records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dpsyn_core.inference.functional import Batch, Floats
from dpsyn_core.marginals.coarsening import Coarsening, coarsen
from dpsyn_core.schema.domain import AttributeSet

LEAST = 0.5  # records: a group with fewer has no mean


class Quantity(ABC):
    """K figures of a table of counts over `attributes` (in domain order). floor, ceiling: what they cannot pass."""

    attributes: AttributeSet
    floor: float = -np.inf
    ceiling: float = np.inf
    scales: bool = False  # whether figures grow with the number of records

    @abstractmethod
    def values(self, table: Floats) -> Floats:
        """The figures (K,)."""

    @abstractmethod
    def influence(self, table: Floats) -> Floats:
        """What one more record in a cell adds to each figure, (K, *shape)."""

    def sizes(self, table: Floats) -> Floats | None:
        """Records that each figure rests on, (K,), where it is a ratio to them; None for sums."""
        return None

    def batch(self, table: Floats) -> Batch:
        """The influences as functionals."""
        return Batch(attributes=self.attributes, weights=np.nan_to_num(self.influence(table)))

    def interval(self, table: Floats, centre: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """Estimate, low and high (K,) from a centre and a half-width of the figures, within their bounds.

        table: the synthetic one. Quantiles turn an interval of shares into one of values here.
        """
        low, high = np.maximum(centre - half, self.floor), np.minimum(centre + half, self.ceiling)
        return np.clip(centre, self.floor, self.ceiling), np.minimum(low, self.ceiling), np.maximum(high, self.floor)


@dataclass(frozen=True, kw_only=True)
class WeightedCounts(Quantity):
    """Weighted counts: cells of a table, ranges, sums. weights: float64 (K, *shape)."""

    attributes: AttributeSet
    weights: Floats
    floor: float = -np.inf
    scales: bool = True

    def values(self, table: Floats) -> Floats:
        """Sums over the cells."""
        return Batch(attributes=self.attributes, weights=self.weights).of(table)

    def influence(self, table: Floats) -> Floats:
        """The weights."""
        return self.weights


@dataclass(frozen=True, kw_only=True)
class Cells(Quantity):
    """Counts of some cells of a (coarse) table, from `first` to before `last` of its flat cells.

    maps: how coarse each attribute is. shape: of the coarse table.
    """

    attributes: AttributeSet
    maps: tuple[Coarsening, ...]
    shape: tuple[int, ...]
    first: int
    last: int
    floor: float = 0.0
    scales: bool = True

    def values(self, table: Floats) -> Floats:
        """The counts."""
        merged = coarsen(table, self.attributes, dict(zip(self.attributes, self.maps, strict=True)))
        return merged.ravel()[self.first : self.last]

    def influence(self, table: Floats) -> Floats:
        """1 for the values that belong to a cell."""
        cells = np.unravel_index(np.arange(self.first, self.last), self.shape)
        out = np.ones((self.last - self.first, *[1] * table.ndim))
        for axis, (recode, at) in enumerate(zip(self.maps, cells, strict=True)):
            member = (at[:, None] == recode.map[None, :]).astype(np.float64)
            out = out * member.reshape(len(at), *[size if i == axis else 1 for i, size in enumerate(table.shape)])
        return out


@dataclass(frozen=True, kw_only=True)
class Grouped(Quantity):
    """A figure of one number in each group: K is the number of groups, in the order of their codes.

    axis: of the number. numbers: float64 (its size,), NaN for values that are none and do not count.
    """

    attributes: AttributeSet
    axis: int
    numbers: Floats

    def groups(self, table: Floats) -> Floats:
        """Counts (groups, values of the number), without what is no number."""
        moved = np.moveaxis(table, self.axis, -1)
        flat: Floats = np.where(np.isnan(self.numbers), 0.0, moved).reshape(-1, moved.shape[-1])
        return np.maximum(flat, 0.0)

    def sizes(self, table: Floats) -> Floats | None:
        """Records of the group that have a number."""
        found: Floats = self.groups(table).sum(axis=1)
        return found

    @property
    def filled(self) -> Floats:
        """The numbers, 0 for what is none."""
        return np.nan_to_num(self.numbers)

    def spread(self, per_group: Floats, shape: tuple[int, ...]) -> Floats:
        """Influences (groups, values) as weights (groups, *shape): a record counts in its own group alone."""
        held = np.where(np.isnan(self.numbers), 0.0, per_group)
        k, size = held.shape
        out = np.zeros((k, k, size))
        out[np.arange(k), np.arange(k)] = held
        others = tuple(s for i, s in enumerate(shape) if i != self.axis)
        return np.moveaxis(out.reshape(k, *others, size), -1, self.axis + 1)


def means(groups: Floats, numbers: Floats) -> tuple[Floats, Floats]:
    """Means (groups,) and their influences (groups, values); NaN without records."""
    n = groups.sum(axis=1)
    known = np.where(n >= LEAST, n, np.nan)
    mean = groups @ numbers / known
    return mean, (numbers[None, :] - mean[:, None]) / known[:, None]


@dataclass(frozen=True, kw_only=True)
class Means(Grouped):
    """Means of a number."""

    def values(self, table: Floats) -> Floats:
        """One a group."""
        return means(self.groups(table), self.filled)[0]

    def influence(self, table: Floats) -> Floats:
        """(x - mean) / records of the group."""
        return self.spread(means(self.groups(table), self.filled)[1], table.shape)


@dataclass(frozen=True, kw_only=True)
class Gini(Grouped):
    """Gini indices of a number whose negative values count as 0: E|X - Y| / (2 mean)."""

    floor: float = 0.0
    ceiling: float = 1.0

    def parts(self, table: Floats) -> tuple[Floats, Floats]:
        """Indices (groups,), and their influences (groups, values)."""
        groups, x = self.groups(table), np.maximum(self.filled, 0.0)
        n = groups.sum(axis=1)
        known = np.where(n >= LEAST, n, np.nan)
        mean = groups @ x / known
        some = np.where(mean > 0, mean, np.nan)
        distance = groups @ np.abs(x[:, None] - x[None, :]) / known[:, None]  # E|x - Y| for each value x
        index = (groups * distance).sum(axis=1) / known / (2 * some)
        change = (distance - 2 * (index * some)[:, None] - index[:, None] * (x[None, :] - some[:, None])) / some[
            :, None
        ]
        return np.where(mean == 0, 0.0, index), change / known[:, None]

    def values(self, table: Floats) -> Floats:
        """One a group; 0 where nobody has anything."""
        return self.parts(table)[0]

    def influence(self, table: Floats) -> Floats:
        """The first derivative."""
        return self.spread(self.parts(table)[1], table.shape)


@dataclass(frozen=True, kw_only=True)
class Gaps(Quantity):
    """Means of a number on one side less those on the other, one a group.

    axis: of the number. side: axis of the sides, with the codes of both. numbers: as in `Grouped`.
    """

    attributes: AttributeSet
    axis: int
    side: int
    codes: tuple[int, int]
    numbers: Floats

    def _sides(self, table: Floats) -> list[Means]:
        rest = tuple(n for i, n in enumerate(self.attributes) if i != self.side)
        axis = self.axis - (self.side < self.axis)
        return [Means(attributes=rest, axis=axis, numbers=self.numbers) for _ in self.codes]

    def sizes(self, table: Floats) -> Floats | None:
        """Records of the smaller side that have a number."""
        sides = zip(self._sides(table), self.codes, strict=True)
        found: Floats = np.min([m.groups(np.take(table, c, axis=self.side)).sum(axis=1) for m, c in sides], axis=0)
        return found

    def values(self, table: Floats) -> Floats:
        """First side less second."""
        a, b = (
            m.values(np.take(table, c, axis=self.side)) for m, c in zip(self._sides(table), self.codes, strict=True)
        )
        return a - b

    def influence(self, table: Floats) -> Floats:
        """Those of both means, with opposite signs."""
        parts = [
            m.influence(np.take(table, c, axis=self.side)) for m, c in zip(self._sides(table), self.codes, strict=True)
        ]
        out = np.zeros((len(parts[0]), *table.shape))
        where = np.moveaxis(out, self.side + 1, 0)
        for sign, code, part in zip((1.0, -1.0), self.codes, parts, strict=True):
            where[code] += sign * np.nan_to_num(part)
        return out


@dataclass(frozen=True, kw_only=True)
class SharesBelow(Grouped):
    """The share of each group below a value of its own: what intervals of quantiles are made of.

    An interval for the share of records below an estimated quantile is turned into one for the quantile by reading the
    distribution backwards (Woodruff 1952). at: the quantile, in (0, 1). ends: lower and upper end of each value,
    between which its records are spread evenly. under: float64 (groups, values), how much of each value lies below.
    """

    at: float
    ends: tuple[Floats, Floats]
    under: Floats
    floor: float = 0.0
    ceiling: float = 1.0

    @classmethod
    def of(
        cls, *, attributes: AttributeSet, axis: int, numbers: Floats, ends: tuple[Floats, Floats], at: float,
        table: Floats,
    ) -> SharesBelow:  # fmt: skip
        """Shares below the quantiles of a table."""
        blank = cls(attributes=attributes, axis=axis, numbers=numbers, at=at, ends=ends, under=np.zeros((0, 0)))
        found = blank.quantiles(table, np.array([at]))
        low, high = ends
        width = np.where(high > low, high - low, 1.0)
        under = np.where(
            high > low, np.clip((found[:, None] - low) / width, 0.0, 1.0), (low <= found[:, None]).astype(np.float64)
        )
        return cls(attributes=attributes, axis=axis, numbers=numbers, at=at, ends=ends, under=np.nan_to_num(under))

    def quantiles(self, table: Floats, at: Floats) -> Floats:
        """The value of each group that a share of its own, or the same for all, falls below; NaN without records."""
        order = np.argsort(self.numbers, kind="stable")[: int(np.count_nonzero(~np.isnan(self.numbers)))]
        groups = self.groups(table)[:, order]
        n = groups.sum(axis=1)
        reached = np.cumsum(groups, axis=1)
        wanted = np.clip(at, 0.0, 1.0) * n
        place = np.argmax(reached >= wanted[:, None] * (1 - 1e-12), axis=1)
        row = np.arange(len(groups))
        held = groups[row, place]
        empty = (held <= 0) & (n > 0)  # a share of 0: the first value that anybody has
        place = np.where(empty, np.argmax(groups > 0, axis=1), place)
        held = groups[row, place]
        inside = np.divide(wanted - (reached[row, place] - held), held, out=np.zeros(len(n)), where=held > 0)
        low, high = (e[order][place] for e in self.ends)
        return np.where(n >= LEAST, low + np.clip(inside, 0.0, 1.0) * (high - low), np.nan)

    def values(self, table: Floats) -> Floats:
        """The shares."""
        groups = self.groups(table)
        n = groups.sum(axis=1)
        shares: Floats = (groups * self.under).sum(axis=1) / np.where(n >= LEAST, n, np.nan)
        return shares

    def influence(self, table: Floats) -> Floats:
        """(what lies below, less the share) / records of the group."""
        n = self.groups(table).sum(axis=1)
        known = np.where(n >= LEAST, n, np.nan)[:, None]
        return self.spread((self.under - self.values(table)[:, None]) / known, table.shape)

    def interval(self, table: Floats, centre: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """The quantile itself, and the values that leave the share between the two ends."""
        shift = np.nan_to_num(centre - self.values(table))  # what released tables say beyond the synthetic one
        wanted = (np.full(len(half), self.at), self.at - half, self.at + half)
        estimate, low, high = (self.quantiles(table, w - shift) for w in wanted)
        return estimate, low, high


@dataclass(frozen=True, kw_only=True)
class Explained(Quantity):
    """Share of what is uncertain about one attribute that another takes away (Theil), of a pair; K is 1.

    target: axis of the one that is predicted. plain: how many of its values count.
    """

    attributes: AttributeSet
    target: int
    plain: int
    floor: float = 0.0
    ceiling: float = 1.0

    def parts(self, table: Floats) -> tuple[float, Floats, float]:
        """The share, its influence (values of both), and how much of it chance alone brings about."""
        moved = np.moveaxis(np.maximum(table, 0.0), self.target, -1)
        held = np.where(np.arange(moved.shape[-1]) < self.plain, moved, 0.0)
        n = float(held.sum())
        if n < LEAST:
            return np.nan, np.zeros_like(table), 0.0
        p = held / n
        of_y, of_x = p.sum(axis=0), p.sum(axis=1)
        both, y, x = _entropy(p), _entropy(of_y), _entropy(of_x)
        if y <= 1e-12:
            return np.nan, np.zeros_like(table), 0.0
        share = float(np.clip((x + y - both) / y, 0.0, 1.0))
        change = (_slope(of_x, x)[:, None] - _slope(p, both)) / y - (x - both) / y**2 * _slope(of_y, y)[None, :]
        change = np.where(np.arange(moved.shape[-1]) < self.plain, change, 0.0) / n
        spare = (np.count_nonzero(of_x > 0) - 1) * (np.count_nonzero(of_y > 0) - 1) / (2 * n * y)
        return share, np.moveaxis(change, -1, self.target), float(spare)

    def values(self, table: Floats) -> Floats:
        """The share."""
        return np.array([self.parts(table)[0]])

    def influence(self, table: Floats) -> Floats:
        """Its first derivative."""
        return self.parts(table)[1][None]

    def interval(self, table: Floats, centre: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """Wider by what the sampling of the cells adds to the share whatever holds (Miller 1955)."""
        return super().interval(table, centre, half + np.where(half > 0, self.parts(table)[2], 0.0))


def _entropy(p: Floats) -> float:
    positive = p[p > 0]
    return float(-(positive * np.log(positive)).sum())


def _slope(p: Floats, entropy: float) -> Floats:
    """Derivative of an entropy by each count, times the number of records; cells without records as the rarest one."""
    least = float(p[p > 0].min())
    slope: Floats = -(np.log(np.maximum(p, least)) + entropy)
    return slope
