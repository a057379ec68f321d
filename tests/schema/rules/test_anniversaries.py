"""Ages in completed years and months: the calendar, what follows, what is refused, proposed and known to be empty."""

import calendar
import datetime

import numpy as np
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.anniversaries import COMPLETED, completed, ends_with, starts_with
from dpsyn_core.schema.rules.computation import computed_columns, measured_part
from dpsyn_core.schema.rules.rule_breaks import broken_counts
from dpsyn_core.schema.rules.usual_rules import propose_rules
from dpsyn_core.schema.rules.zeros import KnownZeros
from tests.schema.helpers import cat, date, num

YEARS, MONTHS = "completed-years", "completed-months"
BORN, SEEN = date("born", "1940-01-01", "2015-12-31", "year"), date("seen", "2016-01-01", "2021-12-31", "month")
AGE = num("age", 0, 81, 9)


def day(*ymd):
    return (datetime.date(*ymd) - datetime.date(1970, 1, 1)).days


def by_hand(unit, of, minus):
    """Counts birthday after birthday; one that a year or month lacks is on the first of the next month."""
    of, minus = (datetime.date(1970, 1, 1) + datetime.timedelta(days=int(d)) for d in (of, minus))
    step, count = {YEARS: 12, MONTHS: 1}[unit], 0
    while True:
        month = minus.year * 12 + minus.month - 1 + step * (count + 1)
        year, month = divmod(month, 12)
        birthday = (
            datetime.date(year, month + 1, minus.day)
            if minus.day <= calendar.monthrange(year, month + 1)[1]
            else datetime.date(year + (month + 1) // 12, (month + 1) % 12 + 1, 1)
        )
        if birthday > of:
            return count
        count += 1


def difference(unit=YEARS, **more):
    return {"kind": "difference", "column": "age", "of": "seen", "minus": "born", "unit": unit, **more}


def on(day_, part=YEARS, **more):
    return {"kind": "follows", "column": "age", "of": ["born"], "part": part, "on": day_, **more}


def declared(rule, *attributes):
    return Schema.of({"version": 1, "name": "t", "attributes": list(attributes or (BORN, SEEN, AGE)), "rules": [rule]})


@pytest.mark.parametrize("unit", COMPLETED)
def test_counts_are_those_of_birthdays_one_after_the_other(unit):
    rng = np.random.default_rng(5)
    minus = rng.integers(day(1900, 1, 1), day(2004, 12, 31), 1500)
    minus[:300] = day(2000, 2, 29)
    of = minus + rng.integers(0, 40 * 366, 1500)
    assert completed(unit, of, minus).tolist() == [by_hand(unit, o, m) for o, m in zip(of, minus, strict=True)]


def test_who_is_born_on_the_29th_of_february_turns_eighteen_on_the_first_of_march():
    leap = day(2000, 2, 29)
    assert completed(YEARS, [day(2018, 2, 28), day(2018, 3, 1)], leap).tolist() == [17, 18]
    assert completed(YEARS, [day(2020, 2, 28), day(2020, 2, 29)], leap).tolist() == [19, 20]
    assert completed(MONTHS, [day(2019, 2, 28), day(2019, 3, 1)], day(2019, 1, 31)).tolist() == [0, 1]


@pytest.mark.parametrize("unit", COMPLETED)
def test_the_days_that_agree_with_a_count_are_all_of_them_and_no_other(unit):
    rng = np.random.default_rng(6)
    of, minus = rng.integers(-30_000, 30_000, (2, 4000))
    count = completed(unit, of, minus)
    first, last = starts_with(unit, of, count)
    assert (first <= minus).all() and (minus <= last).all()
    assert (completed(unit, of, first) == count).all() and (completed(unit, of, first - 1) > count).all()
    assert (completed(unit, of, last) == count).all() and (completed(unit, of, last + 1) < count).all()
    first, last = ends_with(unit, minus, count)
    assert (first <= of).all() and (of <= last).all()
    assert (completed(unit, first, minus) == count).all() and (completed(unit, first - 1, minus) < count).all()
    assert (completed(unit, last, minus) == count).all() and (completed(unit, last + 1, minus) > count).all()


@pytest.mark.parametrize("rule", [difference(), difference(MONTHS), on("2020-06-30"), on("2020-12-31")])
def test_a_rule_reads_in_words_and_its_document_stays(rule):
    schema = declared(rule, BORN, SEEN, num("age", 0, 81 if rule.get("unit") != MONTHS else 990, 9))
    assert Schema.loads(schema.dumps()) == schema
    kept = schema.document()["rules"][0]
    assert kept.get("on") == rule.get("on") and kept.get("unit") == rule.get("unit") and "measured" not in kept
    assert str(schema.rules[0]) in {
        "age = completed years from born to seen", "age = completed months from born to seen",
        "age = completed years from born to 2020-06-30", "age = completed years from born to 2020-12-31",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "attributes", "said"),
    [
        (on(None), (), "counted on one day, in 'on'; name it for them, such as 2020-12-31"),
        ({**on("2020-12-31"), "part": "year"}, (), "counted on one day, in 'on'"),
        (on("31.12.2020"), (), "'31.12.2020' is no day; write it as 2020-12-31"),
        (on("2022-12-31"), (), "'age' has no value for the completed years 82, which 'born' can have; widen"),
        (on("2020-12-31"), (AGE, num("born", 1940, 2015, 5)), "a rule on the completed years needs a date"),
        (difference(), (SEEN, AGE, {**BORN, "formats": ["%m/%Y"]}), "loses part of the date"),
        (difference(), (SEEN, BORN, num("age", 82, 99, 3)), "no values can meet it"),
        (difference(), (AGE, num("born", 1940, 2015, 5), num("seen", 2016, 2021, 5)), "has no unit"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_sentence(rule, attributes, said):
    with pytest.raises(SchemaError, match=said):
        declared(rule, *attributes)


def test_an_exact_end_of_the_ranges_is_no_contradiction():
    born, seen = date("born", "2001-01-01", "2001-01-01", 1), date("seen", "2012-01-01", "2012-01-01", 1)
    declared(difference(), born, seen, num("age", 11, 11, 1))
    with pytest.raises(SchemaError, match="no values can meet it"):
        declared(difference(), born, seen, num("age", 12, 12, 1))


@pytest.mark.parametrize(
    ("rule", "column"),
    [(difference(), "born"), (on("2020-12-31"), "age"), (on("2020-06-30"), None), (difference(measured=True), None)],
)
def test_what_follows_is_computed_and_every_record_keeps_the_rule(rule, column):
    schema = declared(rule)
    assert [c.column for c in computed_columns(schema)] == ([column] if column else [])
    part, rng, changes = measured_part(schema), np.random.default_rng(1), []
    codes = np.array([rng.integers(0, a.size, 4000) for a in part.coded]).astype(np.uint32)
    made = table_of(codes, schema, columns=schema.output_names, rng=rng, repaired=changes, measured=part.domain().names)
    assert broken_counts(made, schema)[0][1] == 0
    to = made["seen"].to_pylist() if rule["kind"] == "difference" else [datetime.date.fromisoformat(rule["on"])] * 4000
    born, ages = made["born"].to_pylist(), made["age"].to_pylist()
    assert ages == [o.year - b.year - ((o.month, o.day) < (b.month, b.day)) for o, b in zip(to, born, strict=True)]
    if column == "born":  # each day of the year of life is as likely
        lived = [(o - b).days / 365.25 - a for o, b, a in zip(to, born, ages, strict=True)]
        assert 0.47 < np.mean(lived) < 0.53
    assert column is None or changes[0][0] < 1200  # of 12,000 cells, with those that changed records exchange


def test_impossible_cells_are_exactly_those_that_no_two_days_of_the_bins_have():
    schema = declared(difference(), {**BORN, "missing": True}, SEEN, num("age", 0, 81, 82))
    zeros = KnownZeros(schema.rules, {a.name: a for a in schema.attributes}).cells(("born", "seen", "age"))
    assert zeros.shape == (77, 72, 82) and not zeros[76].any(), "a blank date may have any age"
    rng = np.random.default_rng(2)
    for i, j in rng.integers(0, (76, 72), (60, 2)):
        born, seen = schema["born"].binning, schema["seen"].binning
        b, s = (np.arange(x.bounds()[0][k], x.bounds()[1][k] + 1) for x, k in ((born, i), (seen, j)))
        met = np.unique(completed(YEARS, *(a.ravel() for a in np.meshgrid(s, b))))
        assert np.flatnonzero(~zeros[i, j]).tolist() == met[met >= 0].tolist()


@pytest.mark.parametrize(
    ("columns", "proposed"),
    [
        ((date("birth_date", "1930-01-01", "2020-12-31", 9), date("admitted", "2020-01-01", "2021-12-31", 9),
          num("age", 0, 100, 9)), "age = completed years from birth_date to admitted"),
        ((date("Geburtsdatum", "1930-01-01", "2020-12-31", 9), date("Aufnahmedatum", "2020-01-01", "2021-12-31", 9),
          num("Alter", 0, 100, 9)), "Alter = completed years from Geburtsdatum to Aufnahmedatum"),
        ((date("Geburtsdatum", "1930-01-01", "2020-12-31", 9), date("Entlassungsdatum", "2020-01-01", "2021-12-31", 9),
          date("Aufnahmedatum", "2020-01-01", "2021-12-31", 9), num("Alter bei Aufnahme", 0, 100, 9)),
         "Alter bei Aufnahme = completed years from Geburtsdatum to Aufnahmedatum"),
        ((date("dob", "2015-01-01", "2020-12-31", 9), date("visit_date", "2020-01-01", "2021-12-31", 9),
          num("age_months", 0, 84, 9)), "age_months = completed months from dob to visit_date"),
        ((date("dob", "2015-01-01", "2020-12-31", 9), date("visit_date", "2020-01-01", "2021-12-31", 9),
          num("age", 0, 7, 9, "float", step=0.1)), "age = visit_date - dob in years"),
    ],
)  # fmt: skip
def test_headers_of_both_languages_propose_an_age(columns, proposed):
    found = [str(r) for r in propose_rules(Schema.of({"version": 1, "name": "t", "attributes": list(columns)}))]
    assert proposed in found, found


def test_listed_ages_follow_from_a_birth_date_on_a_fixed_day():
    schema = declared(on("2020-12-31"), date("born", "2000-01-01", "2003-12-31", "month"), cat("age", [17, 18, 19, 20]))
    zeros = KnownZeros(schema.rules, {a.name: a for a in schema.attributes}).cells(("born", "age"))
    assert np.array_equal(~zeros, np.eye(4, dtype=bool)[3 - np.arange(48) // 12])
