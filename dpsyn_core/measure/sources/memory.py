"""Records in memory: gathered, encoded and counted there.

GatheredSource: records that are read in batches, and whose codes are gathered in memory.

MemorySource: a pandas, polars or pyarrow table that fits in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.sources.base import Opened, encoded_batches
from dpsyn_core.progress import Progress
from dpsyn_core.schema import Codec, Codes, Encoded, Schema
from dpsyn_core.tables import Batches, from_arrow, to_arrow


class GatheredSource:
    """Several files, or a database, as one table in memory. See `Source` for what its methods promise."""

    def __init__(self, batches: Batches, *, strict: bool = False) -> None:
        """Keeps where the records are; none is read before `open`. strict: as for `MemorySource`."""
        self.batches, self._strict = batches, strict

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Codes of the kept records stay in memory until the source is left; nothing else of them does."""
        codec = Codec(schema)
        batches = encoded_batches(self.batches, codec, strict=self._strict, progress=progress)
        codes = _bounded(_gathered(batches, codec), schema.unit.max_records)
        yield Opened(counter=MemoryCounter(codes, codec.domain), n_records=codes.shape[1], columns=self.batches.columns)

    def returned(self, table: Any) -> Any:
        """The synthetic table as a pyarrow table."""
        return table


def _bounded(encoded: Encoded, most: int) -> Codes:
    """Codes of at most so many records of each individual; of all records where none has a name."""
    if encoded.identifiers is None:
        return encoded.codes
    from dpsyn_core.measure.sources.bounding import bound  # which a table without identifiers does not need

    return bound(encoded, most)


def _gathered(found: Iterator[Encoded], codec: Codec) -> Encoded:
    """All batches as one."""
    import pyarrow as pa

    codes, names = [np.zeros((len(codec.domain), 0), dtype=codec.dtype)], []
    for encoded in found:
        codes.append(encoded.codes)
        if encoded.identifiers is not None:
            names.append(encoded.identifiers.cast(pa.large_string()))
    individuals = codec.schema.unit.identifier is not None
    every = pa.chunked_array(names, pa.large_string()).combine_chunks().dictionary_encode() if individuals else None
    return Encoded(codes=np.concatenate(codes, axis=1), identifiers=every)


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
        codes = _bounded(self._encoded(codec, frame), schema.unit.max_records)
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
