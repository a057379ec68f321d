"""Incomes by group: Gini indices, Lorenz curves, pay gaps and ranks, in the strict and the clean reading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.marginals import figures
from dpsyn_core.marginals.figures import Groups
from dpsyn_core.metrics.comparison import Codes, Comparison, Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Incomes:
    """Records with a valid income: group code, side (0 first, 1 second, -1 neither) and income, shape (k,) each."""

    group: Ints
    side: Ints
    income: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupStatistics:
    """One entry a group that has a valid income, in ascending group code.

    gini: trapezoid Gini index. gap, gap_median: difference of the means and medians of the two sides, NaN when
    one of them is absent. first: position of the group's first record.
    """

    group: Ints
    size: Ints
    first: Ints
    mean: Floats
    median: Floats
    gini: Floats
    gap: Floats
    gap_median: Floats


def incomes(c: Comparison, *, split: bool = True) -> tuple[Incomes, Incomes]:
    """Real and synthetic incomes by the comparison's roles. Raises MetricError when a role is not known."""
    roles = c.resolved
    if roles.income is None:
        msg = "no attribute is known to be an income; name one with --income, for example --income INCWAGE"
        raise MetricError(msg)
    if split and roles.split is None:
        msg = (
            "no attribute is known to tell the two sides of the pay gap; name one with --split, for example --split SEX"
        )
        raise MetricError(msg)
    real, synthetic = c.numbers(roles.income)
    return _incomes(c, c.truth, real, "real"), _incomes(c, c.synthetic, synthetic, "synthetic")


def _incomes(c: Comparison, codes: Codes, income: Floats, what: str) -> Incomes:
    roles = c.resolved
    limit = np.inf if roles.not_applicable is None else roles.not_applicable
    valid = income < limit  # NaN is not
    if not valid.any():
        msg = f"no record of the {what} table has a valid income in '{roles.income}'; choose another attribute"
        raise MetricError(msg)
    group = np.zeros(codes.shape[1], dtype=np.int64) if roles.group is None else codes[c.domain.index(roles.group)]
    side = np.full(codes.shape[1], -1, dtype=np.int64)
    if roles.split is not None and roles.split_values is not None:
        column = codes[c.domain.index(roles.split)]
        for i, code in enumerate(roles.split_values):
            side[column == code] = i
    return Incomes(group=group[valid].astype(np.int64), side=side[valid], income=income[valid])


def group_statistics(t: Incomes) -> GroupStatistics:
    """Gini index, mean, median and pay gap of each group. Negative incomes count as 0 in the Gini index."""
    group, first, size = np.unique(t.group, return_index=True, return_counts=True)
    groups = by_group(t, group)
    return GroupStatistics(
        group=group,
        size=size.astype(np.int64),
        first=first.astype(np.int64),
        mean=figures.means(groups),
        median=_medians(groups),
        gini=figures.ginis(groups),
        gap=figures.gaps(groups, t.side),
        gap_median=figures.gaps(groups, t.side, of=_medians),
    )


def by_group(t: Incomes, group: Ints) -> Groups:
    """The records in these groups, in ascending code, each once."""
    return Groups(
        group=np.searchsorted(group, t.group), numbers=t.income, weights=np.ones(len(t.income)), size=len(group)
    )


def right_gini(t: Incomes, group: Ints) -> Floats:
    """Gini index by the official scorer's right-endpoint sum: 1 - (2/n) sum of cum_i / total; total 0 gives 1.

    Equal incomes give -1/n, which is the quirk; the trapezoid index is this plus 1/n where no income is negative.
    """
    groups = by_group(t, group)
    with np.errstate(invalid="ignore", divide="ignore"):
        gini = 1 - figures.lorenz_areas(groups) - 1 / groups.totals
    return np.where(figures.sums(groups) == 0, 1.0, gini)


def lorenz(income: Floats, points: int = 101) -> Floats:
    """Share of all income that the poorest 0 .. 100 % hold, shape (points,); without income the equal line."""
    ordered = np.sort(np.maximum(income, 0))
    cum = np.concatenate([[0.0], np.cumsum(ordered)])
    at = np.linspace(0, len(ordered), points)
    if cum[-1] == 0:
        return np.linspace(0, 1, points)
    return np.asarray(np.interp(at, np.arange(len(ordered) + 1), cum) / cum[-1])


def descending_ranks(gap: Floats, first: Ints) -> Ints:
    """Rank 0 for the widest gap; equal gaps are ranked in order of first appearance (the official scorer's rule)."""
    ranks = np.empty(len(gap), dtype=np.int64)
    ranks[np.lexsort((first, -gap))] = np.arange(len(gap))
    return ranks


def _medians(g: Groups) -> Floats:
    return figures.quantiles(g, 0.5)
