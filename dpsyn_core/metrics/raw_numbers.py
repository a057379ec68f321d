"""Exact numbers of both tables, column by column, for the metrics that do not look at bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.comparison import Comparison, Floats

FENCE = 3.0  # interquartile ranges beyond a quartile: Tukey's outer fence


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One number in both tables. Private.

    real, synthetic: float64, sorted, without missing cells. scale: the real interquartile range, or where that is 0
    the real standard deviation, or 1 for a constant.
    """

    name: str
    real: Floats
    synthetic: Floats
    scale: float

    @property
    def fences(self) -> tuple[float, float]:
        """Tukey's outer fences of the real numbers."""
        low, high = np.quantile(self.real, [0.25, 0.75])
        return float(low - FENCE * self.scale), float(high + FENCE * self.scale)


def named(comparison: Comparison) -> list[str]:
    """Attributes whose exact numbers are known in both tables and that the schema puts in order."""
    c = comparison
    return [n for n in c.domain.names if c.numeric(n) and n in c.real_values and n in c.synthetic_values]


def columns(comparison: Comparison) -> list[Column]:
    """The numbers of every such attribute that both tables hold. Raises MetricError where there is none."""
    out = []
    for name in named(comparison):
        real, synthetic = (np.sort(x[~np.isnan(x)]) for x in comparison.numbers(name))
        if not len(real) or not len(synthetic):
            continue
        low, high = np.quantile(real, [0.25, 0.75])
        scale = float(high - low) or float(real.std()) or 1.0
        out.append(Column(name=name, real=real, synthetic=synthetic, scale=scale))
    if not out:
        msg = "no attribute holds numbers in both tables; declare a column as numeric in the schema"
        raise MetricError(msg)
    return out


def worst_first(names: list[str], errors: Floats) -> list[dict[str, object]]:
    """One row a name, the largest error first."""
    return [{"attribute": names[i], "error": float(errors[i])} for i in np.argsort(-errors, kind="stable")]
