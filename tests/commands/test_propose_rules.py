"""`dpsyn schema propose-rules`: what headers let expect, in two languages, in force only when a person adds it."""

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.data import paths
from dpsyn_core.privacy.looks import remembered
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.rule_breaks import breaking_record
from dpsyn_core.schema.rules.usual_rules import holds_by_nature, named_close, propose_rules
from tests.schema.helpers import cat, date, num, schema

SPAN = ("2020-01-01", "2021-01-01")
GERMAN = (
    date("Aufnahmedatum", *SPAN, "day"), date("Entlassungsdatum", *SPAN, "day"), num("Liegedauer", 0, 30, 3),
    date("geburtsdatum", "1950-01-01", "2001-01-01", "year"), num("Alter", 0, 99, 9), num("Netto", 0, 9, 9),
    num("Brutto", 0, 9, 9), cat("Stadt", ["a", "b"]), cat("Bundesland", ["x"]), cat("schwanger", ["ja", "nein"]),
    num("ssw", 1, 42, 5, missing=True),
)  # fmt: skip
ENGLISH = (
    num("AtBats", 0, 9, 9), num("hits", 0, 9, 9), num("temp_min", 0, 9, 9), num("temp_max", 0, 9, 9),
    num("cost_total", 0, 9, 9), num("cost_food", 0, 9, 9), num("cost_rent", 0, 9, 9), num("weight_kg", 30, 150, 9),
    num("height_cm", 100, 210, 9), num("bmi", 10, 60, 9), date("start time", *SPAN, "day"), cat("to", ["x", "y"]),
    date("end time", *SPAN, "day"), num("Weekday", 1, 7, 7),
)  # fmt: skip


def said(*attributes):
    return {str(r) for r in propose_rules(schema(*attributes))}


def test_headers_in_both_languages_propose_what_people_know():
    assert said(*GERMAN) == {
        "Aufnahmedatum <= Entlassungsdatum", "Liegedauer = Entlassungsdatum - Aufnahmedatum",
        "Alter = completed years from geburtsdatum to Aufnahmedatum", "Netto <= Brutto",
        "Bundesland follows from Stadt", "ssw is blank where schwanger = nein",
    }  # fmt: skip
    assert said(*ENGLISH) == {
        "hits <= AtBats", "temp_min <= temp_max", "cost_total = cost_food + cost_rent", "start time <= end time",
        "bmi = 10000 * weight_kg / height_cm / height_cm",
    }  # fmt: skip


CENTS = {"dtype": "float", "step": 0.01}
CLAIMS = (
    date("insured_since", *SPAN, "day"), date("claim_date", *SPAN, "day"), date("reported_date", *SPAN, "day"),
    date("settled_date", *SPAN, "day", missing=True), cat("status", ["open", "settled"]), cat("branch", ["a", "b"]),
    cat("region", ["x"]), date("birth_date", "1950-01-01", "2001-01-01", "year"), num("age", 0, 99, 9),
    num("price", 0.0, 90.0, 9, **CENTS), num("paid", 0.0, 900.0, 9, **CENTS), num("reserve", 0.0, 500.0, 9, **CENTS),
    num("total", 0.0, 1000.0, 9, **CENTS),
)  # fmt: skip


def test_a_table_of_claims_is_read_as_its_headers_say():
    assert said(*CLAIMS) == {
        "age = completed years from birth_date to claim_date", "claim_date <= reported_date",
        "claim_date <= settled_date", "reported_date <= settled_date", "total = paid + reserve",
        "settled_date is blank where status = open", "region follows from branch",
    }  # fmt: skip
    assert named_close("claim_date", "reported_date", precise=False)
    larger = num("total", 0.0, 5000.0, 9, **CENTS)  # no sum of the two reaches it
    assert not any("total" in r for r in said(*CLAIMS[:-1], larger))


