"""Which numbers crowd into one bin: private shares of records, for the owner's warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema

MOST = 100_000  # records that are looked at


def crowded(schema: Schema, table: Any) -> dict[str, float]:
    """For every number and date, the share of its records in the fullest bin. Reads the data: private.

    Args:
        schema: declares the bins.
        table: pyarrow; of a larger one, so many records spread over it are looked at.
    """
    if table.num_rows == 0:
        return {}
    if table.num_rows > MOST:
        table = table.take(np.linspace(0, table.num_rows - 1, MOST).astype(np.int64))
    codes = Codec(schema).encode(table).codes
    at = [i for i, a in enumerate(schema.coded) if a.is_number]
    numbers = [schema.coded[i] for i in at]
    return fullest([codes[i] for i in at], [(a.name, a.size, a.special) for a in numbers])


def fullest(codes: Sequence[NDArray[Any]], columns: list[tuple[str, int, int]]) -> dict[str, float]:
    """The same from codes; columns: (name, size, special cells) of the numbers, whose rows `codes` holds in order."""
    out = {}
    for row, (name, size, special) in zip(codes, columns, strict=True):
        counts = np.bincount(row, minlength=size)[: size - special]
        if counts.size > 1 and counts.sum():
            out[name] = float(counts.max() / counts.sum())
    return out
