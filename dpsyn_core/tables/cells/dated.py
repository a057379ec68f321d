"""Columns of dates and times as instants: typed ones by their type, texts by `instants`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.tables.cells import instants
from dpsyn_core.tables.cells.canonical import PER_SECOND, simplified, to_text, uniques


def to_instants(column: Any, formats: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """A column as whole seconds since 1970 (UTC where a zone is known).

    Args:
        column: pyarrow ChunkedArray of dates, timestamps, text or whole years, length n.
        formats: strptime formats of text; empty: ISO 8601.

    Returns:
        int64 (n,) and bool (n,): whether the entry is a date that exists.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    column = simplified(column)
    kind = column.type
    if (t.is_date(kind) or t.is_timestamp(kind)) and not instants.confused(formats):
        if t.is_date32(kind):
            whole, per = column.cast(pa.int32()).cast(pa.int64()), -86_400
        elif t.is_date64(kind):
            whole, per = column.cast(pa.int64()), 1000
        else:
            whole, per = column.cast(pa.int64()), PER_SECOND[kind.unit]
        values = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)
        values = values * -per if per < 0 else values // per
        if len(values) and (values.min() < instants.FIRST or values.max() > instants.LAST):
            values = np.clip(values, instants.FIRST, instants.LAST)
        return values, column.is_valid().to_numpy(zero_copy_only=False)
    entries, index = uniques(column)
    seconds, valid = instants.parse(pc.fill_null(to_text(entries), ""), formats)
    seconds, valid = np.append(seconds, 0), np.append(valid, False)
    return seconds[index], valid[index]