HEADERS = [
    ([date("adm_dt", *SPAN, "day"), date("disch_dt", *SPAN, "day"), num("los", 0, 9, 9)],
     {"adm_dt <= disch_dt", "los = disch_dt - adm_dt"}),
    ([date("check_in", *SPAN, "day"), date("check_out", *SPAN, "day"), num("nights", 0, 9, 9)],
     {"check_in <= check_out", "nights = check_out - check_in"}),
    ([date("Startdatum", *SPAN, "day"), date("Enddatum", *SPAN, "day"), date("Beginn", *SPAN, "day"),
      date("Ende", *SPAN, "day")], {"Startdatum <= Enddatum", "Beginn <= Ende"}),
    ([date("ordered", *SPAN, "day"), date("billed", *SPAN, "day"), date("paid_on", *SPAN, "day")],
     {"ordered <= billed", "billed <= paid_on"}),
    ([date("Bestelldatum", *SPAN, "day"), date("Lieferdatum", *SPAN, "day")], {"Bestelldatum <= Lieferdatum"}),
    ([date("Projektbeginn", *SPAN, "day"), date("Projektende", *SPAN, "day"), num("Dauer", 0, 9, 9)],
     {"Projektbeginn <= Projektende", "Dauer = Projektende - Projektbeginn"}),
    ([num("Gesamtkosten", 0, 9, 9), num("Materialkosten", 0, 9, 9), num("Personalkosten", 0, 9, 9)],
     {"Gesamtkosten = Materialkosten + Personalkosten"}),
    ([num("Nettobetrag", 0, 9, 9), num("Mehrwertsteuer", 0, 9, 9), num("Bruttobetrag", 0, 9, 9)],
     {"Nettobetrag <= Bruttobetrag", "Bruttobetrag = Nettobetrag + Mehrwertsteuer"}),
    ([num("tmin", 0, 9, 9), num("tavg", 0, 9, 9), num("tmax", 0, 9, 9)],
     {"tmin <= tmax", "tmin <= tavg", "tavg <= tmax"}),
    ([num("rent", 0, 9, 9), num("heating", 0, 5, 5), num("total", 0, 14, 9)], {"total = rent + heating"}),
    ([num("rent", 0, 9, 9), num("heating", 0, 5, 5), num("total", 0, 9, 9)], set()),
    ([num("Mindestalter", 0, 9, 9), num("Höchstalter", 0, 9, 9)], {"Mindestalter <= Höchstalter"}),
    ([num("diastolic", 0, 9, 9), num("systolic", 0, 9, 9)], {"diastolic <= systolic"}),
    ([cat("Geschlecht", ["männlich", "weiblich"]), cat("Schwanger", ["Ja", "Nein"])],
     {"impossible: Geschlecht = männlich and Schwanger = Ja"}),
    ([date("birth_date", "1950-01-01", "2001-01-01", "year"), date("death_date", *SPAN, "day"),
      num("age_at_death", 0, 99, 9)],
     {"age_at_death = completed years from birth_date to death_date", "birth_date <= death_date"}),
    ([date("last_service", *SPAN, "day"), date("next_service", *SPAN, "day")], {"last_service <= next_service"}),
    ([num("wins", 0, 9, 9), num("draws", 0, 9, 9), num("losses", 0, 9, 9), num("played", 0, 9, 9)],
     {"wins <= played", "played = wins + draws + losses"}),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "proposed"), HEADERS, ids=lambda x: x[0]["name"] if isinstance(x, list) else "")
def test_headers_that_nobody_wrote_down_here_are_read_too(columns, proposed):
    assert said(*columns) == proposed


@pytest.mark.parametrize(
    "names",
    ["low_income_share high_income_share", "first_score last_score", "start_weight end_weight", "from_zip to_zip",
     "start_station end_station", "net_income gross_floor_area tax_rate", "upper_limb lower_limb",
     "price discount_percent", "age tenure_track", "arrival_delay departure_delay", "entry_score exit_score"],
)  # fmt: skip
def test_numbers_whose_names_only_sound_alike_are_not_proposed(names):
    assert said(*(num(n, 0, 99, 9) for n in names.split())) == set()


def test_a_train_departs_before_it_arrives_and_another_person_has_another_age():
    times = [date(n, "2020-01-01T00:00:00", "2020-02-01T00:00:00", 9) for n in ("arr_time", "dep_time")]
    assert said(*times, num("tripduration", 0, 9, 9)) == set()
    ages = [
        date("birth_date", "1950-01-01", "2001-01-01", "year"),
        date("seen", *SPAN, "day"),
        num("mother_age", 0, 99, 9),
    ]
    assert said(*ages) == {"birth_date <= seen"}


def fresh(dates="", numbers="", lists=""):
    """A schema with headers of these kinds, separated by commas."""
    return schema(
        *(date(n, *SPAN, "day") for n in filter(None, dates.split(","))),
        *(num(n, 0, 99, 9) for n in filter(None, numbers.split(","))),
        *(cat(n, ["a", "b"]) for n in filter(None, lists.split(","))),
    )


