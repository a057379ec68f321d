"""Range queries: a seeded random workload, answered by both tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.distances import binomial_deviations
from dpsyn_core.metrics.registry import register
from dpsyn_core.metrics.workload import count_queries, random_workload

QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99)
WORST = 10
SANITY = 0.001  # relative errors are taken over at least this share of the records, as is usual in the field


@register(30)
@dataclass(frozen=True, kw_only=True)
class RangeQueries(Metric):
    """`count` queries on 1 to `most` attributes each, made from the domain and the seed alone."""

    name = "range-queries"
    title = "Random range queries"
    question = "If somebody counts the records in a random range, how far off is the synthetic answer?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of records"
    count: int = 1000
    most: int = 3
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute error of a frequency, and the noise floor that a fresh sample would have."""
        c = comparison
        queries = random_workload(c.domain, self.count, seed=self.seed, most=self.most)
        real, synthetic = count_queries(c, queries)
        error = synthetic / c.m - real / c.n
        size = abs(error)
        relative = size / np.maximum(real / c.n, SANITY)
        floor = binomial_deviations(c.n, c.m)[real] / c.m
        worst = np.argsort(-size, kind="stable")[:WORST]
        mean = float(size.mean())
        return Score(
            metric=self.name,
            value=mean,
            floor=float(floor.mean()),
            sentence=f"A random range query is off by {mean:.2%} of the records on average "
            f"(half of them by less than {np.median(size):.2%}); a fresh sample would be off by {floor.mean():.2%}.",
            details={
                "queries": len(queries),
                "seed": self.seed,
                "quantiles": {f"{q:g}": float(np.quantile(size, q)) for q in QUANTILES},
                "max": size.max(),
                "relative_mean": relative.mean(),
                "relative_median": float(np.median(relative)),
                "frequencies": {"real": real / c.n, "synthetic": synthetic / c.m},
                "worst": [
                    {"query": queries[i].text(c), "real": int(real[i]), "synthetic": int(synthetic[i]),
                     "error": error[i], "relative": relative[i]}
                    for i in worst
                ],
            },
        )  # fmt: skip
