"""Casts columns by the schema: any flat Arrow column to numbers or instants, whole columns at once, for any cell.

A cell is read by its canonical text. Typed columns take shorter ways with the same results, so that the type of a
column, which a single cell can change, decides nothing.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.tables.cells.canonical_text import is_text, simplified, to_text, uniques

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(inf|Inf|INF|infinity|Infinity)$"
# what no spreadsheet runs: digits and their marks with a currency, a unit or a percent sign at most
AMOUNT = r"^[+-]?\p{Sc}?[ \x{A0}\x{202F}]?\d[\d.,' \x{A0}\x{202F}]*(\p{L}{1,12}|\p{Sc}|[%‰°])?$"
DIGITS = r"^[+-]?\d+(\.\d*)?$"
_PLAIN = 10**18  # below it, pyarrow's own reading of whole numbers is used
_FAR = 2**62  # farther whole numbers are clamped: no bin reaches so far
TRUE = ("true", "t", "yes", "y", "1", "on")
FALSE = ("false", "f", "no", "n", "0", "off")


def to_numbers(
    column: Any, *, whole: bool, comma: bool = False, written: str | None = None
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A column as numbers.

    Args:
        column: pyarrow ChunkedArray or Array of text, numbers or booleans, length n.
        whole: int64 (fractions cut downwards, out-of-range values clamped to 2^62) instead of float64.
        comma: text may have a comma as the decimal mark: 12,5 and 12.5 are the same number.
        written: an example of how cells are written, such as $1,234.56 (see `amounts`); then `comma` has no say.

    Returns:
        int64 or float64 (n,) and bool (n,): whether the entry is a number (infinity is one, NaN is not).
    """
    import pyarrow.types as t

    column = simplified(column)
    kind = column.type
    if written is not None:  # by its text, whatever its type
        from dpsyn_core.tables.cells import amounts

        entries, index = uniques(column)
        numerals = amounts.plain(entries if is_text(kind) else to_text(entries), amounts.form(written))
        values, valid = _text_to_numbers(numerals, whole=whole, comma=False)
        values, valid = np.append(values, values.dtype.type(0)), np.append(valid, False)
        return values[index], valid[index]
    if is_text(kind):
        return _text_to_numbers(column, whole=whole, comma=comma)
    if t.is_integer(kind) or t.is_boolean(kind) or t.is_float64(kind):
        return _typed_to_numbers(column, whole=whole)
    if t.is_date(kind) or t.is_timestamp(kind) or t.is_time(kind):  # text that no number is
        return np.zeros(len(column), dtype=np.int64 if whole else np.float64), np.zeros(len(column), dtype=bool)
    # decimals and short floats are what their text says, whatever type the other cells gave the column
    entries, index = uniques(column)
    values, valid = to_numbers(entries if t.is_dictionary(kind) else to_text(entries), whole=whole, comma=comma)
    values, valid = np.append(values, values.dtype.type(0)), np.append(valid, False)
    return values[index], valid[index]


def _typed_to_numbers(column: Any, *, whole: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Whole numbers, booleans and float64: the numbers that their canonical text would be read as."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    kind = column.type
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    if whole and not t.is_floating(kind):
        if t.is_uint64(kind):
            column = pc.if_else(column.is_valid(), pc.min_element_wise(column, pa.scalar(_FAR, kind)), None)
        values = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        far = kind.bit_width == 64 and len(values) and (values.min() < -_FAR or values.max() > _FAR)
        return (np.clip(values, -_FAR, _FAR) if far else values), valid
    floats = pc.fill_null(column.cast(pa.float64(), safe=False), np.nan).to_numpy(zero_copy_only=False)
    valid = valid & ~np.isnan(floats)
    floats = np.where(valid, floats, 0.0)
    return (_floor(floats) if whole else floats), valid


def _floor(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.clip(np.floor(values), -float(_FAR), float(_FAR)).astype(np.int64)


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
    for word, digit in (("(?i)^true$", "1"), ("(?i)^false$", "0")):
        text = pc.replace_substring_regex(text, word, digit)
    number = pc.fill_null(pc.match_substring_regex(text, NUMBER), False)
    plain = pc.if_else(number, text, "0")
    values: NDArray[Any] = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False)
    if whole:
        values = _whole(plain, values)
    values, valid = np.append(values, values.dtype.type(0)), np.append(number.to_numpy(zero_copy_only=False), False)
    return values[index], valid[index]


def _whole(text: Any, floats: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers as text cut downwards to whole ones, clamped to 2^62; digits are read as digits, never as a float.

    Args:
        text: pyarrow string array (n,) of numbers without white space.
        floats: (n,) the same numbers, for those written with an exponent.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    out = _floor(floats)
    digits = np.flatnonzero(pc.match_substring_regex(text, DIGITS).to_numpy(zero_copy_only=False))
    if not len(digits):
        return out
    written = text.take(pa.array(digits))
    below = pc.match_substring_regex(written, r"^-\d+\.\d*[1-9]").to_numpy(zero_copy_only=False)
    plain = pc.replace_substring_regex(pc.replace_substring_regex(written, r"^\+|\.\d*$", ""), r"^(-?)0+(\d)", r"\1\2")
    length = pc.utf8_length(pc.utf8_ltrim(plain, "-")).to_numpy(zero_copy_only=False)
    sign = np.where(pc.starts_with(plain, "-").to_numpy(zero_copy_only=False), -1, 1)
    values = sign * _FAR  # what has more than 19 digits
    short = pc.if_else(pa.array(length <= 18), plain, "0")
    values = np.where(length <= 18, pc.cast(short, pa.int64()).to_numpy(zero_copy_only=False), values)
    edge = np.flatnonzero(length == 19)
    if len(edge):
        exact = pc.cast(plain.take(pa.array(edge)), pa.decimal128(38, 0))
        far = [pa.scalar(Decimal(end), pa.decimal128(38, 0)) for end in (-_FAR, _FAR)]
        clamped = pc.if_else(pc.less(exact, far[0]), far[0], pc.if_else(pc.greater(exact, far[1]), far[1], exact))
        values[edge] = clamped.cast(pa.int64()).to_numpy(zero_copy_only=False)
    out[digits] = np.maximum(values - below, -_FAR)
    return out


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
