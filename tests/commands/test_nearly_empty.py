"""A table whose cells were read wrongly has next to no records: the run says so, from its released number alone."""

import json
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.trees.small_tables import nearly_empty_tables

CITIES = ["Köln", "Düsseldorf", "Münster"]
SCHEMA = {"version": 1, "name": "trips", "attributes": [
    {"name": "city", "kind": "categorical", "values": CITIES},
    {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
]}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{CITIES[i % 3]},{i % 100}\n" for i in range(3_000))
    (tmp_path / "t.csv").write_bytes(("city,age\n" + rows).encode("cp1252"))
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    return tmp_path


def made(capsys, *more):
    words = ["synth", "t.csv", "--schema", "s.json", "--epsilon", "1", "--delta", "1e-9", "--out", "x.csv"]
    assert main([*words, "--manifest", "m.json", *more]) == 0
    return capsys.readouterr().err, Manifest.model_validate_json(Path("m.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("method", ["rls", "independent", "mst"])
def test_letters_that_were_read_wrongly_leave_nothing_and_the_run_says_so(folder, capsys, method):
    said, manifest = made(capsys, "--method", method)
    assert manifest.nearly_empty and "is close to its noise" in said and "dpsyn schema check" in said
    said, manifest = made(capsys, "--method", method, "--encoding", "cp1252")
    assert not manifest.nearly_empty and "close to its noise" not in said and manifest.n_records > 2_000


def test_where_a_number_of_records_is_asked_for_nothing_is_said(folder, capsys):
    assert "close to its noise" not in made(capsys, "--n-records", "5")[0]


def test_a_manifest_without_tables_says_nothing_of_the_number(folder, capsys):
    manifest = made(capsys, "--encoding", "cp1252")[1]
    alone = manifest.model_copy(update={"charges": (), "n_records": 0})
    assert alone.noise_of_records() == float("inf") and not alone.nearly_empty


def test_children_whose_keys_match_no_parent_are_named(folder, capsys):
    assert main(["sample", ".", "--name", "households"]) == 0
    words = ["synth", "--schema", "households.schema.json", "--epsilon", "1", "--delta", "1e-6"]
    words += ["--manifest", "m.json", "--table", "households=households.csv", "--table"]
    assert main([*words, "persons=persons.csv", "--out", "o/"]) == 0
    assert "close to its noise" not in capsys.readouterr().err
    header, *rows = Path("persons.csv").read_text(encoding="utf-8").splitlines()
    Path("other.csv").write_text("\n".join([header, *(f"0{row}" for row in rows)]) + "\n", encoding="utf-8")
    assert main([*words, "persons=other.csv", "--out", "other/"]) == 0
    said = capsys.readouterr().err
    assert "of 'persons'" in said and "close to its noise" in said and "of 'households', the number" not in said
    manifest = Manifest.model_validate_json(Path("m.json").read_text(encoding="utf-8"))
    assert set(nearly_empty_tables(manifest)) == {"persons"}
