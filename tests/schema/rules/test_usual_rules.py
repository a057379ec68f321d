"""Rules that headers and ranges let expect, kind by kind: what makes each proposal, and what just takes it away."""

import itertools

import pytest

from dpsyn_core.schema.rules.usual_rules import MOST, propose_rules, quoted, words_of
from tests.schema.helpers import cat, date, num, schema

SPAN = ("2020-01-01", "2021-01-01")
CENTS = {"dtype": "float", "step": 0.01}


def said(*attributes, rules=()):
    return {str(r) for r in propose_rules(schema(*attributes, rules=list(rules)))}


def whole(name, high=99, low=0, **more):
    return num(name, low, high, 9, **more)


def cents(name, high, low=0.0, **more):
    return num(name, low, high, 9, **CENTS | more)


def day(name, **more):
    return date(name, *SPAN, "day", **more)


def moment(name):
    return date(name, "2020-01-01T00:00:00", "2021-01-01T00:00:00", "day")


@pytest.mark.parametrize(
    ("top", "dtype", "times"),
    [(2.5, "float", ""), (3, "integer", ""), (3.5, "float", None), (99, "integer", None), (100, "integer", "10000 * "),
     (300, "integer", "10000 * "), (301, "integer", None)],
)  # fmt: skip
def test_a_body_mass_index_takes_metres_or_centimetres_by_the_range_of_the_height(top, dtype, times):
    height = num("height", 0.5 if dtype == "float" else 1, top, 9, dtype)
    expected = set() if times is None else {f"bmi = {times}weight / height / height"}
    assert said(height, whole("weight", 200), whole("bmi")) == expected
    assert said(height, whole("weight", 200), whole("weight of mother", 200), whole("bmi")) == set(), "which weight?"


def test_a_ratio_needs_all_three_columns_each_once():
    columns = {"density": whole("density"), "population": whole("population"), "area": whole("area", low=1)}
    assert said(*columns.values()) == {"density = population / area"}
    for gone in columns:
        assert said(*(a for n, a in columns.items() if n != gone)) == set()
    assert said(*columns.values(), whole("area of water")) == set()
    assert said(whole("average"), whole("hits"), whole("at_bats")) == {"hits <= at_bats", "average = hits / at_bats"}


@pytest.mark.parametrize(
    ("parts", "high", "expected"),
    [
        ({"paid": 900.0, "reserve": 500.0}, 1400.0, "total = paid + reserve"),
        ({"paid": 900.0, "reserve": 500.0}, 1400.01, None),  # they cannot reach it
        ({"paid": 900.0, "reserve": 500.0}, 900.0, "total = paid + reserve"),
        ({"paid": 900.0, "reserve": 500.0}, 899.99, None),  # a part cannot be larger
        ({"paid": 900.0, "balance": 10.0, "reserve": 500.0}, 1000.0, None),  # stands apart: one part is left
        ({"paid": 900.0, "rate": 10.0, "a": 500.0, "b": 600.0}, 1000.0, "total = a + b"),
        ({"paid": 900.0}, 900.0, None),
    ],
)
def test_amounts_before_a_total_are_its_parts_where_their_ranges_leave_room(parts, high, expected):
    columns = [cents(n, h) for n, h in parts.items()]
    assert said(*columns, cents("total", high)) == ({expected} if expected else set())
    assert said(*columns, whole("visits"), cents("total", high)) == set(), "another unit stands between"
    assert said(*[{**c, "min": -1.0} for c in columns], cents("total", high)) == set()
    assert said(*columns, cents("total", high, -1.0)) == set()


def test_whole_numbers_before_a_total_are_no_parts_unless_their_ranges_add_up():
    assert said(whole("a", 60), whole("b", 50), whole("total", 100)) == set()
    assert said(whole("a", 60), whole("b", 40), whole("total", 100)) == {"total = a + b"}
    assert said(whole("total", 100), whole("a", 60), whole("b", 40)) == {"total = a + b"}
    assert said(whole("x", 7), whole("a", 60), whole("b", 40), whole("total", 100)) == {"total = a + b"}
    assert said(whole("a", 60), whole("b", 40), whole("x", 7), whole("total", 100)) == set(), "not next to it"
    assert said(whole("a", 60), whole("b", 40), whole("total", 101)) == set()
    assert said(whole("a", 60, 5), whole("b", 40, 6), whole("total", 100, 11)) == {"total = a + b"}
    assert said(whole("a", 60, 5), whole("b", 40, 6), whole("total", 100, 10)) == set()
    three = [whole("a", 60), whole("b", 40), whole("c", 0 + 1, low=0)]
    assert said(*three, whole("total", 101)) == {"total = a + b + c"}
    assert said(whole("a", 100), whole("total", 100)) == set(), "a copy is no sum"


