"""`dpsyn ledger` against manifests, and one name a table in the command and the app."""

import sqlite3

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.schema.document import Schema
from tests.commands.small import SCHEMA, write_table


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "comma.csv")
    Schema.of(SCHEMA).dump(tmp_path / "schema.json")
    return tmp_path


def synth(*more):
    return main([
        "synth", "comma.csv", "--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "--out", "s.csv",
        "--manifest", "m.json", "--method", "independent", "--quiet", *more,
    ])  # fmt: skip


def test_a_ledger_that_holds_the_run_of_a_manifest_says_so_and_one_that_lost_it_is_refused(place, capsys):
    assert synth() == 0
    assert main(["ledger", "--manifest", "m.json"]) == 0
    assert "entry 1 of the ledger, dataset 'people'" in capsys.readouterr().out
    with sqlite3.connect(Ledger().path) as db:
        db.execute("DROP TRIGGER spends_DELETE")
        db.execute("DELETE FROM spends")
        db.execute("DELETE FROM sqlite_sequence")
    assert main(["ledger", "--manifest", "m.json"]) == 2
    assert "not on this ledger" in capsys.readouterr().err


def test_a_drafted_schema_is_named_as_the_file_without_its_ending_and_the_ledger_follows_it(place, capsys):
    assert main(["schema", "draft", "comma.csv", "-o", "draft.json"]) == 0
    assert Schema.load(place / "draft.json").ledger_name == "comma"


def test_the_schema_keeps_the_name_for_the_ledger(place):
    kept = Schema.of(SCHEMA).booked_as("census")
    kept.dump(place / "schema.json")
    assert Schema.load(place / "schema.json") == kept
    assert synth() == 0
    assert Ledger().datasets() == ["census"]
    assert Manifest.load(place / "m.json").dataset == "census"
    assert kept.booked_as("people") == Schema.of(SCHEMA)


@pytest.mark.parametrize("other", ["People", "people.csv", " PEOPLE "])
def test_a_name_that_looks_like_one_on_the_ledger_is_pointed_out_before_the_run(place, capsys, other):
    assert synth("--dataset", other) == 0
    assert "add up only under one name" not in capsys.readouterr().err
    assert synth() == 0
    said = capsys.readouterr().err
    assert f"the ledger knows '{other.strip()}'" in said
    assert "--dataset" in said
