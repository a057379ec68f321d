"""Records on disk: spilled while they are read, and counted from there.

Bounding of tables that do not fit in memory: individuals are divided among private files, then bounded file by file.

The law is that of `sources.bounding`: of each individual, the records with the smallest keyed hashes stay. All records
of an individual meet in one file, chosen by a keyed hash of the identifier, and individuals are distinguished there by
the identifier itself. So the records that stay are those that stay in memory under the same key.

StoredSource: records that are read in batches, encoded, and kept as codes in a private file, not in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.measure.counting.stored import Store, StoredCounter, full
from dpsyn_core.measure.sources.base import Opened, encoded_batches
from dpsyn_core.measure.sources.bounding import draw_key, kept, record_hashes, text_hashes
from dpsyn_core.progress import Progress
from dpsyn_core.schema import Codec, Codes, Encoded, Schema
from dpsyn_core.scratch import Scratch, scratch
from dpsyn_core.tables import Batches, from_arrow

MEMORY = 1 << 28  # bytes that bounding one file may take where no limit is named
RECORD = 200  # bytes that bounding takes for each: the identifier, its place in a dictionary, hash, order and codes
FEWEST, MOST = 4, 256  # files
SALT = 0x9E3779B97F4A7C15  # so that the file of an individual says nothing about the hashes of its records


def bound_parts(
    batches: Iterator[Encoded], max_records: int, *, key: bytes, room: Scratch, records: int, memory: int | None = None
) -> Iterator[Codes]:
    """Codes of the kept records, file by file; private.

    Args:
        batches: encoded, with identifiers.
        max_records: at least 1.
        key: 32 bytes, drawn anew for every run.
        room: where the files are.
        records: about how many there are.
        memory: bytes that a run may use.

    Raises:
        SizeError: the disk is full.
    """
    part = MEMORY if memory is None else max(1 << 24, min(MEMORY, memory // 8))
    number = min(MOST, max(FEWEST, records * RECORD // part))
    spills = [_Spill(room.file()) for _ in range(number)]
    for encoded in batches:
        _divide(encoded, max_records, key, spills)
    for spill in spills:
        codes = spill.bounded(max_records)
        room.close(spill.file)
        if codes is not None:
            yield codes


def _divide(encoded: Encoded, max_records: int, key: bytes, spills: list[_Spill]) -> None:
    """Writes the records of one batch to the files of their individuals.

    What an individual has beyond `max_records` in this batch alone stays in no case, and is left out at once: so
    somebody with very many records fills no file.
    """
    names = encoded.identifiers
    groups = names.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    hashes = record_hashes(encoded, key)
    stay = kept(groups, hashes, max_records)
    salted = np.frombuffer(key, dtype=np.uint64) ^ np.uint64(SALT)
    of_name = (text_hashes(names.dictionary, salted.tobytes()) % np.uint64(len(spills))).astype(np.int64)
    where = np.where(stay, of_name[groups], len(spills))
    order = np.argsort(where, kind="stable")
    ends = np.searchsorted(where[order], np.arange(len(spills)), side="right")
    begin = 0
    for spill, end in zip(spills, ends.tolist(), strict=True):
        if end > begin:
            spill.write(encoded.codes, names, hashes, order[begin:end])
        begin = end


class _Spill:
    """The records of some individuals, in a private file in Arrow's stream format."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self._stream: Any = None

    def write(self, codes: Codes, names: Any, hashes: NDArray[np.uint64], rows: NDArray[np.int64]) -> None:
        """Adds these rows of a batch."""
        import pyarrow as pa

        texts = names.take(pa.array(rows)).cast(pa.large_string())
        columns = [texts, pa.array(hashes[rows]), *(pa.array(column[rows]) for column in codes)]
        batch = pa.record_batch(columns, names=[str(i) for i in range(len(columns))])
        try:
            if self._stream is None:
                self._stream = pa.ipc.new_stream(pa.PythonFile(self.file, "w"), batch.schema)
            self._stream.write_batch(batch)
        except OSError as error:
            raise full(error) from error

    def bounded(self, max_records: int) -> Codes | None:
        """Codes of the records that stay, (n_attributes, n_records); None for a file without records."""
        import pyarrow as pa

        if self._stream is None:
            return None
        try:
            self._stream.close()
            self.file.flush()
        except OSError as error:
            raise full(error) from error
        self.file.seek(0)
        table = pa.ipc.open_stream(pa.PythonFile(self.file, "r")).read_all()
        groups = table.column(0).combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
        stay = kept(groups.astype(np.int64), table.column(1).to_numpy(), max_records)
        return (
            np.stack([column.to_numpy()[stay] for column in table.columns[2:]])
            if table.num_columns > 2
            else (np.zeros((0, int(stay.sum())), dtype=np.uint8))
        )


class StoredSource:
    """Encodes batch by batch. See `Source` for what its methods promise.

    Memory holds one batch, one block of codes for each thread, and the tables that are asked for. The codes are in a
    file of the scratch folder that only their owner can read; it is gone when the source is left, and after a kill.
    """

    def __init__(self, batches: Batches, *, strict: bool = False, like: Any = None, memory: int | None = None) -> None:
        """Keeps where the records are; none is read before `open`.

        Args:
            batches: the records.
            strict: refuse a table with cells that the schema has no place for, an exact answer for the owner only.
            like: the frame whose kind the synthetic table should have; None: pyarrow.
            memory: bytes that a run may use; decides into how many parts individuals are divided for bounding.
        """
        self.batches, self._strict, self._like, self._memory = batches, strict, like, memory

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Writes the codes of the kept records once; every count reads them from there."""
        codec = Codec(schema)
        with scratch() as room:
            store = Store(room.file(), codec.domain)
            batches = encoded_batches(self.batches, codec, strict=self._strict, progress=progress)
            if schema.unit.identifier is None:
                for encoded in batches:
                    store.append(encoded.codes)
            else:
                key = draw_key()
                for codes in bound_parts(
                    batches,
                    schema.unit.max_records,
                    key=key,
                    room=room,
                    records=self.batches.likely_records,
                    memory=self._memory,
                ):
                    store.append(codes)
            store.finish()
            yield Opened(counter=StoredCounter(store), n_records=store.n_records, columns=self.batches.columns)

    def returned(self, table: Any) -> Any:
        """A table of the library that the private one came from, pyarrow where it was a file."""
        return table if self._like is None else from_arrow(table, like=self._like)
