"""Counting records that are kept on disk.

Store: codes on disk, block by block and column by column inside a block, each in the narrowest unsigned type.

StoredCounter: exact marginals of records whose codes are on disk, by the same kernels as in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import NO_RECODES, Recodes, coarse_shape
from dpsyn_core.measure.counting.joint import Joint
from dpsyn_core.measure.counting.memory import (
    MAX_CELLS,
    MAX_RECORDS,
    check_cells,
    check_codes,
    coarse_codes,
    too_many_records,
)
from dpsyn_core.measure.counting.sums import Sample, SumRule, VectorMap, block_sum
from dpsyn_core.platforms import read_at
from dpsyn_core.schema import AttributeSet, Domain

BLOCK_VALUES = 16 << 20  # codes of a block: 16 MB where attributes have at most 256 values
FEWEST, MOST = 1 << 12, 1 << 18  # records of a block


class Store:
    """Coded records in one private file, written once and read as often as asked. Private."""

    def __init__(self, file: BinaryIO, domain: Domain) -> None:
        """Starts empty.

        Args:
            file: open for reading and writing, in a private folder; whoever opened it closes it.
            domain: the attributes, in the order of the rows of the codes.
        """
        self.domain = domain
        self.n_records = 0
        self._file = file
        self._types = [np.min_scalar_type(size - 1) for size in domain.sizes]
        self._most = max(FEWEST, min(MOST, BLOCK_VALUES // max(1, len(domain))))
        self._blocks: list[tuple[int, int]] = []  # where a block starts in the file, and its records
        self._end = 0

    @property
    def record_bytes(self) -> int:
        """Bytes of one record on disk."""
        return sum(t.itemsize for t in self._types)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self._blocks)

    def append(self, codes: NDArray[np.unsignedinteger]) -> None:
        """Writes records, (n_attributes, n_records).

        Raises:
            TableError: a code does not fit the domain; names the attribute, never the value.
            SizeError: the disk is full, or the file cannot be written.
        """
        check_codes(codes, self.domain)
        for start in range(0, codes.shape[1], self._most):
            part = codes[:, start : start + self._most]
            try:
                for row, kind in zip(part, self._types, strict=True):
                    self._file.write(np.ascontiguousarray(row, dtype=kind).data)
            except OSError as error:
                raise full(error) from error
            self._blocks.append((self._end, part.shape[1]))
            self._end += part.shape[1] * self.record_bytes
            self.n_records += part.shape[1]

    def finish(self) -> None:
        """Hands what was written to the system; nothing is appended after it. Raises SizeError as `append`."""
        try:
            self._file.flush()
        except OSError as error:
            raise full(error) from error

    def read(self, block: int, rows: Sequence[int]) -> NDArray[np.unsignedinteger]:
        """Some rows of a block, (rows, records), C-contiguous, in the narrowest type that holds all of them.

        Safe to call from several threads.
        """
        start, n = self._blocks[block]
        kind = max((self._types[r] for r in rows), key=lambda t: t.itemsize, default=np.dtype(np.uint8))
        out = np.empty((len(rows), n), dtype=kind)
        begins = np.cumsum([0, *(t.itemsize * n for t in self._types)])
        for i, row in enumerate(rows):
            data = self._read_at(start + int(begins[row]), self._types[row].itemsize * n)
            out[i] = np.frombuffer(data, dtype=self._types[row])
        return out

    def parts(self, rows: Sequence[int]) -> Iterator[NDArray[np.unsignedinteger]]:
        """These rows of every block, one block after the other; see `read`."""
        return (self.read(block, rows) for block in range(self.blocks))

    def _read_at(self, start: int, size: int) -> bytes:
        """Bytes of the file. Read, not mapped: pages of a map would count as this process's memory."""
        data = read_at(self._file.fileno(), size, start)
        if len(data) != size:
            msg = "the private file of codes is shorter than what was written to it; is the disk full or damaged?"
            raise SizeError(msg)
        return data


def full(error: OSError) -> SizeError:
    """The sentence for a file of the scratch folder that cannot be written."""
    return SizeError(
        f"the scratch folder cannot be written ({error.strerror or 'no reason given'}); free disk space, "
        "or name a folder with room in the variable DPSYN_SCRATCH"
    )


THREADS = 2  # each counts other blocks; sums of whole numbers do not depend on who counted what
PART_CELLS = 1 << 24  # cells that are counted in one reading, by each thread in tables of its own: 64 MB


