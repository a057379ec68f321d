"""The scripts of benchmarks/experiments: equal seeds give equal runs, and a variant changes what it names alone."""

from dataclasses import asdict

import pytest

from benchmarks.accuracy import load
from benchmarks.experiments.paired import one_run, same_run
from benchmarks.experiments.variants import EXPERIMENTS, changed
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
