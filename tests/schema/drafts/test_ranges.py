"""Ends of proposed ranges: usual ones, round ones beyond the values, multiples of steps, periods of the calendar."""

import pyarrow as pa
import pytest

from dpsyn_core.schema.drafts import ranges
from dpsyn_core.schema.drafts.categories import _few


def column(*cells):
    return pa.chunked_array([pa.array(cells, pa.string())])


@pytest.mark.parametrize(
    ("low", "high", "name", "ends"),
    [
        (3, 119, "age", (0, 120)),
        (3, 120, "Alter", (0, 120)),
        (3, 121, "age", (0, 140)),  # beyond the usual range
        (1, 12, "month", (1, 12)),
        (0, 11, "month", (0, 12)),
        (1, 6, "x", (1, 6)),  # a usual scale
        (1, 8, "x", (1, 9)),  # what is counted begins at 1
        (0, 8, "x", (0, 9)),
        (2, 100, "x", (0, 100)),  # points of a hundred
        (-2, 100, "x", (-20, 120)),
        (17, 83, "x", (10, 90)),
        (20, 80, "x", (10, 90)),  # round values are not ends
        (-83, -17, "x", (-90, -10)),
        (-83, -2, "x", (-90, 0)),
        (1998, 2013, "year", (1990, 2020)),
        (1990, 2010, "year", (1980, 2020)),
        (1400, 2013, "year", (1300, 2100)),  # no year of the calendar that is meant
        (1500, 2200, "yr", (1490, 2210)),
    ],
)
def test_ends_of_whole_numbers(low, high, name, ends):
    found = ranges.outward(low, high, name, whole=True)
    assert found == ends
    assert all(isinstance(end, int) for end in found)


@pytest.mark.parametrize(
    ("low", "high", "name", "ends"),
    [
        (1.3, 3.7, "Notenschnitt", (1.0, 6.0)),
        (0.9, 3.7, "Notenschnitt", (0.5, 4.0)),
        (0.5, 4.0, "gpa", (0.0, 4.0)),
        (0.5, 4.5, "gpa", (0.0, 5.0)),
        (0.25, 1.0, "x", (0.0, 1.0)),
        (0.0, 0.5, "x", (0.0, 1.0)),
        (-0.25, 0.5, "x", (-0.3, 0.6)),
        (12.5, 87.5, "x", (10.0, 90.0)),
    ],
)
def test_ends_of_numbers_with_decimals(low, high, name, ends):
    assert ranges.outward(low, high, name, whole=False) == pytest.approx(ends)


@pytest.mark.parametrize("low, high", [(3, 911), (-40, 7), (1, 1), (0, 10**9), (-7, -7), (12, 13)])
def test_ends_lie_beyond_the_values_or_at_zero_and_one(low, high):
    first, last = ranges.outward(low, high, "x", whole=True)
    assert first < low or first in (0, 1) == (low in (0, 1)) or first == low in (0, 1)
    assert last > high or (high <= 0 and last == 0)


@pytest.mark.parametrize(
    ("low", "high", "step", "ends"),
    [
        (3, 17, None, (3, 17)),
        (3, 17, 5, (0, 20)),
        (5, 15, 5, (5, 15)),
        (3, 17, 2.5, (2.5, 17.5)),
        (0.3, 1.7, 0.5, (0.0, 2.0)),
        (0.5, 1.5, 0.5, (0.5, 1.5)),
        (-0.3, 0.3, 0.25, (-0.5, 0.5)),
    ],
)
def test_ends_are_moved_outward_to_multiples_of_the_step(low, high, step, ends):
    assert ranges.on_grid(low, high, step) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("drafted", "ends"),
    [
        ({"step": 0.5, "min": 1, "max": 5}, (1, 5)),
        ({"step": 0.25, "min": 0, "max": 20}, (0, 20)),
        ({"step": 0.25, "min": 0, "max": 21}, None),
        ({"step": 0.1, "min": 1, "max": 5}, None),
        ({"step": 0.5, "min": 1.5, "max": 5}, None),
        ({"step": 0.5, "min": -0.5, "max": 5}, None),
        ({"step": 0.5, "min": 0, "max": 1}, None),
        ({"step": 0.5, "min": 1, "max": 4.5}, None),
    ],
)
def test_marks_with_halves_or_quarters_end_where_they_do(drafted, ends):
    assert ranges.marks(drafted) == ends


