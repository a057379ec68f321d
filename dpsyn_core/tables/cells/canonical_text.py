"""Canonical text: the one spelling in which a value of any type is compared with the values of a schema."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNREADABLE = "\ufffd"  # Unicode's replacement character: in a cell it says that something there has no text
COMMA = {b"dpsyn.decimal": b","}  # metadata of a table in which a comma may be a decimal mark
PLACES = b"dpsyn.places."  # before the name of a column
FRACTION, REST = r"\.0+(Z?)$|(\.\d*[1-9])0+(Z?)$", r"\2\1\3"  # zeros at the end of a fraction, and what stays
FIRST, LAST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999 in seconds since 1970
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def canonical(value: bool | int | float | str) -> str:
    """A value as the text that cells are compared with: true, 3, 0.5, as written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
    import pyarrow.types as t

    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind))


def places_of(column: str, places: int) -> dict[bytes, bytes]:
    """Metadata of a table which says that text files write the numbers of a column with as many decimals."""
    return {PLACES + column.encode(): str(places).encode()}


def places_in(table: Any) -> dict[str, int]:
    """How many decimals text files write of numbers of a pyarrow table, by column, where that is fixed."""
    metadata = (table.schema.metadata or {}).items()
    return {key[len(PLACES) :].decode(): int(value) for key, value in metadata if key.startswith(PLACES)}


def has_decimal_comma(table: Any) -> bool:
    """Whether the metadata of a pyarrow table says that its numbers have a decimal comma."""
    return (table.schema.metadata or {}).get(b"dpsyn.decimal") == b","


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
    """Typed entries as canonical text, each a function of its value alone; null for NaN.

    3 for 3.0, true, 2020-01-31, 2020-01-31 10:00:00 (with Z where a zone is given: the time is then UTC), 0.5 for
    0.500. Whole numbers keep all their digits. Days outside the years 1 to 9999 stand as the nearest of those.

    Args:
        entries: pyarrow Array of any flat type.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    kind = entries.type
    if is_text(kind):
        return entries.cast(pa.string()) if not t.is_string(kind) else entries
    if t.is_floating(kind):
        return _floats_to_text(entries)
    if t.is_decimal(kind):  # a column has one scale, which its longest fraction decides
        return _without_exponents(entries.cast(pa.string()))
    if t.is_date(kind) or t.is_timestamp(kind):
        return _instants_to_text(entries)
    if t.is_time(kind):
        return pc.replace_substring_regex(entries.cast(pa.string()), FRACTION, REST)
    return entries.cast(pa.string())


def _floats_to_text(entries: Any) -> Any:
    """Floats as the shortest decimal that reads back as the same float, whole ones as whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    entries = simplified(entries)
    values = entries.cast(pa.float64())
    near = pc.less(pc.abs(values), 2.0**63)  # what int64 holds; false for infinity, NaN and null stay what they are
    whole = pc.and_(near, pc.equal(pc.if_else(near, pc.floor(values), 0.5), values))
    as_whole = pc.if_else(whole, values, 0.0).cast(pa.int64()).cast(pa.string())
    text = pc.if_else(whole, as_whole, entries.cast(pa.string()))
    far = pc.and_(pc.is_finite(values), pc.invert(near))  # whole numbers too, of 19 digits and more
    if pc.any(far).as_py():
        text = pc.replace_with_mask(text, far, pa.array([str(int(v)) for v in values.filter(far).to_pylist()]))
    return pc.if_else(pc.is_nan(values), pa.scalar(None, pa.string()), text)


def _without_exponents(text: Any) -> Any:
    """Decimals as text, those that Arrow writes as 1E-8 digit by digit (they are few), without an empty fraction."""
    import pyarrow as pa
    import pyarrow.compute as pc

    odd = pc.match_substring(text, "E")
    if pc.any(odd).as_py():
        anew = [format(Decimal(v), "f") for v in text.filter(odd).to_pylist()]
        text = pc.replace_with_mask(text, odd, pa.array(anew, pa.string()))
    return pc.replace_substring_regex(text, FRACTION, REST)


def _instants_to_text(entries: Any) -> Any:
    """Dates and times in ISO 8601, clipped to the years 1 to 9999."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    kind = entries.type
    if t.is_date(kind):
        days = _floor_divided(entries.cast(pa.int64()), 86_400_000) if t.is_date64(kind) else entries.cast(pa.int32())
        first, last = FIRST // 86_400, LAST // 86_400
        clipped = pc.max_element_wise(pc.min_element_wise(days.cast(pa.int64()), last), first)
        return pc.if_else(entries.is_valid(), clipped, None).cast(pa.int32()).cast(pa.date32()).cast(pa.string())
    per = PER_SECOND[kind.unit]
    low, high = max(FIRST * per, -(2**63)), min((LAST + 1) * per - 1, 2**63 - 1)
    clipped = pc.max_element_wise(pc.min_element_wise(entries.cast(pa.int64()), high), low)
    zone = "UTC" if kind.tz is not None else None
    whole = pc.if_else(entries.is_valid(), clipped, None)
    return pc.replace_substring_regex(whole.cast(pa.timestamp(kind.unit, zone)).cast(pa.string()), FRACTION, REST)


def _floor_divided(whole: Any, by: int) -> Any:
    import pyarrow as pa

    values = whole.fill_null(0).to_numpy(zero_copy_only=False) // by
    return pa.array(values, mask=~whole.is_valid().to_numpy(zero_copy_only=False))


def blanks(text: Any) -> NDArray[np.bool_]:
    """Which entries of a text array are null, empty or only white space."""
    import pyarrow.compute as pc

    out: NDArray[np.bool_] = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(text), ""), True).to_numpy(
        zero_copy_only=False
    )
    return out
