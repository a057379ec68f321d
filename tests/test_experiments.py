"""The scripts of benchmarks/experiments: at most four, and a variant changes the constants that it names alone."""

import json
import re
import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from benchmarks import deep, lessons
from benchmarks.experiments.variants import EXPERIMENTS, changed
from dpsyn_core.systems.rls.system import RlsConfig
from dpsyn_core.systems.rls.tuning import TUNING
from tests.test_documents import DOCUMENTS, ROOT
from ui.learn.numbers import training


def test_few_scripts_are_kept_and_documents_name_each_of_them():
    scripts = {p.stem for p in (ROOT / "benchmarks/experiments").glob("*.py")} - {"__init__"}
    named = set(re.findall(r"benchmarks\.experiments\.(\w+)", "".join(p.read_text("utf-8") for p in DOCUMENTS)))
    assert len(scripts) <= 4
    assert scripts == named


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
