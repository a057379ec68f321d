"""Refits of a part of linked tables: roots under a condition, some columns, further rules; the promise stays."""

import json
from pathlib import Path

import pytest
from pyarrow import csv

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import InputError, SchemaError, SettingError
from dpsyn_core.privacy.looks import remember
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.refits.refit import Changes
from dpsyn_core.runs.trees.keys import check_keys
from dpsyn_core.runs.trees.refit import looked_at, schema_of_refit
from dpsyn_core.runs.trees.rule_breaks import broken_roots
from dpsyn_core.runs.trees.selection import with_tree_rules
from tests.runs.trees.small import DEEP, grown

SCHEMA = DEEP["plain"]
NAMES = ("roots", "kids", "toys")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release of three tables."""
    path = tmp_path_factory.mktemp("released")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        patch.setenv("DPSYN_HOME", str(path / "home"))
        SCHEMA.dump("s.json")
        for name, table in grown(300, 2, 1).items():
            table.to_pandas().to_csv(f"{name}.csv", index=False)
        named = " ".join(f"--table {n}={n}.csv" for n in NAMES)
        words = f"synth {named} --schema s.json --epsilon 20 --delta 1e-6 --seed 1 --set effort=0.2 --quiet"
        assert main(f"{words} --save-release r.dpsyn -o run/".split()) == 0
    return path


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DPSYN_HOME", str(folder / "home"))


def made(out, *words):
    assert main(["refit", "r.dpsyn", "--seed", "1", "--quiet", "-o", f"{out}/", *words]) == 0
    return {n: csv.read_csv(f"{out}/{n}.csv") for n in NAMES}


def test_roots_that_meet_a_condition_stay_with_all_that_hangs_on_them():
    whole, part = made("whole"), made("part", "--where", "a = 1")
    stay = {r["id"] for r in whole["roots"].to_pylist() if r["a"] == 1}
    assert 0 < len(stay) < whole["roots"].num_rows and part["roots"].num_rows == len(stay)
    assert set(part["roots"]["a"].to_pylist()) == {1}
    kids = {r["kid"]: r["root"] for r in whole["kids"].to_pylist()}
    assert part["kids"].num_rows == sum(root in stay for root in kids.values())
    assert part["toys"].num_rows == sum(kids[of] in stay for of in whole["toys"]["of"].to_pylist())
    assert all(found.hold for found in check_keys(SCHEMA, part))
    manifest = Manifest.load(Path("part/manifest.json"))
    assert manifest.refit.where == "a = 1" and manifest.charges == Manifest.load(Path("run/manifest.json")).charges
    assert main(["verify", "part/", "--schema", "s.json"]) == 0


def test_columns_are_left_out_and_keys_stay():
    whole, part = made("whole"), made("columns", "--columns", "roots.a,toys.u")
    assert [part[n].column_names for n in NAMES] == [["id", "a"], ["root", "kid"], ["of", "u"]]
    assert all(part[n][c].equals(whole[n][c]) for n in NAMES for c in part[n].column_names)
    assert Manifest.load(Path("columns/manifest.json")).refit.columns == ("roots.a", "toys.u")


def test_further_rules_of_tables_and_links_are_kept():
    rules = [
        {"table": "toys", "kind": "impossible", "where": "c = 1 and u = 0"},
        {"link": "kids", "kind": "count", "where": "r = 0", "most": 1},
        {"link": "toys", "kind": "impossible", "where": "kids.r = 2 and c = 0"},
    ]
    Path("rules.json").write_text(json.dumps(rules))
    whole, part = made("whole"), made("ruled", "--rules", "rules.json")
    schema = with_tree_rules(SCHEMA, rules)
    assert sum(found.parents for found in broken_roots(schema, whole)) > 0
    assert sum(found.parents for found in broken_roots(schema, part)) == 0
    assert not any(r["c"] == 1 and r["u"] == 0 for r in part["toys"].to_pylist())
    manifest = Manifest.load(Path("ruled/manifest.json"))
    assert manifest.private and list(manifest.refit.rules) == rules


def test_a_rule_that_was_chosen_by_looking_undoes_the_promise():
    rules = [{"link": "kids", "kind": "count", "where": "r = 0", "most": 1, "source": "data"}]
    Path("looked.json").write_text(json.dumps(rules))
    assert main(["refit", "r.dpsyn", "--rules", "looked.json", "--quiet", "-o", "looked/"]) == 0
    manifest = Manifest.load(Path("looked/manifest.json"))
    assert not manifest.private and Path("looked/roots.NOT-PRIVATE.csv").exists()
    silent = [{k: v for k, v in rules[0].items() if k != "source"}]
    Path("silent.json").write_text(json.dumps(silent))
    changes = Changes(rules=tuple(silent))
    assert not looked_at(changes, SCHEMA, "deep")
    remember(SCHEMA.ledger_name, "rules")
    assert looked_at(changes, SCHEMA, "deep")
    assert main(["refit", "r.dpsyn", "--rules", "silent.json", "--quiet", "-o", "silent/"]) == 0
    assert not Manifest.load(Path("silent/manifest.json")).private
    assert Path("silent/roots.NOT-PRIVATE.csv").exists()


@pytest.mark.parametrize(
    ("changes", "kind", "told"),
    [
        ({"where": "r = 0"}, SchemaError, "no column of 'roots'"),
        ({"where": "a = 7"}, InputError, "7"),
        ({"where": "a = 1", "n_records": 5}, SettingError, "leave the number of records out"),
        ({"columns": ("a",)}, SettingError, "write TABLE.COLUMN"),
        ({"columns": ()}, SettingError, "write TABLE.COLUMN"),
        ({"rules": ({"kind": "impossible", "where": "a = 1"},)}, SchemaError, "says whose it is"),
        (
            {"columns": ("roots.a",), "rules": ({"table": "toys", "kind": "impossible", "where": "c = 1 and u = 0"},)},
            SchemaError, "which is left out",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_a_sentence(changes, kind, told):
    with pytest.raises(kind, match=told):
        schema_of_refit(Changes(**changes), SCHEMA)
