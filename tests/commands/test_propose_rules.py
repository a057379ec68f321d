"""`dpsyn schema propose-rules`: what headers let expect, in two languages, in force only when a person adds it."""

from dpsyn_core.cli import main
from dpsyn_core.data import paths
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.usual_rules import propose_rules
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
        "Alter = Aufnahmedatum - geburtsdatum in years", "Netto <= Brutto", "Bundesland follows from Stadt",
        "ssw is blank where schwanger = nein",
    }  # fmt: skip
    assert said(*ENGLISH) == {
        "hits <= AtBats", "temp_min <= temp_max", "cost_total = cost_food + cost_rent", "start time <= end time",
        "bmi = 10000 * weight_kg / height_cm / height_cm",
    }  # fmt: skip


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
