"""Cells that come as Python objects, each of any type, as one column: every cell is read by its type alone.

Objects of pandas, cells of Excel and rows of SQLite pass here. They are Python values, so each has to be touched once;
what follows works on whole columns.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.tables.cells.canonical_text import UNREADABLE, to_text

MISSING = ("NoneType", "NAType", "NaTType")  # None, and the marks of pandas
MOST_DIGITS = 4000  # of a whole number or a decimal; Python itself refuses to write longer ones
ZERO = decimal.Decimal(0)


def column(values: Sequence[object]) -> Any:
    """A pyarrow array (n,) of the cells.

    Where all cells are of one type, the array has that type; else it is canonical text, and each cell has the text
    that it has in a column of that type. Missing marks are null. What has no text (bytes, lists, objects of
    unknown types) is the replacement character U+FFFD, which no schema lists.
    """
    import pyarrow as pa

    kinds = list(map(type, values))
    types = sorted(set(kinds) - {k for k in set(kinds) if k.__name__ in MISSING}, key=lambda k: k.__qualname__)
    if not types:
        return pa.nulls(len(values), pa.string())
    at = {kind: i for i, kind in enumerate(types)}
    which = np.fromiter((at.get(k, -1) for k in kinds), dtype=np.int64, count=len(kinds))
    if len(types) == 1 and (which == 0).all():
        return _of_one_type(list(values), types[0])
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    parts = [_of_one_type(objects[which == i].tolist(), kind) for i, kind in enumerate(types)]
    if len(types) == 1:
        return _spread(parts, which)
    return _spread([to_text(part) for part in parts], which)


def _spread(parts: list[Any], which: NDArray[np.int64]) -> Any:
    """One array whose record i is the next entry of part which[i]; null where that is -1."""
    import pyarrow as pa

    starts = np.cumsum([0, *(len(p) for p in parts[:-1])])
    place = np.empty(len(which), dtype=np.int64)
    for i, start in enumerate(starts):
        here = which == i
        place[here] = start + np.arange(np.count_nonzero(here))
    return pa.concat_arrays(parts).take(pa.array(place, mask=which < 0))


def _of_one_type(values: list[Any], kind: type) -> Any:
    """Cells of one Python type, none of them missing, as an array of the matching Arrow type, or of text."""
    import pyarrow as pa

    if kind is str:
        return _texts(values)
    if kind is int:
        try:
            return pa.array(values, pa.int64())
        except OverflowError:
            return pa.array([_digits(v) for v in values], pa.string())
    if issubclass(kind, np.generic):
        return _of_numpy(values, kind)
    for base, make in _MAKERS:
        if issubclass(kind, base):
            return make(values)
    return pa.array([UNREADABLE] * len(values), pa.string())


def _of_numpy(values: list[Any], kind: type) -> Any:
    import pyarrow as pa

    if issubclass(kind, np.str_):
        return _texts([str(v) for v in values])
    if issubclass(kind, np.longdouble):
        return pa.array(np.array(values, dtype=np.float64))
    if issubclass(kind, np.datetime64):
        return pa.array([_numpy_moment(v) for v in values], pa.string())
    if issubclass(kind, np.bool_ | np.integer | np.floating):
        return pa.array(np.array(values, dtype=kind))
    return pa.array([UNREADABLE] * len(values), pa.string())


def _texts(values: list[str]) -> Any:
    """Texts; half of a surrogate pair, which no file can hold, becomes the replacement character."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array([v.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for v in values])


def _digits(value: int) -> str:
    """A whole number of any length."""
    return str(value) if value.bit_length() < 3 * MOST_DIGITS else UNREADABLE


def _decimal(value: decimal.Decimal) -> str | None:
    """A decimal digit by digit, without zeros at the end of its fraction; None for one that is not a number."""
    if value.is_nan():
        return None
    if value.is_infinite():
        return "inf" if value > 0 else "-inf"
    if value == ZERO:
        return "0"
    if abs(value.adjusted()) > MOST_DIGITS:
        return UNREADABLE
    whole, point, rest = format(value, "f").partition(".")
    rest = rest.rstrip("0")
    return whole + point + rest if rest else whole


def _moment(value: Any) -> str:
    """A date and time as Arrow writes it in a column of timestamps: in UTC where a zone is given."""
    try:
        utc = value if value.utcoffset() is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
        text = utc.isoformat(sep=" ")
    except (ValueError, OverflowError):  # the first or the last day, in a zone that lies beyond it
        return UNREADABLE
    whole, point, rest = text.partition(".")
    rest = rest.rstrip("0")
    return f"{whole}{point if rest else ''}{rest}{'' if value.utcoffset() is None else 'Z'}"


def _numpy_moment(value: np.datetime64) -> str | None:
    """A moment of any unit, from years to attoseconds."""
    if np.isnat(value):
        return None
    whole, point, rest = str(value).replace("T", " ").partition(".")
    rest = rest.rstrip("0")
    return whole + point + rest if rest else whole


def _time(value: datetime.time) -> str:
    whole, point, rest = value.replace(tzinfo=None).isoformat().partition(".")
    return whole + point + rest.rstrip("0")


def _written(write: Callable[[Any], str | None]) -> Callable[[list[Any]], Any]:
    def make(values: list[Any]) -> Any:
        import pyarrow as pa

        return pa.array([write(v) for v in values], pa.string())

    return make


def _typed(kind: str) -> Callable[[list[Any]], Any]:
    def make(values: list[Any]) -> Any:
        import pyarrow as pa

        return pa.array(values, getattr(pa, kind)())

    return make


# the first class that fits decides; bool before int and datetime before date, their base classes
_MAKERS: tuple[tuple[type, Callable[[list[Any]], Any]], ...] = (
    (bool, _typed("bool_")),
    (int, _written(lambda v: _digits(int(v)))),
    (float, _typed("float64")),
    (str, lambda values: _texts([str.__str__(v) for v in values])),
    (decimal.Decimal, _written(_decimal)),
    (datetime.datetime, _written(_moment)),
    (datetime.date, _typed("date32")),
    (datetime.time, _written(_time)),
    (uuid.UUID, _written(str)),
)


def readable(kind: type) -> bool:
    """Whether cells of a Python type become values or text; others become the replacement character."""
    of_numpy = (np.str_, np.datetime64, np.bool_, np.integer, np.floating)
    return issubclass(kind, of_numpy if issubclass(kind, np.generic) else tuple(base for base, _ in _MAKERS))
