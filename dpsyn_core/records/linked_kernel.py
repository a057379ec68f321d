"""Compiled kernel of record least squares on linked records: own cells move, those of parents and siblings stand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dpsyn_core.kernel_cache import compiled


class LinkedLayout(NamedTuple):
    """Tables laid out flat.

    A reading is one axis of a table: codes[ptr + step_before * b + step_other * o + v], where v is the record's value
    of `column`, o its value of `other` (a column that stands) and b that of `before` in the sibling before it; a step
    of 0 leaves one out. Tables from `first_coupled` on look at a record and its sibling before, others at one record.

    Attributes:
        column, step, other, step_other, before, step_before, ptr: int64 (readings,); step: 0 leaves `column` out.
        codes: uint16, axis position.
        base: int64 (tables,), where the cells of a table start.
        weights: float32 (tables,).
        axis_ptr: int64 (tables + 1,); axis_reading, axis_stride: int64. No two axes of a table hold one own column.
        run_ptr: int64 (own columns + 1,), runs of each: tables of one record that hold it by the same reading.
        run_reading: int64 (runs,); member_ptr: int64 (runs + 1,); member_table, member_stride: int64.
        coupled_ptr: int64 (own columns + 1,); coupled_table: int64, coupled tables that a change of the column moves.
        first_coupled: number of tables of one record.
    """

    column: NDArray[np.int64]
    step: NDArray[np.int64]
    other: NDArray[np.int64]
    step_other: NDArray[np.int64]
    before: NDArray[np.int64]
    step_before: NDArray[np.int64]
    ptr: NDArray[np.int64]
    codes: NDArray[np.uint16]
    base: NDArray[np.int64]
    weights: NDArray[np.float32]
    axis_ptr: NDArray[np.int64]
    axis_reading: NDArray[np.int64]
    axis_stride: NDArray[np.int64]
    run_ptr: NDArray[np.int64]
    run_reading: NDArray[np.int64]
    member_ptr: NDArray[np.int64]
    member_table: NDArray[np.int64]
    member_stride: NDArray[np.int64]
    coupled_ptr: NDArray[np.int64]
    coupled_table: NDArray[np.int64]
    first_coupled: int


@njit(nogil=True, inline="always")  # type: ignore[untyped-decorator]
def cell_of(rows: NDArray[np.uint16], k: int, t: int, layout: LinkedLayout) -> Any:
    """The cell of record k in table t; a coupled table also reads record k - 1, its sibling."""
    found = layout.base[t]
    for q in range(layout.axis_ptr[t], layout.axis_ptr[t + 1]):
        g = layout.axis_reading[q]
        at = layout.ptr[g]
        if layout.step[g]:
            at += layout.step[g] * rows[k, layout.column[g]]
        if layout.step_other[g]:
            at += layout.step_other[g] * rows[k, layout.other[g]]
        if layout.step_before[g]:
            at += layout.step_before[g] * rows[k - 1, layout.before[g]]
        found += layout.axis_stride[q] * layout.codes[at]
    return found


@compiled(nogil=True)
def add_weights(
    rows: NDArray[np.uint16], weight: NDArray[np.float32], coupling: NDArray[np.float32], totals: NDArray[np.float64],
    layout: LinkedLayout,
) -> None:  # fmt: skip
    """Adds the weight of every record to its cells in all tables; `coupling`: see `move_linked`."""
    for k in range(rows.shape[0]):
        for t in range(layout.first_coupled):
            totals[cell_of(rows, k, t, layout)] += weight[k]
        if coupling[k] > 0:
            for t in range(layout.first_coupled, layout.base.shape[0]):
                totals[cell_of(rows, k, t, layout)] += coupling[k]


@compiled(nogil=True)
def move_linked(
    rows: NDArray[np.uint16],
    weight: NDArray[np.float32],
    coupling: NDArray[np.float32],
    first_own: int,
    residuals: NDArray[np.float32],
    layout: LinkedLayout,
    alias_ptr: NDArray[np.uint32],
    alias_keep: NDArray[np.float32],
    alias_other: NDArray[np.uint32],
    exponentials: NDArray[np.float32],
    temperature: np.float32,
    repeats: int,
    state: NDArray[np.uint64],
) -> float:
    """One sweep over all records: `repeats` proposals to each own cell; returns half the change of F.

    F = sum over tables of weights * (held - target)^2, where a record holds its weight; `residuals` has weights * (held
    - target). A record of weight w that moves from cell a to b changes half of F by w (residual[b] - residual[a]) +
    w^2 weights. In a coupled table two pairs of siblings move, which may share cells: the second reads what the first
    leaves.

    Args:
        rows: uint16 (n_records, columns), siblings one after the other; own columns from `first_own` on are changed.
        weight: float32 (n_records,), of each record.
        coupling: float32 (n_records,), of a record with the sibling before it; 0 for a first child.
        first_own: columns before it stand.
        residuals: float32 (cells of all tables,), changed in place.
        layout: of the tables.
        alias_ptr: where the values of each own column start in the alias tables (Walker 1977).
        alias_keep: chance of keeping the drawn column of the alias table.
        alias_other: the other value of the column.
        exponentials: float32 (1024,), quantiles of the exponential distribution.
        temperature: 0 or more.
        repeats: proposals to each own cell.
        state: uint64 (1,), state of the xorshift generator (Marsaglia 2003), not 0.
    """
    n, own = rows.shape[0], rows.shape[1] - first_own
    most = 1
    for j in range(own):
        most = max(most, layout.coupled_ptr[j + 1] - layout.coupled_ptr[j])
    a1, b1 = np.empty(most, np.int64), np.empty(most, np.int64)
    a2, b2 = np.empty(most, np.int64), np.empty(most, np.int64)
    single, readings = layout.first_coupled, layout.column.shape[0]
    cell, code = np.empty(single, np.int64), np.empty(readings, np.int64)
    start_of, other_of = np.empty(readings, np.int64), layout.other
    change = 0.0
    z = state[0]
    for k in range(n):
        w, c1 = weight[k], coupling[k]
        c2 = coupling[k + 1] if k + 1 < n else np.float32(0)
        for g in range(readings):
            if layout.step_before[g] == 0:
                start_of[g] = layout.ptr[g]
                if layout.step_other[g]:
                    start_of[g] += layout.step_other[g] * rows[k, other_of[g]]
                code[g] = layout.codes[start_of[g] + rows[k, layout.column[g]]]
        for t in range(single):
            cell[t] = layout.base[t]
            for q in range(layout.axis_ptr[t], layout.axis_ptr[t + 1]):
                cell[t] += layout.axis_stride[q] * code[layout.axis_reading[q]]
        for _ in range(repeats):
            for j in range(own):
                z ^= z << np.uint64(13)
                z ^= z >> np.uint64(7)
                z ^= z << np.uint64(17)
                start = np.uint64(alias_ptr[j])
                size = np.uint64(alias_ptr[j + 1]) - start
                column = start + (((z >> np.uint64(40)) * size) >> np.uint64(24))
                u = np.float32((z >> np.uint64(16)) & np.uint64(0xFFFFFF)) * np.float32(1 / 16777216.0)
                v = np.uint64(alias_other[column]) if u >= alias_keep[column] else column - start
                at = first_own + j
                old = rows[k, at]
                if v == np.uint64(old):
                    continue
                bound = exponentials[z & np.uint64(1023)] * temperature * w  # else light records would never cool
                gain = np.float32(0)
                for g in range(layout.run_ptr[j], layout.run_ptr[j + 1]):
                    r = layout.run_reading[g]
                    step = np.int64(layout.codes[start_of[r] + np.int64(v)]) - code[r]
                    if step:
                        for q in range(layout.member_ptr[g], layout.member_ptr[g + 1]):
                            t = layout.member_table[q]
                            a = cell[t]
                            gain += residuals[a + step * layout.member_stride[q]] - residuals[a] + w * layout.weights[t]
                gain *= w
                first, last = layout.coupled_ptr[j], layout.coupled_ptr[j + 1]
                if last > first and (c1 > 0 or c2 > 0):
                    for q in range(first, last):
                        t, i = layout.coupled_table[q], q - first
                        if c1 > 0:
                            a1[i] = cell_of(rows, k, t, layout)
                        if c2 > 0:
                            a2[i] = cell_of(rows, k + 1, t, layout)
                    rows[k, at] = v
                    for q in range(first, last):
                        t, i = layout.coupled_table[q], q - first
                        s = layout.weights[t]
                        moved = False
                        if c1 > 0:
                            b1[i] = cell_of(rows, k, t, layout)
                            moved = b1[i] != a1[i]
                            if moved:
                                gain += c1 * (residuals[b1[i]] - residuals[a1[i]] + c1 * s)
                        if c2 > 0:
                            b2[i] = cell_of(rows, k + 1, t, layout)
                            if b2[i] != a2[i]:
                                to, away = residuals[b2[i]], residuals[a2[i]]
                                if moved:
                                    to += c1 * s * (np.float32(b2[i] == b1[i]) - np.float32(b2[i] == a1[i]))
                                    away += c1 * s * (np.float32(a2[i] == b1[i]) - np.float32(a2[i] == a1[i]))
                                gain += c2 * (to - away + c2 * s)
                if gain >= bound:
                    rows[k, at] = old
                    continue
                rows[k, at] = v
                change += float(gain)
                for g in range(layout.run_ptr[j], layout.run_ptr[j + 1]):
                    r = layout.run_reading[g]
                    found = np.int64(layout.codes[start_of[r] + np.int64(v)])
                    step = found - code[r]
                    if step:
                        for q in range(layout.member_ptr[g], layout.member_ptr[g + 1]):
                            t = layout.member_table[q]
                            residuals[cell[t]] -= w * layout.weights[t]
                            cell[t] += step * layout.member_stride[q]
                            residuals[cell[t]] += w * layout.weights[t]
                        code[r] = found
                for q in range(first, last):
                    t, i = layout.coupled_table[q], q - first
                    s = layout.weights[t]
                    if c1 > 0:
                        residuals[a1[i]] -= c1 * s
                        residuals[b1[i]] += c1 * s
                    if c2 > 0:
                        residuals[a2[i]] -= c2 * s
                        residuals[b2[i]] += c2 * s
    state[0] = z
    return change
