"""Questions that are suggested: which columns play which role, and how each question is asked."""

import pytest

from dpsyn_core.questions.suggestions import MOST, find, is_rate, key, templates, two_sides
from dpsyn_core.schema.document import Schema
from tests.schema.helpers import cat, date, num, schema


def offered(*attributes):
    return {t.question.name: t.question for t in templates(schema(*attributes))}


def words(n):
    return [f"w{i}" for i in range(n)]


AGE, WAGE = num("age", 0, 99, 20), num("wage", 0, 1000, 50)
CITY, SEX = cat("city", words(4)), cat("sex", ["Male", "Female"])


def test_a_table_of_groups_splits_ages_of_bins_by_ten_years_and_listed_ages_not_at_all():
    binned = offered(WAGE, CITY, SEX, AGE)["city x sex x age"]
    assert binned.kind == "table" and binned.model_dump(mode="json")["bins"]["age"]["width"] == 10
    listed = offered(WAGE, CITY, SEX, cat("age", list(range(12)), ordered=True))
    assert not listed["city x sex x age"].model_dump(mode="json").get("bins")
    assert "city x sex" in offered(WAGE, CITY, SEX)
    assert "city x sex" in offered(CITY, SEX, AGE), "an age that is the measure itself splits no groups"


def test_a_measure_is_asked_by_group_by_split_and_by_its_inequality_where_it_is_an_income():
    found = offered(CITY, SEX, WAGE)
    gap = found["gap of wage by sex and city"]
    assert (gap.kind, gap.of, list(gap.by)) == ("gap", "wage", ["city"])
    assert gap.model_dump(mode="json")["between"] == {"sex": ["Male", "Female"]}
    assert [found[n].kind for n in ("mean wage by city", "median wage by city", "inequality of wage by city")] == [
        "mean", "quantile", "gini",
    ]  # fmt: skip
    assert set(offered(WAGE)) == {"mean wage", "median wage", "inequality of wage"}
    assert set(offered(num("price", 0, 1000, 50))) == {"mean price", "median price"}
    assert "gap of wage by sex" in offered(WAGE, SEX)


@pytest.mark.parametrize(("values", "measured"), [(9, False), (10, True)])
def test_a_number_is_measured_from_ten_values_on(values, measured):
    assert ("mean score" in offered(num("score", 0, 99, values))) == measured


@pytest.mark.parametrize(("values", "groups"), [(1, False), (2, True), (100, True), (101, False)])
def test_groups_have_two_to_a_hundred_values(values, groups):
    assert ("mean wage by city" in offered(WAGE, cat("city", words(values)))) == groups


@pytest.mark.parametrize(("values", "split"), [(1, False), (2, True), (10, True), (11, False)])
def test_a_split_has_two_to_ten_values(values, split):
    names = offered(WAGE, cat("sex", words(values)))
    assert any(n.startswith("gap of wage") for n in names) == split


@pytest.mark.parametrize(("values", "shown"), [(20, False), (21, True)])
def test_the_most_frequent_values_are_asked_for_where_a_list_is_longer_than_twenty(values, shown):
    assert ("most frequent maker" in offered(cat("maker", words(values)), SEX)) == shown
    assert ("mean price by maker" in offered(num("price", 0, 99, 50), cat("maker", words(values)))) == (not shown)


def test_no_role_has_more_than_three_questions_and_no_more_than_fourteen_are_offered():
    many = [cat(f"kind {i}", words(5)) for i in range(5)]
    assert sum(n.startswith("mean price by") for n in offered(num("price", 0, 99, 50), *many)) == 3
    yes = [cat(f"has {i}", ["no", "yes"]) for i in range(5)]
    assert sum(n.startswith("has") for n in offered(*yes, cat("kind", words(3)))) == 3
    rates = [cat(f"ill {i}", [0, 1]) for i in range(5)]
    assert sum(n.startswith("rate of") for n in offered(*rates)) == 3
    long = [cat(f"maker {i}", words(30)) for i in range(5)]
    assert sum(n.startswith("most frequent") for n in offered(*long)) == 3
    dates = [date(f"day {i}", "2020-01-01", "2020-01-20", "day") for i in range(9)]
    assert len(offered(WAGE, CITY, SEX, AGE, *many, *yes, *rates, *long, *dates)) == MOST == 14