def test_parts_of_a_total_share_its_other_words_and_are_no_larger():
    assert said(whole("cost_total", 50), whole("cost_food", 50), whole("cost_rent", 50)) == {
        "cost_total = cost_food + cost_rent"
    }
    assert said(whole("cost_total", 50), whole("cost_food", 51), whole("cost_rent", 50)) == set()
    assert said(whole("cost_total", 50), whole("cost_food", 50)) == set()
    assert said(whole("total rate", 50), whole("rate a", 20), whole("rate b", 30)) == set()
    assert said(whole("total score", 50), whole("score a", 50), whole("score b", 50)) == {
        "total score = score a + score b"
    }


def test_groups_that_make_up_a_whole_are_summed_once_each_is_there():
    people = {"population": whole("population"), "male": whole("male"), "female": whole("female")}
    assert said(*people.values()) == {"population = male + female"}
    for gone in people:
        assert said(*(a for n, a in people.items() if n != gone)) == set()
    assert said(*people.values(), whole("women")) == set(), "which of both?"
    assert said(whole("population"), whole("male rate"), whole("female rate")) == set()
    assert said(whole("town population"), whole("town male"), whole("female")) == {
        "town population = town male + female"
    }
    assert said(whole("town population"), whole("city male"), whole("female")) == set()


def test_some_are_no_more_than_all_where_their_other_words_agree():
    assert said(whole("bedrooms"), whole("rooms")) == {"bedrooms <= rooms"}
    assert said(whole("bedrooms share"), whole("rooms")) == set()
    assert said(whole("attic bedrooms"), whole("attic rooms")) == {"attic bedrooms <= attic rooms"}
    assert said(whole("attic bedrooms"), whole("rooms")) == set()
    assert said(whole("won"), whole("games"), whole("matches")) == set(), "two that could be all"


def test_blank_cells_follow_a_plain_no():
    weeks = whole("weeks", 42, missing=True)
    for values, no in ((["yes", "no"], "no"), (["ja", "nein", "?"], "nein"), ([0, 1], "0")):
        assert said(cat("pregnant", values), weeks) == {f"weeks is blank where pregnant = {no}"}
    for values in (["yes", "no", "?", "x"], ["yes", "maybe"], ["no", "none", "yes"]):
        assert said(cat("pregnant", values), weeks) == set()
    assert said(cat("pregnant", ["yes", "no"]), whole("weeks", 42)) == set(), "it has no blank cells"
    assert said(cat("smoker", ["yes", "no"]), weeks) == set()


def test_the_end_of_a_case_is_blank_while_it_is_pending():
    closed = day("closed", missing=True)
    assert said(cat("status", ["open", "shut"]), closed) == {"closed is blank where status = open"}
    assert said(cat("status", ["open", "pending", "shut"]), closed) == set()
    assert said(cat("status", ["open", "shut"]), day("closed")) == set()
    assert said(cat("status", ["open", "shut"]), whole("closed", missing=True)) == set()
    assert said(cat("status", ["open", "shut"]), cat("closed", ["a", "b"], missing=True)) == set()


def test_men_are_not_pregnant_and_children_not_married():
    sex, pregnant = cat("sex", ["f", "m"]), cat("pregnant", ["y", "n"])
    assert said(sex, pregnant) == {"impossible: sex = m and pregnant = y"}
    assert said(cat("sex", ["f", "x"]), pregnant) == said(sex, cat("pregnant", ["u", "n"])) == set()
    marital = cat("marital", ["never married", "Married", "single"])
    assert said(whole("age"), marital) == {"impossible: age in [0, 13] and marital in {Married}"}
    assert said(whole("age", low=13), marital) == {"impossible: age in [13, 13] and marital in {Married}"}
    assert (
        said(whole("age", low=14), marital) == said(whole("age"), cat("marital", ["single", "never married"])) == set()
    )
    held = {"kind": "impossible", "where": "age in [0, 13] and marital in {Married}", "source": "public"}
    assert said(whole("age"), marital, rules=[held]) == set()
    more = {"kind": "impossible", "where": "age in [0, 20] and marital in {Married, single}", "source": "public"}
    less = {"kind": "impossible", "where": "age in [0, 5] and marital in {Married}", "source": "public"}
    assert said(whole("age"), marital, rules=[more]) == set() and len(said(whole("age"), marital, rules=[less])) == 1


def test_a_length_is_the_time_between_the_only_two_dates():
    ends = (day("admission"), day("discharge"))
    order = "admission <= discharge"
    assert said(*ends, whole("los")) == {order, "los = discharge - admission"}
    assert said(*ends, whole("duration")) == {order, "duration = discharge - admission"}
    assert said(*ends, whole("weeks")) == {order, "weeks = discharge - admission in weeks"}
    assert said(*ends, whole("los"), whole("nights")) == {order}, "which of both?"
    times = (moment("admission"), moment("discharge"))
    assert said(*times, whole("duration")) == {order}, "of what unit?"
    assert said(*times, whole("hours")) == {order, "hours = discharge - admission in hours"}
    assert said(*times, whole("los")) == {order, "los = discharge - admission in days"}
    assert said(*ends, day("start"), day("end"), whole("los")) == {order, "start <= end"}
    assert said(date("birth", *SPAN, "day"), day("death"), whole("years")) == {"birth <= death"}


