"""Figures of numbers in groups: sums, means, gaps, shares, quantiles, Gini indices; and what explains what. Blind.

Each has an influence: for each record, what a little more weight of it would change (Hampel 1974). Evaluation of
questions, intervals and metrics take figures from here: of records with weights, or of a table of counts, whose cells
are records with the counts as weights (`Groups.of_table`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, slots=True)
class Groups:
    """Records in groups.

    group: (n,), of each record. numbers: float64 (n,), what figures are about. weights: float64 (n,). size: number of
    groups. least: weight that a group needs to have a figure; without weight it has none in any case.
    """

    group: Ints
    numbers: Floats
    weights: Floats
    size: int
    least: float = 0.0

    @classmethod
    def of_table(cls, counts: Floats, numbers: Floats, *, least: float = 0.0) -> Groups:
        """One record a cell of counts (groups, values); values without a number (NaN) and negative counts weigh 0."""
        size, values = counts.shape
        weights = np.maximum(np.where(np.isnan(numbers), 0.0, counts), 0.0).ravel()
        group = np.repeat(np.arange(size), values)
        return cls(group=group, numbers=np.tile(np.nan_to_num(numbers), size), weights=weights, size=size, least=least)

    @property
    def totals(self) -> Floats:
        """The weight of each group."""
        return np.bincount(self.group, weights=self.weights, minlength=self.size).astype(np.float64)

    @property
    def known(self) -> Floats:
        """The same, NaN for groups without a figure."""
        totals = self.totals
        return np.where((totals > 0) & (totals >= self.least), totals, np.nan)

    def where(self, counted: NDArray[np.bool_]) -> Groups:
        """The other records weigh 0."""
        return replace(self, weights=np.where(counted, self.weights, 0.0))

    def positive(self) -> Groups:
        """Negative weights are 0."""
        return replace(self, weights=np.maximum(self.weights, 0.0))


Figure = Callable[[Groups], Floats]  # one value a group


def sums(g: Groups) -> Floats:
    """The sum of weight times number of each group; the influence of a record is its number."""
    return np.bincount(g.group, weights=g.weights * g.numbers, minlength=g.size).astype(np.float64)


def means(g: Groups) -> Floats:
    """Weighted mean of each group, NaN without records. The mean of an indicator is a share."""
    return sums(g) / g.known


def mean_influence(g: Groups) -> Floats:
    """(number - mean) / weight of the group, for each record."""
    return (g.numbers - means(g)[g.group]) / g.known[g.group]


def gaps(g: Groups, side: Ints, of: Figure = means) -> Floats:
    """A figure of the records on one side less that of those on the other, by group.

    side: (n,), 0 for the first, 1 for the second, anything else for neither.
    """
    return of(g.where(side == 0)) - of(g.where(side == 1))


def gap_influence(g: Groups, side: Ints) -> Floats:
    """Those of the two means, with opposite signs; 0 for a record on neither side, or where a side has no mean."""
    first, second = (np.nan_to_num(mean_influence(g.where(side == s))) for s in (0, 1))
    return np.where(side == 0, first, np.where(side == 1, -second, 0.0))


def quantiles(g: Groups, at: float | Floats, *, ends: tuple[Floats, Floats] | None = None) -> Floats:
    """The quantile of each group, NaN without records.

    With exact numbers, the mean of the two numbers between which the share falls, where it falls between two (as a
    median is usually taken), else the number at which it is reached. With the ends of bins, records are spread evenly
    between the ends of theirs. Negative weights count as 0. An interval for a quantile comes from one for the share of
    records below it (`means` of an indicator), read backwards (Woodruff 1952).

    Args:
        g: the records; their numbers are middles of bins where `ends` are given.
        at: the share, from 0 to 1; one for all groups or (groups,).
        ends: lower and upper end of each record's bin, (n,) each.
    """
    keep = np.flatnonzero(g.weights > 0)
    order = keep[_ascending(g.group[keep], g.numbers[keep])]
    out = np.full(g.size, np.nan)
    if not len(order):
        return out
    group, v, weight = g.group[order], g.numbers[order], g.weights[order]
    start = np.flatnonzero(np.append(True, (group[1:] != group[:-1]) | (v[1:] != v[:-1])))  # one a distinct number
    weight = np.add.reduceat(weight, start)
    at_record, v, group = order[start], v[start], group[start]
    reached = np.cumsum(weight)
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    last = np.append(first[1:], len(group)) - 1
    before = np.append(0.0, reached)[first]
    total = reached[last] - before
    target = before + np.broadcast_to(np.clip(at, 0.0, 1.0), (g.size,))[group[first]] * total
    place = np.clip(np.searchsorted(reached, target * (1 - 1e-12), side="left"), first, last)
    if ends is None:
        exact = np.isclose(reached[place], target, rtol=1e-12, atol=0.0) & (place < last)
        values = np.where(exact, (v[place] + v[np.minimum(place + 1, last)]) / 2, v[place])
    else:
        low, high = ends[0][at_record[place]], ends[1][at_record[place]]
        inside = (target - (reached[place] - weight[place])) / weight[place]
        values = low + np.clip(inside, 0.0, 1.0) * (high - low)
    out[group[first]] = np.where(total >= g.least, values, np.nan)
    return out


def ginis(g: Groups) -> Floats:
    """Gini index of each group by the trapezoid rule; NaN without records, 0 where all have nothing.

    Negative numbers count as 0, negative weights too.
    """
    g = replace(g.positive(), numbers=np.maximum(g.numbers, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        indices = 1 - lorenz_areas(g)
    return np.where(np.isnan(g.known), np.nan, np.where(sums(g) > 0, np.maximum(indices, 0.0), 0.0))


def lorenz_areas(g: Groups) -> Floats:
    """Twice the area under the Lorenz curve of each group, by the trapezoid rule, from 0 to 1; inf or NaN at sum 0."""
    order, mass, _ = _running(g)
    weight = g.weights[order]
    slices = weight * (2 * mass - weight * g.numbers[order])
    return np.bincount(g.group[order], weights=slices, minlength=g.size) / (g.totals * sums(g))


def gini_influence(g: Groups) -> Floats:
    """The first derivative, for each record, from its mean distance to all of its group: E|x - Y|.

    NaN where a group has nothing.
    """
    g = replace(g.positive(), numbers=np.maximum(g.numbers, 0.0))
    order, mass, weight = _running(g)
    x, total, n = g.numbers[order], sums(g)[g.group[order]], g.known[g.group[order]]
    mean = np.where(total > 0, total / n, np.nan)
    distance = (x * (2 * weight - n) + total - 2 * mass) / n
    index = ginis(g)[g.group[order]]
    out = np.empty(len(order))
    out[order] = (distance - 2 * index * mean - index * (x - mean)) / mean / n
    return out


def _running(g: Groups) -> tuple[Ints, Floats, Floats]:
    """Records by group and number; for each in that order what it and those before it in its group have and weigh."""
    order = _ascending(g.group, g.numbers)
    group, weight = g.group[order], g.weights[order]
    first = np.searchsorted(group, np.arange(g.size), side="left")
    mass, weights = np.cumsum(weight * g.numbers[order]), np.cumsum(weight)
    of_mass, of_weight = (v - np.append(0.0, v)[first][group] for v in (mass, weights))
    return order, of_mass, of_weight


def _ascending(group: Ints, numbers: Floats) -> Ints:
    """Records by group and number; tables of counts mostly stand in that order, which saves a sort."""
    step = np.diff(group)
    if ((step > 0) | ((step == 0) & (np.diff(numbers) >= 0))).all():
        return np.arange(len(group))
    return np.lexsort((numbers, group))


def entropy(p: Floats) -> float:
    """Of probabilities of any shape, in nats."""
    positive = p[p > 0]
    return float(-(positive * np.log(positive)).sum())


def explained(table: Floats) -> float:
    """Share of the entropy of the columns that knowing the row takes away, from 0 to 1.

    Theil's uncertainty coefficient; NaN for an empty table and where columns do not vary. Negative counts count as 0.
    """
    entropies = _entropies(table)
    if entropies is None:
        return float("nan")
    _, rows, columns, both = entropies
    return float(np.clip((rows + columns - both) / columns, 0.0, 1.0))


def explained_influence(table: Floats) -> Floats:
    """The first derivative by each count, of the shape of the table; 0 where the share is NaN."""
    entropies = _entropies(table)
    if entropies is None:
        return np.zeros_like(table)
    p, rows, columns, both = entropies
    of_rows, of_columns = _slope(p.sum(axis=1), rows)[:, None], _slope(p.sum(axis=0), columns)[None, :]
    change = (of_rows - _slope(p, both)) / columns - (rows - both) / columns**2 * of_columns
    out: Floats = change / float(np.maximum(table, 0.0).sum())
    return out


def _entropies(table: Floats) -> tuple[Floats, float, float, float] | None:
    """Probabilities, and the entropies of rows, columns and cells; None where nothing can be explained."""
    counts = np.maximum(table, 0.0)
    total = float(counts.sum())
    if total <= 0:
        return None
    p = counts / total
    rows, columns, both = entropy(p.sum(axis=1)), entropy(p.sum(axis=0)), entropy(p)
    return (p, rows, columns, both) if columns > 1e-12 else None


def _slope(p: Floats, of_all: float) -> Floats:
    """Derivative of an entropy by each count, times the number of records; cells without records as the rarest one."""
    slope: Floats = -(np.log(np.maximum(p, float(p[p > 0].min()))) + of_all)
    return slope