class StoredCounter:
    """Counts the records of a store. Everything it returns is private, and equal to what `MemoryCounter` returns."""

    def __init__(self, store: Store, *, max_cells: int = MAX_CELLS) -> None:
        """Keeps the store; nothing is read.

        Args:
            store: finished; its codes lie inside its domain.
            max_cells: cap on the cells of one marginal.

        Raises:
            SizeError: more records than the kernels can count.
        """
        if store.n_records > MAX_RECORDS:
            raise too_many_records()
        self.domain: Domain = store.domain
        self.max_cells = max_cells
        self._store = store

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact counts, one axis an attribute; see `MemoryCounter.marginal`."""
        return self.marginals([attributes], recodes)[0]

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many at once, in the order of `sets`: the columns in use are read once for all of them."""
        shapes = [coarse_shape(self.domain, names, recodes) for names in sets]
        for names, shape in zip(sets, shapes, strict=True):
            check_cells(names, shape, self.max_cells)
        out = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        used = self.domain.ordered_set(n for names in sets for n in names)
        row = {n: i for i, n in enumerate(used)}
        sizes = np.array([coarse_shape(self.domain, (n,), recodes)[0] for n in used], dtype=np.int64)
        joint = Joint([[row[n] for n in names] for names in sets], sizes, records=self._store.n_records)
        joint.add_records(out, self._store.n_records)
        for part in joint.parts(PART_CELLS):
            self._count(joint, part, out, used, recodes)
        return out

    def _count(
        self, joint: Joint, part: range, out: Sequence[NDArray[np.int64]], used: AttributeSet, recodes: Recodes
    ) -> None:
        """Counts some tables in one reading of the columns that they need."""
        rows = joint.rows(part)
        names, at = [used[r] for r in rows], np.zeros(len(used), dtype=np.int64)
        at[rows] = np.arange(len(rows))
        partial = [joint.zeros(part)]
        threads = THREADS if partial[0].size <= PART_CELLS and self._store.blocks > 1 else 1
        partial += [joint.zeros(part) for _ in range(threads - 1)]

        blocks = iter(range(self._store.blocks))  # whoever is free takes the next

        def count(own: NDArray[np.int32]) -> None:
            for block in blocks:
                joint.count(self._block(block, names, recodes), part, own, at)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(count, partial))
        for other in partial[1:]:
            partial[0] += other
        joint.add_to(out, part, partial[0])

    def occupied(
        self, attributes: AttributeSet, recodes: Recodes = NO_RECODES
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Flat indices and counts of the cells that hold records; see `MemoryCounter.occupied`.

        Memory grows with the occupied cells alone.
        """
        shape = coarse_shape(self.domain, attributes, recodes)
        index, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        for codes in self._blocks(attributes, recodes):
            flat = np.zeros(codes.shape[1], dtype=np.int64)
            for size, column in zip(shape, codes, strict=True):
                flat *= size
                flat += column
            cells, numbers = np.unique(flat, return_counts=True)
            every, at = np.unique(np.concatenate([index, cells]), return_inverse=True)
            summed = np.zeros(len(every), dtype=np.int64)
            np.add.at(summed, at, np.concatenate([counts, numbers.astype(np.int64)]))
            index, counts = every, summed
        return index, counts

    def blocks(self, names: Sequence[str]) -> Iterator[NDArray[np.unsignedinteger]]:
        """The blocks as they are stored; see `counting.blocks.BlockCounter`."""
        return self._blocks(names, NO_RECODES)

    def vector_sum(self, rule: SumRule, maps: Sequence[VectorMap], sample: Sample | None = None) -> NDArray[np.int64]:
        """Exact sums of clipped vectors of the records; see `counting.sums.VectorCounter`.

        Every record's vector is whole numbers, so that the sum over blocks is the sum over the records.
        """
        names = tuple(dict.fromkeys([*rule.features.tables, *([] if rule.by is None else [rule.by])]))
        chosen = None if sample is None else sample(self._store.n_records)
        out = np.zeros(len(maps) * rule.cells, dtype=np.int64)
        start = 0
        for codes in self._blocks(names, NO_RECODES):
            n = codes.shape[1]
            part = None if chosen is None else _part(chosen[start : start + n])
            out += block_sum(dict(zip(names, codes, strict=True)), n, rule, maps, part)
            start += n
        return out

    def _blocks(self, names: Sequence[str], recodes: Recodes) -> Iterator[NDArray[np.unsignedinteger]]:
        return (self._block(block, names, recodes) for block in range(self._store.blocks))

    def _block(self, block: int, names: Sequence[str], recodes: Recodes) -> NDArray[np.unsignedinteger]:
        """Codes (names, records) of one block, through the coarse maps."""
        codes = self._store.read(block, [self.domain.index(n) for n in names])
        if not any(n in recodes for n in names):
            return codes
        top = max(coarse_shape(self.domain, (n,), recodes)[0] for n in names)
        out = np.empty(codes.shape, dtype=np.min_scalar_type(top - 1))
        for row, name, column in zip(out, names, codes, strict=True):
            row[...] = coarse_codes(column, recodes[name], out.dtype) if name in recodes else column
        return out


def _part(chosen: NDArray[np.bool_]) -> Sample:
    """The sample of one block, drawn before."""
    return lambda _: chosen
