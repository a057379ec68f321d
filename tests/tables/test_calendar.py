"""Moments in every declared format, against the calendar of Python, day by day and at the ends of each field."""

import datetime
import re

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.tables.cells import instants

EPOCH = datetime.datetime(1970, 1, 1)
DAYS = [
    datetime.date(y, m, d) for y in (1, 1896, 1900, 1999, 2000, 2024, 9998) for m in range(1, 13) for d in (1, 7, 28)
]


def seconds(texts, *formats):
    values, valid = instants.parse(pa.array(texts, pa.string()), formats)
    assert (values[~valid] == 0).all()
    return [int(v) if ok else None for v, ok in zip(values, valid, strict=True)]


def of(*moment):
    return int((datetime.datetime(*moment) - EPOCH).total_seconds())


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y/%m/%d", "%b %d, %Y", "%d %B %Y", "%Y%%%m-%d"])
def test_days_are_read_by_every_format_as_python_reads_them(form):
    assert seconds([d.strftime(form.replace("%Y", f"{d.year:04}")) for d in DAYS], form) == [
        of(d.year, d.month, d.day) for d in DAYS
    ]


@pytest.mark.parametrize("year", [2023, 2024])
def test_months_end_with_their_last_day(year):
    last = [(datetime.date(year + m // 12, m % 12 + 1, 1) - datetime.timedelta(days=1)).day for m in range(1, 13)]
    texts = [f"{year}-{m}-{day + more}" for m, day in enumerate(last, 1) for more in (0, 1)]
    assert seconds(texts) == [x for m, day in enumerate(last, 1) for x in (of(year, m, day), None)]


def test_weeks_are_those_of_python_from_the_first_to_the_last():
    texts, sought = [], []
    for year in (1, 1970, 1976, 1981, 2004, 2009, 2015, 2020, 2021, 9998):
        for week in range(55):
            texts.append(f"{year:04}-W{week}")
            try:
                monday = datetime.date.fromisocalendar(year, week, 1)
            except ValueError:
                sought.append(None)
            else:
                sought.append(of(monday.year, monday.month, monday.day))
    assert seconds(texts, "%G-W%V") == sought
    assert seconds(["9999-W1", "0000-W1", "2020-W10 07:30"], "%G-W%V", "%G-W%V %H:%M") == [
        None,
        None,
        of(2020, 3, 2, 7, 30),
    ]
    assert instants.parse_one("2020-03-02") == of(2020, 3, 2)


def test_hours_before_and_after_noon_are_one_to_twelve():
    texts = [f"2020-01-01 {h}:30 {p}" for p in ("am", "P.M.", "AM", "pm") for h in range(14)]
    sought = [of(2020, 1, 1, h % 12 + late, 30) if 1 <= h <= 12 else None for late in (0, 12, 0, 12) for h in range(14)]
    assert seconds(texts, "%Y-%m-%d %I:%M %p") == sought


def test_short_years_are_those_of_posix():
    assert seconds([f"{y:02}-03-01" for y in range(100)], "%y-%m-%d") == [
        of((1900 if y > 68 else 2000) + y, 3, 1) for y in range(100)
    ]


@pytest.mark.parametrize(("text", "moment"), [
    ("2020-01-01 23:59:59", (2020, 1, 1, 23, 59, 59)), ("2020-01-01 24:00:00", None), ("2020-01-01 10:60:00", None),
    ("2020-01-01 10:59:60", (2020, 1, 1, 10, 59, 59)), ("2020-01-01 10:59:61", None), ("0000-12-31", None),
    ("0001-01-01", (1, 1, 1)), ("9999-12-31", (9999, 12, 31)), ("2020-13-01", None), ("2020-00-01", None),
    ("2020-01-00", None), ("2020-01-32", None), ("2020-04-31", None), ("2100-02-29", None),
    ("2000-02-29", (2000, 2, 29)),
    ("2020-01-01 10:00:00+24:00", (2019, 12, 31, 10)), ("2020-01-01 10:00:00+25:00", None),
    ("2020-01-01 10:00:00-00:59", (2020, 1, 1, 10, 59)), ("2020-01-01 10:00:00-00:60", None),
    ("2020-01-01 10:00:00z", (2020, 1, 1, 10)), ("2020-01-01T10:00-0130", (2020, 1, 1, 11, 30)),
])  # fmt: skip
def test_fields_end_where_the_calendar_ends(text, moment):
    assert seconds([text]) == [None if moment is None else of(*moment)]


def test_months_are_known_by_three_letters_whatever_their_case():
    names = ("Jan", "FEB", "march", "apr", "may", "June", "jul", "aug", "Sept", "oct", "nov", "dec", "foo")
    assert seconds([f"5 {n} 2020" for n in names], "%d %b %Y") == [*(of(2020, m, 5) for m in range(1, 13)), None]


def test_formats_come_in_their_order_and_then_the_text_of_typed_moments():
    texts = ["01/02/2003", "31/12/2003", "12/31/2003", "2003-02-01", "2003-02-01 04:05:06.5Z", "2003-2-1", "2003-02"]
    sought = [of(2003, 2, 1), of(2003, 12, 31), of(2003, 12, 31), of(2003, 2, 1), of(2003, 2, 1, 4, 5, 6), None, None]
    assert seconds(texts, "%d/%m/%Y", "%m/%d/%Y") == sought
    assert seconds(texts)[3:] == [*sought[3:5], of(2003, 2, 1), of(2003, 2, 1)]
    assert seconds([]) == []


@pytest.mark.parametrize(("form", "right"), [
    ("%G %V", True), ("%V", False), ("%G", False), ("%G %m", False), ("%y", True), ("%Y", True), ("%m", False),
    ("%Y %Y", False), ("%Y %%%%", True), ("%Y %q", False), ("%-d.%-m.%Y", True), ("%Y %", False),
])  # fmt: skip
def test_a_format_names_a_year_or_a_week_of_one(form, right):
    if right:
        assert re.compile(instants.pattern(form))
    else:
        with pytest.raises(SchemaError, match="date format"):
            instants.pattern(form)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%-d.%-m.%Y", "%b %d %Y"])
def test_written_days_are_read_again(form):
    days = pa.array([d for d in DAYS if 1000 < d.year < 9000], pa.date32())
    texts = instants.written(days, form)
    assert seconds(texts.to_pylist(), form) == [of(d.year, d.month, d.day) for d in days.to_pylist()]


def test_moments_are_written_by_every_directive():
    moments = pa.array([datetime.datetime(2003, 2, 1, 4, 5, 6)], pa.timestamp("s"))
    assert instants.written(moments, "%-d/%m/%y %H:%M:%S.%3f%z %f %:z").to_pylist() == [
        "1/02/03 04:05:06.000+0000 000000 +00:00"
    ]
    assert instants.written(moments, "%-H|%-I|%d").to_pylist() == ["4|4|01"]


def test_typed_moments_are_whole_seconds_rounded_down_and_kept_inside_the_calendar():
    moments = [datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000), None, datetime.datetime(2020, 1, 1, 0, 0, 1, 1)]
    for unit in ("ms", "us", "ns"):
        column = pa.chunked_array([pa.array(moments, pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)])
        values, valid = instants.to_instants(column, ())
        assert values[[0, 2]].tolist() == [-1, of(2020, 1, 1, 0, 0, 1)] and valid.tolist() == [True, False, True]
    far = pa.chunked_array([pa.array([2**40, -(2**40), 5], pa.timestamp("s"))])
    values, valid = instants.to_instants(far, ())
    assert values.tolist() == [of(9999, 12, 31, 23, 59, 59), of(1, 1, 1), 5] and valid.all()
    for one, sought in ((2**40, of(9999, 12, 31, 23, 59, 59)), (-(2**40), of(1, 1, 1))):
        assert instants.to_instants(pa.chunked_array([pa.array([one], pa.timestamp("s"))]), ())[0].tolist() == [sought]
    for kind in (pa.date32(), pa.date64()):
        column = pa.chunked_array([pa.array([datetime.date(1969, 12, 31), None, datetime.date(2024, 2, 29)], kind)])
        values, valid = instants.to_instants(column, ("%Y-%m-%d",))
        assert values[[0, 2]].tolist() == [-86_400, of(2024, 2, 29)] and valid.tolist() == [True, False, True]
    values, valid = instants.to_instants(pa.chunked_array([pa.array([], pa.date32())]), ())
    assert len(values) == len(valid) == 0


def test_typed_days_in_a_format_that_reads_them_otherwise_go_through_their_text():
    column = pa.chunked_array([pa.array([datetime.date(2003, 2, 1), datetime.date(2003, 2, 13), None], pa.date32())])
    values, valid = instants.to_instants(column, ("%Y-%d-%m",))
    assert values[0] == of(2003, 1, 2) and valid[0] and not valid[2]
    assert instants.confused(("%Y-%d-%m",)) and not instants.confused(("%Y-%m-%d",)) and not instants.confused(())
    assert instants.to_instants(column, ("%d.%m.%Y",))[0][:2].tolist() == [of(2003, 2, 1), of(2003, 2, 13)]


def test_texts_repeat_and_lack_values():
    column = pa.chunked_array([["2020", None, "x", "2020", "2021-05"]])
    values, valid = instants.to_instants(column, ())
    assert values.tolist() == [of(2020, 1, 1), 0, 0, of(2020, 1, 1), of(2021, 5, 1)]
    assert valid.tolist() == [True, False, False, True, True]


@pytest.mark.parametrize(("every", "months"), [("month", 1), ("quarter", 3), ("year", 12)])
@pytest.mark.parametrize(
    "first", [(2019, 11, 5, 7), (2020, 1, 1), (2020, 4, 1), (2020, 3, 31, 23, 59, 59), (1969, 6, 2)]
)
def test_periods_begin_on_the_first_of_their_months(every, months, first):
    low, high = of(*first), of(2022, 4, 1)
    starts = [of(y, m, 1) for y in range(1969, 2023) for m in range(1, 13, months)]
    assert instants.calendar_starts(low, high, every).tolist() == [low, *(s for s in starts if low < s <= high)]
    assert instants.calendar_starts(low, low, every).tolist() == [low]


def test_days_begin_at_midnight_after_the_first():
    low = of(2020, 2, 27, 12)
    assert instants.calendar_starts(low, of(2020, 3, 1), "day").tolist() == [
        low, of(2020, 2, 28), of(2020, 2, 29), of(2020, 3, 1)
    ]  # fmt: skip


def test_a_zone_or_a_time_is_seen_in_iso_texts():
    zoned = ["2020-01-01 10:00Z", "2020-01-01T10:00:00+0100", "2020-01-01 10:00 -01:00 ", "2020-01-01 10:00z"]
    assert all(instants.has_zone(t) and instants.has_time(t) for t in zoned)
    assert not any(map(instants.has_zone, ["2020-01-01", "2020-01-01 10:00", "2020-01-01Z"]))
    assert not instants.has_time("2020-01-01")
    assert np.array_equal(instants.days(*(np.array([x]) for x in (1970, 1, 2))), [1])
    assert of(9999, 12, 31) == instants.NEVER