@pytest.mark.parametrize(
    ("headers", "on", "off"),
    [
        (fresh("hired,left", "net_pay,gross_pay,age"), {"hired <= left"}, {"net_pay <= gross_pay"}),
        (fresh("order_date,ship_date,paid_date", "discount,price"), {"order_date <= ship_date"},
         {"order_date <= paid_date", "discount <= price"}),
        (fresh("", "wins,games,goals,shots,from_depot,to_depot"), {"wins <= games"}, {"goals <= shots"}),
        (fresh("", "systolic,diastolic,lower limb score,upper limb score"), {"diastolic <= systolic"}, set()),
        (fresh("", "children,household_size,min_speed,max_speed"), {"min_speed <= max_speed"},
         {"children <= household_size"}),
        (fresh("Aufnahmedatum,Entlassungsdatum", "", "Stadt,Bundesland"), {"Aufnahmedatum <= Entlassungsdatum"},
         {"Bundesland follows from Stadt"}),
        (fresh("departure,arrival", "", "make,model"), set(), {"make follows from model"}),
        (fresh("", "", "Q1 trust in city government,Q2 family is important,Q3 state should help,zip"), set(), set()),
        (fresh("", "", "state of mind,postcode,I feel safe in my town,product of my country"), set(), set()),
        (fresh("", "questions correct,questions total", "home team,country"),
         {"questions correct <= questions total"}, set()),
    ],
    ids=lambda x: x.names[0] if hasattr(x, "names") else "",
)  # fmt: skip
def test_of_fresh_headers_only_what_no_record_can_break_is_on_without_a_press(headers, on, off):
    rules = propose_rules(headers)
    assert {str(r) for r in rules if holds_by_nature(r, headers)} == on
    assert {str(r) for r in rules if not holds_by_nature(r, headers)} == off
    for rule in rules:
        record = breaking_record(rule, headers)
        assert set(record) == (set() if rule.table_wide else set(rule.columns))
        assert rule.kind != "order" or record[rule.lower] > record[rule.upper]


def test_a_combination_that_a_rule_already_rules_out_is_not_proposed_again():
    hospital = Schema.load(paths("hospital")[1])
    assert propose_rules(hospital) == []
    narrower = [r for r in hospital.document()["rules"] if "marital" not in r.get("where", "")]
    narrower.append({"kind": "impossible", "where": "age in [0, 9] and marital = married"})
    found = propose_rules(Schema.of(hospital.document() | {"rules": narrower}))
    assert [str(r) for r in found] == ["impossible: age in [0, 13] and marital in {married, divorced, widowed}"]


def test_columns_that_do_not_fit_are_not_proposed():
    assert said(cat("start", ["x"]), num("end", 0, 9, 9)) == set()
    assert said(num("min", 5, 9, 5), num("max", 0, 3, 3)) == set()
    assert said(num("x", 0, 9, 9), cat("y", ["a"])) == set()


def test_a_person_adds_some_of_the_proposals(tmp_path, capsys):
    path, out = tmp_path / "s.json", tmp_path / "ruled.json"
    schema(*ENGLISH).dump(path)
    assert main(["schema", "propose-rules", str(path)]) == 0
    assert "1: " in capsys.readouterr().out and not out.exists()
    assert main(["schema", "propose-rules", str(path), "--add", "2", "1", "--out", str(out)]) == 0
    assert len(Schema.load(out).rules) == 2 and len(propose_rules(Schema.load(out))) == 3
    assert main(["schema", "propose-rules", str(path), "--add", "9", "--out", str(out)]) == 2
    assert main(["schema", "propose-rules", str(path), "--add", "1"]) == 2


def test_that_a_table_was_searched_for_rules_is_remembered_and_a_list_from_headers_alone_is_not(tmp_path):
    path, table = tmp_path / "s.json", tmp_path / "t.csv"
    wanted = schema(num("a", 0, 9, 9), num("b", 0, 9, 9))
    wanted.dump(path)
    table.write_text("a,b\n" + "".join(f"{i % 5},{i % 5 + 1}\n" for i in range(40)))
    assert main(["schema", "propose-rules", str(path)]) == 0
    assert not remembered(wanted.ledger_name, "rules")
    assert main(["schema", "propose-rules", str(path), str(table)]) == 0
    assert remembered(wanted.ledger_name, "rules") and not remembered(wanted.ledger_name, "unit")
