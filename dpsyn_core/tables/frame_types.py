"""Types of frames: a synthetic table with the types that somebody gave the private one, as far as its values fit.

A type that a library infers from cells (object, int64, float64, bool) tells of them, of a single blank for example:
such columns have the types of the synthetic table alone. All others are declared by whoever made the frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsyn_core.tables.frames import kept
from dpsyn_core.tables.headers import composed


def in_pandas(table: Any, like: Any) -> Any:
    """A pyarrow table as a pandas frame with the labels and the declared types of another."""
    import pandas as pd

    frame = table.to_pandas(date_as_object=False)
    at = {composed(str(label)): i for i, label in enumerate(like.columns)}
    known = [at.get(composed(name)) for name in table.column_names]
    made = {
        i: frame.iloc[:, i] if k is None else _series(name, frame.iloc[:, i], table.column(i), like.iloc[:, k])
        for i, (name, k) in enumerate(zip(table.column_names, known, strict=True))
    }
    out = pd.DataFrame(made)
    if all(k is not None for k in known):
        out.columns = like.columns[known]
    else:
        out.columns = [n if k is None else like.columns[k] for n, k in zip(table.column_names, known, strict=True)]
    return out


def _series(name: str, series: Any, arrow: Any, like: Any) -> Any:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.types as t

    kind = like.dtype
    if kind == series.dtype or (kind.kind in "ifbc" and str(kind) in ("int64", "float64", "bool")):
        return series

    def convert() -> Any:
        if str(kind) == "object":
            return series.dt.date.where(series.notna(), None) if t.is_date(arrow.type) else series
        if isinstance(kind, pd.CategoricalDtype):
            return _categories(series, kind)
        if isinstance(kind, pd.PeriodDtype):
            return series.dt.to_period(kind.freq)
        if isinstance(kind, pd.DatetimeTZDtype):
            return series.dt.tz_convert(kind.tz).astype(kind)
        if kind.kind == "m" or (isinstance(kind, pd.ArrowDtype) and t.is_duration(kind.pyarrow_dtype)):
            return pd.to_timedelta(series, unit="s").astype(kind)
        if kind.kind not in "iu":
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
        if kind == series.dtype or kind in (pl.Int64, pl.Float64, pl.String, pl.Boolean, pl.Object):
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
