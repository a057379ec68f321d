"""Types of frames: a synthetic table with the types that somebody gave the private one, as far as its values fit.

A type that a library infers from cells (object, text, int64, uint64, float64, bool, decimals, moments of its usual
unit and of the finest one) tells of them, of a single blank, odd, large or fine cell for example: such columns have the
types of the synthetic table alone. All others are declared by the author of the frame.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from dpsyn_core.errors import SchemaWarning
from dpsyn_core.tables.headers import composed, short
from dpsyn_core.tables.parquet import TEXT_READ

INFERRED = ("object", "str", "datetime64[ns]")  # by pandas, of text and moments


def kept(name: str, kind: Any, column: Any, convert: Callable[[], Any]) -> Any:
    """The converted column; the column itself, with a warning, where its values do not fit the type."""
    try:
        return convert()
    except (ValueError, TypeError, OverflowError, ArithmeticError, NotImplementedError, AttributeError) as error:
        del error  # which may show a value
        msg = f"column '{short(name)}' does not come back as {kind}, which its synthetic values do not fit"
        warnings.warn(msg, SchemaWarning, stacklevel=2)
        return column


def levels_of(frame: Any) -> list[int]:
    """The places of those levels of a pandas frame's index that have a name which no column has."""
    labels = {str(label) for label in frame.columns}
    return [i for i, name in enumerate(frame.index.names) if name is not None and str(name) not in labels]


def columns_of(frame: Any) -> list[tuple[Any, Any]]:
    """Labels and series of a pandas frame, named levels of its index first."""
    import pandas as pd

    levels = [(frame.index.names[i], pd.Series(frame.index.get_level_values(i))) for i in levels_of(frame)]
    return [*levels, *((label, frame.iloc[:, i]) for i, label in enumerate(frame.columns))]


def in_pandas(table: Any, like: Any) -> Any:
    """A pyarrow table as a pandas frame with the labels, the index and the declared types of another."""
    import pandas as pd

    frame, given, levels = table.to_pandas(date_as_object=False), columns_of(like), len(levels_of(like))
    at = {composed(str(label)): i for i, (label, _) in enumerate(given)}
    places = [at.get(composed(name), -1) for name in table.column_names]
    columns = [
        frame.iloc[:, i] if k < 0 else _series(name, frame.iloc[:, i], table.column(i), given[k][1])
        for i, (name, k) in enumerate(zip(table.column_names, places, strict=True))
    ]
    body = [i for i, k in enumerate(places) if not 0 <= k < levels]
    out = pd.DataFrame({i: columns[i] for i in body}, index=frame.index)
    if all(places[i] >= 0 for i in body):
        out.columns = like.columns[[places[i] - levels for i in body]]
    else:
        out.columns = [table.column_names[i] if places[i] < 0 else given[places[i]][0] for i in body]
    if len(body) < len(places):
        index = [i for i in range(len(places)) if i not in body]
        out.index = (
            pd.MultiIndex.from_arrays([columns[i] for i in index]) if len(index) > 1 else pd.Index(columns[index[0]])
        )
        out.index.names = [given[places[i]][0] for i in index]
    return out


def _series(name: str, series: Any, arrow: Any, like: Any) -> Any:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.types as t

    kind = like.dtype
    if kind == series.dtype or (kind.kind in "iufb" and str(kind) in ("int64", "uint64", "float64", "bool")):
        return series

    def convert() -> Any:
        zone = "Z" if t.is_timestamp(arrow.type) and arrow.type.tz else ""
        fixed = isinstance(kind, pd.DatetimeTZDtype) and kind.tz.utcoffset(None) is not None  # from what cells hold
        usual = pd.to_datetime([f"2020-01-01T00:00:00{zone}"])
        if str(kind) in INFERRED or fixed or (zone and kind.kind == "M" and not hasattr(kind, "tz")):
            return series.astype(usual.dtype) if t.is_temporal(arrow.type) and series.dtype.kind == "M" else series
        if isinstance(kind, pd.CategoricalDtype):
            return _categories(series, kind)
        if isinstance(kind, pd.PeriodDtype):
            return series.dt.to_period(kind.freq)
        if isinstance(kind, pd.DatetimeTZDtype):
            unit = usual.unit if kind.unit == "ns" else kind.unit
            return series.dt.tz_convert(kind.tz).astype(pd.DatetimeTZDtype(unit, kind.tz))
        if kind.kind == "m" or (isinstance(kind, pd.ArrowDtype) and t.is_duration(kind.pyarrow_dtype)):
            spans = pd.to_timedelta(series, unit="s")
            return spans.astype(f"timedelta64[{usual.unit}]" if str(kind) == "timedelta64[ns]" else kind)
        if kind.kind not in "iu" or isinstance(kind, pd.SparseDtype):
            return series.astype(kind)
        if hasattr(kind, "numpy_dtype"):  # with a place for blank cells; by way of arrow, which checks each number
            whole = arrow.cast(pa.from_numpy_dtype(kind.numpy_dtype))
            return pd.Series(whole.to_pandas(types_mapper=lambda _: kind), index=series.index)
        return series if arrow.null_count else arrow.cast(pa.from_numpy_dtype(kind)).to_pandas()

    return kept(name, kind, series, convert)


