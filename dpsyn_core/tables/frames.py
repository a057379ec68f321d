"""Frames of pandas, polars and pyarrow in and out, through narwhals; the engine itself speaks pyarrow."""

from __future__ import annotations

from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables import parquet as columnar
from dpsyn_core.tables.batches import Batches, of_table
from dpsyn_core.tables.frame_types import columns_of


def to_arrow(frame: Any) -> Any:
    """A pyarrow table of any eager or lazy frame that narwhals knows.

    Cells of Python objects are read one by one, each by its type; named levels of an index are the first columns.
    Raises TableError for anything else, for blank or repeated headers and for columns of a nested type.

    Warns:
        SchemaWarning: a level of the index has no name, or that of a column, and is left out; a column holds objects of
            Python that do not come back as such.
    """
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return checked(columnar.decoded(_seconds(frame)))
    import narwhals as nw

    try:
        frame_of = nw.from_native(frame)
    except TypeError as error:
        msg = f"a table of type {type(frame).__name__} is not known; give a pandas, polars or pyarrow table"
        raise TableError(msg) from error
    except nw.exceptions.DuplicateError:
        headers.check([str(c) for c in frame.columns])
        raise
    if isinstance(frame_of, nw.LazyFrame):
        frame_of = frame_of.collect(backend="pyarrow")
    native = nw.to_native(frame_of)
    if frame_of.implementation.is_pandas():
        from dpsyn_core.tables.frame_warnings import warn_of_levels, warn_of_objects

        headers.check([str(label) for label, _ in columns_of(native)])
        warn_of_levels(native)
        warn_of_objects(native)
        return checked(columnar.decoded(_seconds(_without_objects(native))))
    return checked(columnar.decoded(_seconds(frame_of.to_arrow())))


def _seconds(table: Any) -> Any:
    """The pyarrow table with durations as numbers of seconds."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    for i, field in enumerate(table.schema):
        if t.is_duration(field.type):
            per = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[field.type.unit]
            whole = table.column(i).cast(pa.int64()).cast(pa.float64())
            table = table.set_column(i, field.name, pc.divide(whole, per))
    return table


def of_frame(frame: Any) -> Batches:
    """A frame that is in memory, in parts; see `to_arrow`."""
    return of_table(to_arrow(frame))


def checked(table: Any) -> Any:
    """The table, when its headers and types are those of a flat table. Raises TableError."""
    headers.check(table.column_names)
    for field in table.schema:
        columnar.check_type(field)
    return table


def _without_objects(frame: Any) -> Any:
    """A pandas frame as a pyarrow table; columns that may hold objects of any type are read cell by cell.

    What pandas calls an object column holds cells of any type, and becomes one through a single odd cell. The same
    holds for its rarer types (periods, intervals, complex numbers) and for the values of a categorical column.
    """
    import pyarrow as pa

    columns = columns_of(frame)
    return pa.table([_column(series) for _, series in columns], names=[str(label) for label, _ in columns])


def _column(series: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    from dpsyn_core.tables.cells import objects as cells

    kind = series.dtype
    if isinstance(kind, pd.PeriodDtype):
        return pa.array(series.dt.to_timestamp(), from_pandas=True)
    if isinstance(kind, pd.CategoricalDtype):
        entries = cells.column(series.cat.categories.tolist())
        codes = series.cat.codes.to_numpy()
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype("int64"), mask=codes < 0), entries)
    if isinstance(kind, pd.ArrowDtype):
        return pa.chunked_array(series.array.__arrow_array__())
    if getattr(kind, "kind", "O") in "biufMm" and not isinstance(kind, pd.SparseDtype):  # dates and durations too
        return pa.array(series, from_pandas=True)
    return cells.column(series.tolist())


def from_arrow(table: Any, like: Any) -> Any:
    """The pyarrow table as the same kind of frame as `like`.

    Columns have the types that `frame_types` takes for declared, and else those of the table.

    Raises TableError for a frame of an unsupported kind.

    Warns:
        SchemaWarning: the values of a column do not fit its declared type.
    """
    import pyarrow as pa

    from dpsyn_core.tables.frame_types import in_arrow, in_pandas, in_polars

    if isinstance(like, pa.Table):
        return in_arrow(table, like)
    import narwhals as nw

    try:
        model = nw.from_native(like)
    except TypeError as error:
        msg = f"a table of type {type(like).__name__} is not known; give a pandas, polars or pyarrow table"
        raise TableError(msg) from error
    backend = model.implementation
    if backend.is_pandas():
        return in_pandas(table, like)
    if backend.is_polars():
        return in_polars(table, like)
    return nw.to_native(nw.from_native(table))
