"""From released values alone: how well the synthetic table fits the noisy marginals that it was fitted to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.estimate import Measurement
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.noise_error import expected_tvd, interval


@register(70)
@dataclass(frozen=True, kw_only=True)
class MeasuredFit(Metric):
    """Residuals of the released marginals against the synthetic table, in units of their noise. Safe to publish."""

    name = "measured-fit"
    title = "Fit to the released marginals"
    question = "Does the synthetic table agree with what was released about the real one?"
    goal = "low"
    minimum = 0.0
    maximum = None
    unit = "chi-square a cell"
    on = "released marginals"
    reads_private = False

    def compute(self, comparison: Comparison) -> Score:
        """Mean squared residual in units of the noise: about 1 when noise alone is left, more when the fit is poor."""
        measurements = [m for m in comparison.measurements if m.sigma > 0]
        if not measurements:
            msg = "no released marginal was given, so there is nothing to fit; give the measurements of the run"
            raise MetricError(msg)
        n = comparison.n_estimate or estimated_total(measurements)
        rows = [_row(comparison, m, n) for m in measurements]
        _number(rows)
        cells = sum(r["cells"] for r in rows)
        value = sum(r["chi2"] for r in rows) / cells
        expected = sum(r["expected_tvd"] for r in rows) / len(rows)
        return Score(
            metric=self.name,
            value=value,
            floor=1.0,
            sentence=f"{cells:,} released cells deviate from the synthetic table by {math.sqrt(value):.2f} standard "
            f"deviations of their noise (1 is noise alone); a released marginal is expected to be off by "
            f"{expected:.1%}.",
            details={"n_estimate": n, "cells": cells, "marginals": rows},
        )


def estimated_total(measurements: Sequence[Measurement]) -> float:
    """Number of records by the released sums, weighted by their inverse variances; at least 1."""
    weights = [1 / (m.cells * m.sigma**2) for m in measurements]
    return max(1.0, float(np.average([m.values.sum() for m in measurements], weights=weights)))


def _row(c: Comparison, m: Measurement, n: float) -> dict[str, Any]:
    """One released marginal: the error its noise predicts, and how far the synthetic table is from it."""
    counts = c.synthetic_counter.marginal(m.attributes, m.recodes) * (n / c.m)
    if counts.shape != m.values.shape:
        msg = f"the released marginal of {' x '.join(m.attributes)} does not fit the schema; give those of this run"
        raise MetricError(msg)
    residual = m.values - counts
    chi2, cells = float((residual**2).sum() / m.sigma**2), m.cells
    return {
        "attributes": list(m.attributes),
        "merged": {a: k for a, k in zip(m.attributes, m.values.shape, strict=True) if k < c.domain[a].size},
        "cells": cells,
        "sigma": m.sigma,
        "interval_95": interval(m.sigma),
        "expected_tvd": expected_tvd(cells, m.sigma, n),
        "tvd": float(abs(residual).sum() / (2 * n)),
        "chi2": chi2,
        "chi2_per_cell": chi2 / cells,
        "z": (chi2 - cells) / math.sqrt(2 * cells),
    }


def _number(rows: Sequence[dict[str, Any]]) -> None:
    """Tells marginals of the same columns and values apart: `measured` counts those that were measured again."""
    seen: Counter[str] = Counter()
    for r in rows:
        key = repr((r["attributes"], r["merged"]))
        seen[key] += 1
        r["measured"] = seen[key]


def row_name(
    row: Mapping[str, Any],
    *,
    total: str = "total",
    merged: str = "{column} in {groups} groups",
    again: str = "{name}, measurement {number}",
) -> str:
    """A released marginal in a list: its columns, into how many groups values were merged, which measurement it is."""
    listed = [merged.format(column=a, groups=row["merged"][a]) if a in row["merged"] else a for a in row["attributes"]]
    name = " x ".join(listed) or total
    return name if row["measured"] == 1 else again.format(name=name, number=row["measured"])