def _categories(series: Any, kind: Any) -> Any:
    """A categorical series of the values that the synthetic column has, in the order of the given categories."""
    import pandas as pd

    have = list(pd.unique(series.dropna()))
    listed = [c for c in kind.categories if c in set(have)]
    order = [*listed, *(v for v in have if v not in set(listed))]
    return pd.Series(pd.Categorical(series, categories=order, ordered=kind.ordered), index=series.index)


def in_polars(table: Any, like: Any) -> Any:
    """A pyarrow table as a polars frame with the declared types of another, eager or lazy."""
    import polars as pl

    frame, kinds = pl.DataFrame(table), {composed(n): k for n, k in dict(like.collect_schema()).items()}
    for series in frame:
        kind = kinds.get(composed(series.name), series.dtype)
        inferred = (pl.Int64, pl.UInt64, pl.Int128, pl.Float64, pl.Decimal, pl.String, pl.Boolean, pl.Object, pl.Null)
        moments = (pl.Datetime(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC"))
        if kind == series.dtype or kind in (*inferred, pl.Date, pl.Time, *moments):
            continue

        def convert(series: Any = series, kind: Any = kind) -> Any:
            if kind == pl.Enum:
                have = set(series.drop_nulls().to_list())
                return series.cast(pl.Enum([c for c in kind.categories if c in have]))
            if isinstance(kind, pl.Duration):
                return (series * 1e6).round().cast(pl.Int64).cast(pl.Duration("us")).cast(kind)
            if isinstance(kind, pl.Datetime) and kind.time_zone and series.dtype.time_zone:
                return series.dt.convert_time_zone(kind.time_zone).cast(kind)
            return series.cast(kind)

        frame = frame.with_columns(_polars_safe(series, kind, convert))
    return frame


def _polars_safe(series: Any, kind: Any, convert: Callable[[], Any]) -> Any:
    import polars as pl

    def safe() -> Any:
        try:
            return convert()
        except pl.exceptions.PolarsError as error:
            raise ValueError from error

    return kept(series.name, kind, series, safe)


def in_arrow(table: Any, like: Any) -> Any:
    """A pyarrow table with the declared types of another."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    kinds = {composed(field.name): field.type for field in like.schema}
    read_here = TEXT_READ.items() <= (like.schema.metadata or {}).items()
    places = {composed(name): i for i, name in enumerate(like.column_names)}
    for i, field in enumerate(table.schema):
        kind, column = kinds.get(composed(field.name), field.type), table.column(i)
        if kind == field.type or kind in (pa.int64(), pa.uint64(), pa.float64(), pa.bool_(), pa.null()):
            continue
        if t.is_date32(kind) or t.is_time(kind) or t.is_decimal(kind):
            continue
        if t.is_timestamp(kind) and kind.unit != "ms" and kind.tz in (None, "UTC"):
            continue
        if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
            continue  # readers write text as any of these, or as none where all cells are blank
        if read_here and t.is_dictionary(kind):
            continue  # and here as a dictionary, or as none

        def convert(column: Any = column, kind: Any = kind, place: int = places[composed(field.name)]) -> Any:
            if t.is_dictionary(kind):
                return _dictionary(column.cast(kind.value_type), place, like)
            if t.is_duration(kind):
                return pc.round(pc.multiply(column, 1e6)).cast(pa.int64()).cast(pa.duration("us")).cast(kind)
            return column.cast(kind, safe=not t.is_floating(kind))

        table = table.set_column(i, field.name, kept(field.name, kind, column, convert))
    return table


def _dictionary(column: Any, place: int, like: Any) -> Any:
    """A dictionary of the values that the synthetic column has; of an ordered one in the order that somebody gave it.

    Its indices have room for any number: their type would tell how many values the private one has.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    given, have = like.schema.field(place).type, column.unique().drop_null()
    if given.ordered and like.num_rows:
        order = like.column(place).unify_dictionaries().chunk(0).dictionary
        have = pa.chunked_array([order.filter(pc.is_in(order, have)), have.filter(pc.invert(pc.is_in(have, order)))])
    few = have.combine_chunks() if isinstance(have, pa.ChunkedArray) else have
    index = pc.index_in(column.combine_chunks(), few)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(index, few, ordered=given.ordered)])
