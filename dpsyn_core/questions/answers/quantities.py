"""Quantities: what a question asks of a table, as figures of its counts and as the influence of one record on them.

Every quantity reads one table of counts over its attributes, at the resolution of the schema. `values` are its figures,
float64 (K,); `influence` is what one more record in a cell would change each of them by, (K, *sizes): exact for sums,
the first derivative for means, gaps, Gini indices and quantiles (Hampel 1974; for complex statistics of tables Deville
1999). NaN where a group has no records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Groups, Recodes, coarsen, figures
from dpsyn_core.questions.answers.functionals import Batch, Floats
from dpsyn_core.schema import AttributeSet

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

    @property
    def inside(self) -> tuple[int, ...]:
        """The axes that are no part of a group: that of the number comes last."""
        return (self.axis,)

    def groups(self, table: Floats) -> Groups:
        """The cells in groups, without what is no number."""
        moved = np.moveaxis(table, self.inside, range(-len(self.inside), 0))
        numbers = np.broadcast_to(self.numbers, moved.shape[-len(self.inside) :]).ravel()
        return Groups.of_table(moved.reshape(-1, numbers.size), numbers, least=LEAST)

    def sizes(self, table: Floats) -> Floats | None:
        """Records of the group that have a number."""
        return self.groups(table).totals

    def spread(self, influence: Floats, shape: tuple[int, ...]) -> Floats:
        """Influences of the cells of all groups as weights (groups, *shape): a record counts in its group alone."""
        inner = [shape[i] for i in self.inside]
        others = [size for i, size in enumerate(shape) if i not in self.inside]
        each = np.where(np.isnan(self.numbers), 0.0, influence.reshape(-1, *inner))
        out = np.zeros((len(each), len(each), *inner))
        out[np.arange(len(each)), np.arange(len(each))] = each
        return np.moveaxis(out.reshape(len(each), *others, *inner), range(-len(inner), 0), [i + 1 for i in self.inside])


@dataclass(frozen=True, kw_only=True)
class Means(Grouped):
    """Means of a number."""

    def values(self, table: Floats) -> Floats:
        """One a group."""
        return figures.means(self.groups(table))

    def influence(self, table: Floats) -> Floats:
        """(x - mean) / records of the group."""
        return self.spread(figures.mean_influence(self.groups(table)), table.shape)


@dataclass(frozen=True, kw_only=True)
class Gini(Grouped):
    """Gini indices of a number whose negative values count as 0."""

    floor: float = 0.0
    ceiling: float = 1.0

    def values(self, table: Floats) -> Floats:
        """One a group; 0 where nobody has anything."""
        return figures.ginis(self.groups(table))

    def influence(self, table: Floats) -> Floats:
        """The first derivative."""
        return self.spread(figures.gini_influence(self.groups(table)), table.shape)


@dataclass(frozen=True, kw_only=True)
class Gaps(Grouped):
    """Means of a number on one side less those on the other, one a group.

    side: axis of the sides. codes: of both.
    """

    side: int
    codes: tuple[int, int]

    @property
    def inside(self) -> tuple[int, ...]:
        """A group holds both sides."""
        return self.side, self.axis

    def _sides(self, table: Floats) -> NDArray[np.intp]:
        """0 and 1 for the cells of the two sides, -1 for others."""
        codes = np.arange(table.shape[self.side])
        of_code = np.where(codes == self.codes[0], 0, np.where(codes == self.codes[1], 1, -1))
        inner = table.shape[self.side] * len(self.numbers)
        return np.tile(np.repeat(of_code, len(self.numbers)), table.size // inner)

    def sizes(self, table: Floats) -> Floats | None:
        """Records of the smaller side that have a number."""
        groups, sides = self.groups(table), self._sides(table)
        return np.minimum(*(groups.where(sides == side).totals for side in (0, 1)))

    def values(self, table: Floats) -> Floats:
        """First side less second."""
        return figures.gaps(self.groups(table), self._sides(table))

    def influence(self, table: Floats) -> Floats:
        """Those of both means, with opposite signs."""
        return self.spread(figures.gap_influence(self.groups(table), self._sides(table)), table.shape)


@dataclass(frozen=True, kw_only=True)
class SharesBelow(Grouped):
    """The share of each group below one value per group, from which intervals of quantiles follow.

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
        cls,
        *,
        attributes: AttributeSet,
        axis: int,
        numbers: Floats,
        ends: tuple[Floats, Floats],
        at: float,
        table: Floats,
    ) -> SharesBelow:
        """Shares below the quantiles of a table."""
        blank = cls(attributes=attributes, axis=axis, numbers=numbers, at=at, ends=ends, under=np.zeros((0, 0)))
        value = blank.quantiles(table, at)
        low, high = ends
        width = np.where(high > low, high - low, 1.0)
        under = np.where(
            high > low, np.clip((value[:, None] - low) / width, 0.0, 1.0), (low <= value[:, None]).astype(np.float64)
        )
        return cls(attributes=attributes, axis=axis, numbers=numbers, at=at, ends=ends, under=np.nan_to_num(under))

    def quantiles(self, table: Floats, at: float | Floats) -> Floats:
        """The quantile of each group, at one share per group or the same for all; NaN without records."""
        groups = self.groups(table)
        low, high = (np.tile(end, groups.size) for end in self.ends)
        return figures.quantiles(groups, at, ends=(low, high))

    def _below(self, table: Floats) -> Groups:
        return replace(self.groups(table), numbers=self.under.ravel())

    def values(self, table: Floats) -> Floats:
        """The shares."""
        return figures.means(self._below(table))

    def influence(self, table: Floats) -> Floats:
        """(what lies below, less the share) / records of the group."""
        return self.spread(figures.mean_influence(self._below(table)), table.shape)

    def interval(self, table: Floats, centre: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """The quantile itself, and the values that leave the share between the two ends."""
        shift = np.nan_to_num(centre - self.values(table))  # what released tables say beyond the synthetic one
        shares = (np.full(len(half), self.at), self.at - half, self.at + half)
        estimate, low, high = (self.quantiles(table, w - shift) for w in shares)
        return estimate, low, high


@dataclass(frozen=True, kw_only=True)
class InBins(Quantity):
    """A quantity of a table some of whose attributes are in bins, as one of the table at full resolution.

    One more record in a cell is one more in the coarse cell that holds it, so influences are those of coarse cells.
    inner: of the coarse table. maps: its coarsenings by attribute.
    """

    attributes: AttributeSet
    inner: Quantity
    maps: Recodes
    floor: float
    ceiling: float
    scales: bool

    @classmethod
    def of(cls, inner: Quantity, maps: Recodes) -> InBins:
        """With the bounds of the inner one."""
        return cls(
            attributes=inner.attributes,
            inner=inner,
            maps=maps,
            floor=inner.floor,
            ceiling=inner.ceiling,
            scales=inner.scales,
        )

    def _coarse(self, table: Floats) -> Floats:
        return coarsen(table, self.attributes, self.maps)

    def values(self, table: Floats) -> Floats:
        """Those of the coarse table."""
        return self.inner.values(self._coarse(table))

    def influence(self, table: Floats) -> Floats:
        """Of each cell that of its coarse cell."""
        out = self.inner.influence(self._coarse(table))
        for axis, name in enumerate(self.attributes, 1):
            if name in self.maps:
                out = self.maps[name].expand(out, axis)
        return out

    def sizes(self, table: Floats) -> Floats | None:
        """Records of the coarse groups."""
        return self.inner.sizes(self._coarse(table))

    def interval(self, table: Floats, centre: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """As the inner one."""
        return self.inner.interval(self._coarse(table), centre, half)


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

    def held(self, table: Floats) -> Floats:
        """What is counted, the target in the columns; nothing where it is too little."""
        moved = np.moveaxis(np.maximum(table, 0.0), self.target, -1)
        kept: Floats = np.where(np.arange(moved.shape[-1]) < self.plain, moved, 0.0)
        return kept if float(kept.sum()) >= LEAST else np.zeros_like(kept)

    def values(self, table: Floats) -> Floats:
        """The share."""
        return np.array([figures.explained(self.held(table))])

    def influence(self, table: Floats) -> Floats:
        """Its first derivative."""
        change = figures.explained_influence(self.held(table))
        change = np.where(np.arange(change.shape[-1]) < self.plain, change, 0.0)
        return np.moveaxis(change, -1, self.target)[None]

    def interval(self, table: Floats, centre: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """Wider by what the sampling of the cells adds to the share whatever holds (Miller 1955)."""
        kept = self.held(table)
        columns = kept.sum(axis=0)
        uncertain = figures.entropy(columns / max(float(columns.sum()), 1e-300))
        if uncertain <= 1e-12:
            return super().interval(table, centre, half)
        spare = (np.count_nonzero(kept.sum(axis=1)) - 1) * (np.count_nonzero(columns) - 1)
        by_chance = spare / (2 * float(kept.sum()) * uncertain)
        return super().interval(table, centre, half + np.where(half > 0, by_chance, 0.0))