@pytest.mark.parametrize(
    ("age", "rule"),
    [
        (whole("age", 130), "age = completed years from birth to visit"),
        (whole("age", 131), None),
        (num("age", 0, 99, 9, "float"), "age = visit - birth in years"),
        (whole("age in months", 1560), "age in months = completed months from birth to visit"),
        (whole("age in months", 1561), None),
        (num("age in months", 0, 99, 9, "float"), None),
        (whole("age of mother"), None),
    ],
)
def test_an_age_is_that_since_birth_at_the_only_other_date(age, rule):
    orders = {"birth <= visit"}
    found = said(day("birth"), day("visit"), age)
    assert found == ({rule} if rule else orders)
    assert said(day("birth"), day("dob"), day("visit"), age) == set(), "whose birth?"


def test_parts_of_dates_are_of_the_only_date_with_their_other_words():
    for header, part in (("year", "year"), ("quarter", "quarter"), ("Monat", "month"), ("wochentag", "weekday")):
        (rule,) = said(day("visit"), whole(header, 2021 if part == "year" else 12, 2020 if part == "year" else 1))
        assert part in rule and header in rule and "visit" in rule
    two = (day("visit date"), day("payment date"))
    (rule,) = said(*two, whole("visit year", 2021, 2020))
    assert "visit date" in rule and "payment" not in rule
    assert said(*two, whole("year", 2021, 2020)) == said(*two, whole("birth year", 2021, 2020)) == set()


def test_a_place_follows_from_the_only_smaller_one():
    assert said(cat("city", ["a", "b"]), cat("state", ["x", "y"])) == {"state follows from city"}
    assert said(cat("city", ["a", "b"]), cat("town", ["a", "b"]), cat("state", ["x", "y"])) == set()
    assert said(cat("city", ["a", "b"]), cat("state of mind", ["x", "y"])) == set()
    assert said(cat("city name", ["a", "b"]), cat("state code", ["x", "y"])) == {"state code follows from city name"}
    assert said(cat("home city", ["a", "b"]), cat("home state", ["x", "y"])) == {"home state follows from home city"}


def test_bounds_stand_last_or_name_a_bound_and_a_limb_is_none():
    assert said(whole("price low"), whole("price high")) == {"price low <= price high"}
    assert said(whole("lower leg"), whole("upper leg")) == set()
    assert said(whole("lower leg limit"), whole("upper leg limit")) == {"lower leg limit <= upper leg limit"}
    assert said(whole("min zip"), whole("max zip")) == set(), "a name is no amount"


def test_a_train_departs_first_unless_columns_or_guests_say_otherwise():
    first, second = day("arrival"), day("departure")
    assert said(first, second) == {"arrival <= departure"} and said(second, first) == set()
    assert said(moment("arrival"), moment("departure")) == set()
    assert said(second, first, cat("room", ["a", "b"])) == {"arrival <= departure"}
    assert said(moment("arrival"), moment("departure"), cat("room", ["a", "b"])) == {"arrival <= departure"}


def test_at_most_forty_rules_are_proposed_each_once_and_none_that_is_there():
    columns = [whole(f"{word}{chr(97 + i)} {end}") for i in range(22) for word in ("x", "y") for end in ("min", "max")]
    found = propose_rules(schema(*columns))
    assert len(found) == MOST == 40 and len({str(r) for r in found}) == 40
    rule = {"kind": "order", "lower": "bedrooms", "upper": "rooms", "source": "public"}
    assert said(whole("bedrooms"), whole("rooms"), rules=[rule]) == set()


def test_words_of_headers_are_single_joined_and_without_umlauts():
    assert {"at", "bats", "at_bats", "atbats"} <= words_of("AtBats") == words_of("at bats")
    assert {"groesse", "koerper"} <= words_of("Körper-Größe")
    assert {"aufnahme", "datum", "aufnahmedatum", "aufnahme_datum"} <= words_of("Aufnahmedatum")
    assert {"2", "b", "2b"} <= words_of("2b")


@pytest.mark.parametrize(
    ("text", "written"),
    [("a", "a"), ("a b", '"a b"'), ("And", '"And"'), ("in", '"in"'), ("not", '"not"'), ('a"b', '"a""b"'), ("é1", "é1")],
)
def test_names_in_conditions_are_quoted_where_they_need_it(text, written):
    assert quoted(text) == written


def test_pairs_of_headers_that_differ_in_more_than_their_ends_are_none():
    for ends in (("min", "max"), ("net", "gross"), ("from", "to"), ("diastolic", "systolic")):
        names = [f"{ends[0]} a", f"{ends[1]} a", f"{ends[0]} b", f"{ends[1]} b"]
        assert said(*map(whole, names)) == {f"{ends[0]} {x} <= {ends[1]} {x}" for x in "ab"}
    for one, other in itertools.permutations(["min a", "max b"]):
        assert said(whole(one), whole(other)) == set()
