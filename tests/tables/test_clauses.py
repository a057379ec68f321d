"""Conditions: every way to write one, and what it means of numbers, dates and ordered values."""

import re

import numpy as np
import pytest

from dpsyn_core.errors import QuestionError, SchemaError
from dpsyn_core.questions.meaning import conditions
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.clause import Clause, clauses

SCHEMA = Schema.of({"version": 1, "name": "t", "attributes": [
    {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 100},
     "missing": True},
    {"name": "in", "kind": "datetime", "min": "2019-01-01", "max": "2020-12-31", "bins": {"every": "day"}},
    {"name": "level", "kind": "categorical", "values": ["low", "middle", "high"], "ordered": True},
    {"name": "town", "kind": "categorical", "values": ["a and b", "c"]},
]})  # fmt: skip
DAYS = np.arange("2019-01-01", "2021-01-01", dtype="datetime64[D]")


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("age >= 20", Clause(attribute="age", values=("20", "inf"), interval=True)),
        ("age<20", Clause(attribute="age", values=("-inf", "20"), interval=True, outside=True)),
        ("not age < 20", Clause(attribute="age", values=("20", "inf"), interval=True)),
        ("age between 20 and 35", Clause(attribute="age", values=("20", "35"), interval=True)),
        ("age not between 20 and 35", Clause(attribute="age", values=("20", "35"), interval=True, negated=True)),
        ("not town in {x, y}", Clause(attribute="town", values=("x", "y"), negated=True)),
        ("town not in {x}", Clause(attribute="town", values=("x",), negated=True)),
        ("town != x", Clause(attribute="town", values=("x",), negated=True)),
        ("not town <> x", Clause(attribute="town", values=("x",))),
        ('"not a" = "b and c"', Clause(attribute="not a", values=("b and c",))),
    ],
)
def test_a_condition_is_read_in_every_way_it_is_written(text, clause):
    assert clauses(f"{text} and age = 3") == (clause, Clause(attribute="age", values=("3",)))


@pytest.mark.parametrize(
    ("text", "ages"),
    [
        ("age > 20", range(21, 100)), ("age >= 20", range(20, 100)), ("age < 3", range(3)), ("age <= 3", range(4)),
        ("age between 3 and 5 and age != 4", (3, 5)), ("not age between 3 and 97", (0, 1, 2, 98, 99, 100)),
    ],
)  # fmt: skip
def test_numbers_meet_a_condition_and_a_blank_cell_meets_what_is_negated(text, ages):
    assert np.flatnonzero(conditions(text, SCHEMA)["age"]).tolist() == list(ages)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in >= 2020-12-30", "2020-12-30", "2020-12-31"), ("in > 2020-12-30", "2020-12-31", "2020-12-31"),
        ("in in [2019-02, 2019-03]", "2019-02-01", "2019-03-31"), ("in = 2020", "2020-01-01", "2020-12-31"),
        ("in between 2019-12-31 and 2020-01", "2019-12-31", "2020-01-31"),
        ("in < 2019-01-02", "2019-01-01", "2019-01-01"), ("in = 2019-05", "2019-05-01", "2019-05-31"),
        ("in <= 2019-12", "2019-01-01", "2019-12-31"),
    ],
)  # fmt: skip
def test_dates_months_and_years_are_the_ends_of_an_interval(text, first, last):
    met = DAYS[conditions(text, SCHEMA)["in"] > 0]
    assert met.tolist() == np.arange(np.datetime64(first), np.datetime64(last) + 1).tolist()


def test_ordered_values_are_compared_by_their_order():
    assert conditions("level >= middle", SCHEMA)["level"].tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [("in > spring", "is no date of 'in'"), ("town > c", "has no order"), ("age > x", "needs two numbers"),
     ("age between 3", "cannot be read from '' on"), ("age in [5, 3]", "the lower one first")],
)  # fmt: skip
def test_a_condition_that_says_nothing_is_refused(text, said):
    with pytest.raises(QuestionError, match=said):
        conditions(text, SCHEMA)


HARD = ["p<0.05", "not known", "a=b", "sex"]


@pytest.mark.parametrize("name", HARD[:-1])
def test_a_name_that_needs_quotation_marks_is_named_where_it_stands_without(name):
    columns = [{"name": n, "kind": "categorical", "values": ["yes", "no"]} for n in HARD]

    def declared(where):
        rules = [{"kind": "impossible", "where": where}]
        return Schema.of({"version": 1, "name": "t", "attributes": columns, "rules": rules})

    declared(f'"{name}" = yes and sex = no')
    with pytest.raises(SchemaError, match=re.escape(f'stands in quotation marks: "{name}"')):
        declared(f"{name} = yes and sex = no")
    with pytest.raises(SchemaError) as plain:
        declared("nobody = yes")
    assert "quotation" not in str(plain.value)


def test_what_cannot_be_read_says_that_names_with_signs_stand_in_quotation_marks():
    with pytest.raises(QuestionError, match="names or values that hold one of these signs in quotation marks"):
        clauses("low [mm] = yes")


@pytest.mark.parametrize("text", [" ", " [", "a in {", "a in {b", "a = ", "a = b", "a b", "not "])
def test_a_condition_of_many_blanks_is_refused_in_one_pass(text):
    """1,000 blanks took 20 seconds, in which a server served nobody, and 10,000 would have taken hours."""
    with pytest.raises(QuestionError):
        clauses(text + " " * 100_000 + "[")


@pytest.mark.parametrize("text", ["age = ", "age in { }", " = 3", "age > \t"])
def test_a_blank_value_or_name_stands_in_quotation_marks(text):
    with pytest.raises(QuestionError):
        clauses(text)
