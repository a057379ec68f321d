"""Parts of a date: the year, quarter, month, day, weekday or hour that another column repeats. Public knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.rules.anniversaries import COMPLETED, Completed, completed

Part = Literal["year", "quarter", "month", "day", "weekday", "hour", Completed]  # of a date
WRITTEN = {  # what a written date must hold for its part, one of each
    "year": ("%Y%y",),
    "quarter": ("%m%b%B%j",),
    "month": ("%m%b%B%j",),
    "day": ("%d%j",),
    "hour": ("%H%I",),
    **dict.fromkeys(("weekday", *COMPLETED), ("%Y%y", "%m%b%B%j", "%d%j")),
}
# how a category may write a part that is no number: the first is 1
WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "mon tue wed thu fri sat sun",
    "mo tu we th fr sa su",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "mo di mi do fr sa so",
)
MONTHS = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "jan feb mär apr mai jun jul aug sep okt nov dez",
)
NAMES = {"weekday": WEEKDAYS, "month": MONTHS, "quarter": ("q1 q2 q3 q4",)}


def part_of(part: Part, values: NDArray[Any], unit_seconds: int, on: str | None = None) -> NDArray[np.int64]:
    """The part (n,) of dates (n,), in days or seconds since 1970: a year, 1 to 12, 1 (Monday) to 7, 0 to 23.

    on: the day on which completed years or months are counted, 2020-12-31.
    """
    seconds = np.asarray(values).astype(np.int64) * unit_seconds
    days = seconds // 86_400
    if part in COMPLETED:
        return completed(part, np.datetime64(on, "D").astype(np.int64), days)
    if part == "hour":
        return seconds // 3600 % 24
    if part == "weekday":
        return (days + 3) % 7 + 1  # 1970 began on a Thursday
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    if part == "year":
        return months // 12 + 1970
    if part == "day":
        return days - dates.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + 1
    return months % 12 + 1 if part == "month" else months % 12 // 3 + 1


def moments(part: Part, attribute: DatetimeAttribute) -> NDArray[np.int64]:
    """Dates of the declared range, in its unit, that show every part that each of its bins can have."""
    binning = attribute.binning
    if binning.only is not None:
        return binning.only
    grid = int(binning.step)
    starts, last = -(-binning.starts // grid) * grid, int(binning.last) // grid * grid
    first = int(starts[0])
    step = 1 if not attribute.precise else 3600 if part == "hour" else 86_400
    inner = np.arange(first // step + 1, last // step + 1, dtype=np.int64) * step
    return np.unique(np.concatenate([starts[starts <= last], inner, [last]]))


def check_part(part: Part, of: Any, column: Any, on: str | None = None) -> None:
    """Raises SchemaError where a column is no date that has the part, or a part has no value in the other."""
    words = part.replace("-", " ")
    if not isinstance(of, DatetimeAttribute):
        msg = f"'{of.name}' is {of.kind}, and a rule on the {words} needs a date"
        raise SchemaError(msg)
    if part == "hour" and not of.precise:
        msg = f"'{of.name}' holds days, which have no hour; give its min and max a time of day"
        raise SchemaError(msg)
    from dpsyn_core.tables import instants

    for written in map(instants.plain, of.formats[:1]):
        if not all(any(f"%{sign}" in written for sign in signs.split("%")[1:]) for signs in WRITTEN[part]):
            lost = "day" if part in COMPLETED else words
            msg = f"'{of.name}' is written as {written}, which does not show its {lost}; write it in full"
            raise SchemaError(msg)
    if not isinstance(column, CategoricalAttribute | NumericAttribute):
        msg = f"'{column.name}' is {column.kind}, and the {words} of a date goes into a category or a number"
        raise SchemaError(msg)
    lacking = _lacking(part, of, column, on)
    if len(lacking):
        msg = (
            f"'{column.name}' has no value for the {words} {lacking[0]}, which '{of.name}' can have; widen the one, or "
            "narrow the other"
        )
        raise SchemaError(msg)


def every_part(part: Part, of: DatetimeAttribute, column: Any, on: str | None = None) -> bool:
    """Whether a column has a value for every part that a date can have."""
    return not len(_lacking(part, of, column, on))


def said_by_bins(part: Part, of: DatetimeAttribute, on: str | None = None) -> bool:
    """Whether each bin of a date has one part only."""
    dates, parts = parts_in(part, of, on)
    bins = of.binning.find(dates)
    return bool((np.diff(bins) | (np.diff(parts) == 0)).all())


def parts_in(part: Part, of: DatetimeAttribute, on: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The moments of the declared range of a date, and the part of each."""
    dates = moments(part, of)
    return dates, part_of(part, dates, of.unit_seconds, on)


def _lacking(part: Part, of: DatetimeAttribute, column: Any, on: str | None) -> NDArray[np.int64]:
    return np.setdiff1d(parts_in(part, of, on)[1], values_of(part, column)[0])


def values_of(part: Part, column: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The parts that a column can hold (m,), rising, and its value of each: codes of a category, or numbers."""
    if isinstance(column, CategoricalAttribute):
        values = _named(part, [k.strip().lower().rstrip(".") for k in column.keys])
        order = sorted((p, code) for code, p in enumerate(values) if p is not None)
        parts = np.array([p for p, _ in order], dtype=np.int64)
        codes = np.array([code for _, code in order], dtype=np.int64)
        parts, first = np.unique(parts, return_index=True)
        return parts, codes[first]
    wide = dict.fromkeys(("year", *COMPLETED), (-9999, 9999))
    low, high = {**wide, "hour": (0, 23)}.get(part, (1, 31))
    parts = np.arange(max(low, np.ceil(column.min)), min(high, np.floor(column.max)) + 1).astype(np.int64)
    parts = parts[~np.isin(parts, column.special_values)]
    if column.step is not None:
        parts = parts[np.abs(parts / column.step - np.round(parts / column.step)) < 1e-9]
    return parts, parts.astype(np.int64 if column.dtype == "integer" else np.float64)


def _named(part: Part, keys: Sequence[str]) -> list[int | None]:
    """The part that each listed value writes: a number, or a name of one language; None for other values."""
    for names in (n.split() for n in NAMES.get(part, ())):
        positions = [names.index(k) + 1 if k in names else None for k in keys]
        if len(set(positions) - {None}) == len(names):
            return positions
    return [int(k) if k.isdigit() else None for k in keys]
