"""Compiled counting kernels over column-major codes; callers have checked every code against its size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.loading import compiled

CHUNK = 1024  # records whose cell numbers, of four tables, fit the first-level cache


@compiled(nogil=True)
def count_tables(
    codes: NDArray[np.unsignedinteger],
    ptr: NDArray[np.int64],
    rows: NDArray[np.int64],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Counts tables of any width, four at a time.

    The four increments of a record do not wait for each other, which two successive increments of one skewed table
    would; and four tables of some thousand cells stay in cache while all records pass.

    Args:
        codes: unsigned (n_rows, n_records), C-contiguous.
        ptr: int64 (tables + 1,), where the rows of each table start in `rows`; every table has at least one.
        rows: int64, rows of `codes` on the axes.
        sizes: int64 (n_rows,).
        offsets: int64 (tables,), where each table starts in `out`.
        out: int32, added to.
    """
    n = codes.shape[1]
    tables = ptr.size - 1
    cell = np.empty((4, CHUNK), dtype=np.int32)
    for t in range(0, tables, 4):
        together = min(4, tables - t)
        for start in range(0, n, CHUNK):
            m = min(CHUNK, n - start)
            for i in range(together):
                code = cell[i]
                first = codes[rows[ptr[t + i]]]
                for r in range(m):
                    code[r] = first[start + r]
                for q in range(ptr[t + i] + 1, ptr[t + i + 1]):
                    column, size = codes[rows[q]], np.int32(sizes[rows[q]])
                    for r in range(m):
                        code[r] = code[r] * size + np.int32(column[start + r])
            if together == 4:
                c0, c1, c2, c3 = cell[0], cell[1], cell[2], cell[3]
                o0, o1 = out[offsets[t] :], out[offsets[t + 1] :]
                o2, o3 = out[offsets[t + 2] :], out[offsets[t + 3] :]
                for r in range(m):
                    o0[np.uint32(c0[r])] += 1  # unsigned: a signed index is compared with 0 at every use
                    o1[np.uint32(c1[r])] += 1
                    o2[np.uint32(c2[r])] += 1
                    o3[np.uint32(c3[r])] += 1
            else:
                for i in range(together):
                    code, counts = cell[i], out[offsets[t + i] :]
                    for r in range(m):
                        counts[np.uint32(code[r])] += 1


