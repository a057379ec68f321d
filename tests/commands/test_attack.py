"""`dpsyn attack`: in words and as JSON, from a manifest or from a budget, with a sentence for what does not fit."""

import json

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from tests.commands.small import SCHEMA, write_table


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    write_table(tmp_path / "people.csv")
    (tmp_path / "people.schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def attack(*more):
    return main(["attack", "people.csv", "people.schema.json", "--quiet", *more])


BUDGET = ("--epsilon", "1", "--delta", "1e-9", "--method", "independent")


def test_the_result_is_told_in_words_and_left_as_json_for_the_owner(people, capsys):
    assert (
        attack(*BUDGET, "--kind", "inference", "--secret", "age", "--runs", "4", "--workers", "0", "--out", "a.json")
        == 0
    )
    told = capsys.readouterr().out
    assert told.startswith("No leak was found") and "age" in told and "nothing was booked on the ledger" in told
    assert "A failed attack proves nothing" in told and "not to be published" in told
    assert "wrote a.json: it " in told
    document = json.loads((people / "a.json").read_text())
    assert document["kind"] == "inference" and document["verdict"] == "nothing"
    assert "owner only" in document["label"] and document["rates"][0]["name"] == "age"
    assert not Ledger().path.exists()


def test_a_manifest_states_the_run_that_is_attacked(people, capsys):
    made = ["people.csv", "--schema", "people.schema.json", *BUDGET, "--dataset", "people"]
    assert main(["synth", *made, "--out", "s.csv", "--manifest", "m.json", "--quiet"]) == 0
    booked = Ledger().entries()
    assert attack("--manifest", "m.json", "--kind", "linkage", "--runs", "4", "--workers", "0") == 0
    told = capsys.readouterr().out
    assert "independent at epsilon 1, delta 1e-09" in told and "wrote" not in told
    assert Ledger().entries() == booked and len(booked) == 1
    assert attack("--manifest", "m.json", "--epsilon", "2") == 2
    assert "give one or the other" in capsys.readouterr().err
    other = {**SCHEMA, "name": "others"}
    (people / "people.schema.json").write_text(json.dumps(other))
    assert attack("--manifest", "m.json") == 2
    assert "another schema" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), "--manifest M.json, or --epsilon and --delta"),
        ((*BUDGET, "--runs", "2"), "--runs"),
        ((*BUDGET, "--secret", "age"), "leave it out, or use inference"),
        ((*BUDGET, "--kind", "inference", "--secret", "nobody"), "no column 'nobody'"),
        (("--epsilon", "1", "--delta", "1", "--method", "independent"), "delta"),
        ((*BUDGET, "--out", "people.csv"), "an input and the output"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(people, capsys, given, told):
    assert attack(*given) == 2
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1
