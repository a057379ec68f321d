"""Rank correlations of exact numbers, which bins would hide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison, Floats
from dpsyn_core.metrics.correlation import correlation_matrix
from dpsyn_core.metrics.raw_numbers import named
from dpsyn_core.metrics.registry import register


@register(52)
@dataclass(frozen=True, kw_only=True)
class RankCorrelation(Metric):
    """Spearman's correlation of exact numbers; ties share a rank, records that lack a value are left out."""

    name = "rank-correlation"
    title = "Rank correlation of exact numbers"
    question = "Do numbers rise and fall together as they really do, looked at value by value and not in bins?"
    goal = "low"
    minimum = 0.0
    maximum = 2.0
    unit = "rank correlation"
    on = "exact numbers"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference over all pairs of numbers, and the largest one."""
        names = named(comparison)
        if len(names) < 2:
            msg = f"a rank correlation of numbers needs two of them; the schema has {len(names)}"
            raise MetricError(msg)
        both = [comparison.numbers(n) for n in names]
        real, synthetic = (correlation_matrix([ranks(pair[side]) for pair in both]) for side in (0, 1))
        pairs = np.triu_indices(len(names), 1)
        difference = abs(synthetic - real)[pairs]
        worst = int(difference.argmax())
        i, j = int(pairs[0][worst]), int(pairs[1][worst])
        return Score(
            metric=self.name,
            value=float(difference.mean()),
            sentence=f"The rank correlation of two numbers is off by {difference.mean():.3f} on average; most between "
            f"{names[i]} and {names[j]} ({real[i, j]:.2f} in the real table, {synthetic[i, j]:.2f} here).",
            details={"attributes": names, "real": real, "synthetic": synthetic, "max": float(difference.max())},
        )


def ranks(column: Floats) -> Floats:
    """Ranks of the values, 1 for the smallest, ties sharing their mean; NaN stays NaN."""
    out: Floats = rankdata(column, nan_policy="omit")
    return out
