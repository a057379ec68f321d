"""Inequality: Gini index and Lorenz curve of the incomes, overall and by group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.income import GroupStatistics, Incomes, group_statistics, incomes, lorenz
from dpsyn_core.metrics.registry import register


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
