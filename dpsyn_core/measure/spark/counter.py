"""SparkCounter: exact counts of codes that lie in the caches of Spark's executors, by the kernels of MemoryCounter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.estimate import NO_RECODES, Recodes, coarse_shape
from dpsyn_core.measure.counting.memory import MAX_CELLS, MemoryCounter, check_cells
from dpsyn_core.measure.counting.sums import Sample, SumRule, VectorMap, block_sum
from dpsyn_core.measure.spark.tasks import collected, guarded
from dpsyn_core.schema import AttributeSet, Domain

ROUND = 1 << 23  # cells that one job counts: 64 MB in a task
SLICE = 1 << 16  # cells of a row on its way to the driver
SMALL = 1 << 22  # cells of all partitions together that the driver adds up itself
BLOCKS = "part int, place int, records bigint, codes binary"  # what a source caches; a row is a block of records
SLICES = "slice int, counts binary"
CELLS = "slice int, cells binary, counts binary"

Batches = Iterator[Any]  # of pyarrow record batches
Blocks = Iterator[tuple[tuple[int, int], NDArray[np.unsignedinteger]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """A block of the cache: its place, which stays the same when Spark computes it again, and its records. Private."""

    part: int
    place: int
    records: int


class SparkCounter:
    """Counts blocks of codes on the executors that hold them. Everything it returns is private.

    Each task counts its blocks by `MemoryCounter`, adds them up, and sends the table in slices; slices are added where
    Spark's shuffle brings them together, so that the driver receives every cell about once, however many partitions
    there are. Whole numbers are added, so that no order and no second attempt of a task changes a count.
    """

    def __init__(
        self, frame: Any, placed: Sequence[Placed], domain: Domain, dtype: Any, *, max_cells: int = MAX_CELLS
    ) -> None:
        """Takes what a source has encoded and cached.

        Args:
            frame: Spark DataFrame of the columns of BLOCKS.
            placed: all of its blocks.
            domain: the attributes, in the order of the rows of the codes.
            dtype: of the codes.
            max_cells: cap on the cells of one marginal.
        """
        self.domain = domain
        self._frame, self._dtype, self._max_cells = frame, np.dtype(dtype), max_cells
        self._placed = sorted(placed, key=lambda b: (b.part, b.place))

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact counts, one axis an attribute; see `MemoryCounter.marginal`."""
        return self.marginals([attributes], recodes)[0]

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many at once, in the order of `sets`, in as many jobs as their cells need."""
        shapes = [coarse_shape(self.domain, names, recodes) for names in sets]
        for names, shape in zip(sets, shapes, strict=True):
            check_cells(names, shape, self._max_cells)
        sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
        out: list[NDArray[np.int64]] = []
        for first, last in _rounds(sizes):
            flat = self._counted(list(sets[first:last]), recodes, sum(sizes[first:last]))
            ends = np.cumsum(sizes[first:last])
            out += [
                flat[e - s : e].reshape(shape)
                for e, s, shape in zip(ends, sizes[first:last], shapes[first:last], strict=True)
            ]
        return out

    def _counted(self, sets: list[AttributeSet], recodes: Recodes, cells: int) -> Any:
        domain, max_cells = self.domain, self._max_cells

        def count(codes: NDArray[np.unsignedinteger], _place: tuple[int, int]) -> NDArray[np.int64]:
            tables = MemoryCounter(codes, domain, max_cells=max_cells).marginals(sets, recodes)
            return np.concatenate([table.ravel() for table in tables])

        return self._summed(count, cells)

    def occupied(
        self, attributes: AttributeSet, recodes: Recodes = NO_RECODES
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Flat indices (ascending) and counts of the cells that hold records; see `MemoryCounter.occupied`."""
        domain, dtype, parts = self.domain, self._dtype, max(1, len(self._placed))

        def list_cells(batches: Batches) -> Batches:
            cells = [
                MemoryCounter(codes, domain).occupied(attributes, recodes)
                for _, codes in read_blocks(batches, domain, dtype)
            ]
            yield from _cell_rows(cells, parts)

        def plan() -> Any:
            listed = self._frame.mapInArrow(guarded(list_cells), CELLS)
            if parts == 1:
                return listed
            add = guarded(lambda batches: _cell_rows(_cells_of(batches), 1))
            return listed.repartition(parts, "slice").mapInArrow(add, CELLS)

        return _merged(list(_cells_of(self._collected(plan))))

    def vector_sum(self, rule: SumRule, maps: Sequence[VectorMap], sample: Sample | None = None) -> NDArray[np.int64]:
        """Exact sums of clipped vectors of the records; see `counting.sums.VectorCounter`.

        A sample is drawn at the driver, as the gate hands it in, and goes to the executors as one bit a record.
        """
        names, chosen = self.domain.names, self._chosen(sample)

        def add(codes: NDArray[np.unsignedinteger], place: tuple[int, int]) -> NDArray[np.int64]:
            columns = {name: codes[i] for i, name in enumerate(names)}
            drawn = None if chosen is None else np.unpackbits(chosen[place], count=codes.shape[1]).astype(bool)
            return block_sum(columns, codes.shape[1], rule, maps, None if drawn is None else lambda _n: drawn)

        return self._summed(add, len(maps) * rule.cells)

    def _chosen(self, sample: Sample | None) -> dict[tuple[int, int], NDArray[np.uint8]] | None:
        """The bits of the records of each block, packed; None where all are taken."""
        if sample is None:
            return None
        ends = np.cumsum([b.records for b in self._placed], dtype=np.int64)
        drawn = sample(int(ends[-1]) if len(ends) else 0)
        return {
            (b.part, b.place): np.packbits(drawn[e - b.records : e]) for b, e in zip(self._placed, ends, strict=True)
        }

    def _summed(
        self, work: Callable[[NDArray[np.unsignedinteger], tuple[int, int]], NDArray[np.int64]], cells: int
    ) -> NDArray[np.int64]:
        """The sum over all blocks of what `work` makes of each: int64 (cells,)."""
        domain, dtype = self.domain, self._dtype

        def add_blocks(batches: Batches) -> Batches:
            total = None
            for place, codes in read_blocks(batches, domain, dtype):
                sums = work(codes, place)
                total = sums if total is None else np.add(total, sums, out=total)
            if total is not None:
                yield from _slices(total)

        def plan() -> Any:
            sent = self._frame.mapInArrow(guarded(add_blocks), SLICES)
            if cells * len(self._placed) <= SMALL:
                return sent
            parts = min(-(-cells // SLICE), len(self._placed))
            return sent.repartition(parts, "slice").mapInArrow(guarded(_add_slices), SLICES)

        out = np.zeros(cells, dtype=np.int64)
        for start, counts in _slices_of(self._collected(plan)):
            out[start : start + counts.size] += counts
        return out

    def _collected(self, plan: Callable[[], Any]) -> Batches:
        """What the tasks of a plan send to the driver."""
        return iter(collected(self._frame.sparkSession, plan).to_batches())


def read_blocks(batches: Batches, domain: Domain, dtype: np.dtype[Any]) -> Blocks:
    """Place and codes (n_attributes, n_records) of every block of a partition."""
    for batch in batches:
        parts, places, records = (batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))
        for i in range(batch.num_rows):
            flat = np.frombuffer(batch.column(3)[i].as_buffer(), dtype=dtype)
            if flat.size != len(domain) * records[i]:
                msg = "a block of codes has another length than its number of records says"
                raise EngineError(msg)
            # a copy, for the kernels are compiled for arrays that may be written to
            yield (int(parts[i]), int(places[i])), flat.reshape(len(domain), -1).copy()


def _rounds(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of the sets that one job counts."""
    first, cells = 0, 0
    for i, size in enumerate(sizes):
        if i > first and cells + size > ROUND:
            yield first, i
            first, cells = i, 0
        cells += size
    if first < len(sizes):
        yield first, len(sizes)


def _slices(total: NDArray[np.int64]) -> Batches:
    import pyarrow as pa

    for number, start in enumerate(range(0, total.size, SLICE)):
        row = [pa.array([number], pa.int32()), pa.array([total[start : start + SLICE].tobytes()], pa.binary())]
        yield pa.record_batch(row, names=["slice", "counts"])


def _slices_of(batches: Batches) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Where each slice begins, and its counts."""
    for batch in batches:
        for number, counts in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            yield number * SLICE, np.frombuffer(counts.as_buffer(), dtype=np.int64)


def _add_slices(batches: Batches) -> Batches:
    import pyarrow as pa

    sums: dict[int, NDArray[np.int64]] = {}
    for start, counts in _slices_of(batches):
        sums[start] = counts.copy() if start not in sums else np.add(sums[start], counts, out=sums[start])
    for start, counts in sums.items():
        row = [pa.array([start // SLICE], pa.int32()), pa.array([counts.tobytes()], pa.binary())]
        yield pa.record_batch(row, names=["slice", "counts"])


Cells = tuple[NDArray[np.int64], NDArray[np.int64]]


def _cell_rows(found: Any, parts: int) -> Batches:
    """Occupied cells as rows; a cell goes to the slice that its index gives, so that equal ones meet."""
    import pyarrow as pa

    cells, counts = _merged(list(found))
    target = cells % parts
    for part in np.unique(target).tolist():
        here = target == part
        row = [pa.array([part], pa.int32()), *(pa.array([a[here].tobytes()], pa.binary()) for a in (cells, counts))]
        yield pa.record_batch(row, names=["slice", "cells", "counts"])


def _cells_of(batches: Batches) -> Iterator[Cells]:
    for batch in batches:
        for cells, counts in zip(batch.column(1), batch.column(2), strict=True):
            yield np.frombuffer(cells.as_buffer(), dtype=np.int64), np.frombuffer(counts.as_buffer(), dtype=np.int64)


def _merged(found: list[Cells]) -> Cells:
    """Equal cells added up, ascending."""
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    cells, at = np.unique(np.concatenate([c for c, _ in found]), return_inverse=True)
    counts = np.zeros(cells.size, dtype=np.int64)
    np.add.at(counts, at, np.concatenate([n for _, n in found]))
    return cells, counts
