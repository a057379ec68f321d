"""Parts of a date that follow from it: what they are, how columns write them, what is refused, what is known empty."""

import datetime
from typing import get_args

import numpy as np
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.anniversaries import COMPLETED
from dpsyn_core.schema.rules.computation import computed_columns, part_of, with_computed
from dpsyn_core.schema.rules.date_parts import Part, values_of
from dpsyn_core.schema.rules.date_parts import part_of as parted
from dpsyn_core.schema.rules.rule_breaks import broken_counts
from dpsyn_core.schema.rules.usual_rules import propose_rules
from dpsyn_core.schema.rules.zeros import KnownZeros
from tests.schema import helpers
from tests.schema.helpers import cat

PARTS = [p for p in get_args(Part) if p not in COMPLETED]
SHORT = ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"]
LONG = ["Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"]
MONTHS = ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"]
SPAN = ("2019-06-01", "2022-01-31")


def num(name, low, high, bins=2):
    return helpers.num(name, low, high, bins)


def date(name, low, high, bins="month", **more):
    return helpers.date(name, low, high, bins, **more)


def declared(part, column, of, /, **more):
    rule = {"kind": "follows", "column": column["name"], "of": [of["name"]], "part": part} | more
    return Schema.of({"version": 1, "name": "t", "attributes": [column, of], "rules": [rule]})


