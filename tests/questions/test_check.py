"""What a schema cannot answer is refused, and what lies just inside each limit is not."""

import pytest

from dpsyn_core.errors import QuestionError
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.validity import MOST_CELLS, MOST_CONDITIONS, MOST_TERMS, check
from dpsyn_core.schema.document import Schema


def number(name, size, **more):
    return {
        "name": name,
        "kind": "numeric",
        "dtype": "integer",
        "min": 0,
        "max": size - 1,
        "bins": {"count": size},
    } | more


def category(name, *values, **more):
    return {"name": name, "kind": "categorical", "values": list(values)} | more


def schema(*attributes):
    return Schema.of({"version": 1, "name": "t", "attributes": list(attributes)})


def refused(document, *attributes):
    """The sentence with which a question is refused; empty where it is not."""
    [question] = Questions.of([{"name": "asked"} | document]).questions
    try:
        check(question, schema(*attributes))
    except QuestionError as error:
        return str(error)
    return ""


SEX = category("sex", "f", "m")
WAGE = number("wage", 100)
TOWN = category("town", "a", "b", "c")


@pytest.mark.parametrize(
    ("sizes", "fits"), [((1000, 100, 100), True), ((1000, 100, 101), False), ((10_000_000,), True)]
)
def test_a_table_may_have_as_many_cells_as_the_cap_and_not_one_more(sizes, fits):
    columns = [number(f"c{i}", size) for i, size in enumerate(sizes)]
    assert MOST_CELLS == 10_000_000
    text = refused({"kind": "table", "of": [c["name"] for c in columns]}, *columns)
    assert ("" if fits else "10100000 cells, above the cap of 10000000") in text
    assert bool(text) is not fits


def test_cells_are_counted_in_the_bins_that_a_question_gives():
    columns = [number("a", 1000), number("b", 1000), number("c", 1000)]
    whole = {"kind": "table", "of": ["a", "b", "c"]}
    assert "1000000000 cells" in refused(whole, *columns)
    assert not refused(whole | {"bins": {"a": {"count": 10}}}, *columns)
    mean = {"kind": "mean", "of": "wage", "by": ["a", "b"]}
    assert not refused(mean, WAGE, *columns[:2]), "a million groups"
    wide = [number("a", 4000), number("b", 4000)]
    assert "16000000 cells" in refused(mean, WAGE, *wide)
    assert not refused(mean | {"bins": {"b": {"count": 100}}}, WAGE, *wide)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"kind": "table", "of": ["wage"], "bins": {"sex": {"groups": [["f"]]}}}, "of"),
        ({"kind": "mean", "of": "wage", "by": ["sex"], "bins": {"town": {"groups": [["a"]]}}}, "by"),
        ({"kind": "mean", "of": "wage", "by": ["sex"], "bins": {"wage": {"count": 2}}}, "by"),
    ],
)
def test_bins_belong_to_columns_that_are_broken_down(document, field):
    assert f"which is not in its '{field}'" in refused(document, SEX, WAGE, TOWN)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "table", "of": ["sex", "sex"]},
        {"kind": "mean", "of": "wage", "by": ["wage"]},
        {"kind": "mean", "of": "wage", "by": ["sex", "sex"]},
        {"kind": "gap", "of": "wage", "between": {"sex": ["f", "m"]}, "by": ["sex"]},
        {"kind": "predict", "of": "sex", "predictors": ["sex", "wage"]},
        {"kind": "predict", "of": "sex", "predictors": ["wage", "wage"]},
        {"kind": "regression", "of": "wage", "on": ["wage", "sex"]},
        {"kind": "regression", "of": "wage", "on": ["sex", "sex"]},
    ],
)
def test_a_column_stands_once_in_a_question(document):
    try:
        text = refused(document, SEX, WAGE, TOWN)
    except QuestionError as error:  # the document itself may refuse it
        text = str(error)
    assert "twice" in text


