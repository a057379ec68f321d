"""Compiled kernels of record least squares: annealed single-cell moves over row-major records.

Indices are unsigned: a signed one is compared with 0 at every use, for it may count from the end, and these loops do
little else than look things up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dpsyn_core.loading import compiled

# Entries of the table of exponential draws. A compile-time constant, as is the mask 1023 in `move_cells`: masking the
# bits of a draw by a power of two is one instruction, a division by a parameter would be some twenty in every proposal.
EXPONENTIALS = 1024

TOGETHER = 16  # records whose cells are looked up at once: a line of cache for each table
MANY = 8192  # tables from which on half as many are, so that their cells stay near


class Layout(NamedTuple):
    """Tables laid out flat.

    A reading is an attribute under one of its value maps; all tables that use the same map share it. The cell of a
    record in table t is base[t] plus stride times code over the axes of the table. A run is a row of tables that hold
    an attribute in the same reading: a change of value moves all of them or none.

    Attributes:
        reading_attribute: uint32 (readings,), attribute numbers.
        reading_ptr: uint32 (readings,), where the codes of a reading start in `codes`.
        codes: uint16, axis position of every value.
        table_base: uint32 (tables,), where the cells of a table start.
        weights: float32 (tables,).
        axis_ptr: uint32 (tables + 1,), axes of table t are axis_ptr[t] to axis_ptr[t + 1].
        axis_reading: uint32, reading numbers.
        axis_stride: uint32, cells from one position to the next.
        run_ptr: uint32 (attributes + 1,), runs of attribute j are run_ptr[j] to run_ptr[j + 1].
        run_reading: uint32 (runs,), reading numbers.
        member_ptr: uint32 (runs + 1,), members of a run.
        member_table: uint32, table numbers.
        member_stride: uint32, stride of the attribute in that table.
    """

    reading_attribute: NDArray[np.uint32]
    reading_ptr: NDArray[np.uint32]
    codes: NDArray[np.uint16]
    table_base: NDArray[np.uint32]
    weights: NDArray[np.float32]
    axis_ptr: NDArray[np.uint32]
    axis_reading: NDArray[np.uint32]
    axis_stride: NDArray[np.uint32]
    run_ptr: NDArray[np.uint32]
    run_reading: NDArray[np.uint32]
    member_ptr: NDArray[np.uint32]
    member_table: NDArray[np.uint32]
    member_stride: NDArray[np.uint32]


class Alias(NamedTuple):
    """Alias tables (Walker 1977) of all columns, one after the other: a value is drawn by two looks.

    Attributes:
        ptr: uint32 (columns + 1,), where the values of each column start.
        keep: float32 (values,), chance of keeping the value that was drawn.
        other: uint32 (values,), the other one.
        lift: float32 (values,), logarithm of the probability of a value over that of its proposal.
    """

    ptr: NDArray[np.uint32]
    keep: NDArray[np.float32]
    other: NDArray[np.uint32]
    lift: NDArray[np.float32]


def room(layout: Layout) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Where `locate` writes: codes (readings, width) and cells (tables, width) of `width` records.

    Made outside of the kernels: with a width that the compiler knows, it would unroll the loops over records before it
    finds that one instruction can do several of them.
    """
    readings, tables = layout.reading_ptr.shape[0], layout.weights.shape[0]
    width = TOGETHER if tables <= MANY else TOGETHER // 2
    return np.zeros((readings, width), np.uint32), np.zeros((tables, width), np.uint32)


