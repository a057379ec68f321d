"""Frames of pandas, polars and pyarrow in and out, through narwhals; the engine itself speaks pyarrow."""

from __future__ import annotations

from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import columnar, headers
from dpsyn_core.tables.canonical import canonical

_MIXED = {"mixed", "mixed-integer"}  # what pandas calls columns whose cells are of several types


def to_arrow(frame: Any) -> Any:
    """A pyarrow table of any eager or lazy frame that narwhals knows.

    Columns of mixed Python objects become text. Raises TableError for anything else, for blank or repeated headers
    and for nested columns.
    """
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return checked(frame)
    import narwhals as nw

    try:
        known = nw.from_native(frame)
    except TypeError as error:
        msg = f"a table of type {type(frame).__name__} is not known; give a pandas, polars or pyarrow table"
        raise TableError(msg) from error
    except nw.exceptions.DuplicateError:
        headers.check([str(c) for c in frame.columns])
        raise
    if isinstance(known, nw.LazyFrame):
        known = known.collect(backend="pyarrow")
    native = nw.to_native(known)
    if known.implementation.is_pandas():
        headers.check([str(c) for c in native.columns])
        native = _without_objects(native)
        return checked(pa.Table.from_pandas(native, preserve_index=False).replace_schema_metadata(None))
    return checked(known.to_arrow())


def checked(table: Any) -> Any:
    """The table, when its headers and types are those of a flat table. Raises TableError."""
    headers.check(table.column_names)
    for field in table.schema:
        columnar.check_type(field)
    if table.num_rows == 0:
        msg = "the table has no records; give a table with at least one"
        raise TableError(msg)
    return table


def _without_objects(frame: Any) -> Any:
    """A pandas frame whose columns of mixed objects are canonical text; pandas' missing marks stay.

    The text of a cell is what it has in a column of its own type: one individual's odd cell must not change how
    the cells of others are read.
    """
    from pandas.api.types import infer_dtype, is_object_dtype

    named = frame.set_axis([str(c) for c in frame.columns], axis=1)
    mixed: dict[str, Any] = {}
    for name in named.columns:
        column = named[name]
        if not is_object_dtype(column.dtype) or column.map(_nested).any():
            continue
        if infer_dtype(column, skipna=True) in _MIXED or not _uniform(column):
            mixed[name] = column.map(written, na_action="ignore").astype("string")
    return named.assign(**mixed)


def _nested(value: Any) -> bool:
    """Whether a cell is a table of its own, which the check of types refuses."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _uniform(column: Any) -> bool:
    """Whether pyarrow has a type for the column."""
    import pyarrow as pa

    try:
        pa.Array.from_pandas(column)
    except (pa.ArrowException, OverflowError):
        return False
    return True


def written(value: Any) -> str:
    """One cell of a column of mixed objects as canonical text."""
    import decimal

    import numpy as np

    if isinstance(value, decimal.Decimal):
        whole, point, rest = format(value, "f").partition(".")
        rest = rest.rstrip("0")
        return whole + point + rest if rest else whole
    return canonical(value.item() if isinstance(value, np.generic) else value)


def from_arrow(table: Any, like: Any) -> Any:
    """The pyarrow table as the same kind of frame as `like`.

    Column types follow the table alone. Those of a private frame are no public fact: its categories list values that
    the schema does not, and whole numbers stand as floats as soon as one individual's cell is blank.
    """
    import pyarrow as pa

    if isinstance(like, pa.Table):
        return table
    import narwhals as nw

    try:
        known = nw.from_native(like)
    except TypeError as error:
        msg = f"a table of type {type(like).__name__} is not known; give a pandas, polars or pyarrow table"
        raise TableError(msg) from error
    backend = known.implementation
    if backend.is_pandas():
        return table.to_pandas(date_as_object=False)
    if backend.is_polars():
        import polars as pl

        return pl.DataFrame(table)
    return nw.to_native(nw.from_native(table))
