"""Gini coefficient and pay gap.

Inequality: Gini index and Lorenz curve of the incomes, overall and by group.

Pay gap: difference of mean and median incomes of two sides by group, and the order of the groups by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.income import (
    GroupStatistics,
    Incomes,
    RankIntervals,
    group_statistics,
    incomes,
    lorenz,
    rank_intervals,
)


@register(40)
@dataclass(frozen=True, kw_only=True)
class GiniDifference(Metric):
    """Needs an income; groups by the roles of the comparison (all records are one group when there are none)."""

    name = "gini"
    title = "Income inequality"
    question = "Is the income as unequal within each group as in the real table?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "Gini index"
    on = "exact numbers by group"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of the Gini index over the real groups; a group that is lost differs by 1."""
        real, synthetic = incomes(comparison, split=False)
        a, b = group_statistics(real), group_statistics(synthetic)
        rows = group_rows(comparison, a, b)
        gaps = [1.0 if r["gini_synthetic"] is None else abs(r["gini_real"] - r["gini_synthetic"]) for r in rows]
        ours, theirs = overall_gini(real), overall_gini(synthetic)
        return Score(
            metric=self.name,
            value=float(np.mean(gaps)),
            sentence=f"The Gini index of '{comparison.resolved.income}' is {theirs:.3f} instead of {ours:.3f}; "
            f"by group it is off by {np.mean(gaps):.3f} on average.",
            details={
                "income": comparison.resolved.income,
                "group": comparison.resolved.group,
                "overall": {"real": ours, "synthetic": theirs},
                "lorenz": {"real": lorenz(real.income), "synthetic": lorenz(synthetic.income)},
                "groups": rows,
            },
        )


def overall_gini(t: Incomes) -> float:
    """Gini index of all records as one group."""
    return float(group_statistics(replace(t, group=np.zeros(len(t.group), dtype=np.int64))).gini[0])


def group_rows(c: Comparison, a: GroupStatistics, b: GroupStatistics) -> list[dict[str, Any]]:
    """One row a real group with both tables' statistics side by side; None where the synthetic table has none."""
    words = c.words(c.resolved.group) if c.resolved.group else ["all records"]
    at = {int(g): i for i, g in enumerate(b.group)}
    rows = []
    for i, g in enumerate(a.group.tolist()):
        row: dict[str, Any] = {"group": words[g]}
        j = at.get(g)
        for what in ("size", "mean", "median", "gini", "gap", "gap_median"):
            row[f"{what}_real"] = _number(getattr(a, what)[i])
            row[f"{what}_synthetic"] = None if j is None else _number(getattr(b, what)[j])
        rows.append(row)
    return rows


def _number(x: float) -> float | None:
    return None if np.isnan(x) else float(x)


QUANTITIES = {
    "gap": "pay gap of means",
    "gap_median": "pay gap of medians",
    "mean": "mean income",
    "gini": "Gini index",
}


@register(41)
@dataclass(frozen=True, kw_only=True)
class PayGap(Metric):
    """Needs an income and two sides; ranks need at least two groups with both sides in both tables."""

    name = "pay-gap"
    title = "Pay gap by group"
    question = "Are the groups in the same order by pay gap as in the real table?"
    goal = "high"
    minimum = -1.0
    maximum = 1.0
    unit = "rank correlation"
    on = "exact numbers by group"

    def compute(self, comparison: Comparison) -> Score:
        """Spearman correlation of the pay gap of means over the groups, with medians, means and Gini beside it."""
        real, synthetic = incomes(comparison)
        a, b = group_statistics(real), group_statistics(synthetic)
        both = np.intersect1d(a.group, b.group)
        i, j = np.searchsorted(a.group, both), np.searchsorted(b.group, both)
        ranks = {q: rank_correlation(getattr(a, q)[i], getattr(b, q)[j]) for q in QUANTITIES}
        headline = ranks["gap"]
        if headline is None:
            msg = (
                "the pay gap ranks nothing: fewer than two groups with different gaps have both sides in both tables; "
                "name other groups with --group, or other sides with --split"
            )
            raise MetricError(msg)
        error = abs(a.gap[i] - b.gap[j])
        chance = rank_intervals(real, a.group)
        r = comparison.resolved
        words = comparison.words(r.split) if r.split else []
        return Score(
            metric=self.name,
            value=headline,
            sentence=f"Ranked by pay gap, the groups of '{r.group}' agree with a rank correlation of {headline:.2f}.",
            details={
                "income": r.income,
                "group": r.group,
                "split": r.split,
                "sides": [words[v] for v in r.split_values or ()],
                "rank_correlation": ranks,
                "mean_absolute_error": float(np.nanmean(error)),
                "groups": with_ranks(group_rows(comparison, a, b), a.group, chance),
                "fresh_agreement": None if chance is None else list(chance.agreement),
            },
        )


def with_ranks(
    rows: list[dict[str, Any]], group: NDArray[np.int64], chance: RankIntervals | None
) -> list[dict[str, Any]]:
    """Adds to each group with both sides its records, its rank by pay gap in both tables, and those of fresh samples.

    A group that lacks a side in the synthetic table has no rank there; the others are ranked among themselves.
    """
    if chance is None:
        return rows
    at = {int(g): k for k, g in enumerate(chance.group)}
    gaps = np.array([row["gap_synthetic"] if row["gap_synthetic"] is not None else np.nan for row in rows])
    places = [k for k, g in enumerate(group.tolist()) if g in at and not np.isnan(gaps[k])]
    ranks = {k: r for r, k in enumerate(sorted(places, key=lambda k: -gaps[k]), start=1)}
    for k, (row, g) in enumerate(zip(rows, group.tolist(), strict=True)):
        if g in at:
            i = at[g]
            row |= {
                "records_real": int(chance.records[i]),
                "rank_real": int(chance.rank[i]),
                "rank_synthetic": ranks.get(k),
                "rank_fresh": [int(chance.low[i]), int(chance.high[i])],
            }
    return rows


def rank_correlation(x: Floats, y: Floats) -> float | None:
    """Spearman correlation over the entries present in both; None when one side has fewer than two ranks."""
    from scipy.stats import spearmanr

    keep = ~(np.isnan(x) | np.isnan(y))
    x, y = x[keep], y[keep]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(spearmanr(x, y).statistic)
