"""A choice by runs on a public table: what is refused and chosen, what the manifest says; it charges nothing."""

import json

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import MethodError, SettingError, TableError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.choose.rehearsal import Candidate, rehearse
from dpsyn_core.runs.public_table import read_public
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.schema.document import Schema

NAMES = ("a", "b", "c")
BUDGET = Budget(epsilon=2.0, delta=1e-6)
RLS, ALONE = Candidate(method="rls", settings={}), Candidate(method="independent", settings={})


def table(n, seed):
    """Three columns that follow each other closely: a system that draws columns independently is far off."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    return pd.DataFrame({"a": a, "b": (a + (rng.random(n) < 0.1)) % 3, "c": (a + (rng.random(n) < 0.1)) % 3}).astype(
        str
    )


def document(**more):
    values = ["0", "1", "2"]
    attributes = [{"name": n, "kind": "categorical", "values": values} for n in NAMES]
    return {"version": 1, "name": "t", "attributes": attributes, **more}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    table(1500, 0).to_csv(tmp_path / "this.csv", index=False)
    table(1000, 1).to_csv(tmp_path / "last.csv", index=False)
    Schema.of(document()).dump(tmp_path / "s.json")
    return tmp_path


def command(folder, *more, candidates=("independent", "rls:effort=0.5"), public="last.csv"):
    named = [word for c in candidates for word in ("--candidate", c)]
    return [
        "tune", str(folder / "this.csv"), "--schema", str(folder / "s.json"), "--epsilon", "2", "--delta", "1e-6",
        *named, "--public-table", str(folder / public), "-o", str(folder / "o.csv"), *more,
    ]  # fmt: skip


def public(folder, **more):
    return read_public(folder / "last.csv", Schema.of(document(**more)))


def test_the_better_system_is_chosen_and_nothing_but_its_run_is_charged(folder, capsys):
    assert main(command(folder)) == 0
    said = capsys.readouterr()
    assert "<- chosen" in said.out.splitlines()[-1]
    assert "at 1,000 records" in said.out
    manifest = Manifest.load(folder / "o.manifest.json")
    assert (manifest.method, manifest.settings["effort"]) == ("rls", 0.5)
    used = manifest.public_table
    assert used.candidates == ("independent", "rls:effort=0.5")
    assert (used.name, used.n_records, used.columns) == ("last.csv", 1000, NAMES)
    assert "chosen by runs on it, among independent, rls:effort=0.5" in manifest.certificate()
    assert not any("public" in c.name for c in manifest.charges)
    assert Ledger().summary("t", delta=1e-6).epsilon <= 2.0
    assert main(["verify", str(folder / "o.csv"), "--schema", str(folder / "s.json")]) == 0
    assert len(pd.read_csv(folder / "o.csv")) > 1300


def test_a_dry_run_reads_no_private_table_and_charges_nothing(folder, capsys):
    (folder / "this.csv").unlink()
    assert main(command(folder, "--dry-run", "--n-records", "400")) == 0
    assert "at 400 records" in capsys.readouterr().out
    assert not (folder / "o.csv").exists()
    assert not Ledger().datasets()


def test_a_manifest_that_names_another_system_than_its_candidates_is_contradicted(folder):
    assert main(command(folder)) == 0
    manifest, schema = Manifest.load(folder / "o.manifest.json"), Schema.of(document())
    assert not contradictions(manifest, schema=schema)
    other = manifest.public_table.model_copy(update={"candidates": ("mst", "aim")})
    edited = manifest.model_copy(update={"public_table": other})
    assert any("candidates" in c for c in contradictions(edited, schema=schema))
    assert "candidates" in json.loads((folder / "o.manifest.json").read_text())["public_table"]


def test_a_public_number_of_records_is_the_one_at_which_candidates_are_tried(folder):
    found = rehearse(
        public(folder, n_records=700), Schema.of(document(n_records=700)), [ALONE, RLS], budget=BUDGET, runs=2
    )
    assert found.n_records == 700
    assert found.best.candidate is RLS
    with pytest.raises(SettingError, match="says that there are 700"):
        rehearse(
            public(folder, n_records=700), Schema.of(document(n_records=700)), [ALONE, RLS], budget=BUDGET,
            n_records=800,
        )  # fmt: skip


def test_two_names_of_one_system_are_within_noise(folder):
    same = [RLS, Candidate(method="rls", settings={"triples": True})]
    found = rehearse(public(folder), Schema.of(document()), same, budget=BUDGET, runs=8)
    assert abs(found.tried[0].mean - found.tried[1].mean) < 6 * (found.tried[0].error + found.tried[1].error)


def test_columns_that_rules_compute_are_left_to_the_run(folder):
    rules = [
        {"kind": "impossible", "where": "a = 0 and b = 2"},
        {"kind": "follows", "column": "d", "of": ["a"], "map": [["0", "x"], ["1", "y"], ["2", "y"]]},
    ]
    made = document(rules=rules)
    made["attributes"].append({"name": "d", "kind": "categorical", "values": ["x", "y"]})
    schema = Schema.of(made)
    last = table(1000, 1)
    last.assign(d=np.where(last["a"] == "0", "x", "y")).to_csv(folder / "full.csv", index=False)
    for name in ("last.csv", "full.csv"):
        found = rehearse(read_public(folder / name, schema), schema, [ALONE, RLS], budget=BUDGET, runs=2)
        assert found.best.candidate is RLS


@pytest.mark.parametrize("runs", [1, 51, True])
def test_a_number_of_runs_that_is_out_of_range_is_refused(folder, runs):
    with pytest.raises(SettingError, match="number of runs"):
        rehearse(public(folder), Schema.of(document()), [ALONE, RLS], budget=BUDGET, runs=runs)


@pytest.mark.parametrize("candidates", [[RLS], [RLS, RLS], []])
def test_a_choice_needs_two_candidates_that_differ(folder, candidates):
    with pytest.raises(SettingError, match="name 2 to 50"):
        rehearse(public(folder), Schema.of(document()), candidates, budget=BUDGET)


def test_what_cannot_be_chosen_is_refused_before_a_run(folder):
    made = Schema.of(document())
    for bad in (Candidate(method="unprotected-fit", settings={}), Candidate(method="pgm", settings={})):
        with pytest.raises(MethodError):
            rehearse(public(folder), made, [RLS, bad], budget=BUDGET)
    with pytest.raises(SettingError):
        rehearse(public(folder), made, [RLS, Candidate(method="rls", settings={"effort": -1})], budget=BUDGET)
    table(100, 2).drop(columns="c").to_csv(folder / "part.csv", index=False)
    with pytest.raises(TableError, match="lacks the column 'c'"):
        rehearse(read_public(folder / "part.csv", made), made, [RLS, ALONE], budget=BUDGET)
    with pytest.raises(SettingError, match="between 1 and"):
        rehearse(public(folder), made, [RLS, ALONE], budget=BUDGET, n_records=0)


def test_the_private_table_is_refused_as_the_public_one(folder, capsys):
    assert main(command(folder, public="this.csv")) == 2
    assert "is the private table itself" in capsys.readouterr().err
