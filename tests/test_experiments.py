"""The scripts of benchmarks/experiments: equal seeds give equal runs, and a variant changes what it names alone."""

import json
import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from benchmarks import deep, lessons
from benchmarks.accuracy import load
from benchmarks.experiments.paired import one_run, same_run
from benchmarks.experiments.variants import EXPERIMENTS, changed
from dpsyn_core.lessons import training
from dpsyn_core.synthesizers.rls.system import RlsConfig
from dpsyn_core.synthesizers.rls.tuning import TUNING


def test_equal_seeds_give_equal_records_and_charges_and_other_seeds_others():
    data = load("tree-300x4")
    first, again, other = (one_run("rls", data, epsilon=1.0, delta=1e-9, seed=s) for s in (3, 3, 4))
    assert same_run(first) == same_run(again) != same_run(other)
    assert (first["records"], first["charged"]) == (again["records"], again["charged"])
    assert first["records"] != other["records"]


def test_pure_systems_are_run_without_a_delta():
    assert one_run("privbayes", load("tree-300x4"), epsilon=1.0, delta=1e-9, seed=0)["delta"] == 0.0


def differences(before, after, path=""):
    for name, value in before.items():
        if isinstance(value, dict):
            yield from differences(value, after[name], f"{path}{name}.")
        elif value != after[name]:
            yield f"{path}{name}"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_variant_changes_the_constants_that_it_names_and_no_others(name):
    for variant in EXPERIMENTS[name].variants.values():
        got = changed(TUNING, variant.tuning)
        assert sorted(differences(asdict(TUNING), asdict(got))) == sorted(variant.tuning)
        assert RlsConfig(**variant.settings)


def test_the_figures_of_the_training_lab_are_made_by_their_command(monkeypatch, tmp_path):
    shown = {0.2: 0.81, 10.0: 0.9}
    monkeypatch.setattr(deep, "adult", lambda: SimpleNamespace(codes=None))
    monkeypatch.setattr(deep, "one", lambda data, name, settings, epsilon, seed: (epsilon, 1.0))
    monkeypatch.setattr(deep, "learnt", lambda data, codes, most, judges: (shown.get(codes, 0.91234), 0.5))
    monkeypatch.setattr(training, "spent", lambda noise, batch, steps: (1.0, 2.0))
    monkeypatch.setattr(lessons, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["lessons", "--only", "training", "--repeats", "2"])
    assert lessons.main() == 0
    made = json.loads((tmp_path / "training.json").read_text("utf-8"))["systems"]
    assert set(made["auroc"]) == {"rls", "p3gm"}
    assert all(len(line) == len(made["epsilons"]) for line in made["auroc"].values())
    assert (made["auroc"]["p3gm"][0], made["auroc"]["rls"][-1], made["real"]) == ([0.81, 0.81], [0.9, 0.9], 0.9123)
