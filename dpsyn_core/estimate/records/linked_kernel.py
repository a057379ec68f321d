"""Compiled kernel of record least squares on linked records: cells of children move, of parents and siblings stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dpsyn_core.loading import compiled

if TYPE_CHECKING:
    from dpsyn_core.estimate.records.linked_records import LinkedRecords
    from dpsyn_core.estimate.records.rls.kernel import Alias


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
        axis_ptr: int64 (tables + 1,); axis_reading, axis_stride: int64. No two axes of a table hold one movable column.
        run_ptr: int64 (movable columns + 1,), runs of each: tables of one record that hold it by the same reading.
        run_reading: int64 (runs,); member_ptr: int64 (runs + 1,); member_table, member_stride: int64.
        coupled_ptr: int64 (movable columns + 1,); coupled_table: int64, coupled tables that a change of the column
            moves.
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
def cell_of(rows: NDArray[np.uint16], k: int, before: int, t: int, layout: LinkedLayout) -> Any:
    """The cell of record k in table t; a coupled table also reads a sibling before it."""
    cell = layout.base[t]
    for q in range(layout.axis_ptr[t], layout.axis_ptr[t + 1]):
        g = layout.axis_reading[q]
        at = layout.ptr[g]
        if layout.step[g]:
            at += layout.step[g] * rows[k, layout.column[g]]
        if layout.step_other[g]:
            at += layout.step_other[g] * rows[k, layout.other[g]]
        if layout.step_before[g]:
            at += layout.step_before[g] * rows[before, layout.before[g]]
        cell += layout.axis_stride[q] * layout.codes[at]
    return cell


@compiled(nogil=True)
def add_weights(records: LinkedRecords, lags: int, totals: NDArray[np.float64], layout: LinkedLayout) -> None:
    """Adds the weight of every record to its cells in all tables; `lags`: see `move_linked`."""
    rows, weight, coupling = records.rows, records.weight, records.coupling
    for k in range(rows.shape[0]):
        for t in range(layout.first_coupled):
            totals[cell_of(rows, k, k, t, layout)] += weight[k]
        lag = 1
        while lag <= lags and coupling[k - lag + 1] > 0:
            for t in range(layout.first_coupled, layout.base.shape[0]):
                totals[cell_of(rows, k, k - lag, t, layout)] += coupling[k]
            lag += 1


@compiled(nogil=True)
def move_linked(  # noqa: C901, PLR0912, PLR0915 one loop, compiled
    records: LinkedRecords,
    lags: int,
    residuals: NDArray[np.float32],
    layout: LinkedLayout,
    proposals: Alias,
    exponentials: NDArray[np.float32],
    temperature: np.float32,
    repeats: int,
    state: NDArray[np.uint64],
) -> float:
    """One sweep over all records: `repeats` proposals to each movable cell; returns half the change of F.

    F = sum over tables of weights * (count - target)^2, where a record counts its weight; `residuals` has weights *
    (count - target). A record of weight w that moves from cell a to b changes half of F by w (residual[b] -
    residual[a]) + w^2 weights. In a coupled table several pairs of siblings move, which may share cells: each reads
    what those before it leave, and a move that is refused is taken back.

    Args:
        records: siblings one after the other; columns from `first_own` move, in place.
        lags: how many siblings before it a record is counted with, where there are so many.
        residuals: float32 (cells of all tables,), changed in place.
        layout: of the tables.
        proposals: where values of the movable columns are drawn from.
        exponentials: float32 (1024,), quantiles of the exponential distribution.
        temperature: 0 or more.
        repeats: proposals to each movable cell.
        state: uint64 (1,), state of the xorshift generator (Marsaglia 2003), not 0.
    """
    rows, weight, coupling, first_own = records.rows, records.weight, records.coupling, records.first_own
    alias_ptr, alias_keep, alias_other, _ = proposals
    n, moving = rows.shape[0], rows.shape[1] - first_own
    most = 1
    for j in range(moving):
        most = max(most, layout.coupled_ptr[j + 1] - layout.coupled_ptr[j])
    was, becomes = np.empty(2 * lags * most, np.int64), np.empty(2 * lags * most, np.int64)
    single, readings = layout.first_coupled, layout.column.shape[0]
    cell, code = np.empty(single, np.int64), np.empty(readings, np.int64)
    start_of, other_of = np.empty(readings, np.int64), layout.other
    change = 0.0
    z = state[0]
    for k in range(n):
        w, c = weight[k], np.float32(0)
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
            for j in range(moving):
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
                count = 0
                if last > first:
                    back, on = 0, 0  # siblings before and behind with whom it is counted
                    while back < lags and coupling[k - back] > 0:
                        back += 1
                    while on < lags and k + on + 1 < n and coupling[k + on + 1] > 0:
                        on += 1
                    c = coupling[k] if back else coupling[k + 1] if on else np.float32(0)
                    for i in range(back + on):
                        now, before = (k, k - 1 - i) if i < back else (k + 1 + i - back, k)
                        for q in range(first, last):
                            was[count] = cell_of(rows, now, before, layout.coupled_table[q], layout)
                            count += 1
                    rows[k, at] = v
                    count = 0
                    for i in range(back + on):
                        now, before = (k, k - 1 - i) if i < back else (k + 1 + i - back, k)
                        for q in range(first, last):
                            t = layout.coupled_table[q]
                            a, b = was[count], cell_of(rows, now, before, t, layout)
                            becomes[count] = b
                            if a != b:  # at once, for pairs may share cells
                                s = c * layout.weights[t]
                                gain += c * (residuals[b] - residuals[a] + s)
                                residuals[a] -= s
                                residuals[b] += s
                            count += 1
                if gain >= bound:
                    rows[k, at] = old
                    for i in range(count):
                        if was[i] != becomes[i]:
                            s = c * layout.weights[layout.coupled_table[first + i % (last - first)]]
                            residuals[was[i]] += s
                            residuals[becomes[i]] -= s
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
    state[0] = z
    return change
