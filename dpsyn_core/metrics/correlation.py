"""Correlation matrices of the numeric attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Comparison, Floats
from dpsyn_core.metrics.registry import register

CHUNK = 1 << 16  # records multiplied at a time


@register(53)
@dataclass(frozen=True, kw_only=True)
class CorrelationMatrix(Metric):
    """Pearson correlation of exact numbers; of codes for dates and ordered categories."""

    name = "correlation"
    title = "Correlation matrix"
    question = "Are the linear correlations of numeric attributes kept?"
    goal = "low"
    minimum = 0.0
    maximum = 2.0
    unit = "correlation"
    on = "exact numbers"

    def compute(self, comparison: Comparison) -> Score:
        """Mean absolute difference over the pairs; an attribute with a single value is correlated with nothing: 0."""
        names = [n for n in comparison.domain.names if comparison.numeric(n)]
        if len(names) < 2:
            msg = f"a correlation needs two numeric attributes; the schema has {len(names)}"
            raise MetricError(msg)
        columns = [comparison.numbers(n) for n in names]
        real = correlation_matrix([c[0] for c in columns])
        synthetic = correlation_matrix([c[1] for c in columns])
        pairs = np.triu_indices(len(names), 1)
        difference = abs(synthetic - real)[pairs]
        worst = int(difference.argmax())
        i, j = int(pairs[0][worst]), int(pairs[1][worst])
        return Score(
            metric=self.name,
            value=float(difference.mean()),
            sentence=f"A correlation of two numeric attributes is off by {difference.mean():.3f} on average; "
            f"most between {names[i]} and {names[j]} ({real[i, j]:.2f} in the real table, "
            f"{synthetic[i, j]:.2f} in the synthetic one).",
            details={
                "attributes": names,
                "real": real,
                "synthetic": synthetic,
                "max": difference.max(),
                "frobenius": float(np.linalg.norm(synthetic - real)),
            },
        )


def correlation_matrix(columns: Sequence[Floats]) -> NDArray[np.float64]:
    """Pearson correlations (d, d) over the records that have both values; 0 where one of them does not vary."""
    x = np.stack([_standardised(c) for c in columns])
    d, n = x.shape
    count, sx, sxx, sxy = (np.zeros((d, d)) for _ in range(4))
    for start in range(0, n, CHUNK):
        part = x[:, start : start + CHUNK].astype(np.float64)
        there = (~np.isnan(part)).astype(np.float64)
        part = np.nan_to_num(part, nan=0.0)
        count += there @ there.T
        sx += part @ there.T  # sum of x over the records that have y too
        sxx += part**2 @ there.T
        sxy += part @ part.T
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = sxx - sx**2 / count
        spread = np.where(spread > 1e-9 * np.maximum(sxx, 1e-300), spread, np.nan)
        out = (sxy - sx * sx.T / count) / np.sqrt(spread * spread.T)
    out = np.clip(np.nan_to_num(out, nan=0.0), -1, 1)
    np.fill_diagonal(out, 1.0)
    return out


def _standardised(column: Floats) -> NDArray[np.float32]:
    """Mean 0 and deviation 1, which float32 keeps to seven digits whatever the unit; all 0 when constant."""
    valid = column[~np.isnan(column)]
    if not len(valid) or float(np.ptp(valid)) == 0:
        return np.where(np.isnan(column), np.nan, 0.0).astype(np.float32)
    return np.asarray((column - valid.mean()) / valid.std(), dtype=np.float32)
