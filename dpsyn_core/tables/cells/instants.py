"""Dates and times as whole seconds since 1970: vectorised parsing by ISO 8601 or declared formats."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.tables.cells.canonical_text import FIRST, LAST, PER_SECOND, simplified, to_text, uniques

_ZONE = r"(?P<z>Z|z|UTC|[+-]\d{2}(?::?\d{2})?)"  # +00 as PostgreSQL writes it
ISO = (
    r"^\s*(?P<Y>\d{4})(?:-(?P<m>\d{1,2})(?:-(?P<d>\d{1,2})(?:[T ](?P<H>\d{1,2}):(?P<M>\d{2})"
    r"(?::(?P<S>\d{2})(?:[.,]\d+)?)?\s*" + _ZONE + r"?)?)?)?\s*$"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIELDS = {
    "Y": r"(?P<Y>\d{4})",
    "m": r"(?P<m>\d{1,2})",
    "d": r"(?P<d>\d{1,2})",
    "H": r"(?P<H>\d{1,2})",
    "I": r"(?P<H>\d{1,2})",
    "M": r"(?P<M>\d{1,2})",
    "S": r"(?P<S>\d{1,2})",
    "y": r"(?P<y>\d{2})",
    "G": r"(?P<G>\d{4})",  # the year of an ISO week, and its number: its Monday
    "V": r"(?P<V>\d{1,2})",
    "b": r"(?P<b>[A-Za-z]{3})[a-z]*",
    "B": r"(?P<b>[A-Za-z]{3})[a-z]*",
    "p": r"(?P<p>[AaPp])\.?[Mm]\.?",
    "f": r"\d+",
    "z": _ZONE,
    "%": "%",
}
# what a directive may have before its letter: no zero in front, a colon in the offset, digits of a second
MODIFIED = re.compile(r"%(-(?=[dmHIV])|:(?=z)|[1-9](?=f))?([A-Za-z%])")
UNPADDED = "\x01"  # stands before a number that is written without a zero in front
NEVER = LAST - 86_399  # the last day of the calendar, which says in many tables that something has no end
CANONICAL = r"^\d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2}(\.\d+)?Z?)?$"  # how typed dates and times are written
OFFSET = r":\d{2}.*[+-]\d{2}(:?\d{2})?\s*$"
ZONED = rf":\d{{2}}.*(Z|z|UTC)\s*$|{OFFSET}"


def plain(form: str) -> str:
    """A strptime format without what only writing needs: %d for %-d, %z for %:z, %f for %3f."""
    return MODIFIED.sub(r"%\2", form)


def pattern(form: str) -> str:
    """The regular expression of a strptime format. Raises SchemaError for a directive that is not supported."""
    form = plain(form)
    out, i, seen = "", 0, set()
    while i < len(form):
        if form[i] != "%":
            out += re.escape(form[i])
            i += 1
            continue
        directive = form[i + 1 : i + 2]
        if directive not in _FIELDS or (directive in seen and directive != "%"):
            fields = ", ".join("%" + k for k in _FIELDS)
            msg = f"the date format {form!r} uses '%{directive}' wrongly; known, each once, are {fields}"
            raise SchemaError(msg)
        seen.add(directive)
        out += _FIELDS[directive]
        i += 2
    if not (seen & {"Y", "y"} or {"G", "V"} <= seen):
        msg = f"the date format {form!r} names no year; add %Y or %y, or %G with %V for weeks"
        raise SchemaError(msg)
    return rf"^\s*{out}\s*$"


def has_time(text: str) -> bool:
    """Whether an ISO text carries a time of day."""
    return ":" in text


def has_zone(text: str) -> bool:
    """Whether an ISO text carries a time zone."""
    return re.search(ZONED, text) is not None


@lru_cache(maxsize=256)  # the ends of a range are asked for each time that its attribute is checked
def parse_one(text: str) -> int | None:
    """Seconds since 1970 of one ISO text, or None."""
    import pyarrow as pa

    seconds, valid = parse(pa.array([text], pa.string()), ())
    return int(seconds[0]) if valid[0] else None


def parse(texts: Any, formats: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Seconds since 1970 (UTC where a zone is written) of each text.

    Args:
        texts: pyarrow string array of length n.
        formats: strptime formats tried in order, and then the canonical text of typed dates and times; empty: ISO
            8601 (a year or a month stands for its first day).

    Returns:
        int64 (n,), and bool (n,): whether the text is a date that exists. Fractions of a second are cut.
    """
    import pyarrow.compute as pc

    n = len(texts)
    seconds, valid = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    for expression in [pattern(f) for f in formats] or [ISO]:
        left = np.flatnonzero(~valid)
        if not len(left):
            break
        got, good = _match(texts if len(left) == n else texts.take(left), expression)
        seconds[left[good]], valid[left[good]] = got[good], True
    left = np.flatnonzero(~valid) if formats else np.zeros(0, dtype=np.intp)
    if len(left):
        rest = texts.take(left)
        got, good = _match(pc.if_else(pc.match_substring_regex(rest, CANONICAL), rest, ""), ISO)
        seconds[left[good]], valid[left[good]] = got[good], True
    return seconds, valid


