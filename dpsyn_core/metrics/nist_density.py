"""NIST 2018, first score: 3-way marginal density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.distances import marginal_distances, sampled_sets
from dpsyn_core.metrics.nist_view import strict_view
from dpsyn_core.metrics.registry import register
from dpsyn_core.schema.domain import AttributeSet

FULL = 1_000_000.0


def density_score(c: Comparison, sets: Sequence[AttributeSet]) -> float:
    """10^6 (1 - mean L1 / 2) over the marginals; each table's frequencies are divided by its own records."""
    return FULL * (1 - float(marginal_distances(c, sets).l1.mean()) / 2)


def strict_triples(c: Comparison, count: int, seed: int) -> list[AttributeSet]:
    """Random triples as the official generator draws them: indices 0 .. d - 2, so never the last column."""
    d = len(c.domain)
    if d < 4:
        msg = f"the strict density score draws three columns before the last one, and there are {d} in all"
        raise MetricError(msg)
    rng = np.random.default_rng(seed)
    picks = [np.sort(rng.choice(d - 1, 3, replace=False)) for _ in range(count)]
    return [tuple(c.domain.names[i] for i in p) for p in picks]


@register(20)
@dataclass(frozen=True, kw_only=True)
class NistDensity(Metric):
    """Clean: `triples` distinct triples of all attributes at schema resolution. Strict: 100 by the official rule."""

    name = "nist-density"
    title = "NIST density score"
    question = "How much of the density of random triples of attributes is kept?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000,000"
    triples: int = 300
    strict_count: int = 100
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Headline in the clean mode; the strict score is in the details."""
        k = min(3, len(comparison.domain))
        clean = density_score(comparison, sampled_sets(comparison.domain, k, self.triples, all_up_to=0, seed=self.seed))
        details: dict[str, float | str] = {"clean": clean}
        try:
            view = strict_view(comparison)
            details["strict"] = density_score(view, strict_triples(view, self.strict_count, self.seed))
        except MetricError as error:
            details["strict_error"] = str(error)
        return Score(
            metric=self.name,
            value=clean,
            sentence=f"Random triples of attributes keep {clean / FULL:.1%} of their density.",
            details=details,
        )
