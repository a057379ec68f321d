"""Tails: how many records lie far outside the usual range of a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison, Floats
from dpsyn_core.metrics.raw_numbers import columns
from dpsyn_core.metrics.registry import register


@register(32)
@dataclass(frozen=True, kw_only=True)
class Tails(Metric):
    """Share of records beyond the outer fences: three interquartile ranges below or above the real quartiles."""

    name = "tails"
    title = "Mass in the tails"
    question = "Are there as many records far from the rest as there really are?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of records"
    on = "exact numbers"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference of the share of records beyond the fences, and both shares for every number."""
        rows: list[dict[str, Any]] = []
        for c in columns(comparison):
            low, high = c.fences
            real, synthetic = (_beyond(x, low, high) for x in (c.real, c.synthetic))
            rows.append({"attribute": c.name, "low": low, "high": high, "real": real, "synthetic": synthetic})
        errors = np.array([abs(r["synthetic"] - r["real"]) for r in rows])
        worst = rows[int(errors.argmax())]
        return Score(
            metric=self.name,
            value=float(errors.mean()),
            sentence=f"The share of records far outside a number's usual range is off by {errors.mean():.2%} on "
            f"average; most for {worst['attribute']} ({worst['real']:.2%} in the real table, "
            f"{worst['synthetic']:.2%} here).",
            details={"columns": [rows[i] for i in np.argsort(-errors, kind="stable")], "max": float(errors.max())},
        )


def _beyond(values: Floats, low: float, high: float) -> float:
    """Share of sorted values below `low` or above `high`."""
    inside = np.searchsorted(values, high, side="right") - np.searchsorted(values, low, side="left")
    return 1.0 - float(inside) / len(values)
