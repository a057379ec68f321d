"""What executors of Spark do: encode records and count them.

What executors do with their partitions before anything is counted: encode records, and bound each individual's.

Jobs on Spark: what runs on executors says nothing of a record when it fails, and the driver says one sentence.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import DPSynError, EngineError, SettingError, SizeError, TableError
from dpsyn_core.measure.sources.bounding import bound, name_hashes
from dpsyn_core.schema import Codec, Codes, Encoded, Schema
from dpsyn_core.tables import Part, decoded
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


LACKING = "No module named 'dpsyn_core"
MEMORY = ("MemoryError", "OutOfMemoryError", "maxResultSize")

Task = Callable[[Iterator[Any]], Iterator[Any]]


def guarded(work: Task) -> Task:
    """Work on the batches of a partition, whose failure says what kind it was and nothing else.

    Words of other libraries may quote a cell, and Spark passes them to the driver, its logs and its history.
    """

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from work(batches)
        except Exception as error:  # noqa: BLE001  (of any kind)
            failure = failed(error)
        else:
            return
        raise failure  # outside of the handler, so that it carries no other error along

    return task


def guarded_call(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """As `guarded`, for work that is called with one table and returns one."""
    whole = guarded(lambda tables: map(work, tables))
    return lambda table: next(whole(iter([table])))


def failed(error: Exception) -> EngineError:
    """The error of a task: the message of a DPSynError, which quotes no cell; of any other error only its type."""
    if isinstance(error, DPSynError):
        return EngineError(str(error))
    return EngineError(f"a task failed on private records ({type(error).__name__})")


def spoken(call: Callable[[], Any]) -> Any:
    """What a call that reaches Spark returns. Planning counts too: Spark computes small tables while it plans.

    Raises:
        InputError: Spark could not do it; one sentence, without the words of Spark, which may quote cells.
    """
    with unlogged():
        try:
            return call()
        except DPSynError:
            raise
        except Exception as error:  # noqa: BLE001  (Java, Python and network errors)
            failure = sentence(error)
    raise failure  # outside of the handler, so that it carries no other error along


def collected(session: Any, plan: Callable[[], Any]) -> Any:
    """The Spark DataFrame that a plan makes, as a pyarrow table at the driver. An interrupt ends its tasks too.

    Raises what `spoken` does.
    """
    tag = f"dpsyn-{uuid.uuid4().hex}"
    session.addTag(tag)
    try:
        return spoken(lambda: plan().toArrow())
    except (KeyboardInterrupt, SystemExit):
        interrupt(session, tag)
        raise
    finally:
        session.removeTag(tag)


def spread(session: Any, work: Callable[[int], str], number: int) -> list[str]:
    """Results of work(0) .. work(number - 1), one task each; for work on released values. See `collected`."""

    def each(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for i in batch.column(0).to_pylist():
                yield pa.record_batch([pa.array([i], pa.int64()), pa.array([work(i)], pa.string())], ["id", "outcome"])

    table = collected(
        session, lambda: session.range(0, number, 1, number).mapInArrow(guarded(each), "id bigint, outcome string")
    )
    outcomes = dict(zip(table.column("id").to_pylist(), table.column("outcome").to_pylist(), strict=True))
    return [outcomes[i] for i in range(number)]


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Keeps what Java says, which may quote cells, out of Python's logs.

    At DEBUG the wire between the two is logged; and pyspark logs errors of expressions to stderr by itself.
    """
    from pyspark.logger import PySparkLogger

    wire = logging.getLogger("py4j")
    before = wire.level
    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    disabled = [logger.disabled for logger in loggers]
    wire.setLevel(logging.WARNING)
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        wire.setLevel(before)
        for logger, was in zip(loggers, disabled, strict=True):
            logger.disabled = was


def interrupt(session: Any, tag: str) -> None:
    """Ends the jobs of a tag without waiting for a cluster that may not answer."""
    ending = threading.Thread(target=_interrupt, args=(session, tag), daemon=True)
    ending.start()
    ending.join(timeout=2)


def _interrupt(session: Any, tag: str) -> None:
    with contextlib.suppress(Exception):  # the session may be gone, and the jobs with it
        session.interruptTag(tag)


def sentence(error: BaseException) -> DPSynError:
    """What the driver says of a failure, from its kind alone; the words of Spark stay where they are."""
    text = str(error)
    if LACKING in text:
        return SettingError(
            "the executors have no dpsyn_core; install the same version of dpsyn-studio in the Python environment "
            "of every executor (docs/reference/scale-spark.md)"
        )
    if any(word in text for word in MEMORY):
        return SizeError(
            "an executor or the driver had too little memory; use more partitions, or give spark.executor.memory, "
            "spark.executor.memoryOverhead or spark.driver.maxResultSize a larger value"
        )
    return TableError(
        f"Spark could not finish a job ({type(error).__name__}); its own log says why, and may quote cells of the "
        "table: it is for the owner only"
    )
