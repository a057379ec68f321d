"""Incomes by group: Gini indices, Lorenz curves, pay gaps and ranks, and how far the ranks rest on chance. Private.

Pay gaps have a strict and a clean reading. NIST 2018, third score: Gini index and pay-gap rank by group. Groups of few
records change places from sample to sample, so that a rank means little without its interval: ranks that fresh samples
of the same people would give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.estimate import Groups, figures
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison, Floats

Ints = NDArray[np.int64]
FULL = 1_000_000.0
DRAWS = 1000  # fresh samples; ends of intervals are then off by less than a rank among ten groups
COVERED = (0.05, 0.95)  # quantiles of the draws: nine in ten fresh samples lie between


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
    """Real and synthetic incomes by the comparison's roles. Raises MetricError when a role is undeclared."""
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


def strict_score(real: Incomes, synthetic: Incomes) -> float:
    """The official score: 5 10^5 (root mean square of the Gini agreement + that of the rank agreement).

    Right-endpoint Gini index, an absent side has mean 0, ranks of the synthetic table run over the groups in it,
    a group that it lacks scores 0.
    """
    truth, other = _official(real), _official(synthetic)
    c = len(truth)
    if c < 2:
        msg = "the strict income score divides by the number of groups less one; name a group with two or more values"
        raise MetricError(msg)
    gini = [(1 - abs(g - other[k][0])) ** 2 for k, (g, _) in truth.items() if k in other]
    rank = [max(0.0, 1 - abs(r - other[k][1]) / (c - 1)) ** 2 for k, (_, r) in truth.items() if k in other]
    return FULL / 2 * (math.sqrt(math.fsum(gini) / c) + math.sqrt(math.fsum(rank) / c))


def clean_score(real: Incomes, synthetic: Incomes) -> float:
    """The same agreement with guards: trapezoid Gini index, ranks over the groups whose real gap exists, ties shared.

    A group without a synthetic Gini index or gap scores 0 there; where no group has a real gap only the Gini
    index counts; a single group always has the right rank.
    """
    from scipy.stats import rankdata

    a, b = group_statistics(real), group_statistics(synthetic)
    at = {int(g): i for i, g in enumerate(b.group)}
    pairs = [(i, at.get(int(g))) for i, g in enumerate(a.group)]
    gini = [0.0 if j is None else 1 - abs(float(a.gini[i] - b.gini[j])) for i, j in pairs]
    parts = [_rms(gini)]
    ranked = [(i, j) for i, j in pairs if not np.isnan(a.gap[i])]
    if ranked:
        both = [(i, j) for i, j in ranked if j is not None and not np.isnan(b.gap[j])]
        agreement = [0.0] * (len(ranked) - len(both))
        if both:
            ours = rankdata([-a.gap[i] for i, _ in both])
            theirs = rankdata([-b.gap[j] for _, j in both])
            agreement += [max(0.0, 1 - abs(x - y) / max(1, len(ranked) - 1)) for x, y in zip(ours, theirs, strict=True)]
        parts.append(_rms(agreement))
    return FULL * math.fsum(parts) / len(parts)


def _rms(agreement: list[float]) -> float:
    return math.sqrt(math.fsum(x * x for x in agreement) / len(agreement))


def _official(t: Incomes) -> dict[int, tuple[float, int]]:
    """Gini index and pay-gap rank by group, as the official scripts compute them."""
    group, first = np.unique(t.group, return_index=True)
    gap = figures.gaps(by_group(t, group), t.side, of=lambda g: np.nan_to_num(figures.means(g)))  # absent: mean 0
    ranks = descending_ranks(gap, first)
    gini = right_gini(t, group)
    return {int(g): (float(x), int(r)) for g, x, r in zip(group, gini, ranks, strict=True)}


