"""Where records come from, and how a batch of them becomes codes.

Source: what a run takes its records from. It encodes and bounds them by the schema, and hands out a counter.

Encodes the batches of a table by its schema, one thread reading ahead while the others encode.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dpsyn_core.errors import TableError
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import Codec, Encoded, Schema
from dpsyn_core.tables import Batches, locate

if TYPE_CHECKING:
    from dpsyn_core.measure.counting.base import Counter


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """What an open source holds for one run. Private: only the gate may call the counter.

    counter: counts the encoded records, of which each individual holds at most the schema's `max_records`. A source
    that can do more than count (list occupied cells, sum clipped vectors) hands out a counter with further methods;
    a system checks for their protocol, such as that of `counting.sparse`.
    n_records: how many records the counter holds.
    columns: names of the source's columns in their order, which the synthetic table keeps.
    """

    counter: Counter
    n_records: int
    columns: tuple[str, ...]


@runtime_checkable
class Spreading(Protocol):
    """A source on several machines, which can make synthetic records too: post-processing, of released values alone."""

    def spread(self, work: Callable[[int], str], number: int) -> list[str]:
        """What work(0) .. work(number - 1) return, each called on some machine of the source.

        work: travels there, with all that it refers to; may be called again for a number whose machine was lost.
        """


@runtime_checkable
class Source(Protocol):
    """Where the records of a run come from: a frame in memory, files, a database, a cluster.

    What a source promises, and the privacy argument rests on:

    - every record is encoded by `schema.codec`, from that record and the schema alone;
    - where the schema names an identifier, bounding keeps at most `max_records` records of each individual by the
      rule of `sources.bounding`, which looks at that individual's records alone;
    - errors and progress tell no private value, the number of records included.
    """

    def open(self, schema: Schema, *, progress: Progress) -> AbstractContextManager[Opened]:
        """Encodes and bounds the records; on leaving, everything that was kept for counting is freed or removed.

        Nothing has been charged when a source is opened, so that a table that does not fit its schema costs nothing.

        Args:
            schema: public metadata.
            progress: receives the stages of the work.

        Raises:
            InputError: the records do not fit the schema; names the column, never a cell.
        """

    def returned(self, table: Any) -> Any:
        """The synthetic pyarrow table as the kind of table that the source reads; columns keep their types."""


THREADS = 2  # batches that are encoded at a time


def encoded_batches(
    batches: Batches, codec: Codec, *, strict: bool = False, progress: Progress = silent
) -> Iterator[Encoded]:
    """The codes of every batch, in the order of the batches. Private.

    What a record becomes depends on that record and the schema alone, so that it does not matter in which batch it
    stands (docs/proofs/encoding.md).

    Raises:
        TableError: a column is missing, which is checked before any record is read; with `strict`, what
            `Codec.encode` says.
    """
    columns = codec.reads
    key = codec.schema.unit.identifier
    locate(batches.columns, columns if key is None else [*columns, key])
    progress("encoding", 0, 1)
    seen = False
    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[Future[Encoded]] = deque()
        try:
            for table in batches.read():
                if not table.num_rows:
                    continue
                seen = True
                waiting.append(pool.submit(_encoded, codec, table, strict))
                if len(waiting) > THREADS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
    if strict and not seen:
        msg = f"the table has no records; give a table with at least one {ONLY_OWNER}"
        raise TableError(msg)
    progress("encoding", 1, 1)


ONLY_OWNER = "(strict: whether a table is refused is an exact answer about it, for the owner only)"


def _encoded(codec: Codec, table: object, strict: bool) -> Encoded:
    try:
        return codec.encode(table, strict=strict)
    except TableError as error:
        if not strict:
            raise
        msg = f"{error} {ONLY_OWNER}"
        raise TableError(msg) from error
