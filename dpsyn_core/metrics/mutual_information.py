"""Mutual information of pairs of attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.contingency import associations
from dpsyn_core.metrics.pairs import pair_details
from dpsyn_core.metrics.registry import register


@register(51)
@dataclass(frozen=True, kw_only=True)
class MutualInformation(Metric):
    """At schema resolution; missing and other count as values. Small tables have more of it by chance."""

    name = "mutual-information"
    title = "Mutual information of pairs"
    question = "Is the mutual information of pairs of attributes that of the real table?"
    goal = "low"
    minimum = 0.0
    maximum = None
    unit = "nats"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of the mutual information over all pairs."""
        details = pair_details(associations(comparison), "mutual_information")
        mean, real = float(np.mean(details["difference"])), float(np.mean(details["real"]))
        return Score(
            metric=self.name,
            value=mean,
            sentence=f"The mutual information of a pair is off by {mean:.3f} nats on average, where the real "
            f"average is {real:.3f}.",
            details=details,
        )
