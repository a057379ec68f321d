"""Settings chosen by runs on a public table: what is chosen and refused, what the manifest says; it costs nothing."""

import json

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.schema.document import Schema

NAMES = ("a", "b", "c")


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


def comparison(folder, *more, systems=("independent", "rls:effort=0.5"), public="last.csv"):
    named = [word for s in systems for word in ("--system", s)]
    words = [str(folder / public), "--schema", str(folder / "s.json"), "--public", "--epsilons", "2", "--delta", "1e-6"]
    return ["compare-systems", *words, *named, "--quiet", *more]


def chosen(folder, *more):
    return comparison(folder, "--save-settings", str(folder / "best.json"), *more)


def synth(folder, *more):
    return ["synth", str(folder / "this.csv"), "--settings", str(folder / "best.json"), "--quiet", "-o",
            str(folder / "o.csv"), *more]  # fmt: skip


def test_the_better_system_is_chosen_and_nothing_but_its_run_is_charged(folder, capsys):
    assert main(chosen(folder)) == 0
    assert not Ledger().datasets()
    said = capsys.readouterr().out
    assert "best at epsilon 2: rls:effort=0.5" in said and "settings of rls:effort=0.5 in" in said
    assert main(synth(folder)) == 0
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


def test_a_run_by_another_system_or_other_settings_was_not_chosen(folder):
    assert main(chosen(folder)) == 0
    for i, more in enumerate((["--method", "independent"], ["--set", "effort=0.6"])):
        manifest = folder / f"m{i}.json"
        assert main(synth(folder, "--manifest", str(manifest), *more)) == 0
        assert Manifest.load(manifest).public_table is None


def test_a_manifest_that_names_another_system_than_its_candidates_is_contradicted(folder):
    assert main(chosen(folder)) == 0 and main(synth(folder)) == 0
    manifest, schema = Manifest.load(folder / "o.manifest.json"), Schema.of(document())
    assert not contradictions(manifest, schema=schema)
    other = manifest.public_table.model_copy(update={"candidates": ("mst", "aim")})
    edited = manifest.model_copy(update={"public_table": other})
    assert any("candidates" in c for c in contradictions(edited, schema=schema))
    assert "candidates" in json.loads((folder / "o.manifest.json").read_text())["public_table"]


def test_candidates_are_tried_at_a_public_number_of_records(folder, capsys):
    assert main(comparison(folder, "--n-records", "400")) == 0
    assert "a fresh sample of 400 records" in capsys.readouterr().out
    Schema.of(document(n_records=700)).dump(folder / "s.json")
    assert main(comparison(folder)) == 0
    assert "a fresh sample of 700 records" in capsys.readouterr().out
    assert main(comparison(folder, "--n-records", "400")) == 2
    assert "says that there are 700" in capsys.readouterr().err


def test_two_names_of_one_system_are_within_noise(folder, capsys):
    assert main(comparison(folder, "--repeats", "12", systems=("rls", "rls:triples=true"))) == 0
    assert "may be as good" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--save-settings", "S", "--epsilons", "1,2"], "at one epsilon"),
        (["--n-records", "0"], "--n-records is 0"),
        (["--columns", "3"], "goes with --process"),
        (["--process", "tree"], "one of the two"),
        (["--system", "pgm"], "adds no noise"),
        (["--system", "rls:effort=-1"], "effort"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_a_run(folder, more, why, capsys):
    assert main(comparison(folder, *more)) == 2
    assert why in capsys.readouterr().err


def test_a_table_that_is_not_private_is_not_public_either(folder, capsys):
    table(100, 2).to_csv(folder / "x.NOT-PRIVATE.csv", index=False)
    assert main(comparison(folder, public="x.NOT-PRIVATE.csv")) == 2
    assert "NOT PRIVATE" in capsys.readouterr().err


def test_settings_that_were_chosen_on_a_table_do_not_learn_from_another(folder, capsys):
    assert main(chosen(folder)) == 0
    assert main(synth(folder, "--public-table", str(folder / "last.csv"))) == 2
    assert "leave the public table of the run out" in capsys.readouterr().err
