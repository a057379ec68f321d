"""Tally: marginals that grow block by block, by the kernels of `counting.kernels`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pairs:
    """Tables that share their first attribute, side by side in one buffer. positions: of these tables in the answer."""

    first: int
    seconds: NDArray[np.int64]
    offsets: NDArray[np.int64]
    buffer: NDArray[np.int32]
    positions: tuple[int, ...]


class Tally:
    """Counts of some tables over the blocks that it was given so far. Private."""

    def __init__(self, members: Sequence[Sequence[int]], sizes: NDArray[np.int64]) -> None:
        """All counts are 0.

        Args:
            members: for each table, the rows of a block on its axes; an empty one counts the records.
            sizes: int64, values of each row of a block.
        """
        self._sizes = sizes
        self._shapes = [tuple(int(sizes[row]) for row in rows) for rows in members]
        self._records = 0
        self._wide: list[tuple[int, NDArray[np.int64], NDArray[np.int32]]] = []
        by_first: dict[int, list[int]] = defaultdict(list)
        for position, rows in enumerate(members):
            if len(rows) == 2:
                by_first[rows[0]].append(position)
            elif rows:
                cells = np.zeros(int(np.prod(self._shapes[position], dtype=np.int64)), dtype=np.int32)
                self._wide.append((position, np.array(rows, dtype=np.int64), cells))
        self._pairs = []
        for first, positions in by_first.items():
            seconds = np.array([members[p][1] for p in positions], dtype=np.int64)
            cells_of = sizes[first] * sizes[seconds]
            ends = np.cumsum(cells_of)
            buffer = np.zeros(int(ends[-1]), dtype=np.int32)
            self._pairs.append(
                _Pairs(first=first, seconds=seconds, offsets=ends - cells_of, buffer=buffer, positions=tuple(positions))
            )

    def add(self, codes: NDArray[np.unsignedinteger]) -> None:
        """Counts a block (rows, records), C-contiguous, whose codes lie inside their sizes."""
        from dpsyn_core.counting.kernels import count_cells, count_pairs  # numba is heavy

        self._records += codes.shape[1]
        for p in self._pairs:
            count_pairs(codes, p.first, p.seconds, self._sizes, p.offsets, p.buffer)
        for _, rows, cells in self._wide:
            count_cells(codes, rows, self._sizes, cells)

    def add_to(self, tables: Sequence[NDArray[np.int64]]) -> None:
        """Adds these counts to tables of the same shapes, in place."""
        for table, shape in zip(tables, self._shapes, strict=True):
            if not shape:
                table[...] += self._records
        for position, _, cells in self._wide:
            tables[position][...] += cells.reshape(self._shapes[position])
        for p in self._pairs:
            for position, start in zip(p.positions, p.offsets.tolist(), strict=True):
                shape = self._shapes[position]
                tables[position][...] += p.buffer[start : start + shape[0] * shape[1]].reshape(shape)
