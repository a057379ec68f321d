"""Casts columns by the schema: any flat Arrow column to canonical text, numbers or instants, whole columns at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.tables import instants

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(inf|Inf|INF|infinity|Infinity)$"
_PLAIN = 10**18  # whole numbers below it have at most 18 digits, as WHOLE asks
WHOLE = r"^[+-]?\d{1,18}(\.0*)?$"
TRUE = ("true", "t", "yes", "y", "1", "on")
FALSE = ("false", "f", "no", "n", "0", "off")


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
    import pyarrow.types as t

    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind))


def simplified(column: Any) -> Any:
    """The column in a type that every kernel knows: text views, nulls, small decimals and half floats are cast."""
    import pyarrow as pa
    import pyarrow.types as t

    kind = column.type
    if t.is_string_view(kind):
        return column.cast(pa.large_string())
    if t.is_null(kind):
        return column.cast(pa.string())
    if t.is_float16(kind):
        return column.cast(pa.float32())
    if t.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    return column


def uniques(column: Any) -> tuple[Any, NDArray[np.intp]]:
    """Distinct entries (nulls left out) and, for each record, the position of its entry; -1 for null.

    Args:
        column: pyarrow ChunkedArray of any flat type, length n.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    column = simplified(column)
    encoded = column if t.is_dictionary(column.type) else pc.dictionary_encode(column)
    if isinstance(encoded, pa.ChunkedArray):
        if encoded.num_chunks == 0:
            return pa.array([], column.type), np.zeros(0, dtype=np.intp)
        encoded = encoded.unify_dictionaries()
        entries = encoded.chunk(0).dictionary
        parts = [_indices(chunk) for chunk in encoded.chunks]
        return entries, parts[0] if len(parts) == 1 else np.concatenate(parts)
    return encoded.dictionary, _indices(encoded)


def _indices(array: Any) -> NDArray[np.intp]:
    import pyarrow.compute as pc

    indices = array.indices
    if indices.null_count:
        indices = pc.fill_null(indices.cast("int64"), -1)
    out: NDArray[np.intp] = indices.to_numpy(zero_copy_only=False)
    return out


