"""Rank correlation of ordered columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.contingency import associations
from dpsyn_core.metrics.pairs import pair_details
from dpsyn_core.metrics.registry import register


@register(52)
@dataclass(frozen=True, kw_only=True)
class Spearman(Metric):
    """Of numbers, dates and ordered categories at schema resolution; records that lack a value are left out."""

    name = "spearman"
    title = "Rank correlation of ordered columns"
    question = "Is the rank correlation of ordered columns that of the real table?"
    goal = "low"
    minimum = 0.0
    maximum = 2.0
    unit = "rank correlation"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of Spearman's correlation over all pairs of ordered attributes."""
        found = associations(comparison)
        if not (~np.isnan(found.spearman[0])).any():
            msg = "rank correlation needs two ordered attributes; the schema has fewer (declare ordered: true)"
            raise MetricError(msg)
        details = pair_details(found, "spearman")
        mean = float(np.mean(details["difference"]))
        return Score(
            metric=self.name,
            value=mean,
            sentence=f"The rank correlation of two ordered columns is off by {mean:.3f} on average.",
            details=details,
        )