def expected(part, moment):
    return {"quarter": (moment.month + 2) // 3, "weekday": moment.isoweekday()}.get(part) or getattr(moment, part)


@pytest.mark.parametrize("part", PARTS)
def test_parts_are_those_of_the_calendar(part):
    rng = np.random.default_rng(3)
    seconds = rng.integers(-(3 * 10**9), 5 * 10**9, 2000)
    moments = [datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(s)) for s in seconds]
    assert parted(part, seconds, 1).tolist() == [expected(part, m) for m in moments]
    if part != "hour":
        assert parted(part, seconds // 86_400, 86_400).tolist() == [expected(part, m) for m in moments]


@pytest.mark.parametrize(
    ("part", "written", "parts"),
    [
        ("weekday", LONG, [7, *range(1, 7)]),
        ("weekday", ["Mon.", "Tue.", "Wed.", "Thu.", "Fri.", "Sat.", "Sun."], list(range(1, 8))),
        ("month", [f"{m:02d}" for m in range(1, 13)], list(range(1, 13))),
        ("month", MONTHS, list(range(1, 13))),
        ("quarter", ["Q2", "Q1", "Q3", "Q4"], [2, 1, 3, 4]),
        ("year", ["2019", "2020", "other"], [2019, 2020]),
    ],
)  # fmt: skip
def test_categories_write_parts_as_numbers_or_names_of_both_languages(part, written, parts):
    schema = Schema.of({"version": 1, "name": "t", "attributes": [cat("c", written)]})
    keys, codes = values_of(part, schema["c"])
    assert dict(zip(keys.tolist(), codes.tolist(), strict=True)) == {p: i for i, p in enumerate(parts)}


@pytest.mark.parametrize(
    ("part", "column", "of", "said"),
    [
        ("year", num("year", 2020, 2022), date("in", *SPAN), "no value for the year 2019"),
        ("weekday", cat("dow", list("0123456")), date("in", *SPAN), "no value for the weekday 7"),
        ("hour", num("h", 0, 23), date("in", *SPAN), "holds days, which have no hour"),
        ("month", num("m", 1, 12), num("in", 1, 9), "a rule on the month needs a date"),
        ("day", num("d", 1, 31), date("in", *SPAN, formats=["%m/%Y"]), "does not show its day"),
        ("year", date("y", *SPAN), date("in", *SPAN), "category or a number"),
    ],
)  # fmt: skip
def test_what_cannot_follow_from_a_date_is_refused_in_one_sentence(part, column, of, said):
    with pytest.raises(SchemaError, match=said):
        declared(part, column, of)


def test_a_part_has_one_date_and_no_map():
    for more in ({"of": ["in", "c"]}, {"map": [[1, 2]]}):
        with pytest.raises(SchemaError, match="is that of one date, without a map"):
            declared("year", num("c", 2019, 2022), date("in", *SPAN), **more)


def test_a_part_is_not_measured_unless_asked_or_a_cell_can_be_blank():
    year, of = num("year", 2019, 2022), date("in", "2019-06-01", "2022-01-31", "month")
    assert [c.column for c in computed_columns(declared("year", year, of))] == ["year"]
    assert not computed_columns(declared("year", year, of, measured=True))
    assert not computed_columns(declared("year", year, {**of, "missing": True}))
    assert not computed_columns(declared("weekday", cat("w", SHORT), of)), "months have every weekday"
    assert computed_columns(declared("weekday", cat("w", SHORT), {**of, "bins": {"every": "day"}}))


def test_dates_are_drawn_in_their_bins_among_those_that_have_the_measured_parts():
    rng, times = np.random.default_rng(1), ("2020-01-01T00:00:00", "2020-12-31T23:59:59")
    attributes = [date("in", *times), cat("w", SHORT), num("h", 0, 23, 24), num("q", 1, 4, 4)]
    rules = [
        {"kind": "follows", "column": column, "of": ["in"], "part": part}
        for column, part in (("w", "weekday"), ("h", "hour"), ("q", "quarter"))
    ]
    schema = Schema.of({"version": 1, "name": "t", "attributes": attributes, "rules": rules})
    assert [c.column for c in computed_columns(schema)] == ["q"]
    codes = np.array([rng.integers(0, a.size, 4000) for a in schema.coded[:3]])
    table = Codec(part_of(schema, ("in", "w", "h"))).decode(codes.astype(np.uint32), rng=rng)
    made = with_computed(table, schema, rng)
    assert made["w"].equals(table["w"]) and made["h"].equals(table["h"])
    assert [n for _, n in broken_counts(made, schema)] == [0, 0, 0]
    assert Codec(part_of(schema, ("in",))).encode(made).codes[0].tolist() == codes[0].tolist()
    days = np.bincount([m.day for m in made["in"].to_pylist()], minlength=32)
    assert days[1:29].min() > 60, "of 130 that are expected"


def test_cells_of_another_part_are_known_to_be_empty():
    schema = declared("quarter", num("q", 1, 4, 4), date("in", "2019-01-01", "2020-12-31", "month", missing=True))
    zeros = KnownZeros(schema.rules, {a.name: a for a in schema.attributes})
    cells = zeros.cells(("in", "q"))
    assert cells.shape == (25, 4) and not cells[24].any(), "a blank date may have any quarter"
    assert np.array_equal(~cells[:24], np.eye(4, dtype=bool)[np.arange(24) % 12 // 3])
    halves = zeros.cells(("q", "in"), {"in": np.append(np.arange(24) // 6, 4)})
    assert np.array_equal(~halves[:, :4], np.array([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 1]], bool))


@pytest.mark.parametrize(
    ("columns", "proposed"),
    [
        ([num("admission_year", 2019, 2022), date("admission_date", *SPAN)], "admission_year = year"),
        ([num("Jahr", 2019, 2022), date("Aufnahmedatum", *SPAN)], "Jahr = year of Aufnahmedatum"),
        ([cat("Wochentag", SHORT), date("Tag", *SPAN)], "= weekday of Tag"),
        ([num("month", 1, 12), date("day", *SPAN)], "month = month of day"),
        ([num("birth_year", 1900, 2022), date("admitted", *SPAN)], None),
        ([num("years", 0, 3000), date("admitted", *SPAN)], None),
        ([num("year", 2020, 2022), date("admitted", *SPAN)], None),
        ([num("year", 2019, 2022), date("a", *SPAN), date("b", *SPAN)], None),
    ],
)  # fmt: skip
def test_headers_propose_parts_of_dates_in_both_languages(columns, proposed):
    found = [str(r) for r in propose_rules(Schema.of({"version": 1, "name": "t", "attributes": columns}))]
    assert not found if proposed is None else len(found) == 1 and proposed in found[0], found


def test_times_with_a_rhythm_keep_it_where_bins_begin_between_its_times():
    rng, times = np.random.default_rng(2), ("2024-03-01T00:00:00", "2024-04-30T23:59:00")
    at = {**date("in", *times, 61), "rhythm": "five-minutes"}
    rules = [{"kind": "follows", "column": "w", "of": ["in"], "part": "weekday"}]
    schema = Schema.of({"version": 1, "name": "t", "attributes": [at, cat("w", SHORT)], "rules": rules})
    codes = np.array([rng.integers(0, a.size, 4000) for a in schema.coded])
    table = with_computed(Codec(part_of(schema, ("in", "w"))).decode(codes.astype(np.uint32), rng=rng), schema, rng)
    assert {m.minute % 5 or m.second for m in table["in"].to_pylist()} == {0}
