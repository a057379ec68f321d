"""Range questions on exact numbers: intervals whose ends are values, not borders of bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison, Floats
from dpsyn_core.metrics.raw_numbers import named
from dpsyn_core.metrics.registry import register

WORST = 10  # questions that are listed


@register(33)
@dataclass(frozen=True, kw_only=True)
class NumberRanges(Metric):
    """Counts inside random intervals of one number, and inside boxes of two, between values of the real table."""

    name = "number-ranges"
    title = "Range questions on exact numbers"
    question = "If somebody counts the records between two values of a number, how far off is the synthetic answer?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of records"
    on = "exact numbers"
    count: int = 300
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute error of a frequency over `count` questions, half of them on two numbers."""
        names = named(comparison)
        if not names:
            msg = "no attribute holds numbers in both tables; declare a column as numeric in the schema"
            raise MetricError(msg)
        rng = np.random.default_rng(self.seed)
        rows = [self._ask(comparison, names, rng, two=i % 2 == 1 and len(names) > 1) for i in range(self.count)]
        errors = np.array([abs(r["synthetic"] - r["real"]) for r in rows])
        return Score(
            metric=self.name,
            value=float(errors.mean()),
            sentence=f"The share of records between two values of a number is off by {errors.mean():.2%} on average "
            f"(half of the answers by less than {np.median(errors):.2%}).",
            details={
                "questions": len(rows),
                "max": float(errors.max()),
                "worst": [rows[i] for i in np.argsort(-errors, kind="stable")[:WORST]],
            },
        )

    def _ask(self, c: Comparison, names: list[str], rng: np.random.Generator, *, two: bool) -> dict[str, Any]:
        """One question: which numbers, between which values, and the share of records in both tables."""
        asked = sorted(rng.choice(len(names), 2 if two else 1, replace=False))
        real, synthetic = np.ones(c.n, dtype=bool), np.ones(c.m, dtype=bool)
        words = []
        for i in asked:
            left, right = c.numbers(names[i])
            low, high = _interval(left, rng)
            real &= (left >= low) & (left <= high)
            synthetic &= (right >= low) & (right <= high)
            words.append(f"{names[i]} in [{low:g}, {high:g}]")
        return {"query": " and ".join(words), "real": float(real.mean()), "synthetic": float(synthetic.mean())}


def _interval(values: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Two values of a column, in order; the whole line where it holds no number."""
    known = values[~np.isnan(values)]
    if not len(known):
        return -np.inf, np.inf
    low, high = np.sort(rng.choice(known, 2))
    return float(low), float(high)
