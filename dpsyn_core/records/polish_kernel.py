"""The compiled polish: single-cell moves that bring the records' tables closer to their targets."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dpsyn_core.records.random import below, next_u64

_ONE, _ZERO = np.uint64(1), np.uint64(0)


@njit(cache=True, fastmath=True)  # type: ignore[untyped-decorator]
def polish_pass(
    records: NDArray[np.unsignedinteger],
    residual: NDArray[np.float32],
    weight: NDArray[np.float32],
    entry: NDArray[np.int64],
    offset: NDArray[np.int64],
    stride: NDArray[np.int64],
    other: NDArray[np.int64],
    other_row: NDArray[np.int64],
    other_stride: NDArray[np.int64],
    movable: NDArray[np.int64],
    state: NDArray[np.uint64],
) -> float:
    """One proposal a record; returns by how much the weighted sum of residuals fell.

    Args:
        records: unsigned (n_records, n_attributes), row-major, changed.
        residual: float32, count minus target of all tables, one after the other, changed.
        weight: float32, of each entry's table.
        entry: int64 (n_attributes + 1,), where the entries of an attribute begin; an entry is a table with it.
        offset: int64, where the table of an entry begins in `residual`.
        stride: int64, stride of the attribute in that table.
        other: int64, where the other attributes of an entry begin.
        other_row: int64, their columns in `records`.
        other_stride: int64, their strides.
        movable: int64, attributes that may change.
        state: random state.
    """
    n = records.shape[0]
    place = np.empty(max(1, offset.size), dtype=np.int64)
    fell = 0.0
    for r in range(n):
        j = movable[below(state, movable.size)]
        old = np.int64(records[r, j])
        new = np.int64(records[below(state, n), j])
        if new == old:
            continue
        change = 0.0
        first = entry[j]
        for e in range(first, entry[j + 1]):
            base = offset[e]
            for o in range(other[e], other[e + 1]):
                base += np.int64(records[r, other_row[o]]) * other_stride[o]
            place[e - first] = base
            x = residual[base + new * stride[e]]
            y = residual[base + old * stride[e]]
            change += weight[e] * (abs(x + np.float32(1)) - abs(x) + abs(y - np.float32(1)) - abs(y))
        if change < 0 or (change == 0 and next_u64(state) & _ONE == _ZERO):
            for e in range(first, entry[j + 1]):
                residual[place[e - first] + new * stride[e]] += np.float32(1)
                residual[place[e - first] + old * stride[e]] -= np.float32(1)
            records[r, j] = new
            fell -= change
    return fell
