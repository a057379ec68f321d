"""Which tables are counted for those that are asked for: a larger one, by its sums, serves several of them at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_CELLS = 1 << 14  # of a table that serves several: four of them fit the second-level cache
RECORDS_A_CELL = 16  # records, at least, for each cell of such a table: its sums must take less time than it saves
WORTH = 5_000_000  # records times tables up to which each is counted as it is: some milliseconds


class Joint:
    """Tables over rows of codes, and larger ones in their place.

    Counting a record costs one step for each table, however many attributes it has. A table of five attributes holds
    ten pairs; where its cells are few enough to stay in cache, it is counted instead of them, and they are its sums.
    Whole numbers: what comes out is the same.
    """

    def __init__(self, members: Sequence[Sequence[int]], sizes: NDArray[np.int64], *, records: int) -> None:
        """Decides what is counted; counts nothing.

        Args:
            members: for each table that is asked for, the rows on its axes; an empty one holds the number of records.
            sizes: int64, values of each row.
            records: how many will be counted, about.
        """
        self._sizes = np.asarray(sizes, dtype=np.int64)
        self._whole = self._sizes.tolist()
        self._asked = [tuple(rows) for rows in members]
        self._totals = [p for p, rows in enumerate(self._asked) if not rows]
        self._tables: list[tuple[int, ...]] = []
        self._served: list[list[int]] = []  # of each table, the positions that it holds
        most = min(MOST_CELLS, records // RECORDS_A_CELL) if records * len(members) > WORTH else 0
        self._choose(most)
        self._cells = np.array([self._room(rows) for rows in self._tables], dtype=np.int64)
        self._ptr = np.cumsum([0, *map(len, self._tables)], dtype=np.int64)
        self._rows = np.array([r for rows in self._tables for r in rows], dtype=np.int64)

    def _choose(self, most: int) -> None:
        """Fills the tables that are counted: sets of at most so many cells are joined, others stand alone."""
        small: dict[tuple[int, ...], list[int]] = {}
        alone: dict[tuple[int, ...], list[int]] = {}
        for position, rows in enumerate(self._asked):
            if rows:
                # rows of one value would add axes without cells, of which an array may have 64
                joins = (
                    self._room(rows) <= most and len(set(rows)) == len(rows) and all(self._whole[r] > 1 for r in rows)
                )
                (small if joins else alone).setdefault(tuple(sorted(rows)) if joins else rows, []).append(position)
        self._tables += alone
        self._served += alone.values()
        if small:
            self._join(small, most)

    def _join(self, small: dict[tuple[int, ...], list[int]], most: int) -> None:
        from dpsyn_core.measure.counting.kernels import joined  # numba is heavy

        rooms = np.array([self._room(rows) for rows in small])
        every, contents = list(small), list(small.values())
        order = np.argsort(-rooms, kind="stable").tolist()  # the largest first
        lengths = [len(every[i]) for i in order]
        set_ptr = np.cumsum([0, *lengths], dtype=np.int64)
        members = np.array([r for i in order for r in every[i]], dtype=np.int64)
        owner = np.repeat(np.arange(len(order)), lengths)
        by_row = np.argsort(members, kind="stable")
        of_ptr = np.searchsorted(members[by_row], np.arange(len(self._sizes) + 1)).astype(np.int64)
        ptr, flat, table_of = joined(set_ptr, members, of_ptr, owner[by_row], self._sizes, most)
        begin = len(self._tables)
        rows = flat.tolist()
        self._tables += [tuple(rows[a:b]) for a, b in itertools.pairwise(ptr.tolist())]
        self._served += [[] for _ in range(len(ptr) - 1)]
        for i, table in zip(order, table_of.tolist(), strict=True):
            self._served[begin + table] += contents[i]

    def _room(self, rows: Sequence[int]) -> int:
        """Cells of a table; in Python integers, so that nothing overflows."""
        return math.prod([self._whole[row] for row in rows])

    def parts(self, cells: int, tables: int | None = None) -> list[range]:
        """The tables that are counted, in consecutive parts of at most so many cells, or of one larger table.

        tables: of a part, at most.
        """
        out, start, filled = [], 0, 0
        for i, size in enumerate(self._cells.tolist()):
            if i > start and (filled + size > cells or i - start == tables):
                out.append(range(start, i))
                start, filled = i, 0
            filled += size
        return [*out, range(start, len(self._cells))] if len(self._cells) else []

    def rows(self, part: range) -> list[int]:
        """The rows of codes that a part reads, ascending."""
        return sorted({r for i in part for r in self._tables[i]})

    def zeros(self, part: range) -> NDArray[np.int32]:
        """Counts of a part before any record: int32, its tables one after the other."""
        return np.zeros(int(self._cells[part.start : part.stop].sum()), dtype=np.int32)

    def count(
        self,
        codes: NDArray[np.unsignedinteger],
        part: range,
        out: NDArray[np.int32],
        at: NDArray[np.int64] | None = None,
    ) -> None:
        """Counts records in the tables of a part.

        Args:
            codes: (rows, records), C-contiguous, inside their sizes.
            part: of `parts`.
            out: of `zeros`, added to.
            at: where each row stands in `codes`; None: at its number.
        """
        from dpsyn_core.measure.counting.kernels import count_tables  # numba is heavy

        ptr = self._ptr[part.start : part.stop + 1]
        rows = self._rows[ptr[0] : ptr[-1]]
        sizes = self._sizes
        if at is not None:
            sizes = np.zeros(len(codes), dtype=np.int64)
            sizes[at[rows]] = self._sizes[rows]
            rows = at[rows]
        ends = np.cumsum(self._cells[part.start : part.stop])
        count_tables(codes, ptr - ptr[0], rows, sizes, ends - self._cells[part.start : part.stop], out)

    def add_to(self, tables: Sequence[NDArray[np.int64]], part: range, counted: NDArray[np.int32]) -> None:
        """Adds what was counted to the tables that were asked for, in place; those of other parts stay."""
        start = 0
        for i in part:
            rows, size = self._tables[i], int(self._cells[i])
            whole = counted[start : start + size].reshape([self._whole[r] for r in rows])
            start += size
            for position in self._served[i]:
                tables[position][...] += _summed(whole, rows, self._asked[position])

    def add_records(self, tables: Sequence[NDArray[np.int64]], records: int) -> None:
        """Adds a number of records to the tables without attributes."""
        for position in self._totals:
            tables[position][...] += records


def _summed(whole: NDArray[np.int32], rows: tuple[int, ...], wanted: tuple[int, ...]) -> NDArray[np.int64]:
    """Sums a table whose axes are `rows` over all axes but those of `wanted`, and puts these in their order."""
    if rows == wanted:
        return whole.astype(np.int64)
    others = tuple(axis for axis, row in enumerate(rows) if row not in wanted)
    kept = [row for row in rows if row in wanted]
    sums = whole.sum(axis=others, dtype=np.int64)
    out: NDArray[np.int64] = sums.transpose([kept.index(row) for row in wanted])
    return out
