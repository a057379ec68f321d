"""What executors do with their partitions before anything is counted: encode records, and bound each individual's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import DPSynError, SettingError
from dpsyn_core.schema.codec import Codec, Codes, Encoded
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.bounding import bound, name_hashes
from dpsyn_core.tables.columnar import decoded
from dpsyn_core.tables.read import Part
from dpsyn_core.version import __version__

BLOCK_BYTES = 8 << 20  # codes of a block
LEAST, MOST = 1 << 12, 1 << 19  # records of a block
ENCODED = "part int, place int, records bigint, codes binary, names binary, fault string"
BOUNDED = "part int, place int, records bigint, codes binary, fault string"

Batches = Iterator[Any]  # of pyarrow record batches


@dataclass(frozen=True, kw_only=True, slots=True)
class EncodeTask:
    """All that a task needs to know to encode records.

    schema: public metadata. columns: headers of the partition's columns. strict: refuse cells without a place.
    key: of the bounding, 32 bytes; None where no individual is named. parts: into how many the individuals are dealt.
    version: of the driver's dpsyn_core.
    """

    schema: Schema
    columns: tuple[str, ...]
    strict: bool
    key: bytes | None
    parts: int
    version: str


def encode(tables: Iterator[Any], work: EncodeTask) -> Batches:
    """Blocks of codes; where individuals are named, one for each share of them that some record falls to.

    Every refusal comes out as the last row, in its `fault`: raised, Spark would try it three times more.
    """
    try:
        check_version(work.version)
        codec, place = Codec(work.schema), 0
        for table in tables:
            encoded = codec.encode(table, strict=work.strict)
            if encoded.identifiers is None:
                yield _row(_partition(), place, encoded.codes)
                place += 1
            else:
                yield from _dealt(encoded, work)
    except DPSynError as error:
        yield _fault_row(f"{type(error).__name__}:{error}")


def of_frame(batches: Batches, work: EncodeTask) -> Iterator[Any]:
    """The records of a DataFrame's partition as tables of about a block; Spark sends few at a time."""
    import pyarrow as pa

    records, waiting = _records_of(Codec(work.schema)), []
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= records:
            yield decoded(pa.Table.from_batches(waiting)).rename_columns(list(work.columns))
            waiting = []
    if waiting:
        yield decoded(pa.Table.from_batches(waiting)).rename_columns(list(work.columns))


def of_parts(batches: Batches, parts: Sequence[Part]) -> Iterator[Any]:
    """The records of the parts of files that a partition names by their numbers."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from (table for table in parts[number].read() if table.num_rows)


def check_version(driver: str) -> None:
    """Raises SettingError where an executor has another version than the driver: their codes could differ."""
    if driver != __version__:
        msg = f"an executor has dpsyn_core {__version__} and the driver {driver}; install the same version on both"
        raise SettingError(msg)


def bound_part(table: Any, work: EncodeTask) -> Any:
    """The records that stay of the individuals of one part, all of whose records are in the table: blocks of codes.

    By `sources.bounding` alone: the same rule, the same keyed hash. Which records stay does not depend on how Spark
    ordered them, so that a part which is computed again keeps the same ones.
    """
    import pyarrow as pa

    faults = table.column("fault").drop_null()
    if len(faults):
        return pa.Table.from_batches([_without_names(_fault_row(faults[0].as_py()))])
    codec = Codec(work.schema)
    names = pa.concat_arrays([_names(cell) for cell in table.column("names")])
    codes = np.hstack([codes_of(cell, codec) for cell in table.column("codes")])
    kept = bound(
        Encoded(codes=codes, identifiers=names.dictionary_encode()), work.schema.unit.max_records, key=work.key
    )
    part, step = table.column("part")[0].as_py(), _records_of(codec)
    starts = range(0, max(1, kept.shape[1]), step)
    return pa.Table.from_batches(
        [_without_names(_row(part, i, kept[:, start : start + step])) for i, start in enumerate(starts)]
    )


def codes_of(cell: Any, codec: Codec) -> Codes:
    """Codes (n_attributes, n_records) from the bytes of a block."""
    flat: NDArray[Any] = np.frombuffer(cell.as_buffer(), dtype=codec.dtype)
    return flat.reshape(len(codec.domain), -1)


def _records_of(codec: Codec) -> int:
    """Records of a block, from public sizes."""
    return min(MOST, max(LEAST, BLOCK_BYTES // (len(codec.domain) * codec.dtype.itemsize)))


def _dealt(encoded: Encoded, work: EncodeTask) -> Batches:
    """One row for each part of the individuals; all records of one go to the same part, wherever they lie."""
    if not encoded.n_records:
        return
    key = work.key or b""
    target = (name_hashes(encoded.identifiers, key) % np.uint64(work.parts)).astype(np.int64)
    order = np.argsort(target, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(target[order]) != 0))
    names = encoded.identifiers.dictionary_decode()
    for here in np.split(order, starts[1:]):
        yield _row(int(target[here[0]]), 0, encoded.codes[:, here], names.take(here))


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _row(part: int, place: int, codes: Codes, names: Any = None) -> Any:
    import pyarrow as pa

    return _batch(part, place, codes.shape[1], pa.scalar(codes.tobytes(), pa.binary()), _packed(names), None)


def _batch(part: int, place: int, records: int, codes: Any, names: Any, fault: Any) -> Any:
    import pyarrow as pa

    kinds = [pa.int32(), pa.int32(), pa.int64(), pa.binary(), pa.binary(), pa.string()]
    values = [part, place, records, codes, names, fault]
    fields = ["part", "place", "records", "codes", "names", "fault"]
    return pa.record_batch([pa.array([v], k) for v, k in zip(values, kinds, strict=True)], names=fields)


def _without_names(batch: Any) -> Any:
    return batch.select(["part", "place", "records", "codes", "fault"])


def _fault_row(said: str) -> Any:
    return _batch(-1, 0, 0, None, None, said)


def _packed(names: Any) -> bytes | None:
    """A text array as bytes."""
    if names is None:
        return None
    import pyarrow as pa

    batch = pa.record_batch([names.cast(pa.large_string())], names=["names"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _names(cell: Any) -> Any:
    import pyarrow as pa

    with pa.ipc.open_stream(cell.as_buffer()) as reader:
        return reader.read_all().column(0).combine_chunks()
