"""Ways of writing dates: finds the one in which every cell of a column is written, for a proposal to be confirmed.

Reads the data, except `way_of`, which reads an example that a person typed.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.individual_words import WORD
from dpsyn_core.schema.rhythm import found_in, found_in_times
from dpsyn_core.tables import instants

FEW = 8  # distinct cells from which on digits alone may be dates
HEAD = 50  # cells that are tried before all are
DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d/%m/%y", "%m/%d/%y",
    "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%b %d %Y", "%b %d, %Y", "%d %b, %Y", "%m/%Y", "%b %Y", "%b-%Y",
    "%b-%y", "%Y%m%d", "%G-W%V", "%GW%V", "%Y年%m月%d日", "%Y年%m月", "%Y년 %m월 %d일",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
DIGITS = (("%Y%m", 6), ("%y%m%d", 6), ("%d%m%Y", 8), ("%m%d%Y", 8))  # only where the header speaks of a date
# digits alone that nothing but times has, with their number
STAMPS = (("%Y%m%d%H%M", 12), ("%Y%m%d%H%M%S", 14), ("%Y%m%d%H%M%S%3f", 17), ("%Y%m%d%H%M%S%f", 20))
ISO_DAY, SHAPES = "%Y-%m-%d", 4  # kinds of digits and letters up to which a column may be written in two ways
ISO = (
    r"^\s*\d{4}-\d{1,2}-\d{1,2}(?:(?P<t>[T ])(?P<clock>\d{1,2}:\d\d(?P<S>:\d\d)?)(?P<mark>[.,]?)(?P<f>\d*)"
    r"(?P<z>\s*(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?)?))?$"
)
USUAL = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%SZ")  # how times are written where nothing is declared
EXAMPLE = datetime.datetime(2023, 8, 31, 20, 45, 59)  # no two of its parts are alike, but for hours of 12 and 24
FIRST, LAST = 1800, 2200  # years of a column that is taken for one of dates
OLDEST = 1500  # where marks stand between days, months and years, as in church registers
LIKELY = r"^[\dA-Za-z ,./:\-年月日년월일]{5,40}$"
# fmt: off
WORDS = frozenset({
    "date", "dates", "datum", "day", "days", "tag", "dob", "birth", "born", "birthday", "time", "timestamp", "month",
    "months", "monat", "ym", "ymd", "yymmdd", "yyyymmdd", "yyyymm", "period", "start", "end", "begin", "from", "until",
    "since", "hired", "joined", "opened", "closed", "issued", "fecha", "jour", "mois",
})
# fmt: on


def dates(name: str, texts: Any, counts: NDArray[np.int64] | None = None) -> dict[str, Any] | None:
    """A column of dates that are not written as 2020-12-31, as a public attribute; None for other columns.

    Of two ways of writing that the column has, the commoner stands first. Dates without marks and without four digits
    for the year (800102), or without a day (202401), could be any number: they are taken for dates where the header
    says so.

    Args:
        name: the header.
        texts: pyarrow string array of distinct cells, none of them blank.
        counts: records of each; None: one.
    """
    match = _ways(texts, counts) or _of_digits(texts, STAMPS)
    if match is None and named_like_one(name):
        match = _of_digits(texts, DIGITS)
    if match is None:
        return None
    ways, low, high = match
    first, last = f"{low:04d}-01-01", f"{high:04d}-12-31"
    document: dict[str, Any] = {"name": name, "kind": "datetime", "source": "public", "min": first, "max": last}
    if re.search("%[HI]", ways[0]):
        document |= {"min": first + "T00:00:00", "max": last + "T23:59:59"}
        rhythm = found_in_times(_times(texts, ways))
        document |= {} if rhythm is None else {"rhythm": rhythm}
    elif (rhythm := found_in(np.unique(_times(texts, ways) // 86_400))) is not None and re.search("%[dV]", ways[0]):
        document |= {"rhythm": rhythm}
    if not re.search("%[dV]", ways[0]):
        document |= {"bins": {"every": "month"}}
    return document | {"missing": True, "formats": [_unpadded(texts, way) for way in ways]}


def in_parts(texts: Any, *, of_column: bool = False) -> dict[str, Any]:
    """`formats` of dates in ISO 8601 that are not written in the usual way, such as with a T; else empty.

    of_column: the texts are all of a column: a time of 00:00 and an offset that all have are taken for fixed.
    """
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, ISO)

    def only(name: str) -> str | None:
        found = pc.unique(pc.struct_field(parts, name)).to_pylist()
        return found[0] if len(found) == 1 else None

    between, mark, zone, clock = only("t"), only("mark"), only("z"), only("clock")
    seconds, digits = (pc.unique(pc.utf8_length(pc.struct_field(parts, name))).to_pylist() for name in ("S", "f"))
    if parts.null_count or between is None or mark is None or len(seconds) > 1:
        return {}
    way = f"%Y-%m-%d{between}"
    if between:
        days = of_column and zone is not None and clock is not None and not clock.strip("0:")
        way += clock if days and clock else "%H:%M:%S" if seconds[0] else "%H:%M"
        if mark:
            size = digits[0] if len(digits) == 1 else 6
            way += mark + ("0" * size if days else "%f" if size == 6 else f"%{size}f")
        if zone is not None and (of_column or zone.strip() in ("", "Z", "z", "UTC")):
            way += zone
        else:
            zones = pc.struct_field(parts, "z")
            if pc.any(pc.equal(zones, "")).as_py():
                return {}
            way += " " if pc.all(pc.starts_with(zones, " ")).as_py() else ""
            way += "%:z" if pc.any(pc.match_substring(zones, ":")).as_py() else "%z"
    way = _unpadded(texts, way)
    return {} if way in USUAL else {"formats": [way]}


def _unpadded(texts: Any, way: str) -> str:
    """The way of writing without zeros in front (1.3.2024) where texts of it show that, and none has one there."""
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, instants.pattern(way))
    signs = [sign for sign in "dmHIV" if f"%{sign}" in way]
    cells = {sign: pc.struct_field(parts, "H" if sign == "I" else sign) for sign in signs}
    if not any(pc.any(pc.equal(pc.utf8_length(c), 1)).as_py() for c in cells.values()):
        return way
    padded = [sign for sign, c in cells.items() if pc.any(pc.match_substring_regex(c, r"^0\d")).as_py()]
    return re.sub(r"%([dmHIV])", lambda m: m[0] if m[1] in padded else f"%-{m[1]}", way)


def month_first(ways: Sequence[str], texts: Any) -> bool:
    """Whether dates that are read as 03/04/2024, day first, could all be read month first as well; none has a point."""
    swapped = re.sub(r"^%-?d([/-])%-?m", r"%m\1%d", ways[0])
    return len(ways) == 1 and swapped != ways[0] and bool(instants.to_instants(texts, (swapped,))[1].all())


def ends(texts: Any, ways: tuple[str, ...]) -> tuple[str, str]:
    """The first and the last of some dates that are written in these ways, as far as they say: 2024-06 for Jun-24."""
    low, high = _times(texts, ways)[[0, -1]].astype("datetime64[s]")
    way = instants.plain(ways[0])
    letters = 19 if re.search("%[HI]", way) else 10 if re.search("%[dV]", way) else 7
    return str(low)[:letters], str(high)[:letters]


def named_like_one(name: str) -> bool:
    """Whether a header speaks of a date: date, BirthDate, dob, start_month."""
    return any(part.lower() in WORDS for part in WORD.findall(name))


def way_of(example: str) -> str | None:
    """The strptime format of one date as somebody types it (31/12/2020); empty for ISO 8601, None for no date."""
    import pyarrow as pa

    text = pa.array([example.strip()], pa.string())
    if instants.parse_one(example) is not None:
        return str(in_parts(text).get("formats", [""])[0])
    match = _ways(text) or _of_digits(text, (*STAMPS, *DIGITS))
    return None if match is None else _unpadded(text, match[0][0])


def formats_of(example: str) -> tuple[str, ...]:
    """What an example of a date, or a strptime format, declares; empty for ISO 8601. Raises SchemaError."""
    way = example.strip() if "%" in example else way_of(example)
    if way is None:
        msg = f"'{example[:40]}' does not show how dates are written; write one such as 31/12/2024, or %d/%m/%Y"
        raise SchemaError(msg)
    if way:
        instants.pattern(way)
    return (way,) if way else ()


def shown(document: Mapping[str, Any]) -> str:
    """The last day of a column of dates as its cells are written; empty where they are written as ISO 8601."""
    return _shown(document.get("formats") or (), datetime.datetime.fromisoformat(document["max"][:10]))


def example_of(formats: Sequence[str]) -> str:
    """The last of August 2023 as cells are written, which tells the formats that drafts know apart; empty: ISO 8601."""
    return _shown(formats, EXAMPLE)


def _shown(formats: Sequence[str], day: datetime.datetime) -> str:
    import pyarrow as pa

    return str(instants.written(pa.array([day], pa.timestamp("s")), formats[0])[0]) if formats else ""


def _of_digits(texts: Any, ways: Sequence[tuple[str, int]]) -> tuple[tuple[str, ...], int, int] | None:
    import pyarrow.compute as pc

    sizes = pc.unique(pc.utf8_length(texts)).to_pylist()
    if not pc.all(pc.match_substring_regex(texts, r"^\d+$")).as_py() or len(sizes) != 1:
        return None
    last = datetime.datetime.now(tz=datetime.UTC).year
    for way, size in ways:
        match = _way(texts, (way,), ("",)) if sizes == [size] else None
        if match is not None and ("%y" not in way or match[2] <= last):  # two digits do not name the century
            return (match[0],), *match[1:]
    return None


def _ways(texts: Any, counts: NDArray[np.int64] | None = None) -> tuple[tuple[str, ...], int, int] | None:
    """The way of writing dates that reads every text, or two of them, the commoner first; with first and last year."""
    import pyarrow.compute as pc

    shapes = texts
    for part, sign in (("[A-Za-z]+", "a"), (r"\d{3,}", "Y"), (r"\d+", "d")):
        shapes = pc.replace_substring_regex(shapes, part, sign)
    if len(kinds := pc.unique(shapes)) == 1:
        match = _way(texts, DAYS, TIMES)
        return None if match is None else ((match[0],), *match[1:])
    if len(kinds) > SHAPES:
        return None
    records: dict[str, int] = {}
    years: list[int] = []
    for kind in kinds:
        mine = pc.equal(shapes, kind)
        some = texts.filter(mine)
        iso = _years(some, ISO_DAY)
        way = _way(some, DAYS, TIMES) if iso is None else (ISO_DAY, *iso)
        if way is None:
            return None
        share = len(some) if counts is None else int(counts[mine.to_numpy(zero_copy_only=False)].sum())
        records[way[0]] = records.get(way[0], 0) + share
        years += way[1:]
    ways = tuple(sorted(records, key=lambda w: -records[w]))
    if len(ways) > 2 or len({bool(re.search("%[HI]", w)) for w in ways}) > 1:
        return None
    return ways, min(years), max(years)


def _way(texts: Any, days: tuple[str, ...], times: tuple[str, ...]) -> tuple[str, int, int] | None:
    """A way of writing dates that reads every text, with the first and the last year; None without one.

    Day before month is tried first; it fails at the first day above 12 that stands second.
    """
    import pyarrow.compute as pc

    head = texts[:HEAD]
    if not len(texts) or not pc.all(pc.match_substring_regex(head, LIKELY)).as_py():
        return None
    for day in days:
        for time in times:
            way = day + time
            if _years(head, way) is None or (years := _years(texts, way)) is None:
                continue
            if "%b" in way and pc.any(pc.match_substring_regex(texts, "[A-Za-z]{4}")).as_py() and not _short(texts):
                way = way.replace("%b", "%B")
            return way, *years
    return None


def _short(texts: Any) -> bool:
    """Whether some months are written in three letters: then Sept and June among them are so, too."""
    import pyarrow.compute as pc

    return bool(
        pc.any(pc.match_substring_regex(texts, r"(?i)\b(jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\b")).as_py()
    )


def _times(texts: Any, ways: tuple[str, ...]) -> NDArray[np.int64]:
    """Distinct seconds since 1970, rising."""
    return np.unique(instants.to_instants(texts, ways)[0])


def _years(texts: Any, way: str) -> tuple[int, int] | None:
    if way == "%Y%m%d":  # the marks of the others tell their parts apart
        import pyarrow.compute as pc

        if not pc.all(pc.equal(pc.utf8_length(texts), 8)).as_py():
            return None
    seconds, valid = instants.to_instants(texts, (way,))
    if not valid.all():
        return None
    years = seconds.astype("datetime64[s]").astype("datetime64[Y]").astype(int) + 1970
    low, high = int(years.min()), int(years.max())
    oldest = OLDEST if re.search("%Y[./-]|[./ -]%Y", way) else FIRST
    return (low, high) if low >= oldest and high <= LAST else None