@pytest.mark.parametrize(
    ("written", "low", "high", "ends"),
    [
        (None, 0, 50_000, None),
        ("12 %", 0, 50, None),
        ("00:12:33", 0, 43_200, (0, 86_399)),  # late in the day
        ("00:12:33", 0, 86_399, (0, 86_399)),
        ("00:12:33", 0, 86_400, (0, 86_400)),  # 24:00:00, the end of the day
        ("00:12:33", 0, 86_401, (0, 90_000)),  # longer than a day
        ("00:12:33", 5, 3600, (0, 4000)),
        ("00:12:33", -5, 3600, None),
    ],
)
def test_times_end_with_the_day_or_on_a_round_number(written, low, high, ends):
    assert ranges.clock({"written": written, "min": low, "max": high}) == ends


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ("2019-05-06", "2021-02-03", ("2019-01-01", "2021-12-31", "calendar")),
        ("2020-05-06", "2020-05-07", ("2020-01-01", "2020-12-31", "calendar")),  # days have whole years
        ("2020-05-06T10:00:00", "2020-05-09T09:00:00", ("2020-05-06T00:00:00", "2020-05-09T23:59:59", "days")),
        ("2020-05-06T10:00:00", "2020-05-10T09:00:00", ("2020-05-01T00:00:00", "2020-05-31T23:59:59", "months")),
        ("2020-01-31T10:00:00", "2020-05-02T09:00:00", ("2020-01-01T00:00:00", "2020-05-31T23:59:59", "months")),
        ("2020-01-31T10:00:00", "2020-05-03T09:00:00", ("2020-01-01T00:00:00", "2020-12-31T23:59:59", "calendar")),
        ("2020-05-06T10:00:00Z", "2020-05-06T11:00:00Z", ("2020-05-06T00:00:00Z", "2020-05-06T23:59:59Z", "days")),
    ],
)
def test_dates_get_whole_periods_of_the_calendar(first, last, found):
    assert ranges.calendar(first, last) == found


def test_bins_of_a_draft_are_kept_by_their_number():
    assert ranges.wider_bins({}) == {}
    assert ranges.wider_bins({"bins": {"count": 7}}) == {"bins": {"count": 7}}
    assert ranges.wider_bins({"bins": {"edges": [0, 1, 5]}}) == {"bins": {"count": 3}}


def test_numbers_of_things_are_long_and_few_and_not_round():
    drafted = {"kind": "numeric", "dtype": "integer", "min": 1_000_003, "max": 1_000_007}
    shops = column(*["1000003", "1000007"] * 20)
    assert ranges.numbers_of_things(drafted, shops) == [1_000_003, 1_000_007]
    assert ranges.numbers_of_things(drafted | {"min": 999_999}, shops) is None
    assert ranges.numbers_of_things(drafted | {"written": "1,000"}, shops) is None
    assert ranges.numbers_of_things(drafted | {"dtype": "float"}, shops) is None
    assert ranges.numbers_of_things(drafted, column(*["1000010", "1000020"] * 20)) is None, "amounts are round"
    assert ranges.numbers_of_things(drafted, column("1000003", "1000007")) is None, "rare ones are somebody's"


def test_numbers_of_days_are_dates_without_marks():
    days = column(*(f"202001{d:02d}" for d in range(1, 32)), "")
    drafted = {"name": "x", "min": 20_200_101, "max": 20_200_131, "missing": True}
    found = ranges.numbers_of_days(drafted, days)
    assert found is not None
    assert (found["kind"], found["formats"], found["missing"]) == ("datetime", ["%Y%m%d"], True)
    assert ranges.numbers_of_days(drafted | {"written": "1,000"}, days) is None
    assert ranges.numbers_of_days(drafted | {"max": 10**8}, days) is None
    assert ranges.numbers_of_days(drafted | {"max": 99_999}, days) is None


@pytest.mark.parametrize(
    ("low", "high", "name", "ends"),
    [
        (0, 4, "x", (0, 4)),
        (1, 4, "x", (1, 4)),
        (5, 9, "x", (1, 9)),  # a short list begins at 1 where it begins near it
        (6, 9, "x", (6, 9)),
        (-2, 9, "x", (-2, 9)),
        (1995, 2003, "x", (1990, 2010)),
        (2, 11, "month", (1, 12)),
        (20, 80, "age", (0, 120)),
    ],
)
def test_a_short_list_of_whole_numbers_has_usual_ends(low, high, name, ends):
    assert _few(low, high, name) == ends
