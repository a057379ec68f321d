"""`dpsyn schema check` of linked tables: the schema alone, with its tables, and what is wrong with them."""

import json
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import main

SCHEMA = "households.schema.json"
BOTH = "--table households=households.csv --table persons=persons.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    assert main(["sample", ".", "--name", "households"]) == 0


def check(words, capsys):
    capsys.readouterr()
    status = main(f"schema check {words}".split())
    told = capsys.readouterr()
    return status, told.out + told.err


def with_rule(rule):
    document = json.loads(Path(SCHEMA).read_text())
    document["tables"][1]["schema"]["rules"] = [rule]
    Path("ruled.json").write_text(json.dumps(document))


def test_a_schema_of_linked_tables_is_checked_alone_and_with_its_tables(capsys):
    status, told = check(SCHEMA, capsys)
    assert status == 0 and "table 'households'" in told and "link: at most" in told and "can be used" in told
    status, told = check(f"{SCHEMA} {BOTH}", capsys)
    assert status == 0 and "for the owner only" in told and "not in the schema" not in told
    assert "records have no parent" not in told


def test_children_without_parents_missing_keys_and_tables_are_named(capsys):
    lines = Path("households.csv").read_text().splitlines()
    Path("households.csv").write_text("\n".join(lines[:-5]) + "\n")
    status, told = check(f"{SCHEMA} {BOTH}", capsys)
    assert status == 0 and "have no parent" in told
    status, told = check(f"{SCHEMA} --table households=households.csv", capsys)
    assert status == 2 and "there is no table 'persons'" in told
    Path("persons.csv").write_text(Path("persons.csv").read_text().replace("household_id", "home", 1))
    status, told = check(f"{SCHEMA} {BOTH}", capsys)
    assert status == 2 and "'household_id' is its key, and the table lacks it" in told


def test_rules_of_linked_tables_are_counted_and_contradictions_refused(capsys):
    with_rule({"kind": "impossible", "where": "age in [0, 120]"})
    status, told = check("ruled.json", capsys)
    assert status == 2 and "contradict" in told
    with_rule({"kind": "impossible", "where": "age in [0, 30]"})
    status, told = check(f"ruled.json {BOTH}", capsys)
    assert status == 0 and "rule 1 (impossible: age in [0, 30])" in told and "records break it" in told


def test_names_are_for_linked_tables_alone(capsys):
    assert main(["sample", ".", "--name", "hospital"]) == 0
    status, told = check("hospital.schema.json --table stays=hospital.csv", capsys)
    assert status == 2 and "describes one table" in told