def to_text(entries: Any) -> Any:
    """Typed entries as canonical text: 3 for 3.0, true, ISO dates. Raises TableError for types that are not flat."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    kind = entries.type
    if is_text(kind):
        return entries.cast(pa.string()) if not t.is_string(kind) else entries
    if t.is_floating(kind):
        values = entries.cast(pa.float64())
        exact = pc.and_(pc.is_finite(values), pc.less(pc.abs(values), 2.0**53))
        whole = pc.and_(exact, pc.equal(pc.if_else(exact, pc.floor(values), 0.5), values))
        as_whole = pc.if_else(whole, values, 0.0).cast(pa.int64()).cast(pa.string())
        return pc.if_else(whole, as_whole, entries.cast(pa.string()))
    if t.is_decimal(kind):  # a column has one scale, which its longest fraction decides
        return pc.replace_substring_regex(entries.cast(pa.string()), r"\.0+$|(\.\d*[1-9])0+$", r"\1")
    if t.is_timestamp(kind):
        text = entries.cast(pa.timestamp("us", tz=kind.tz)).cast(pa.string())
        return pc.replace_substring_regex(text, r"(\.0+)(Z?)$", r"\2")
    if t.is_time(kind):
        return pc.replace_substring_regex(entries.cast(pa.string()), r"\.0+$", "")
    return entries.cast(pa.string())


def blanks(text: Any) -> NDArray[np.bool_]:
    """Which entries of a text array are empty or null."""
    import pyarrow.compute as pc

    out: NDArray[np.bool_] = pc.fill_null(pc.equal(text, ""), True).to_numpy(zero_copy_only=False)
    return out


def to_numbers(column: Any, *, whole: bool, comma: bool = False) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A column as numbers.

    Args:
        column: pyarrow ChunkedArray or Array of text, numbers or booleans, length n.
        whole: int64 (fractions cut downwards, out-of-range values clamped to 2^62) instead of float64.
        comma: text may have a comma as the decimal mark: 12,5 and 12.5 are the same number.

    Returns:
        int64 or float64 (n,) and bool (n,): whether the entry is a number (infinity is one, NaN is not).
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    column = simplified(column)
    kind = column.type
    if t.is_dictionary(kind):
        entries, index = uniques(column)
        values, valid = to_numbers(entries, whole=whole, comma=comma)
        values, valid = np.append(values, values.dtype.type(0)), np.append(valid, False)
        return values[index], valid[index]
    if is_text(kind):
        return _text_to_numbers(column, whole=whole, comma=comma)
    if not (t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or t.is_decimal(kind)):
        msg = f"a column of type {kind} holds no numbers"
        raise TableError(msg)
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    if whole and (t.is_signed_integer(kind) or t.is_boolean(kind) or (t.is_integer(kind) and kind.bit_width < 64)):
        return pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False), valid
    floats = pc.fill_null(column.cast(pa.float64(), safe=False), np.nan).to_numpy(zero_copy_only=False)
    valid = valid & ~np.isnan(floats)
    floats = np.where(valid, floats, 0.0)
    return (_floor(floats) if whole else floats), valid


def _floor(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.clip(np.floor(values), -(2.0**62), 2.0**62).astype(np.int64)


def _text_to_numbers(column: Any, *, whole: bool, comma: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    quick = _quick(column, pa.int64() if whole else pa.float64())
    if quick is not None:
        return quick
    entries, index = uniques(column)
    text = pc.utf8_trim_whitespace(to_text(entries))
    if comma:
        text = pc.replace_substring(text, ",", ".", max_replacements=1)
    number = pc.match_substring_regex(text, NUMBER).to_numpy(zero_copy_only=False)
    floats = pc.cast(pc.if_else(pa.array(number), text, "0"), pa.float64()).to_numpy(zero_copy_only=False)
    values: NDArray[Any] = floats
    if whole:  # whole numbers are cast as such, for a float has only 53 bits
        exact = pc.match_substring_regex(text, WHOLE)
        plain = pc.replace_substring_regex(pc.if_else(exact, text, "0"), r"^\+|\.0*$", "")
        values = np.where(
            exact.to_numpy(zero_copy_only=False),
            pc.cast(plain, pa.int64()).to_numpy(zero_copy_only=False),
            _floor(floats),
        )
    values, valid = np.append(values, values.dtype.type(0)), np.append(number, False)
    return values[index], valid[index]


def _quick(column: Any, kind: Any) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """Casts text that is all plain numbers and blanks; None when some entry is anything else.

    Which way a column goes depends on all of its cells, so that both must read every cell alike: what pyarrow reads
    otherwise than the slow way (0x1F, iNF, whole numbers of 19 digits) is left to that one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        cast = pc.cast(column, kind)
    except pa.ArrowInvalid:
        empty = pc.equal(column, "")
        if not pc.any(empty).as_py():
            return None
        try:
            cast = pc.cast(pc.if_else(empty, pa.scalar(None, column.type), column), kind)
        except pa.ArrowInvalid:
            return None
    valid = cast.is_valid().to_numpy(zero_copy_only=False)
    filled = pc.fill_null(cast, 0)
    values = filled.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            return None
        bad = np.isnan(values)
        if bad.any():
            valid, values = valid & ~bad, np.where(bad, 0.0, values)
    elif len(values) and (values.min() <= -_PLAIN or values.max() >= _PLAIN or _hexadecimal(column)):
        return None
    return values, valid


def _hexadecimal(column: Any) -> bool:
    """Whether some entry, which pyarrow has read as a whole number, is written as 0x1F."""
    import pyarrow.compute as pc

    return any(bool(pc.any(pc.match_substring(column, mark)).as_py()) for mark in "xX")


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
    if t.is_date(kind) or t.is_timestamp(kind):
        if t.is_date32(kind):
            whole, per = column.cast(pa.int32()).cast(pa.int64()), -86_400
        elif t.is_date64(kind):
            whole, per = column.cast(pa.int64()), 1000
        else:
            whole, per = column.cast(pa.int64()), {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        values = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)
        return (values * -per if per < 0 else values // per), column.is_valid().to_numpy(zero_copy_only=False)
    if not (is_text(kind) or t.is_integer(kind) or t.is_dictionary(kind)):
        msg = f"a column of type {kind} holds no dates"
        raise TableError(msg)
    entries, index = uniques(column)
    seconds, valid = instants.parse(pc.fill_null(to_text(entries), ""), formats)
    seconds, valid = np.append(seconds, 0), np.append(valid, False)
    return seconds[index], valid[index]
