"""Compiled kernels of record least squares: annealed single-cell moves over row-major records."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

LOTTERY = 1024  # entries of the table of exponential draws; a power of two


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def move_cells(
    rows: NDArray[np.uint16],
    residuals: NDArray[np.float32],
    weights: NDArray[np.float32],
    table_ptr: NDArray[np.int64],
    table_attribute: NDArray[np.int64],
    table_map: NDArray[np.int64],
    table_base: NDArray[np.int64],
    member_ptr: NDArray[np.int64],
    member_table: NDArray[np.int64],
    member_map: NDArray[np.int64],
    maps: NDArray[np.int32],
    alias_ptr: NDArray[np.int64],
    alias_keep: NDArray[np.float32],
    alias_other: NDArray[np.int64],
    lottery: NDArray[np.float32],
    temperature: np.float32,
    repeats: int,
    state: NDArray[np.uint64],
) -> tuple[float, int]:
    """One sweep: every record in order, every attribute `repeats` times, one proposed value each.

    A proposal is accepted when half the change of F is below the temperature times an exponential draw
    (Metropolis; at temperature 0: when F falls). F = sum over tables of weight * (count - target)^2, and
    `residuals` holds weight * (count - target), so half the change of one table is
    residual[new] - residual[old] + weight.

    Args:
        rows: uint16 (n_records, n_attributes), changed in place.
        residuals: float32 (cells of all tables), changed in place.
        weights: float32 (tables,).
        table_ptr: attributes of table t are table_attribute[table_ptr[t]:table_ptr[t + 1]].
        table_attribute: attribute numbers.
        table_map: where the value map of that table and attribute starts in `maps`.
        table_base: where the cells of table t start in `residuals`.
        member_ptr: tables of attribute j are member_table[member_ptr[j]:member_ptr[j + 1]].
        member_table: table numbers.
        member_map: where the value map of that table and attribute starts in `maps`.
        maps: coarse code times stride, of every value.
        alias_ptr: where the values of attribute j start in the alias tables.
        alias_keep: chance of keeping the drawn column of the alias table (Walker 1977).
        alias_other: the other value of the column.
        lottery: float32 (LOTTERY,), exponential quantiles.
        temperature: 0 or more.
        repeats: proposals to an attribute of a record.
        state: uint64 (1,), state of the xorshift generator (Marsaglia 2003), not 0.

    Returns:
        Half the change of F, and the number of accepted moves.
    """
    n, d = rows.shape
    tables = weights.shape[0]
    cell = np.empty(tables, np.int64)
    change = 0.0
    moved = 0
    z = state[0]
    for r in range(n):
        for t in range(tables):
            c = table_base[t]
            for q in range(table_ptr[t], table_ptr[t + 1]):
                c += maps[table_map[q] + rows[r, table_attribute[q]]]
            cell[t] = c
        for _ in range(repeats):
            for j in range(d):
                z ^= z << np.uint64(13)
                z ^= z >> np.uint64(7)
                z ^= z << np.uint64(17)
                x = np.int64(rows[r, j])
                start = alias_ptr[j]
                v = np.int64(((z >> np.uint64(40)) * np.uint64(alias_ptr[j + 1] - start)) >> np.uint64(24))
                u = np.float32((z >> np.uint64(16)) & np.uint64(0xFFFFFF)) * np.float32(1 / 16777216.0)
                if u >= alias_keep[start + v]:
                    v = alias_other[start + v]
                if v == x:
                    continue
                bound = lottery[z & np.uint64(1023)] * temperature
                gain = np.float32(0.0)
                for q in range(member_ptr[j], member_ptr[j + 1]):
                    o = member_map[q]
                    step = maps[o + v] - maps[o + x]
                    if step != 0:
                        t = member_table[q]
                        a = cell[t]
                        gain += residuals[a + step] - residuals[a] + weights[t]
                if gain < bound:
                    change += float(gain)
                    moved += 1
                    for q in range(member_ptr[j], member_ptr[j + 1]):
                        o = member_map[q]
                        step = maps[o + v] - maps[o + x]
                        if step != 0:
                            t = member_table[q]
                            a = cell[t]
                            residuals[a] -= weights[t]
                            residuals[a + step] += weights[t]
                            cell[t] = a + step
                    rows[r, j] = v
    state[0] = z
    return change, moved


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_counts(
    rows: NDArray[np.uint16],
    totals: NDArray[np.int32],
    table_ptr: NDArray[np.int64],
    table_attribute: NDArray[np.int64],
    table_map: NDArray[np.int64],
    table_base: NDArray[np.int64],
    maps: NDArray[np.int32],
) -> None:
    """Counts the records in the cells of all tables; `totals` is int32 (cells of all tables), added to."""
    for r in range(rows.shape[0]):
        for t in range(table_base.shape[0]):
            c = table_base[t]
            for q in range(table_ptr[t], table_ptr[t + 1]):
                c += maps[table_map[q] + rows[r, table_attribute[q]]]
            totals[c] += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def alias_table(p: NDArray[np.float64], keep: NDArray[np.float32], other: NDArray[np.int64]) -> None:
    """Fills Walker's alias table for probabilities p, shape (s,), which must add up to 1."""
    s = p.shape[0]
    scaled = p * s
    stack = np.empty(s, np.int64)  # small ones grow from the left, large ones from the right
    low, high = 0, s
    for i in range(s):
        if scaled[i] < 1:
            stack[low] = i
            low += 1
        else:
            high -= 1
            stack[high] = i
        other[i] = i
        keep[i] = 1
    while low > 0 and high < s:
        low -= 1
        small, large = stack[low], stack[high]
        keep[small] = scaled[small]
        other[small] = large
        scaled[large] -= 1 - scaled[small]
        if scaled[large] < 1:
            stack[low] = large
            low += 1
            high += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def shuffled_column(rows: NDArray[np.uint16], j: int, counts: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
    """Writes counts[v] times the value v into column j of rows (counts.sum(), d), in random order (Fisher-Yates)."""
    n = rows.shape[0]
    column = np.empty(n, np.uint16)
    i = 0
    for v in range(counts.shape[0]):
        for _ in range(counts[v]):
            column[i] = v
            i += 1
    z = state[0]
    for i in range(n - 1, 0, -1):
        z ^= z << np.uint64(13)
        z ^= z >> np.uint64(7)
        z ^= z << np.uint64(17)
        k = np.int64(((z >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        column[i], column[k] = column[k], column[i]
    for i in range(n):
        rows[i, j] = column[i]
    state[0] = z
