"""Conditions and bins of questions against every single value that a cell stands for."""

import itertools
from datetime import date, timedelta

import numpy as np
import pytest

from dpsyn_core.errors import QuestionError
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.forms import GroupBins
from dpsyn_core.questions.meaning import (
    attribute_of,
    coarse_of,
    code_of,
    conditions,
    groups_of,
    numbers_of,
    numeric,
    ranked,
    within,
)
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.clause import clauses
from tests.questions.small import schema
from tests.schema.helpers import cat
from tests.schema.helpers import date as date_column
from tests.schema.helpers import schema as small_schema

PEOPLE = schema()


def share(where):
    [clause] = clauses(where)
    return within(PEOPLE[clause.attribute], clause)


def of_values(bins, meets):
    return [np.mean([meets(v) for v in values]) for values in bins]


AGES = [range(low, low + 5) for low in range(0, 100, 5)]
PAYS = [range(1), range(1, 10), range(10, 100), range(100, 500), range(500, 1001)]


@pytest.mark.parametrize(
    ("low", "high"), list(itertools.combinations_with_replacement([-3, 0, 1, 4, 5, 7, 50, 94, 99, 101], 2))
)
def test_the_share_of_a_bin_is_that_of_its_whole_numbers(low, high):
    assert share(f"AGE in [{low}, {high}]") == pytest.approx(of_values(AGES, lambda v: low <= v <= high))
    assert share(f"AGE in [{low + 0.5}, {high + 0.5}]") == pytest.approx(
        of_values(AGES, lambda v: low + 0.5 <= v <= high + 0.5)
    )


@pytest.mark.parametrize("limit", [0, 1, 9, 10, 11, 99, 100, 499, 500, 777, 1000])
def test_comparisons_cut_bins_of_unequal_width_where_they_say(limit):
    for sign, meets in {
        "<": lambda v: v < limit, "<=": lambda v: v <= limit, ">": lambda v: v > limit, ">=": lambda v: v >= limit,
        "=": lambda v: v == limit,
    }.items():  # fmt: skip
        got = share(f"PAY {sign} {limit}")
        assert got[:5] == pytest.approx(of_values(PAYS, meets)), sign
        assert got[5:].tolist() == [0, 0], "special and missing cells have no number"
    assert share(f"not PAY in [{limit}, 1000]") == pytest.approx(1 - share(f"PAY in [{limit}, 1000]"))


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("1900-01-01", "1900-12-31"),
        ("1903-02-01", "1903-03-31"),
        ("1910-12-31", "1912-01-01"),
        ("1939", "1940"),
        ("1920-02", "1920-02"),
    ],
)
def test_dates_inside_a_bin_are_counted_by_days(low, high):
    first = date.fromisoformat((low + "-01-01")[:10])
    last = {4: lambda: date(int(high), 12, 31), 7: lambda: date(1920, 2, 29)}.get(
        len(high), lambda: date.fromisoformat(high)
    )()
    years = [[date(y, 1, 1) + timedelta(d) for d in range((date(y + 1, 1, 1) - date(y, 1, 1)).days)]
             for y in range(1900, 1941)]  # fmt: skip
    assert share(f"BORN in [{low}, {high}]") == pytest.approx(of_values(years, lambda d: first <= d <= last))


def test_ordered_values_are_met_with_both_ends_and_lists_by_each_of_their_values():
    for low, high in itertools.combinations_with_replacement(range(-1, 5), 2):
        assert share(f"KIDS in [{low}, {high}]").tolist() == [low <= v <= high for v in range(4)]
    assert share("BORN in [2, 4]").tolist() == [2 <= rank <= 4 for rank in range(41)]
    assert share("CITY in {A, C}").tolist() == [1, 0, 1] and share("CITY != A").tolist() == [0, 1, 1]
    assert share("SEX != Male").tolist() == [0, 1, 1]
    both = conditions("AGE >= 12 and AGE <= 13 and CITY = B", PEOPLE)
    assert both["CITY"].tolist() == [0, 1, 0] and list(both) == ["AGE", "CITY"]
    assert both["AGE"][2] == pytest.approx(0.6 * 0.8) and both["AGE"].sum() == both["AGE"][2]


def test_a_number_that_no_cell_can_hold_is_refused_and_the_ends_of_the_range_are_not():
    assert share("AGE = 0")[0] == pytest.approx(0.2) and share("AGE = 99")[-1] == pytest.approx(0.2)
    for text in ("-1", "100", "old"):
        with pytest.raises(QuestionError, match="no value of 'AGE'"):
            share(f"AGE = {text}")
    with pytest.raises(QuestionError, match="no value of 'CITY'"):
        code_of(PEOPLE["CITY"], "D")
    with pytest.raises(QuestionError, match="is not synthesized"):
        attribute_of(PEOPLE, "ID")
    with pytest.raises(QuestionError, match="no column of the schema"):
        attribute_of(PEOPLE, "X")
    with pytest.raises(QuestionError, match="holds no numbers"):
        numbers_of(PEOPLE["CITY"])


