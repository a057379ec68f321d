"""Bands over repeated runs: mean and interval of each metric when the tables differ by their seeds alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsyn_core.metrics.base import Score
from dpsyn_core.report.document import ScoredTable


def bands(tables: Sequence[ScoredTable], *, level: float = 0.95) -> dict[str, Any]:
    """Mean, deviation and t-interval of the mean by metric, where two or more tables have a score."""
    from scipy.stats import t as student

    out: dict[str, Any] = {}
    for name in dict.fromkeys(n for t in tables for n in t.scores):
        values = np.array([s.value for t in tables if isinstance(s := t.scores.get(name), Score)])
        if len(values) < 2:
            continue
        mean, deviation = float(values.mean()), float(values.std(ddof=1))
        half = float(student.ppf(0.5 + level / 2, len(values) - 1)) * deviation / math.sqrt(len(values))
        out[name] = {
            "runs": len(values),
            "mean": mean,
            "deviation": deviation,
            "low": mean - half,
            "high": mean + half,
            "minimum": float(values.min()),
            "maximum": float(values.max()),
        }
    return out