def official_sides(c: Comparison) -> tuple[Incomes, Incomes]:
    """Incomes as the strict score reads them: a code below both sides joins the second."""
    real, synthetic = incomes(c)
    values, split = c.resolved.split_values, c.resolved.split
    if values is None or split is None or min(values) == 0:
        return real, synthetic
    roles = c.resolved
    out = []
    for t, codes, income in zip((real, synthetic), (c.truth, c.synthetic), c.numbers(roles.income or ""), strict=True):
        limit = np.inf if roles.not_applicable is None else roles.not_applicable
        column = codes[c.domain.index(split)][income < limit]
        out.append(replace(t, side=np.where(column < min(values), 1, t.side)))
    return out[0], out[1]


@register(22)
@dataclass(frozen=True, kw_only=True)
class NistIncome(Metric):
    """Needs an income; groups and sides by the roles of the comparison."""

    name = "nist-income"
    title = "NIST Gini and pay-gap score"
    question = "Are income inequality and the rank of the pay gap right in every group?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000,000"
    on = "exact numbers by group"

    def compute(self, comparison: Comparison) -> Score:
        """Headline in the clean mode; the strict score is in the details."""
        clean = clean_score(*incomes(comparison))
        details: dict[str, object] = {"clean": clean, "roles": _roles(comparison)}
        try:
            details["strict"] = strict_score(*official_sides(comparison))
        except MetricError as error:
            details["strict_error"] = str(error)
        return Score(
            metric=self.name,
            value=clean,
            sentence=f"Gini index and pay-gap rank by group agree to {clean / FULL:.1%}.",
            details=details,
        )


def _roles(c: Comparison) -> dict[str, object]:
    r = c.resolved
    words = c.words(r.split) if r.split else []
    return {
        "income": r.income,
        "group": r.group,
        "split": r.split,
        "sides": [words[v] for v in r.split_values] if r.split_values else None,
        "not_applicable": r.not_applicable,
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class RankIntervals:
    """One entry a group with both sides, in ascending code; rank 1 has the widest gap.

    group, records (of both sides), rank, low, high: shape (k,). agreement: rank correlation of fresh samples with the
    real order, 5 and 95 % quantiles.
    """

    group: NDArray[np.int64]
    records: NDArray[np.int64]
    rank: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    agreement: tuple[float, float]


def rank_intervals(t: Incomes, group: NDArray[np.int64]) -> RankIntervals | None:
    """Draws each group's gap from a normal around the real one, with the standard error of a difference of two means.

    A side of one record has no deviation; it takes that of the whole side. None with fewer than two groups.

    Args:
        t: the real incomes.
        group: codes that occur, ascending, shape (g,).
    """
    gap, error, records = _gaps(t, group)
    valid = ~np.isnan(gap)
    if valid.sum() < 2:
        return None
    gap, error = gap[valid], error[valid]
    drawn = gap + error * np.random.default_rng(0).standard_normal((DRAWS, len(gap)))
    ranks = np.argsort(np.argsort(-drawn, axis=1), axis=1) + 1
    real = np.argsort(np.argsort(-gap, kind="stable"), kind="stable") + 1
    low, high = np.quantile(ranks, COVERED, axis=0)
    mean = (len(gap) + 1) / 2
    agreement = ((ranks - mean) @ (real - mean)) / ((real - mean) ** 2).sum()
    least, most = np.quantile(agreement, COVERED)
    return RankIntervals(
        group=group[valid],
        records=records[valid],
        rank=real.astype(np.int64),
        low=np.floor(low).astype(np.int64),
        high=np.ceil(high).astype(np.int64),
        agreement=(float(least), float(most)),
    )


def _gaps(t: Incomes, group: NDArray[np.int64]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Gap of means, its standard error, and records, by group."""
    means, variances, counts = [], [], []
    for side in (0, 1):
        on = t.side == side
        part = by_group(t, group).where(on)
        n, mean = part.totals, figures.means(part)
        with np.errstate(invalid="ignore", divide="ignore"):
            whole = float(t.income[on].var()) if on.any() else np.nan
            apart = (t.income[on] - mean[part.group[on]]) ** 2
            within = np.bincount(part.group[on], apart, len(group)) / (n - 1)
            variances.append(np.where(n > 1, within, whole) / n)
        means.append(mean)
        counts.append(n)
    return means[0] - means[1], np.sqrt(variances[0] + variances[1]), (counts[0] + counts[1]).astype(np.int64)
