"""StoredSource: records that are read in batches, encoded, and kept as codes in a private file, not in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpsyn_core.counting.store import Store
from dpsyn_core.counting.stored import StoredCounter
from dpsyn_core.progress import Progress
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.scratch import scratch
from dpsyn_core.sources.base import Opened
from dpsyn_core.sources.bounding import draw_key
from dpsyn_core.sources.encoding import encoded_batches
from dpsyn_core.sources.spilling import bound_parts
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.frames import from_arrow


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
            found = encoded_batches(self.batches, codec, strict=self._strict, progress=progress)
            if schema.unit.identifier is None:
                for encoded in found:
                    store.append(encoded.codes)
            else:
                key = draw_key()
                for codes in bound_parts(
                    found, schema.unit.max_records, key=key, room=room, records=self.batches.likely_records,
                    memory=self._memory,
                ):  # fmt: skip
                    store.append(codes)
            store.finish()
            yield Opened(counter=StoredCounter(store), n_records=store.n_records, columns=self.batches.columns)

    def returned(self, table: Any) -> Any:
        """A table of the library that the private one came from, pyarrow where it was a file."""
        return table if self._like is None else from_arrow(table, like=self._like)
