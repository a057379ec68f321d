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
from numpy.typing import NDArray

from dpsyn_core.inference.functional import Batch, Floats
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
class Sums(Quantity):
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
class Shares(Grouped):
    """The share of each group at or below a value of its own: what intervals of quantiles are made of.

    An interval for the share of records below an estimated quantile is turned into one for the quantile by reading the
    distribution backwards (Woodruff 1952). at: the quantile, in (0, 1). cuts: int (groups,), rank up to which values
    count, in the order of the numbers.
    """

    at: float
    cuts: NDArray[np.intp]
    floor: float = 0.0
    ceiling: float = 1.0

    @classmethod
    def of(cls, *, attributes: AttributeSet, axis: int, numbers: Floats, at: float, table: Floats) -> Shares:
        """Cuts at the quantiles of a table."""
        blank = cls(attributes=attributes, axis=axis, numbers=numbers, at=at, cuts=np.zeros(0, dtype=np.intp))
        below = blank.below(table)
        cuts = np.argmax(below >= at - 1e-12, axis=1)
        return cls(attributes=attributes, axis=axis, numbers=numbers, at=at, cuts=cuts)

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of the numbers in rising order, those that are none last."""
        return np.argsort(self.numbers, kind="stable")

    def below(self, table: Floats) -> Floats:
        """Share of each group at or below each value, in rising order, (groups, values); NaN without records."""
        groups = self.groups(table)[:, self.order]
        n = groups.sum(axis=1)
        found: Floats = np.cumsum(groups, axis=1) / np.where(n >= LEAST, n, np.nan)[:, None]
        return found

    def values(self, table: Floats) -> Floats:
        """The shares at the cuts."""
        below = self.below(table)
        return below[np.arange(len(below)), self.cuts]

    def influence(self, table: Floats) -> Floats:
        """(1 if below, else 0, less the share) / records of the group."""
        groups = self.groups(table)
        n = groups.sum(axis=1)
        known = np.where(n >= LEAST, n, np.nan)[:, None]
        rank = np.argsort(self.order, kind="stable")
        inside = (rank[None, :] <= self.cuts[:, None]).astype(np.float64)
        return self.spread((inside - self.values(table)[:, None]) / known, table.shape)

    def interval(self, table: Floats, centre: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """The quantile itself, and the values that leave the share between the two ends."""
        below, ordered = self.below(table), np.sort(self.numbers)
        shift = centre - self.values(table)  # what released tables say more than the synthetic one
        out = []
        for wanted in (np.full(len(half), self.at), self.at - half, self.at + half):
            target = np.clip(wanted - shift, 1e-12, 1.0)
            place = np.argmax(below >= target[:, None] - 1e-12, axis=1)
            out.append(np.where(np.isnan(below[:, -1]), np.nan, ordered[place]))
        return out[0], out[1], out[2]
