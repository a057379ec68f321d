"""The number of records, estimated from released tables by inverse variance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsyn_core.marginals.types import Measurement


def total_weights(cells: Sequence[int], sigmas: Sequence[float]) -> list[float]:
    """Weights, adding up to 1, of tables whose sums have variance cells * sigma^2."""
    raw = [1 / (c * s**2) if s > 0 else np.inf for c, s in zip(cells, sigmas, strict=True)]
    if any(np.isinf(w) for w in raw):
        raw = [1.0 if np.isinf(w) else 0.0 for w in raw]
    return [float(w / sum(raw)) for w in raw]


def estimate_total(measured: Sequence[Measurement]) -> float:
    """The number of records: sums of the tables weighted by 1 / (cells sigma^2), never below 0.

    The plain mean of the sums lets the largest tables, which are the noisiest, count as much as the smallest:
    on all pairs of Adult it has five times the standard deviation.
    """
    if not measured:
        return 0.0
    weights = total_weights([m.cells for m in measured], [m.sigma for m in measured])
    return max(0.0, float(sum(w * m.values.sum() for w, m in zip(weights, measured, strict=True))))
