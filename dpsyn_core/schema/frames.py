"""Frames of pandas, polars and pyarrow in and out, through narwhals; the engine itself speaks pyarrow."""

from __future__ import annotations

from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.schema import columnar, headers


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
    """A pandas frame whose columns of mixed objects are text, as written by str; pandas' missing marks stay."""
    import pyarrow as pa
    from pandas.api.types import is_object_dtype

    named = frame.set_axis([str(c) for c in frame.columns], axis=1)
    mixed: dict[str, Any] = {}
    for name in named.columns:
        column = named[name]
        if not is_object_dtype(column.dtype):
            continue
        try:
            pa.Array.from_pandas(column)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            mixed[name] = column.where(column.isna(), column.astype(str)).astype("string")
    return named.assign(**mixed)


def from_arrow(table: Any, like: Any) -> Any:
    """The pyarrow table as the same kind of frame as `like`; columns take its types where no value changes."""
    import pyarrow as pa

    if isinstance(like, pa.Table):
        return _typed(table, like.schema)
    import narwhals as nw

    try:
        known = nw.from_native(like)
    except TypeError as error:
        msg = f"a table of type {type(like).__name__} is not known; give a pandas, polars or pyarrow table"
        raise TableError(msg) from error
    backend = known.implementation
    if backend.is_pandas():
        return _like_pandas(table, nw.to_native(known))
    if backend.is_polars():
        import polars as pl

        frame = pl.DataFrame(table)
        wanted = dict(nw.to_native(known).collect_schema())
        casts = [pl.col(n).cast(wanted[n], strict=False) for n in frame.columns if _polars_fits(frame[n], wanted, n)]
        return frame.with_columns(casts)
    return nw.to_native(nw.from_native(table))


def _polars_fits(column: Any, wanted: dict[str, Any], name: str) -> bool:
    """Whether the cast changes no value."""
    if name not in wanted or column.dtype == wanted[name]:
        return False
    import polars as pl

    try:
        cast = column.cast(wanted[name], strict=True)
        return bool((cast.cast(column.dtype, strict=True).eq_missing(column)).all())
    except pl.exceptions.PolarsError:
        return False


def _like_pandas(table: Any, like: Any) -> Any:
    frame = table.to_pandas()
    kinds = dict(zip(map(str, like.columns), like.dtypes, strict=True))
    for name in frame.columns:
        kind = kinds.get(name)
        if kind is None or frame[name].dtype == kind:
            continue
        if hasattr(kind, "categories") and not frame[name].dropna().isin(kind.categories).all():
            continue
        try:
            cast = frame[name].astype(kind)
        except (TypeError, ValueError, OverflowError):
            continue  # such as whole numbers with missing cells: the wider type stays
        if cast.isna().equals(frame[name].isna()):
            frame[name] = cast
    return frame


def _typed(table: Any, wanted: Any) -> Any:
    """Casts columns to the wanted Arrow types where that is safe."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        at = wanted.get_field_index(field.name)
        if at < 0 or wanted.field(at).type == field.type:
            continue
        try:
            cast = table.column(i).cast(wanted.field(at).type, safe=True)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue  # text columns that the schema reads as numbers stay numbers
        table = table.set_column(i, pa.field(field.name, cast.type), cast)
    return table