def test_only_a_range_may_name_a_column_twice():
    assert not refused({"kind": "range", "where": "wage > 10 and wage < 20"}, SEX, WAGE)


def test_figures_need_numbers():
    assert "'sex' holds no numbers" in refused({"kind": "mean", "of": "sex", "by": []}, SEX, WAGE)
    assert not refused({"kind": "mean", "of": "wage", "by": []}, SEX, WAGE)
    day = {"name": "day", "kind": "datetime", "min": "2024-01-01", "max": "2024-12-31"}
    assert "'day' holds no numbers" in refused({"kind": "mean", "of": "day", "by": []}, day, SEX)


def test_a_gap_compares_two_different_values():
    gap = {"kind": "gap", "of": "wage", "by": []}
    assert not refused(gap | {"between": {"sex": ["f", "m"]}}, SEX, WAGE)
    assert "with itself" in refused(gap | {"between": {"sex": ["f", "f"]}}, SEX, WAGE)
    worded = category("sex", 1, 2, notes={"labels": {"1": "woman"}})
    assert "with itself" in refused(gap | {"between": {"sex": [1, "woman"]}}, worded, WAGE), "a code and its word"


def test_a_range_may_have_conditions_on_as_many_columns_as_the_cap():
    columns = [number(f"c{i}", 10) for i in range(MOST_CONDITIONS + 1)]
    where = [f"{c['name']} > 3" for c in columns]
    assert not refused({"kind": "range", "where": " and ".join(where[:-1])}, *columns)
    assert "conditions on 9 columns, above the cap of 8" in refused(
        {"kind": "range", "where": " and ".join(where)}, *columns
    )


def test_the_values_of_a_range_are_checked():
    assert "'x' is no value of 'sex'" in refused({"kind": "range", "where": "sex = x"}, SEX, WAGE)


def test_something_is_predicted_from_something():
    predict = {"kind": "predict", "of": "sex"}
    assert not refused(predict, SEX, WAGE)
    assert "no other column to predict from" in refused(predict, SEX)
    single = category("sex", "f", other=True, missing=True)
    assert "'sex' has a single value" in refused(predict, single, WAGE), "cells for others and blanks are no values"


def test_a_linear_regression_explains_a_number_and_no_value():
    linear = {"kind": "regression", "of": "wage", "on": ["sex"], "model": "linear"}
    assert not refused(linear, SEX, WAGE)
    assert "remove 'value'" in refused(linear | {"value": 3}, SEX, WAGE)
    assert "'town' holds no numbers" in refused(linear | {"of": "town"}, SEX, TOWN)


def test_a_logistic_regression_explains_one_of_two_values_or_a_named_one():
    logistic = {"kind": "regression", "of": "town", "on": ["wage"], "model": "logistic"}
    assert "'town' has 3 of them" in refused(logistic, TOWN, WAGE)
    assert not refused(logistic | {"value": "b"}, TOWN, WAGE)
    assert "'x' is no value of 'town'" in refused(logistic | {"value": "x"}, TOWN, WAGE)
    assert not refused(logistic | {"of": "sex"}, SEX, WAGE)
    assert not refused(logistic | {"of": "sex"}, SEX | {"missing": True, "other": True}, WAGE), "neither is a value"


@pytest.mark.parametrize(("values", "fits"), [(MOST_TERMS, True), (MOST_TERMS + 1, False)])
def test_a_regression_may_have_as_many_coefficients_as_the_cap(values, fits):
    # a category of k values has k - 1 coefficients, beside the intercept
    town = category("town", *map(str, (f"t{i}" for i in range(values))), other=True)
    text = refused({"kind": "regression", "of": "wage", "on": ["town"], "model": "linear"}, WAGE, town)
    assert ("" if fits else "501 coefficients, above the cap of 500") in text
    assert bool(text) is not fits
    if not fits:
        return
    one_more = {"kind": "regression", "of": "wage", "on": ["town", "age"], "model": "linear"}
    assert "501 coefficients" in refused(one_more, WAGE, town, number("age", 30)), "a number has one"