@njit(nogil=True)  # type: ignore[untyped-decorator]  # only ever inside the others, which are kept
def locate(
    rows: NDArray[np.uint16], start: int, layout: Layout, code: NDArray[np.uint32], cell: NDArray[np.uint32]
) -> None:
    """Writes the codes of the records from `start` on, and their cells in all tables; see `room`."""
    width = cell.shape[1]
    for g in range(code.shape[0]):
        j, first = layout.reading_attribute[g], np.uint64(layout.reading_ptr[g])
        value = code[g]
        for i in range(min(width, rows.shape[0] - start)):
            value[i] = layout.codes[first + np.uint64(rows[start + i, j])]
    for t in range(cell.shape[0]):
        place, base = cell[t], layout.table_base[t]
        q, end = layout.axis_ptr[t], layout.axis_ptr[t + 1]
        if end - q == 2:  # most are pairs and triples, which take one pass each
            first_stride, second_stride = layout.axis_stride[q], layout.axis_stride[q + 1]
            first_code, second_code = code[layout.axis_reading[q]], code[layout.axis_reading[q + 1]]
            for i in range(width):
                place[i] = base + first_stride * first_code[i] + second_stride * second_code[i]
            continue
        if end - q == 3:
            first_stride, second_stride, third_stride = layout.axis_stride[q : q + 3]
            first_code, second_code = code[layout.axis_reading[q]], code[layout.axis_reading[q + 1]]
            third_code = code[layout.axis_reading[q + 2]]
            for i in range(width):
                place[i] = (
                    base + first_stride * first_code[i] + second_stride * second_code[i] + third_stride * third_code[i]
                )
            continue
        for i in range(width):
            place[i] = base
        for axis in range(q, end):
            stride, value = layout.axis_stride[axis], code[layout.axis_reading[axis]]
            for i in range(width):
                place[i] += stride * value[i]


