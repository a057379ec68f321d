"""`dpsyn ledger` against manifests, and one name a table in the command and the app."""

import json
import sqlite3

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.commands.ledger import _entries
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.unit import Unit
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


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--limit", "4"], "--limit needs --dataset and --delta"),
        (["--limit", "4", "--dataset", "d"], "--limit needs --dataset and --delta"),
        (["--limit", "4", "--delta", "1e-9"], "--limit needs --dataset and --delta"),
        (["--no-limit"], "--no-limit needs --dataset"),
        (["--no-limit", "--dataset", "d", "--limit", "4", "--delta", "1e-9"], "--no-limit needs --dataset and no"),
    ],
)
def test_a_limit_needs_its_dataset_and_delta(tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))
    assert main(["ledger", *more]) == 2
    assert said in capsys.readouterr().err


def test_a_ledger_lists_each_dataset_with_its_sums_and_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))
    assert main(["ledger"]) == 0 and capsys.readouterr().out == "nothing has been spent\n"
    budget, ledger = Budget(epsilon=1.0, delta=1e-9), Ledger()
    for unit in (Unit(), Unit(identifier="who", max_records=3)):
        ledger.reserve("census", budget.gaussian(), budget=budget, unit=unit, method="mst")
    assert main(["ledger", "--dataset", "census", "--limit", "4", "--delta", "1e-6"]) == 0
    head, first, second, one, two = capsys.readouterr().out.splitlines()
    assert head.startswith("census: 2 runs; ") and head.endswith(" left of 4 at delta 1e-06")
    assert first.startswith("  single records (add-remove): epsilon ") and " at delta 1e-06, rho " in first
    assert second == ("  individuals named by 'who' (add-remove): no bound, for nothing is promised to them by entry 1")
    assert one.split()[0] == "1" and one.endswith("epsilon 1 delta 1e-09  (each record, add-remove)")
    assert two.split()[0] == "2" and two.endswith("epsilon 1 delta 1e-09  (who, at most 3, add-remove)")
    assert main(["ledger", "--dataset", "census", "--no-limit"]) == 0
    assert capsys.readouterr().out.startswith("census: 2 runs\n")
    assert main(["ledger", "--delta", "1e-3", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["datasets"]
    assert (found["dataset"], found["delta"], found["limit_epsilon"], len(found["entries"])) == (
        "census",
        1e-3,
        None,
        2,
    )
    assert [_entries(list(range(1, k + 1))) for k in (1, 2, 5, 6)] == [
        "entry 1", "entries 1, 2", "entries 1, 2, 3, 4, 5", "entries 1, 2, 3, 4, 5 and 1 more",
    ]  # fmt: skip
