"""GatheredSource: records that are read in batches, and whose codes are gathered in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.progress import Progress
from dpsyn_core.schema.codec import Codec, Encoded
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.base import Opened
from dpsyn_core.sources.bounding import bound
from dpsyn_core.sources.encoding import encoded_batches
from dpsyn_core.tables.batches import Batches


class GatheredSource:
    """Several files, or a database, as one table in memory. See `Source` for what its methods promise."""

    def __init__(self, batches: Batches, *, strict: bool = False) -> None:
        """Keeps where the records are; none is read before `open`. strict: as for `MemorySource`."""
        self.batches, self._strict = batches, strict

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Codes of the kept records stay in memory until the source is left; nothing else of them does."""
        codec = Codec(schema)
        found = encoded_batches(self.batches, codec, strict=self._strict, progress=progress)
        codes = bound(_gathered(found, codec), schema.unit.max_records)
        yield Opened(
            counter=MemoryCounter(codes, codec.domain), n_records=codes.shape[1], columns=self.batches.columns
        )  # fmt: skip

    def returned(self, table: Any) -> Any:
        """The synthetic table as a pyarrow table."""
        return table


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
