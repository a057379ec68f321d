"""What documents declare of columns: limits of scales and bins, checks of models, and lists in patterns."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.importers import models, packages
from dpsyn_core.schema.importers.codebook import CodebookEntry
from dpsyn_core.schema.importers.declared import (
    Declaration,
    _ends,
    _scale,
    alternatives,
    attribute_of,
    few,
    iso_day,
    listed_values,
    value_of,
)
from dpsyn_core.schema.importers.formats import _fields, _of_table, _old_sdv
from dpsyn_core.schema.importers.maxima import _limits, fine_bins, import_maxima, number
from dpsyn_core.tables import DeclaredColumn


def column(**more):
    return DeclaredColumn(**({"name": "a", "kind": "integer"} | more))


def words(*codes):
    return {str(c): f"word {c}" for c in codes}


@pytest.mark.parametrize(
    ("low", "high"),
    [
        *((0, 10), (-1000, 1000), (0, 1000), (0, 1001), (0, 1002), (-1001, 0), (-1002, 5), (500, 2500), (1001, 1001)),
        *((1500, 9000), (-9000, -1500), (-1001, -1001), (-5000, -1001), (-5000, -1000), (-250_000, 400_000)),
    ],
)
def test_fine_bins_are_single_up_to_a_thousand_from_zero_and_one_percent_wide_beyond(low, high):
    bins = fine_bins(low, high)
    made = import_maxima({"a": {"type": "integer", "min": low, "max": high}})["a"]
    assert (made.min, made.max) == (low, high)
    if low >= -1000 and high <= 1000:
        assert bins == {"count": high - low + 1}
        return
    starts = bins["edges"]
    assert starts[0] == low and starts == sorted(set(starts)) and starts[-1] <= high
    ends = [*starts[1:], high + 1]
    for first, end in zip(starts, ends, strict=True):
        last = end - 1
        near = min(abs(first), abs(last))
        if near <= 1000:
            assert last in (first, high)
        elif first > 0:
            assert last - first + 1 == math.floor(0.01 * first) or last >= high - 1
        else:
            assert last - first + 1 == math.floor(0.01 * abs(last)) or first == low


@pytest.mark.parametrize(
    ("entry", "limits"),
    [
        ({"type": "enum", "maxval": 0}, ("enum", 0, 0)),
        ({"maxval": 7}, ("enum", 0, 7)),
        ({"type": "INT", "min": -3, "max": -3}, ("integer", -3, -3)),
        ({"type": "integer", "min": 2, "maxval": 9, "max": 4}, ("integer", 2, 9)),
        ({"type": "float", "min": 0.5, "maxval": 2}, ("float", 0.5, 2)),
        *(
            ({"type": "enum", "min": 1, "maxval": 0}, None),
            ({"type": "enum"}, None),
            ({"type": "text", "maxval": 3}, None),
        ),
        *(({"maxval": True}, None), ({"maxval": 3.0}, None), ({"maxval": 3, "min": "0"}, None)),
        *(({"type": "float", "maxval": True}, None), ({"maxval": 3, "min": False}, None)),
    ],
)
def test_an_entry_of_maxima_has_a_type_and_a_maximum_of_at_least_its_minimum(entry, limits):
    if limits is None:
        with pytest.raises(SchemaError, match="needs a type"):
            _limits("a", entry)
    else:
        assert _limits("a", entry) == limits


def test_the_top_code_and_special_codes_have_cells_of_their_own_and_leave_the_range():
    book = CodebookEntry(label="wage", codes={}, special={5001: "5001 or more", 999_998: "Missing", 0: "none"})
    assert number(0, 999_998, book, top_is_special=True) == {
        "kind": "numeric", "dtype": "integer", "min": 0, "max": 5000, "bins": fine_bins(0, 5000),
        "special_values": [5001, 999_998],
    }  # fmt: skip
    rent = CodebookEntry(label="rent", codes={9998: "No cash rent", 9999: "Missing"})
    made = number(0, 9999, rent, top_is_special=True)
    assert (made["max"], made["special_values"]) == (9997, [9998, 9999])
    for high, special in ((65_534, []), (65_535, [65_535])):
        made = number(0, high, None, top_is_special=True)
        assert (made["special_values"], made["max"]) == (special, high - len(special))
        assert number(0, high, None, top_is_special=False)["special_values"] == []


@pytest.mark.parametrize(
    ("codes", "high", "listed"),
    [
        *(([3], 50, True), ([98, 99], 99, True), ([0, 99], 100, False), ([0, 98], 100, True), ([], 10, False)),
        *(([200], 100, False), ([51], 51, False), ([100], 100, False)),
    ],
)
def test_codes_are_a_list_where_they_are_small_or_not_all_at_the_top(codes, high, listed):
    assert CodebookEntry(label="a", codes=dict.fromkeys(codes, "x")).is_list(0, high) == listed


def test_codes_count_where_most_of_them_say_themselves():
    assert CodebookEntry(label="age", codes={1: "001 year", 2: "2", 3: "many"}).counts
    assert not CodebookEntry(label="age", codes={1: "1", 2: "many"}).counts
    assert not CodebookEntry(label="age", codes={1: "10 years", 2: "x"}).counts


def test_a_top_code_says_so_and_is_the_largest_of_them_inside_the_range():
    entry = CodebookEntry(label="a", codes={0: "0+", 7: "7 or more", 9: "90 and over", 99: "top-coded", 5: "five"})
    assert entry.top_code(0, 98) == 9 and entry.top_code(0, 99) == 99 and entry.top_code(9, 9) is None
    assert list(entry.special_codes(0, 98)) == [5, 7] and list(entry.special_codes(6, 98)) == [7]


@pytest.mark.parametrize(
    ("codes", "scale"),
    [
        *((["7"], True), (["1", "10"], True), (["1", "2"], False), (["0", "5", "10"], True), (["0", "4", "10"], False)),
        *((["1", "5", "10"], True), (["1", "3", "4", "10"], False), (["1", "x"], False), (["1", "1.5"], False)),
    ],
)
def test_words_for_both_ends_or_their_middle_make_a_scale(codes, scale):
    assert _scale(codes) == scale


def test_a_range_is_declared_or_that_of_a_scale():
    assert _ends(column(low=1, high=5)) == (1, 5)
    assert _ends(column(words=words(1, 10))) == (1, 10)
    assert _ends(column(words=words(1, 10, 99), codes_missing=(99,))) == (1, 10)
    for none in ({"words": words(7)}, {"words": words(1, 2)}, {"low": 3}, {"words": words(1, 10), "listed": True}):
        assert _ends(column(**none)) is None
    assert _ends(column(kind="text", words=words(1, 10))) is None


def test_listed_values_are_declared_or_the_codes_that_have_words():
    assert listed_values(column(values=("x", "y"), codes_missing=("y", "z"))) == ("x", "y", "z")
    assert listed_values(column(kind="boolean")) == (False, True)
    assert listed_values(column(words=words(1, 2, 9), codes_missing=(9,))) == (1, 2, 9)
    for none in (
        {"words": words(1, 10)},
        {"words": words(1, 2), "low": 0},
        {"words": words(1, 2), "listed": False},
        {},
    ):
        assert listed_values(column(**none)) == ()
    assert listed_values(column(words=words(1, 10), listed=True)) == (1, 10)


@pytest.mark.parametrize(
    ("code", "kind", "value"),
    [
        *(("12", "integer", 12), ("012", "integer", "012"), ("-3", "integer", -3), ("12", "text", "12")),
        *(("1.50", "float", 1.5), ("1.50", "integer", "1.50"), ("1" * 18, "integer", int("1" * 18))),
        *(("1" * 19, "integer", "1" * 19), ("0", "integer", 0), ("x", "float", "x")),
    ],
)
def test_a_code_is_a_number_where_it_is_written_as_one(code, kind, value):
    found = value_of(code, column(kind=kind))
    assert found == value and type(found) is type(value)


def test_a_number_is_whole_where_its_ends_and_codes_are():
    made = attribute_of(column(kind="", low=0.0, high=9.0, codes_missing=(99.0,)))
    assert made["dtype"] == "integer" and type(made["max"]) is int and made["special_values"] == [99]
    assert attribute_of(column(kind="float", low=0, high=9))["dtype"] == "float"
    assert attribute_of(column(kind="", low=0, high=9.5))["dtype"] == "float"
    assert attribute_of(column(kind="", low=0, high=9, codes_missing=(True,))).get("special_values") is None
    assert attribute_of(column(low=0, high=9, blank=False))["missing"] is False
    assert attribute_of(column(low=0, high=9))["missing"] is True
    assert attribute_of(column()) is None


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        *(("^(a|b c|d-e)$", ["a", "b c", "d-e"]), ("a|b", ["a", "b"]), ("(a|b)", ["a", "b"]), ("^a|b$", [])),
        *(("a", []), ("(a)", []), (r"x\.1|y\|2", ["x.1", "y|2"]), ("a.|b", []), ("[ab]|c", [])),
    ],
)
def test_a_pattern_that_is_a_list_of_words_is_read(pattern, found):
    assert alternatives(pattern) == found


@pytest.mark.parametrize(
    ("text", "formats", "day"),
    [
        *(("31.12.2024", ("%d.%m.%Y",), "2024-12-31"), ("2024-12-31", ("%d.%m.%Y",), "2024-12-31")),
        *(("31.12.2024 07:30", ("%d.%m.%Y %H:%M",), "2024-12-31T07:30:00"), ("soon", ("%d.%m.%Y",), "soon")),
        ("31.12.2024", (), "31.12.2024"),
    ],
)
def test_the_end_of_a_range_of_dates_is_written_as_a_day(text, formats, day):
    assert iso_day(text, formats) == day


def test_names_for_a_message_are_five_at_most():
    assert few(list("abcde")) == "'a', 'b', 'c', 'd', 'e'"
    assert few(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e' and 2 more"


def check(name, **given):
    return SimpleNamespace(name=name, statistics=given)


@pytest.mark.parametrize(
    ("checks", "low", "high"),
    [
        ([check("in_range", min_value=1, max_value=9)], 1, 9),
        ([check("in_range", min_value=1, max_value=9, include_min=False, include_max=False)], 2, 8),
        ([check("ge", min_value=1), check("le", max_value=9)], 1, 9),
        ([check("greater_than", min_value=1), check("less_than", max_value=9)], 2, 8),
        ([check("gt", min_value=1), check("lt", max_value=9)], 2, 8),
        ([check("between", min_value=1, max_value=9)], 1, 9),
        ([check("greater_than_or_equal_to", min_value=0), check("less_than_or_equal_to", max_value=0)], 0, 0),
        ([check("mine", min_value=1)], None, None),
        ([check("gt", min_value=1)], 2, None),
    ],
)
def test_checks_of_pandera_declare_a_range_whose_open_ends_are_left_out_of_whole_numbers(checks, low, high):
    found = models._column("a", SimpleNamespace(checks=checks, dtype="Int64", nullable=False))
    assert (found.kind, found.low, found.high, found.blank, found.values) == ("integer", low, high, False, ())
    real = models._column("a", SimpleNamespace(checks=checks[:1], dtype="float64"))
    given = checks[0].statistics if checks[0].name != "mine" else {}
    assert (real.kind, real.low, real.high, real.blank) == (
        "float", given.get("min_value"), given.get("max_value"), True,
    )  # fmt: skip


def test_checks_of_pandera_declare_values_and_days():
    for made, values in ((check("isin", allowed_values=["a", "b"]), ("a", "b")), (check("eq", value=3), (3,))):
        assert models._column("a", SimpleNamespace(checks=[made], dtype="str")).values == values
    assert models._column("a", SimpleNamespace(checks=[check("eq")], dtype="str")).values == ()
    days = check("in_range", min_value="2020-01-01 00:00:00", max_value="2020-12-31 00:00:00")
    found = models._column("a", SimpleNamespace(checks=[days], dtype="datetime64[ns]"))
    assert (found.kind, found.low, found.high) == ("datetime", "2020-01-01", "2020-12-31")


def test_one_table_of_several_is_named():
    listed = {"resources": [{"name": "a", "x": 1}, {"name": "b", "x": 2}]}
    named = {"tables": {"a": {"x": 1}, "b": {"x": 2}}}
    assert _of_table(listed, "b", "f")["resources"] == [{"name": "b", "x": 2}]
    assert _of_table(named, "b", "f")["tables"] == {"b": {"x": 2}}
    for document in (listed, named):
        for wrong in (None, "c"):
            with pytest.raises(SchemaError, match="describes 2 tables"):
                _of_table(document, wrong, "f")
    alone = {"resources": [{"name": "a"}]}
    assert _of_table(alone, None, "f") is alone and _of_table(alone, "a", "f") == alone
    with pytest.raises(SchemaError, match="one table without a name"):
        _of_table({"fields": []}, "a", "f")
    assert _of_table({"tables": [{"url": "t.csv"}]}, "t.csv", "f")["tables"] == [{"url": "t.csv"}]


def test_documents_are_told_apart_by_what_they_hold():
    assert _old_sdv({"tables": {"a": {"fields": {}}}}) and _old_sdv({"tables": [{"fields": {}}]})
    for other in ({}, {"tables": {}}, {"tables": {"a": {}}}, {"tables": [{"fields": {}}, 3]}, {"tables": 3}):
        assert not _old_sdv(other)
    assert _fields({"fields": []}) and _fields({"schema": {"fields": []}}) and _fields({"schema": "s.json"})
    assert not _fields({}) and not _fields({"fields": {}}) and not _fields({"schema": {}})


COLUMNS = {
    "ranked": column(
        values=(1, 2, 3), words={"1": "low", "2": "middle", "3": "high"}, ordered=True, label="Rank", kind="integer"
    ),
    "listed": column(values=("a", "b"), kind="text", description="words", blank=False),
    "number": column(kind="float", low=0.5, high=9.5, step=0.5, decimals=1, blank=False),
    "missing": column(kind="integer", low=0, high=9, codes_missing=(99,), words={"99": "no answer"}),
    "day": column(kind="date", low="2020-01-01", high="2020-12-31", formats=("%d.%m.%Y",)),
    "flag": column(kind="boolean"),
    "name": column(kind="identifier"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_written_as_frictionless_and_read_again_equal(name):
    given = replace(COLUMNS[name], name=name)
    raw = packages.write_frictionless(Declaration(name="t", columns=(given,)))
    again = packages.read_frictionless(json.loads(raw), name="t", what="t").columns[0]
    blank = True if given.blank is None else given.blank
    assert replace(again, blank=again.blank, listed=None, also=()) == replace(given, blank=blank, listed=None)
    field = json.loads(raw)["fields"][0]
    assert field.get("categoriesOrdered") == (True if given.ordered else None)


@pytest.mark.parametrize(("column", "kind", "formats"), [
    ({"sdtype": "datetime", "datetime_format": "%d.%m.%Y"}, "date", ("%d.%m.%Y",)),
    ({"sdtype": "datetime", "datetime_format": "%Y-%m-%d %H:%M"}, "datetime", ("%Y-%m-%d %H:%M",)),
    ({"sdtype": "datetime"}, "datetime", ()), ({"sdtype": "numerical", "datetime_format": "%Y"}, "float", ()),
    ({"sdtype": "numerical", "computer_representation": "Int64"}, "integer", ()), ({"sdtype": "id"}, "identifier", ()),
    ({"sdtype": "boat"}, "ignored", ()), ({}, "ignored", ()),
])  # fmt: skip
def test_a_column_of_sdv_is_a_date_where_its_format_has_no_time(column, kind, formats):
    read = packages._sdv("a", column, None)
    assert (read.kind, read.formats, read.listed) == (kind, formats, None)
    assert packages._sdv("a", column, "a").kind == "identifier"


def test_listed_values_of_sdv_are_declared():
    assert packages._sdv("a", {"sdtype": "categorical"}, None).listed is True