@pytest.mark.parametrize(
    ("last", "every"),
    [
        ("2020-02-28", "day"),
        ("2020-03-01", "month"),
        ("2022-12-30", "month"),
        ("2022-12-31", "quarter"),
        ("2029-12-28", "quarter"),
        ("2029-12-29", "year"),
    ],
)
def test_dates_are_counted_by_days_months_quarters_or_years(last, every):
    """60 days and more by months, 1,095 by quarters, 3,650 by years."""
    assert f"seen by {every}" in offered(date("seen", "2020-01-01", last, "day"), SEX)


def test_rates_and_yes_or_no_are_asked_by_another_short_column():
    found = offered(cat("ill", [0, 1]), cat("smokes", ["No", "YES"]), cat("kind", words(3)))
    assert found["rate of ill by smokes"].kind == "mean"
    assert list(found["smokes x kind"].of) == ["smokes", "kind"]
    assert "rate of ill" in offered(cat("ill", [0, 1]))


@pytest.mark.parametrize(("values", "rate"), [([0, 1], True), ([1, 0], True), ([0, 1, 2], False), ([1, 2], False)])
def test_a_rate_has_the_values_0_and_1(values, rate):
    assert is_rate(schema(cat("a", values))["a"]) == rate
    assert not is_rate(schema(num("a", 0, 1, 2))["a"])


def target_of(*attributes):
    [name] = [q.of for q in offered(*attributes).values() if q.kind == "predict"] or [None]
    return name


def test_what_is_predicted_is_called_a_target_or_is_the_last_column_of_two_values_that_is_no_sex():
    two, ten, eleven = (cat("target", words(n)) for n in (2, 10, 11))
    assert target_of(two, cat("b", words(2))) == target_of(ten, cat("b", words(2))) == "target"
    assert target_of(eleven, cat("b", words(2)), cat("c", words(2)), cat("d", words(3)), SEX) == "c"
    assert target_of(cat("y", words(2)), cat("label", words(2))) == "label"
    assert target_of(SEX, cat("d", words(3))) is None
    assert target_of(two) is None, "nothing is left to predict it from"


def test_names_are_found_by_the_first_word_that_is_one_then_by_one_that_begins_or_ends_one():
    assert key("In-Come 50k!") == "income50k"
    assert find(("sex", "gender"), ["Gender", "SEX", "sex_2"]) == "SEX"
    assert find(("income", "wage"), ["hourly wage", "x"]) == "hourly wage"
    assert find(("city",), ["thecitybank"]) is None
    assert find(("pay",), ["payment", "repay"]) is None, "words of three letters are whole names only"
    assert find(("rent",), ["rental"]) == "rental"
    assert find(("a1",), ["A 1", "a1"]) == "A 1"


@pytest.mark.parametrize(
    ("labels", "sides"),
    [
        *((["Male", "Female"], (0, 1)), (["female", "male"], (1, 0)), (["x", "M", "F"], (1, 2)), (["w", "m"], (1, 0))),
        *((["women", "other", "men"], (2, 0)), (["a", "b"], (0, 1)), (["a", "b", "c"], (1, 2))),
        *((["a", "b", "c", "d"], (0, 1)), (["man", "x", "woman"], (0, 2))),
    ],
)
def test_two_sides_are_male_and_the_other_or_the_last_two_of_three(labels, sides):
    assert two_sides(labels) == sides


def test_weights_are_measured_last_and_years_and_places_never():
    numbers = [num(n, 0, 99, 50) for n in ("weight", "height")]
    assert "mean height" in offered(*numbers) and "mean weight" not in offered(*numbers)
    assert "mean weight" in offered(numbers[0])
    assert not offered(num("plz", 0, 99999, 50)) and not offered(num("built", 1900, 2020, 60))
    assert isinstance(schema(AGE), Schema)
