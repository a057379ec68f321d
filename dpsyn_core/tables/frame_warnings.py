"""Warnings of frames in memory: parts of a pandas frame that its synthetic table cannot have, each by its name."""

from __future__ import annotations

import datetime
import warnings
from typing import Any

from dpsyn_core.errors import SchemaWarning
from dpsyn_core.tables import headers
from dpsyn_core.tables.frame_types import columns_of, levels_of

# cells of Python objects, by pandas' name of them: those that come back, and what others become that are not text
COME_BACK = ("string", "boolean", "integer", "floating", "mixed-integer-float", "empty")
BECOME = {
    "decimal": "floating-point numbers",
    "datetime": "dates or times of pandas",
    "mixed-integer": "text or numbers",
}


def warn_of_levels(frame: Any) -> None:
    """Warns of what stands neither in a column nor in a named index, but for numbers of the rows."""
    import pandas as pd

    for i, name in enumerate(frame.index.names):
        level = frame.index.get_level_values(i)
        if i in levels_of(frame) or (name is None and pd.api.types.is_integer_dtype(level) and _numbers_rows(level)):
            continue
        which = (
            "an index without a name" if name is None else f"index '{headers.short(str(name))}', the name of a column"
        )
        remedy = "give it a name of its own, or call reset_index(), with drop=True where it only numbers rows"
        msg = f"the table does not take {which}; {remedy}"
        warnings.warn(msg, SchemaWarning, stacklevel=3)
    if frame.attrs:
        msg = "attrs of the frame do not come back: they may tell of its records; set those that are public again"
        warnings.warn(msg, SchemaWarning, stacklevel=3)


def _numbers_rows(level: Any) -> bool:
    """Whether whole numbers of an index count the rows, from 0 or 1 and in any order, or a range gave them."""
    import pandas as pd

    low, high = level.min(), level.max()
    return (
        isinstance(level, pd.RangeIndex)
        or not len(level)
        or (level.is_unique and low in (0, 1) and high - low + 1 == len(level))
    )


def warn_of_objects(frame: Any) -> None:
    """Warns of columns whose cells are objects that the output cannot have: a cell's type would tell of its record."""
    import pandas as pd

    from dpsyn_core.tables.cells.objects import readable

    for label, series in columns_of(frame):
        cells = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else series
        kind = pd.api.types.infer_dtype(cells, skipna=True) if cells.dtype.kind in "Oc" else "string"
        if kind in COME_BACK:
            continue
        types = set(map(type, cells.dropna()))
        if kind == "date":
            if not any(issubclass(t, datetime.datetime) for t in types):
                continue
            kind = "datetime"
        read = [readable(t) for t in types]
        if not any(read):
            continue  # a draft leaves them out and says so
        fate = (
            f"which are {BECOME.get(kind, 'text')} in the synthetic table"
            if all(read)
            else "some of which no column holds"
        )
        names = sorted(
            t.__qualname__ if t.__module__ == "builtins" else f"{t.__module__}.{t.__qualname__}" for t in types
        )
        msg = f"column '{headers.short(str(label))}' holds objects of {', '.join(names)}, {fate}; convert it there"
        warnings.warn(msg, SchemaWarning, stacklevel=3)