@compiled(nogil=True)
def move_cells(  # noqa: C901, PLR0915 one loop, compiled
    rows: NDArray[np.uint16],
    residuals: NDArray[np.float32],
    layout: Layout,
    proposals: Alias,
    exponentials: NDArray[np.float32],
    temperature: np.float32,
    repeats: int,
    state: NDArray[np.uint64],
    code: NDArray[np.uint32],
    cell: NDArray[np.uint32],
) -> tuple[float, int]:
    """One sweep: every record in order, every attribute `repeats` times, one proposed value each.

    A proposal is accepted when half the change of F is below the temperature times an exponential draw, to which the
    difference of `lift` is added (Metropolis and Hastings; at temperature 0: when F falls). F = sum over tables of
    weight * (count - target)^2, and `residuals` holds weight * (count - target), so half the change of one table
    is residual[new] - residual[old] + weight.

    The gain of a proposal is cached until the record moves: many of its proposals repeat.

    Args:
        rows: uint16 (n_records, n_attributes), changed in place.
        residuals: float32 (cells of all tables), changed in place.
        layout: of the tables.
        proposals: where values are drawn from.
        exponentials: float32 (EXPONENTIALS,), quantiles of the exponential distribution.
        temperature: 0 or more.
        repeats: proposals to an attribute of a record.
        state: uint64 (1,), state of the xorshift generator (Marsaglia 2003), not 0.
        code: of `room`.
        cell: of `room`.

    Returns:
        Half the change of F, and the number of accepted moves.
    """
    zero, one = np.uint64(0), np.uint64(1)
    alias_ptr, alias_keep, alias_other, lift = proposals
    n, d = rows.shape[0], np.uint64(rows.shape[1])
    width = cell.shape[1]
    ahead_j = np.empty(d + one, np.uint64)  # proposals that would change something; one place more, as a dump
    ahead_v = np.empty(d + one, np.uint64)
    ahead_bound = np.empty(d + one, np.float32)
    gains = np.empty(alias_keep.shape[0], np.float32)  # of every value of every attribute ...
    known_at = np.zeros(alias_keep.shape[0], np.uint64)  # ... as of this state of a record
    at = zero
    change = 0.0
    moved = 0
    z = state[0]
    for r in range(n):
        row = rows[r]
        i = np.uint64(r % width)
        if i == zero:
            locate(rows, r, layout, code, cell)
        at += one
        for _ in range(repeats):
            # draws of a whole record first: what they cost then does not wait for the outcome of the moves
            drawn = zero
            for j in range(d):
                z ^= z << np.uint64(13)
                z ^= z >> np.uint64(7)
                z ^= z << np.uint64(17)
                start = np.uint64(alias_ptr[j])
                column = start + (((z >> np.uint64(40)) * (np.uint64(alias_ptr[j + one]) - start)) >> np.uint64(24))
                u = np.float32((z >> np.uint64(16)) & np.uint64(0xFFFFFF)) * np.float32(1 / 16777216.0)
                other = np.uint64(alias_other[column])
                v = other if u >= alias_keep[column] else column - start
                ahead_j[drawn] = j
                ahead_v[drawn] = v
                lifted = lift[start + v] - lift[start + np.uint64(row[j])]
                ahead_bound[drawn] = (exponentials[z & np.uint64(1023)] + lifted) * temperature
                if v != np.uint64(row[j]):
                    drawn += one
            for p in range(drawn):
                j, v = ahead_j[p], ahead_v[p]
                place = np.uint64(alias_ptr[j]) + v
                if known_at[place] != at:
                    gain = np.float32(0.0)
                    for g in range(np.uint64(layout.run_ptr[j]), np.uint64(layout.run_ptr[j + one])):
                        reading = np.uint64(layout.run_reading[g])
                        # steps wrap around below 0; adding them to a cell wraps back
                        step = np.uint64(layout.codes[np.uint64(layout.reading_ptr[reading]) + v]) - np.uint64(
                            code[reading, i]
                        )
                        if step != zero:
                            for q in range(np.uint64(layout.member_ptr[g]), np.uint64(layout.member_ptr[g + one])):
                                t = np.uint64(layout.member_table[q])
                                a = np.uint64(cell[t, i])
                                b = a + step * np.uint64(layout.member_stride[q])
                                gain += residuals[b] - residuals[a] + layout.weights[t]
                    gains[place], known_at[place] = gain, at
                gain = gains[place]
                if gain < ahead_bound[p]:
                    change += float(gain)
                    moved += 1
                    at += one
                    for g in range(np.uint64(layout.run_ptr[j]), np.uint64(layout.run_ptr[j + one])):
                        reading = np.uint64(layout.run_reading[g])
                        step = np.uint64(layout.codes[np.uint64(layout.reading_ptr[reading]) + v]) - np.uint64(
                            code[reading, i]
                        )
                        if step != zero:
                            for q in range(np.uint64(layout.member_ptr[g]), np.uint64(layout.member_ptr[g + one])):
                                t = np.uint64(layout.member_table[q])
                                a = np.uint64(cell[t, i])
                                b = a + step * np.uint64(layout.member_stride[q])
                                residuals[a] -= layout.weights[t]
                                residuals[b] += layout.weights[t]
                                cell[t, i] = np.uint32(b)
                    for g in range(np.uint64(layout.run_ptr[j]), np.uint64(layout.run_ptr[j + one])):
                        reading = np.uint64(layout.run_reading[g])  # several runs may share it
                        code[reading, i] = layout.codes[np.uint64(layout.reading_ptr[reading]) + v]
                    row[j] = v
    state[0] = z
    return change, moved


@compiled(nogil=True)
def add_counts(
    rows: NDArray[np.uint16],
    times: NDArray[np.int32],
    totals: NDArray[np.int32],
    layout: Layout,
    code: NDArray[np.uint32],
    cell: NDArray[np.uint32],
) -> None:
    """Counts every record `times` times, int32 (n_records,), in the cells of all tables; `totals` is added to.

    code, cell: of `room`.
    """
    for start in range(0, rows.shape[0], cell.shape[1]):
        locate(rows, start, layout, code, cell)
        for i in range(min(cell.shape[1], rows.shape[0] - start)):
            if times[start + i] != 0:
                for t in range(cell.shape[0]):
                    totals[cell[t, i]] += times[start + i]


@compiled(nogil=True)
def alias_table(p: NDArray[np.float64], keep: NDArray[np.float32], other: NDArray[np.uint32]) -> None:
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


@compiled(nogil=True)
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