def to_instants(column: Any, formats: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """A column as whole seconds since 1970 (UTC where a zone is given).

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
    if (t.is_date(kind) or t.is_timestamp(kind)) and not confused(formats):
        if t.is_date32(kind):
            whole, per = column.cast(pa.int32()).cast(pa.int64()), -86_400
        elif t.is_date64(kind):
            whole, per = column.cast(pa.int64()), 1000
        else:
            whole, per = column.cast(pa.int64()), PER_SECOND[kind.unit]
        values = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)
        values = values * -per if per < 0 else values // per
        if len(values) and (values.min() < FIRST or values.max() > LAST):
            values = np.clip(values, FIRST, LAST)
        return values, column.is_valid().to_numpy(zero_copy_only=False)
    entries, index = uniques(column)
    seconds, valid = parse(pc.fill_null(to_text(entries), ""), formats)
    seconds, valid = np.append(seconds, 0), np.append(valid, False)
    return seconds[index], valid[index]


@cache
def confused(formats: tuple[str, ...]) -> bool:
    """Whether a format reads the canonical text of a typed date or time as another moment, as %Y-%d-%m does."""
    import pyarrow as pa

    probes = pa.array(["2003-02-01", "2003-02-01 04:05:06", "2003-02-01 04:05:06.789", "2003-02-01 04:05:06Z"])
    read, right = (parse(probes, f) for f in (formats, ()))
    return bool((read[0] != right[0]).any() or not read[1].all())


def _match(texts: Any, expression: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, expression)
    valid = parts.is_valid().to_numpy(zero_copy_only=False)
    names = {parts.type.field(i).name for i in range(parts.type.num_fields)}

    def text(name: str) -> Any:
        return pc.fill_null(pc.struct_field(parts, name), "")

    def number(name: str, default: int) -> NDArray[np.int64]:
        if name not in names:
            return np.full(len(texts), default, dtype=np.int64)
        t = text(name)
        filled = pc.cast(pc.if_else(pc.equal(t, ""), str(default), t), pa.int64())
        return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.int64)

    if "y" in names:  # POSIX: 69-99 are 1969-1999, 00-68 are 2000-2068
        short = number("y", 0)
        year = np.where(short >= 69, 1900, 2000) + short
    else:
        year = number("G" if "G" in names else "Y", 0)
    if "b" in names:
        index = pc.index_in(pc.utf8_lower(text("b")), value_set=pa.array(_MONTHS))
        month = pc.fill_null(pc.add(index, 1), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    else:
        month = number("m", 1)
    day, hour, minute, second = number("d", 1), number("H", 0), number("M", 0), number("S", 0)
    if "p" in names:
        after = pc.equal(pc.utf8_lower(text("p")), "p").to_numpy(zero_copy_only=False)
        valid &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * after
    in_month = np.clip(month, 1, 12)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    length = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])[in_month - 1] + (leap & (in_month == 2))
    good = valid & (year >= 1) & (month == in_month) & (day >= 1) & (day <= length)
    good &= (hour < 24) & (minute < 60) & (second <= 60)
    seconds = days(year, in_month, day) * 86_400 + hour * 3600 + minute * 60 + np.minimum(second, 59)
    if "V" in names:
        week, far = number("V", 1), (year < 1) | (year > 9998)
        first, next_first = (_first_monday(np.where(far, 2000, year) + more) for more in (0, 1))
        monday = first + 7 * (week - 1)
        good &= ~far & (week >= 1) & (monday < next_first)
        seconds = monday * 86_400 + seconds % 86_400
    if "z" in names:
        offset, sane = _offset(text("z"))
        seconds, good = seconds - offset, good & sane
    return np.where(good, seconds, 0), good


def _first_monday(year: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Monday of week 1, in days since 1970: that of the week with 4 January (ISO 8601)."""
    fourth = days(year, np.ones_like(year), np.full_like(year, 4))
    return np.asarray(fourth - (fourth + 3) % 7)


def _offset(zones: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Seconds east of UTC, and whether the offset is one that can be: at most 24 hours."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.if_else(pc.match_substring_regex(zones, "^[+-]"), pc.replace_substring(zones, ":", ""), "+")
    plain = pc.utf8_rpad(plain, 5, "0")
    sign = np.where(pc.starts_with(plain, "-").to_numpy(zero_copy_only=False), -1, 1)
    hours = pc.cast(pc.utf8_slice_codeunits(plain, 1, 3), pa.int64()).to_numpy(zero_copy_only=False)
    minutes = pc.cast(pc.utf8_slice_codeunits(plain, 3, 5), pa.int64()).to_numpy(zero_copy_only=False)
    return sign * (hours * 3600 + minutes * 60), (hours <= 24) & (minutes < 60)


def written(moments: Any, form: str) -> Any:
    """Dates or times (a pyarrow array) as text in a strptime format that `pattern` knows."""
    import pyarrow.compute as pc

    def directive(found: re.Match[str]) -> str:
        how, sign = found[1], found[2]
        if sign == "f":
            return "0" * int(how or 6)
        if sign == "z":
            return "+00:00" if how else "+0000"
        return f"{UNPADDED if how else ''}%{sign}"

    texts = pc.strftime(moments, format=MODIFIED.sub(directive, form), locale="C")
    return pc.replace_substring_regex(texts, UNPADDED + "0?", "") if "%-" in form else texts


def days(year: NDArray[np.int64], month: NDArray[np.int64], day: NDArray[np.int64]) -> NDArray[np.int64]:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    months = (year - 1970) * 12 + (month - 1)
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    out: NDArray[np.int64] = first + (day - 1)
    return out


def calendar_starts(low: int, high: int, every: Literal["day", "month", "quarter", "year"]) -> NDArray[np.int64]:
    """Seconds at which the days, months, quarters or years from low to high begin; the first entry is low itself."""
    code: Literal["D", "M", "Y"] = {"day": "D", "month": "M", "quarter": "M", "year": "Y"}[every]  # type: ignore[assignment]
    first, last = (np.datetime64(t, "s").astype(f"datetime64[{code}]") for t in (low, high))
    periods = np.arange(first, last + 1)
    if every == "quarter":
        begins = periods.astype(np.int64) % 3 == 0
        begins[0] = True
        periods = periods[begins]
    starts = periods.astype("datetime64[s]").astype(np.int64)
    starts[0] = low
    return starts
