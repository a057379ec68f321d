"""Compiled loops of the gradual update method and of polishing.

The compiled GUM step: one marginal of the records moves towards its target.

The compiled polish: single-cell moves that bring the records' tables closer to their targets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.random import below, next_u64, rounded, unit
from dpsyn_core.loading import compiled


@compiled()
def cell_numbers(
    codes: NDArray[np.unsignedinteger], rows: NDArray[np.int64], sizes: NDArray[np.int64], cell: NDArray[np.int32]
) -> None:
    """Writes the mixed-radix cell number of every record into `cell`, int32 (n_records,)."""
    n = codes.shape[1]
    for i in range(n):
        cell[i] = 0
    for j in range(rows.size):
        column, size = codes[rows[j]], np.int32(sizes[j])
        for i in range(n):
            cell[i] = cell[i] * size + np.int32(column[i])


@compiled()
def removals(counts: NDArray[np.int64], target: NDArray[np.int64], wanted: int, by_share: bool) -> NDArray[np.float64]:
    """How many records each over-full cell gives, float (cells,); their sum is `wanted`, or the excess if less.

    By share, a cell gives min(excess, beta count) with the one beta at which the sum is right; else in proportion to
    the excess. Cells that are not over-full give nothing.
    """
    out = np.zeros(counts.size, dtype=np.float64)
    excess = np.maximum(counts - target, 0)
    total = int(excess.sum())
    if total == 0:
        return out
    if not by_share:
        ratio = min(1.0, wanted / total)
        for c in range(counts.size):
            out[c] = excess[c] * ratio
        return out
    over = np.flatnonzero(excess)
    limit = excess[over] / counts[over]  # beta at which a cell has given all its excess
    order = np.argsort(limit)
    given, rest, beta = 0.0, float(counts[over].sum()), 1.0
    for i in order:
        if given + limit[i] * rest >= wanted:
            beta = (wanted - given) / rest
            break
        given += excess[over[i]]
        rest -= counts[over[i]]
    for i in over:
        out[i] = min(float(excess[i]), beta * counts[i])
    return out


@compiled()
def update(  # noqa: C901, PLR0912, PLR0915 one loop, compiled
    codes: NDArray[np.unsignedinteger],
    rows: NDArray[np.int64],
    sizes: NDArray[np.int64],
    target: NDArray[np.int64],
    alpha: float,
    duplicate: float,
    cell: NDArray[np.int32],
    state: NDArray[np.uint64],
    by_share: bool = False,
) -> int:
    """One update in place; returns the L1 distance to the target before it.

    An under-full cell gets min(target - count, alpha count) more records, an empty one alpha target; over-full
    cells give as many, see `removals`. Victims are uniform within a cell. A filled victim becomes a copy of a
    record of the cell (duplicate) or is rewritten on these attributes only (replace).

    Args:
        codes: unsigned (n_attributes, n_records), changed.
        rows: int64 (k,), attributes of the marginal.
        sizes: int64 (k,), their sizes.
        target: int64 (cells,), adds up to n_records.
        alpha: update rate; infinity fills every cell at once.
        duplicate: share of a cell's additions that are copies.
        cell: int32 (n_records,), scratch.
        state: random state.
        by_share: how over-full cells give.

    Source: Zhang et al. 2021 (PrivSyn), section 5, with the rule for empty cells and stochastic rounding.
    """
    n, cells = codes.shape[1], target.size
    cell_numbers(codes, rows, sizes, cell)
    left = np.zeros(cells, dtype=np.int64)
    for i in range(n):
        left[cell[i]] += 1
    error, added, excess = 0, 0, 0
    adds = np.zeros(cells, dtype=np.int64)
    copies = np.zeros(cells, dtype=np.int64)
    for c in range(cells):
        gap = target[c] - left[c]
        if gap < 0:
            excess -= gap
            error -= gap
        elif gap > 0:
            error += gap
            wish = alpha * (left[c] if left[c] > 0 else target[c])
            adds[c] = gap if wish >= gap else rounded(state, wish)
            if left[c] > 0:
                copies[c] = rounded(state, adds[c] * duplicate)
            added += adds[c]
    if added == 0 or excess == 0:
        return error
    # what each over-full cell gives, and where the donors of each under-full cell stand in the donor list
    wished = removals(left, target, added, by_share)
    gives = np.zeros(cells, dtype=np.int64)
    start = np.full(cells, -1, dtype=np.int64)
    taken, listed = 0, 0
    for c in range(cells):
        if left[c] > target[c]:
            gives[c] = rounded(state, wished[c])
            taken += gives[c]
        elif copies[c] > 0:
            start[c] = listed
            listed += left[c]
    victims = np.empty(taken, dtype=np.int64)
    donors = np.empty(listed, dtype=np.int64)
    seen = np.zeros(cells, dtype=np.int64)
    v = 0
    for i in range(n):
        c = cell[i]
        if gives[c] > 0:
            if unit(state) * left[c] < gives[c]:  # sequential sampling: exact, without replacement
                victims[v] = i
                v += 1
                gives[c] -= 1
            left[c] -= 1
        elif start[c] >= 0:
            donors[start[c] + seen[c]] = i
            seen[c] += 1
    for i in range(v - 1, 0, -1):
        k = below(state, i + 1)
        victims[i], victims[k] = victims[k], victims[i]
    # fill from a random cell on, so that no cell is always the one that runs out of victims
    first = below(state, cells)
    used = 0
    for step in range(cells):
        c = first + step
        if c >= cells:
            c -= cells
        if adds[c] == 0:
            continue
        turn = below(state, seen[c]) if seen[c] > 0 else 0
        for a in range(adds[c]):
            if used == v:
                return error
            r = victims[used]
            used += 1
            if a < copies[c]:
                donor = donors[start[c] + (turn + a) % seen[c]]
                for j in range(codes.shape[0]):
                    codes[j, r] = codes[j, donor]
            else:
                rest = c
                for j in range(rows.size - 1, -1, -1):
                    codes[rows[j], r] = rest % sizes[j]
                    rest //= sizes[j]
    return error


_ONE, _ZERO = np.uint64(1), np.uint64(0)


@compiled(fastmath=True)
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