@compiled(nogil=True)
def joined(  # noqa: C901, PLR0912 one loop, compiled
    set_ptr: NDArray[np.int64],
    members: NDArray[np.int64],
    of_ptr: NDArray[np.int64],
    sets_of: NDArray[np.int64],
    sizes: NDArray[np.int64],
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Larger tables that hold all sets, greedily: each grows by the attribute that adds most sets for its size.

    Args:
        set_ptr: int64 (sets + 1,), where the attributes of each set start in `members`; the largest sets first.
        members: int64, attributes, of each set different ones.
        of_ptr: int64 (attributes + 1,), where the sets of each attribute start in `sets_of`.
        sets_of: int64, sets.
        sizes: int64 (attributes,).
        most: cells of a table; a set that has more stands alone.

    Returns:
        Where the attributes of each table start, with the end; these attributes; and for each set its table.
    """
    n_sets, n_attributes = set_ptr.size - 1, sizes.size
    missing = set_ptr[1:] - set_ptr[:-1]  # attributes of each set that the table does not have
    table_of = np.full(n_sets, -1, dtype=np.int64)
    bits = np.log2(np.maximum(sizes, 2).astype(np.float64))
    gain = np.zeros(n_attributes, dtype=np.int64)  # sets that an attribute would add to the table
    inside = np.zeros(n_attributes, dtype=np.bool_)
    ptr, flat = np.zeros(n_sets + 1, dtype=np.int64), np.empty(members.size + 64, dtype=np.int64)
    tables = 0
    for seed in range(n_sets):
        if table_of[seed] >= 0:
            continue
        begin = ptr[tables]
        end, cells = begin, 1
        gain[:] = 0
        first = set_ptr[seed]
        while True:
            best = -1
            if first < set_ptr[seed + 1]:  # the set itself
                best = members[first]
                first += 1
            else:
                most_won = 0.0
                for x in range(n_attributes):
                    if gain[x] > 0 and not inside[x] and cells * sizes[x] <= most and gain[x] / bits[x] > most_won:
                        most_won, best = gain[x] / bits[x], x
            if best < 0:
                break
            inside[best] = True
            cells *= sizes[best]
            if end == flat.size:
                flat = np.concatenate((flat, np.empty(flat.size, dtype=np.int64)))
            flat[end] = best
            end += 1
            for q in range(of_ptr[best], of_ptr[best + 1]):
                s = sets_of[q]
                missing[s] -= 1
                if table_of[s] >= 0:
                    continue
                if missing[s] == 0:
                    table_of[s] = tables
                elif missing[s] == 1:
                    for z in range(set_ptr[s], set_ptr[s + 1]):
                        if not inside[members[z]]:
                            gain[members[z]] += 1
        for q in range(begin, end):
            inside[flat[q]] = False
            for z in range(of_ptr[flat[q]], of_ptr[flat[q] + 1]):
                missing[sets_of[z]] += 1
        tables += 1
        ptr[tables] = end
    return ptr[: tables + 1], flat[:end] if n_sets else flat[:0], table_of


@compiled(nogil=True)
def recoded(
    codes: NDArray[np.unsignedinteger], recode: NDArray[np.unsignedinteger], out: NDArray[np.unsignedinteger]
) -> None:
    """Writes the coarse code of every code, (n_records,), to `out`."""
    for r in range(codes.size):
        out[r] = recode[np.uint64(codes[r])]


@compiled(nogil=True)
def row_squares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of squares of each row of a matrix (m, d), column after column: the same bits wherever a row stands."""
    out = np.zeros(values.shape[0])
    for i in range(values.shape[0]):
        total = 0.0
        for j in range(values.shape[1]):
            total += values[i, j] * values[i, j]
        out[i] = total
    return out


@compiled(nogil=True)
def on_grid(
    values: NDArray[np.float64], scales: NDArray[np.float64], usable: NDArray[np.bool_], down: bool
) -> NDArray[np.float64]:
    """Rows times their scales as whole numbers, to the nearest or (down) toward zero; zeros where not usable."""
    out = np.zeros(values.shape)
    for i in range(values.shape[0]):
        if usable[i]:
            scale = scales[i]
            for j in range(values.shape[1]):
                scaled = values[i, j] * scale
                out[i, j] = np.trunc(scaled) if down else np.rint(scaled)
    return out


@compiled(nogil=True)
def copy_rows(table: NDArray[np.float64], codes: NDArray[np.int64], start: int, out: NDArray[np.float64]) -> None:
    """Writes the row of each code into `out` from column `start` on; codes have been checked against the table."""
    for i in range(codes.size):
        for j in range(table.shape[1]):
            out[i, start + j] = table[codes[i], j]


@compiled(nogil=True)
def margin_distances(
    table: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ptr: NDArray[np.int64],
    axes: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """The sum of absolute values of many margins of one table, which is read once for each.

    Args:
        table: int64 (cells,), of any sign.
        sizes: int64 (dimensions,), of its axes.
        ptr: int64 (margins + 1,), where the axes of each margin start in `axes`.
        axes: int64, axis numbers.
        out: int64 (margins,), written.
    """
    dimensions = sizes.size
    counts = np.zeros(table.size, dtype=np.int64)
    digit, stride = np.zeros(dimensions, dtype=np.int64), np.zeros(dimensions, dtype=np.int64)
    for s in range(ptr.size - 1):
        stride[:] = 0
        cells = 1
        for q in range(ptr[s], ptr[s + 1]):
            stride[axes[q]] = cells
            cells *= sizes[axes[q]]
        counts[:cells] = 0
        digit[:] = 0
        at = 0
        for x in range(table.size):
            counts[at] += table[x]
            j = dimensions - 1
            while j >= 0:
                digit[j] += 1
                at += stride[j]
                if digit[j] < sizes[j]:
                    break
                at -= stride[j] * sizes[j]
                digit[j] = 0
                j -= 1
        far = 0
        for c in range(cells):
            far += abs(counts[c])
        out[s] = far
