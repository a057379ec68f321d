"""MemorySource: a pandas, polars or pyarrow table that fits in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.errors import TableError
from dpsyn_core.progress import Progress
from dpsyn_core.schema.codec import Codec, Encoded
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.base import Opened
from dpsyn_core.sources.bounding import bound
from dpsyn_core.tables.frames import from_arrow, to_arrow


class MemorySource:
    """Encodes the whole table at once. See `Source` for what its methods promise."""

    def __init__(self, table: Any, *, strict: bool = False) -> None:
        """Keeps the table; nothing is read before `open`.

        strict: refuse a table with cells that the schema has no place for, an exact answer for the owner only.
        """
        self._table, self._strict = table, strict

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Codes of the kept records stay in memory until the source is left; a converted copy of the table does not."""
        progress("encoding", 0, 1)
        codec, frame = Codec(schema), to_arrow(self._table)
        columns = tuple(frame.column_names)
        codes = bound(self._encoded(codec, frame), schema.unit.max_records)
        del frame
        progress("encoding", 1, 1)  # as where batches are encoded: progress does not tell the size of the table
        yield Opened(counter=MemoryCounter(codes, codec.domain), n_records=codes.shape[1], columns=columns)

    def _encoded(self, codec: Codec, frame: Any) -> Encoded:
        try:
            return codec.encode(frame, strict=self._strict)
        except TableError as error:
            if not self._strict:
                raise
            msg = f"{error} (strict: whether a table is refused is an exact answer about it, for the owner only)"
            raise TableError(msg) from error

    def returned(self, table: Any) -> Any:
        """A table of the library that the private one came from."""
        return from_arrow(table, like=self._table)
