"""Answers 512 queries in one pass over the records: a bit a query, counted by carry-save adders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

PLANES = 11  # binary digits of a counter: a pass may add at most 2,047
FLUSH = 2040  # records a pass, a multiple of 8 below that


def count_blocks(columns: Sequence[NDArray[Any]], tables: Sequence[NDArray[np.uint64]], n: int) -> NDArray[np.int64]:
    """Counts, for each of the 64 * words queries, the records whose table rows all have its bit.

    Args:
        columns: integer codes (n,) each, at least one.
        tables: uint64 (values, words) each, the same number of words in all; row v belongs to code v.
        n: number of records.
    """
    starts = np.concatenate([[0], np.cumsum([t.shape[0] for t in tables])])
    table = np.ascontiguousarray(np.concatenate(tables))
    counts = np.zeros(64 * table.shape[1], dtype=np.int64)
    rows = np.empty((FLUSH, len(columns)), dtype=np.int32)
    for begin in range(0, n, FLUSH):
        end = min(n, begin + FLUSH)
        for k, column in enumerate(columns):
            rows[: end - begin, k] = column[begin:end]
            rows[: end - begin, k] += starts[k]
        _count(rows, end - begin, table, counts)
    return counts


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count(rows: NDArray[np.int32], m: int, table: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
    """Adds the set bits of the conjunctions of m records to the counts; eight records share one carry chain.

    Source: Harley and Seal's population count (Warren 2012, Hacker's Delight, 2nd ed., section 5-1), per bit.
    """
    words = table.shape[1]
    p = np.zeros((PLANES, words), dtype=np.uint64)
    a = np.zeros((8, words), dtype=np.uint64)
    for g in range(0, m, 8):
        for i in range(8):
            if g + i < m:
                for w in range(words):
                    a[i, w] = table[rows[g + i, 0], w]
                for k in range(1, rows.shape[1]):
                    row = rows[g + i, k]
                    for w in range(words):
                        a[i, w] &= table[row, w]
            else:
                for w in range(words):
                    a[i, w] = 0
        for w in range(words):
            ones, twos, fours = p[0, w], p[1, w], p[2, w]
            u = ones ^ a[0, w]
            t0 = (ones & a[0, w]) | (u & a[1, w])
            ones = u ^ a[1, w]
            u = ones ^ a[2, w]
            t1 = (ones & a[2, w]) | (u & a[3, w])
            ones = u ^ a[3, w]
            u = twos ^ t0
            f0 = (twos & t0) | (u & t1)
            twos = u ^ t1
            u = ones ^ a[4, w]
            t0 = (ones & a[4, w]) | (u & a[5, w])
            ones = u ^ a[5, w]
            u = ones ^ a[6, w]
            t1 = (ones & a[6, w]) | (u & a[7, w])
            ones = u ^ a[7, w]
            u = twos ^ t0
            f1 = (twos & t0) | (u & t1)
            twos = u ^ t1
            u = fours ^ f0
            carry = (fours & f0) | (u & f1)
            fours = u ^ f1
            p[0, w], p[1, w], p[2, w] = ones, twos, fours
            for j in range(3, PLANES):
                over = p[j, w] & carry
                p[j, w] ^= carry
                carry = over
    for j in range(PLANES):
        for w in range(words):
            x = p[j, w]
            for b in range(64):
                counts[64 * w + b] += np.int64((x >> np.uint64(b)) & np.uint64(1)) << j
