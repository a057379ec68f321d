"""Ends of dates in conditions against the calendar, and conditions that come back as they were written."""

import calendar
import math
from datetime import UTC, datetime

import pytest

from dpsyn_core.errors import QuestionError
from dpsyn_core.tables.clause import Clause, clauses, moment, unquoted, written

DAY = 86_400


def seconds(*parts):
    return int(datetime(*parts, tzinfo=UTC).timestamp())


@pytest.mark.parametrize("year", [1969, 1970, 1999, 2000, 2023, 2024])
@pytest.mark.parametrize("month", [1, 2, 6, 11, 12])
@pytest.mark.parametrize("unit", [1, DAY])
def test_a_month_and_a_day_reach_from_their_first_moment_to_their_last(year, month, unit):
    end = calendar.monthrange(year, month)[1]
    text = f"{year}-{month:02d}"
    begin, over = seconds(year, month, 1), seconds(year, month, end) + DAY
    assert moment(text, unit, last=False) == begin // unit
    assert moment(text, unit, last=True) == over // unit - 1
    assert moment(f"{text}-01", unit, last=False) == begin // unit
    assert moment(f"{text}-01", unit, last=True) == (begin + DAY) // unit - 1
    assert moment(str(year), unit, last=False) == seconds(year, 1, 1) // unit
    assert moment(str(year), unit, last=True) == seconds(year + 1, 1, 1) // unit - 1


def test_a_time_is_its_own_end_and_other_text_is_none():
    text, at = "2024-02-29 13:05:06", seconds(2024, 2, 29, 13, 5, 6)
    assert moment(text, 1, last=False) == moment(text, 1, last=True) == at
    assert math.isnan(moment("soon", 1, last=False)) and math.isnan(moment("soon", DAY, last=True))


NAMES = ["age", "is it so", 'the "best" and worst', "not known", "a<b", "x in y"]
CLAUSES = [
    {"values": ("1", "2"), "interval": True},
    {"values": ("1", "2"), "interval": True, "negated": True},
    {"values": ("A", "B, C", 'say "no"')},
    {"values": ("A and B",), "negated": True},
    {"values": ("-inf", "3"), "interval": True, "outside": True},
    {"values": ("3", "inf"), "interval": True, "outside": True},
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parts", CLAUSES)
def test_written_conditions_are_read_as_the_same(name, parts):
    clause = Clause(attribute=name, **parts)
    assert clauses(written(clause)) == (clause,)
    assert clauses(f"{written(clause)} and z = 1 and {written(clause)}")[::2] == (clause, clause)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1", {"values": ("1",)}),
        ("a != 1", {"values": ("1",), "negated": True}),
        ("a <> 1", {"values": ("1",), "negated": True}),
        ("not a = 1", {"values": ("1",), "negated": True}),
        ("not a != 1", {"values": ("1",)}),
        ("a > 1", {"values": ("1", "inf"), "interval": True, "outside": True}),
        ("a >= 1", {"values": ("1", "inf"), "interval": True}),
        ("a < 1", {"values": ("-inf", "1"), "interval": True, "outside": True}),
        ("a <= 1", {"values": ("-inf", "1"), "interval": True}),
        ("not a > 1", {"values": ("-inf", "1"), "interval": True}),
        ("not a >= 1", {"values": ("-inf", "1"), "interval": True, "outside": True}),
        ("not a < 1", {"values": ("1", "inf"), "interval": True}),
        ("not a <= 1", {"values": ("1", "inf"), "interval": True, "outside": True}),
        ("a between 1 and 2", {"values": ("1", "2"), "interval": True}),
        ("a not between 1 and 2", {"values": ("1", "2"), "interval": True, "negated": True}),
        ("not a not between 1 and 2", {"values": ("1", "2"), "interval": True}),
        ("a not in {1, 2}", {"values": ("1", "2"), "negated": True}),
        ("a in [1, 2]", {"values": ("1", "2"), "interval": True}),
    ],
)
def test_each_sign_says_which_values_it_means(text, expected):
    assert clauses(text) == (Clause(attribute="a", **expected),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = {1", "no value after"),
        ("a in [1, 2", "no ']' after"),
        ("a in {1, 2]", "no '}' after"),
        ("", "cannot be read"),
        ("a between 1", "cannot be read"),
        ("a = 1 and", "cannot be read"),
    ],
)
def test_what_cannot_be_read_says_where(text, says):
    with pytest.raises(QuestionError, match=says):
        clauses(text)


def test_a_name_that_needs_quotation_marks_is_shown_in_them():
    assert unquoted("a", ["b", "a<b"]) == '; a column with such a name stands in quotation marks: "a<b"'
    assert unquoted("a", ['a "b"']).endswith('"a ""b"""')
    assert unquoted("a", ["ab", "b<c"]) == ""
