import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import SchemaError
from dpsyn_core.tables.cells import instants

DAY = 86_400


def seconds(texts, formats=()):
    values, valid = instants.parse(pa.array(texts, pa.string()), tuple(formats))
    return [int(v) if ok else None for v, ok in zip(values, valid, strict=True)]


def of(text):
    moment = datetime.datetime.fromisoformat(text)
    return int(moment.replace(tzinfo=moment.tzinfo or datetime.UTC).timestamp())


@settings(max_examples=200, deadline=None)
@given(st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)))
def test_iso_texts_are_read_as_python_reads_them(moment):
    moment = moment.replace(microsecond=0)
    expected = int((moment - datetime.datetime(1970, 1, 1)).total_seconds())
    day = int((moment.replace(hour=0, minute=0, second=0) - datetime.datetime(1970, 1, 1)).total_seconds())
    assert seconds([moment.isoformat(), moment.isoformat(" "), moment.date().isoformat()]) == [expected, expected, day]


def test_years_months_fractions_and_zones_are_iso_too():
    assert seconds(["2020", "2020-03", "2020-03-01T10:00:00.987"]) == [
        of("2020-01-01"), of("2020-03-01"), of("2020-03-01T10:00:00"),
    ]  # fmt: skip
    assert seconds(["2020-03-01T10:00Z", "2020-03-01T10:00:00+01:00", "2020-03-01 10:00:00-0530"]) == [
        of("2020-03-01T10:00:00"), of("2020-03-01T09:00:00"), of("2020-03-01T15:30:00"),
    ]  # fmt: skip
    assert seconds(["2020-03-01 10:00:00+00", "2020-03-01 10:00:00-05", "2020-03-01 10:00:00 UTC"]) == [
        of("2020-03-01T10:00:00"), of("2020-03-01T15:00:00"), of("2020-03-01T10:00:00"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "x", "2020-13-01", "2020-02-30", "2021-02-29", "2020-00-10", "0000-01-01", "2020-01-01T25:00:00",
             "2020-01-01T10:61", "2020-01-01T10:00:00+30:00", "01/02/2020", "20200101", "2020-1-1x"]
)  # fmt: skip
def test_what_is_no_date_is_none(text):
    assert seconds([text]) == [None]


def test_declared_formats_are_tried_in_order():
    assert seconds(["31/12/2020", "2020.12.31", "12/31/2020"], ["%d/%m/%Y", "%Y.%m.%d"]) == [
        of("2020-12-31"), of("2020-12-31"), None,
    ]  # fmt: skip
    assert seconds(["5 Mar 99", "05 march 68"], ["%d %b %y", "%d %B %y"]) == [of("1999-03-05"), of("2068-03-05")]
    assert seconds(["1/2/2020 12:05 AM", "1/2/2020 1:05 pm"], ["%m/%d/%Y %I:%M %p"]) == [
        of("2020-01-02T00:05:00"), of("2020-01-02T13:05:00"),
    ]  # fmt: skip


def test_leap_days_exist_in_leap_years_alone():
    texts = [f"{year}-02-29" for year in (2000, 2004, 1600, 1900, 2100, 2001, 4)]
    assert [s is not None for s in seconds([t.zfill(10) for t in texts])] == [
        True,
        True,
        True,
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("form", ["%d/%m", "%Q %Y", "%Y %Y", "%"])
def test_formats_that_cannot_work_are_refused(form):
    with pytest.raises(SchemaError):
        instants.pattern(form)


def test_regular_expression_signs_in_formats_stand_for_themselves():
    assert seconds(["(2020)+", "2020"], ["(%Y)+"]) == [of("2020-01-01"), None]


def test_calendar_bins_start_on_calendar_days():
    low, high = of("2019-11-20"), of("2020-02-03")
    months = instants.calendar_starts(low, high, "month")
    assert months.tolist() == [low, of("2019-12-01"), of("2020-01-01"), of("2020-02-01")]
    assert instants.calendar_starts(low, high, "year").tolist() == [low, of("2020-01-01")]
    assert len(instants.calendar_starts(low, high, "day")) == 76


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_any_unit_and_zone_are_seconds(unit):
    column = pa.chunked_array([pa.array([0, 86_399, None], pa.timestamp("s")).cast(pa.timestamp(unit, tz="UTC"))])
    values, valid = instants.to_instants(column, ())
    assert values[:2].tolist() == [0, 86_399] and valid.tolist() == [True, True, False]


def test_dates_and_whole_years_are_dates():
    column = pa.chunked_array([pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)])])
    values, _ = instants.to_instants(column, ())
    assert values.tolist() == [-719_162 * DAY, 2_932_896 * DAY]
    years, valid = instants.to_instants(pa.chunked_array([pa.array([2012, 2013])]), ())
    assert years.tolist() == [of("2012-01-01"), of("2013-01-01")] and valid.all()


def test_moments_before_1970_fall_on_the_right_day():
    column = pa.chunked_array([pa.array([-1], pa.timestamp("s"))])
    values, _ = instants.to_instants(column, ())
    assert np.floor_divide(values, DAY).tolist() == [-1]
