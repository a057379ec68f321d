"""The certificate in words: the same structure in every language, and the promise that the manifest states."""

import json
import re

import pytest

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.manifest.certificates import ENGLISH, certificate, promise
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import StatedRule, UsedTable
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.report.translation import sentence
from tests.privacy.test_manifest import charges, manifest
from ui.shared.text import written

GERMAN = {k: written("de").get(f"certificate.{k}", v) for k, v in ENGLISH.items()}
CASES = [
    {}, {"unit": Unit(neighbours="replace")}, {"unit": Unit(max_records=3)},
    {"unit": Unit(identifier="id", max_records=3)}, {"unit": Unit(identifier="id")},
    {"reasons": ("a column was read",)},
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_promise_that_is_made_of_parts_is_the_one_of_the_manifest(case):
    made = manifest(**case)
    assert promise(made, {**ENGLISH, "promise": "parts"}) == made.guarantee


@pytest.mark.parametrize("case", CASES)
def test_every_number_of_the_english_certificate_stands_in_the_german_one(case):
    made = manifest(charges=charges(shares=[1.0 + i for i in range(60)]), **case)
    english, german = certificate(made), certificate(made, GERMAN)
    figure = r"\d[\d.,]*(?:e-\d+)?"
    numbers = [
        re.findall(figure, part.partition("Versions")[0]) for part in (english, german.replace("Versionen", "Versions"))
    ]
    plain = [n.rstrip(".,") for n in numbers[0]]
    assert [n.rstrip(".,").translate(str.maketrans(",.", ".,")) for n in numbers[1]] == plain
    assert not re.search(
        r"\b(the|of|each|record|noise)\b", german.partition("Versionen")[0].replace("a column was read", "")
    )


def test_the_certificate_of_a_pure_run_says_so():
    made = manifest(budget=Budget(epsilon=0.5, delta=0), charges=[], reasons=("x",))
    assert promise(made, GERMAN).startswith("NICHT GESCHÜTZT: Es wurde kein Rauschen")


RULES = (
    StatedRule(rule="start <= end", vouched="owner's word"),
    StatedRule(rule="unique together: shop, day", vouched="proposed and agreed"),
    StatedRule(table="visits", rule="country follows from city, but for 1.25% of the records", vouched="bought"),
    StatedRule(rule="impossible: a = 1", vouched="not said"),
)


def test_the_certificate_lists_the_rules_with_who_vouches_for_each():
    made = manifest(rules=RULES)
    section = certificate(made).partition("Rules that every record keeps (4)\n")[2].partition("\n\n")[0]
    assert section.split("\n") == [
        "  start <= end: the owner's word that it is public",
        "  unique together: shop, day: proposed from names and declared ranges alone, and agreed to",
        "  visits: country follows from city, but for 1.25% of the records: bought with budget, a released value",
        "  impossible: a = 1: stands in the schema, which does not say who vouches for it",
    ]
    words = {"language": "de", "decimal_mark": ","}
    german = certificate(made, GERMAN, said=lambda text: sentence(text, words))
    section = german.partition("Regeln, die jeder Datensatz einhält (4)\n")[2].partition("\n\n")[0]
    assert section.split("\n") == [
        "  start <= end: öffentlich nach dem Wort des Eigentümers",
        "  zusammen eindeutig: shop, day: allein aus Namen und erklärten Bereichen vorgeschlagen, und gebilligt",
        "  visits: country folgt aus city, außer bei 1,25\u00a0% der Datensätze: "
        "mit Budget gekauft, ein freigegebener Wert",
        "  unmöglich: a = 1: steht im Schema, das nicht sagt, wer dafür bürgt",
    ]


def test_rules_of_a_long_list_are_counted_after_forty_lines():
    made = manifest(rules=[StatedRule(rule=f"a{i} <= b", vouched="owner's word") for i in range(60)])
    assert "... and 20 more, all in the manifest's JSON" in certificate(made)


def test_the_word_of_the_owner_is_german_in_the_german_certificate():
    used = UsedTable(name="before.csv", sha256="0" * 64, n_records=9, columns=("age",))
    made = manifest(query_vouched=True, public_table=used)
    english, german = certificate(made), certificate(made, GERMAN)
    assert english.count("owner's word") == 2 and "query                owner's word: that" in english
    assert "owner" not in german
    assert "Abfrage              Wort des Eigentümers: Dass sie" in german
    assert "Wort des Eigentümers: Dass sie öffentlich ist" in german


def test_a_manifest_leaves_out_what_its_run_does_not_have():
    used = UsedTable(name="before.csv", sha256="0" * 64, n_records=9, columns=("age",))
    rules = [StatedRule(rule="a <= b", vouched="owner's word"), StatedRule(table="t", rule="b", vouched="bought")]
    plain = manifest().model_dump(mode="json")
    assert not {"refit", "public_table", "hanging", "columns"} & set(plain)
    full = manifest(public_table=used, rules=rules).model_dump(mode="json")
    assert "candidates" not in full["public_table"] and full["public_table"]["n_records"] == 9
    assert ["table" in rule for rule in full["rules"]] == [False, True]
    several = used.model_copy(update={"candidates": (used.name, "after.csv")})
    assert len(manifest(public_table=several).model_dump(mode="json")["public_table"]["candidates"]) == 2


@pytest.mark.parametrize(("seed", "kept"), [(7, 7), (2**53 - 1, 2**53 - 1), (2**53, str(2**53))])
def test_a_seed_of_more_digits_than_readers_of_json_keep_is_written_as_text(tmp_path, seed, kept):
    made = manifest().model_copy(update={"seed": seed})
    made.dump(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["seed"] == kept
    assert Manifest.load(tmp_path / "m.json").seed == seed
