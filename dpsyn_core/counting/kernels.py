"""Compiled counting kernels over column-major codes; callers have checked every code against its size."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

CHUNK = 8192  # records whose cell numbers fit the first-level cache


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count_pairs(
    codes: NDArray[np.unsignedinteger],
    first: int,
    seconds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Counts one attribute with many others.

    Four tables grow at once: the first column is read once for all four, and the four increments of a record
    do not wait for each other, which two successive increments of one skewed table would.

    Args:
        codes: unsigned (n_attributes, n_records), C-contiguous.
        first: row of the attribute on the first axis.
        seconds: int64 (m,), rows of the attributes on the second axis.
        sizes: int64 (n_attributes,).
        offsets: int64 (m,), where each table starts in `out`.
        out: int32, added to.
    """
    n = codes.shape[1]
    m = seconds.size
    a = codes[first]
    done = 0
    while done + 4 <= m:
        c0, c1 = codes[seconds[done]], codes[seconds[done + 1]]
        c2, c3 = codes[seconds[done + 2]], codes[seconds[done + 3]]
        s0, s1 = sizes[seconds[done]], sizes[seconds[done + 1]]
        s2, s3 = sizes[seconds[done + 2]], sizes[seconds[done + 3]]
        o0, o1, o2, o3 = offsets[done], offsets[done + 1], offsets[done + 2], offsets[done + 3]
        for r in range(n):
            x = np.int64(a[r])
            out[o0 + x * s0 + c0[r]] += 1
            out[o1 + x * s1 + c1[r]] += 1
            out[o2 + x * s2 + c2[r]] += 1
            out[o3 + x * s3 + c3[r]] += 1
        done += 4
    while done < m:
        c0, s0, o0 = codes[seconds[done]], sizes[seconds[done]], offsets[done]
        for r in range(n):
            out[o0 + np.int64(a[r]) * s0 + c0[r]] += 1
        done += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count_cells(
    codes: NDArray[np.unsignedinteger], members: NDArray[np.int64], sizes: NDArray[np.int64], out: NDArray[np.int32]
) -> None:
    """Counts one marginal of any width, in chunks whose cell numbers stay in cache.

    Args:
        codes: unsigned (n_attributes, n_records).
        members: int64 (k,), rows on the axes; k may be 0.
        sizes: int64 (n_attributes,).
        out: int32 (cells,), added to.
    """
    n = codes.shape[1]
    cell = np.zeros(CHUNK, dtype=np.int64)
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        for i in range(m):
            cell[i] = 0
        for j in members:
            column, size = codes[j], sizes[j]
            for i in range(m):
                cell[i] = cell[i] * size + np.int64(column[start + i])
        for i in range(m):
            out[cell[i]] += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def row_squares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of squares of each row of a matrix (m, d), column after column: the same bits wherever a row stands."""
    out = np.zeros(values.shape[0])
    for i in range(values.shape[0]):
        total = 0.0
        for j in range(values.shape[1]):
            total += values[i, j] * values[i, j]
        out[i] = total
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def copy_rows(table: NDArray[np.float64], codes: NDArray[np.int64], start: int, out: NDArray[np.float64]) -> None:
    """Writes the row of each code into `out` from column `start` on; codes have been checked against the table."""
    for i in range(codes.size):
        for j in range(table.shape[1]):
            out[i, start + j] = table[codes[i], j]
