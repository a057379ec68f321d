"""Association of all pairs of attributes by Cramer's V."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.contingency import associations
from dpsyn_core.metrics.pairs import pair_details
from dpsyn_core.metrics.registry import register


@register(50)
@dataclass(frozen=True, kw_only=True)
class CramersV(Metric):
    """At schema resolution; missing and other count as values."""

    name = "cramers-v"
    title = "Association of pairs"
    question = "Are attributes as strongly associated as in the real table?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "Cramer's V"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of Cramer's V over all pairs."""
        details = pair_details(associations(comparison), "cramers_v")
        mean = float(np.mean(details["difference"]))
        return Score(
            metric=self.name,
            value=mean,
            sentence=f"Cramer's V of a pair of attributes is off by {mean:.3f} on average, on a scale from 0 to 1.",
            details=details,
        )
