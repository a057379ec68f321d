"""Pay gap: difference of mean and median incomes of two sides by group, and the order of the groups by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison, Floats
from dpsyn_core.metrics.gini import group_rows
from dpsyn_core.metrics.income import group_statistics, incomes
from dpsyn_core.metrics.registry import register

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
                "groups": group_rows(comparison, a, b),
            },
        )


def rank_correlation(x: Floats, y: Floats) -> float | None:
    """Spearman correlation over the entries present in both; None when one side has fewer than two ranks."""
    from scipy.stats import spearmanr

    keep = ~(np.isnan(x) | np.isnan(y))
    x, y = x[keep], y[keep]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(spearmanr(x, y).statistic)
