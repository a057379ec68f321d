"""Series: tables of one row a time step, of one thing or a few, so that a person has to say who is one individual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import has_decimal_comma, locate

FEWEST = 100  # rows of a series
ALONE = 0.9  # share of the rows that are alone at their time, among those of their key
EVEN = 0.5  # share of the steps between times that are equal
FEW_KEYS = 0.02  # keys by rows: more are persons with rows of their own


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """Rows in equal steps of time. date: their column. key: what they are of, "" for one thing. keys: how many."""

    date: str
    key: str
    keys: int
    rows: int


def series(schema: Schema, table: Any) -> Series | None:
    """What looks like a series in a pyarrow table: private, for the owner of the table; None where nothing does."""
    n, comma = table.num_rows, has_decimal_comma(table)
    if n < FEWEST:
        return None

    def cells(a: Any) -> Any:
        return table.column(locate(table.column_names, [a.name])[0])

    listed = [a for a in schema.coded if isinstance(a, CategoricalAttribute) and a.size <= max(2, FEW_KEYS * n)]
    for date in (a for a in schema.coded if isinstance(a, DatetimeAttribute)):
        column = cells(date)
        times = date.values_of(column, date.encode(column, comma=comma), comma=comma)
        if np.isnan(times).mean() > 1 - ALONE or not _even(times):
            continue
        whole, at = np.unique(times, return_inverse=True)
        if len(whole) >= ALONE * n:
            return Series(date=date.name, key="", keys=1, rows=n)
        for a in listed:
            codes = np.asarray(a.encode(cells(a), comma=comma)).astype(np.int64)
            keys = len(np.unique(codes))
            alone = keys > 1 and len(np.unique(codes * len(whole) + at)) >= ALONE * n
            if alone and _even(times, codes):
                return Series(date=date.name, key=a.name, keys=keys, rows=n)
    return None


def _even(times: NDArray[np.float64], keys: NDArray[np.int64] | None = None) -> bool:
    """Whether most steps between different times, of one key each, are equal, and there are several."""
    of = np.zeros(len(times), dtype=np.int64) if keys is None else keys
    some = ~np.isnan(times)
    ordered = np.unique(np.stack([of[some], times[some]], axis=1), axis=0)
    steps = np.diff(ordered[:, 1])[np.diff(ordered[:, 0]) == 0]
    if len(steps) < 10:
        return False
    return bool(np.unique(steps, return_counts=True)[1].max() >= EVEN * len(steps))