def test_order_and_numbers_of_each_kind_of_column():
    assert {a.name: (ranked(a), numeric(a)) for a in PEOPLE.coded} == {
        "CITY": (0, False), "SEX": (0, False), "AGE": (20, True), "PAY": (5, True), "KIDS": (4, True),
        "BORN": (41, False),
    }  # fmt: skip


def bins(column, how):
    [question] = (
        Questions.of([{"name": "q", "kind": "table", "of": [column], "bins": {column: how}}]).checked(PEOPLE).questions
    )
    return coarse_of(PEOPLE[column], question.bins[column])


@pytest.mark.parametrize("width", [1, 5, 10, 37, 250])
@pytest.mark.parametrize("column", ["AGE", "PAY"])
def test_bins_of_one_width_hold_the_middles_that_lie_in_them(column, width):
    coarse, labels = bins(column, {"width": width})
    plain = PEOPLE[column].size - PEOPLE[column].special
    for code, number in enumerate(numbers_of(PEOPLE[column])[:plain]):
        begin = int(number // width) * width
        assert labels[coarse.map[code]] == f"{begin} to under {begin + width}"
    assert len({*coarse.map[plain:].tolist()} - {*coarse.map[:plain].tolist()}) == PEOPLE[column].special


def test_bins_between_edges_hold_what_reaches_the_lower_one():
    coarse, labels = bins("AGE", {"edges": [12, 47, 62]})
    middles = numbers_of(PEOPLE["AGE"])
    assert labels == ["under 12", "12 to under 47", "47 to under 62", "62 and more"]
    assert coarse.map.tolist() == [sum(m >= e for e in (12, 47, 62)) for m in middles]
    assert 12 in middles and 47 in middles, "middles that stand on an edge"


def test_periods_begin_with_their_first_day():
    dated = small_schema(date_column("d", "1969-11-01", "1970-05-31", "month"))
    months = ["1969-11", "1969-12", "1970-01", "1970-02", "1970-03", "1970-04", "1970-05"]
    for every, expected in {
        "month": months,
        "quarter": [f"{m[:4]}-Q{(int(m[5:]) + 2) // 3}" for m in months],
        "year": [m[:4] for m in months],
        "day": [f"{m}-01" for m in months],
    }.items():
        [question] = (
            Questions.of([{"name": "q", "kind": "table", "of": ["d"], "bins": {"d": {"every": every}}}])
            .checked(dated)
            .questions
        )
        coarse, labels = coarse_of(dated["d"], question.bins["d"])
        assert [labels[k] for k in coarse.map] == expected


def test_groups_without_bins_are_the_values_and_named_groups_leave_the_others_together():
    coarse, labels = groups_of(PEOPLE["SEX"], None)
    assert coarse.map.tolist() == [0, 1, 2] and labels == list(PEOPLE["SEX"].labels())
    coarse, labels = bins("KIDS", {"groups": [[3, 1]]})
    assert coarse.map.tolist() == [1, 0, 1, 0] and labels == ["3 or 1", "(all others)"]
    coarse, labels = bins("CITY", {"groups": [["A"], ["B", "C"]]})
    assert coarse.map.tolist() == [0, 1, 1] and labels == ["A", "B or C"]


def test_bins_of_equal_number_are_named_by_their_first_and_last_value():
    coarse, labels = bins("AGE", {"count": 4})
    plain = PEOPLE["AGE"].labels()
    for k, name in enumerate(labels):
        codes = np.flatnonzero(coarse.map == k)
        assert name == (plain[codes[0]] if len(codes) == 1 else f"{plain[codes[0]]} to {plain[codes[-1]]}")
    assert len(labels) == 4 == coarse.map.max() + 1


def test_a_value_in_two_groups_is_refused_and_groups_of_one_name_are_numbered():
    with pytest.raises(QuestionError, match="stands in two groups"):
        coarse_of(PEOPLE["KIDS"], GroupBins(groups=((0,), (1, 0))))
    a, b = "x", "x or y"
    written = small_schema(cat("c", [a, "y", b]))["c"]
    assert coarse_of(written, GroupBins(groups=((a, "y"), (b,))))[1] == ["1: x or y", "2: x or y"]


@pytest.mark.parametrize("columns", [20, 21])
def test_twenty_columns_are_named_in_a_refusal(columns):
    wide = small_schema(*(cat(f"c{i}", ["x", "y"]) for i in range(columns)))
    with pytest.raises(QuestionError) as refused:
        attribute_of(wide, "missing")
    assert ("c19, ..." in str(refused.value)) is (columns > 20) and "c19" in str(refused.value)
    assert "c20" not in str(refused.value)


@pytest.mark.parametrize(("values", "dots"), [(8, False), (9, True)])
def test_a_value_that_there_is_not_is_answered_with_the_first_eight_that_there_are(values, dots):
    made = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "c", "kind": "categorical", "values": [f"v{i}" for i in range(values)]}]})  # fmt: skip
    assert [code_of(made["c"], f"v{i}") for i in range(values)] == list(range(values))
    with pytest.raises(QuestionError) as error:
        code_of(made["c"], "x" * 100)
    said = str(error.value)
    assert said.startswith(f"'{'x' * 80}' is no value of 'c'") and said.endswith("v7, ..." if dots else "v7")
