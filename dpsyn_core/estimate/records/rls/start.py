"""Where record least squares starts: independent columns with exact one-way counts. Blind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


def whole_counts(weights: NDArray[np.float64], total: int, *, rng: Generator) -> NDArray[np.int64]:
    """Integers that add up to `total` in proportion to weights, each off by less than 1 (systematic rounding)."""
    mass = float(weights.sum())
    size = len(weights)
    expected = weights * (total / mass) if mass > 0 else np.full(size, total / size)
    edges = np.floor(np.append(0.0, np.cumsum(expected)) + rng.random())
    edges[0], edges[-1] = 0, total
    return np.diff(np.clip(edges, 0, total)).astype(np.int64)


def independent_rows(one_ways: Sequence[NDArray[np.float64]], n_records: int, *, rng: Generator) -> NDArray[np.uint16]:
    """Records of shape (n_records, attributes): every column has its one-way counts, independently shuffled."""
    from dpsyn_core.estimate.records.rls.kernel import shuffled_column  # numba is heavy

    rows = np.empty((n_records, len(one_ways)), dtype=np.uint16)
    state = np.array([int(rng.integers(1, 2**63))], dtype=np.uint64)
    for j, weights in enumerate(one_ways):
        shuffled_column(rows, j, whole_counts(weights, n_records, rng=rng), state)
    return rows
