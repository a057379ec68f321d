"""Encodes the batches of a table by its schema, one thread reading ahead while the others encode."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from dpsyn_core.errors import TableError
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema.codec import Codec, Encoded
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.headers import locate

THREADS = 2  # batches that are encoded at a time


def encoded_batches(
    batches: Batches, codec: Codec, *, strict: bool = False, progress: Progress = silent
) -> Iterator[Encoded]:  # fmt: skip
    """The codes of every batch, in the order of the batches. Private.

    What a record becomes depends on that record and the schema alone, so that it does not matter in which batch it
    stands (docs/proofs/encoding.md).

    Raises:
        TableError: a column is missing, which is found before any record is read; with `strict`, what
            `Codec.encode` says.
    """
    wanted = [a.name for a in codec.schema.coded]
    key = codec.schema.unit.identifier
    locate(batches.columns, wanted if key is None else [*wanted, key])
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
