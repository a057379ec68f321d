"""The outlook of linked tables is of the noise that a run is charged for."""

import math

import pytest

from dpsyn_core.errors import SettingError
from dpsyn_core.runs.choose.epsilon_search import COLUMNS
from dpsyn_core.runs.choose.tree_outlook import NOT_KNOWN, tree_epsilon, tree_outlook
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.synthesis import synthesize
from tests.runs.trees.small import DEEP, SCHEMAS, tables

N = 5_000


def spec(epsilon=1.0, **more):
    return RunSpec.of(epsilon=epsilon, delta=1e-6, **more)


def off(cells, std, n):
    return cells * std * math.sqrt(2 / math.pi) / (2 * n)


@pytest.mark.parametrize("name", ["plain", "roles", "many"])
def test_columns_of_children_have_the_noise_that_a_run_is_charged_for(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))
    schema = SCHEMAS[name]
    made = synthesize(tables(60, 3, 1), schema, epsilon=1.0, delta=1e-6, method="independent", rng=1)
    sizes = {"marginal kids.r": 1 if name == "roles" else 3, "marginal kids.t": 6}
    found = [
        off(sizes[c.name], c.sigma / c.sensitivity, N) for c in made.manifest.charges if c.name in sizes
    ]  # the sensitivity of a view is what one root weighs in it
    assert len(found) == 2
    forecast = tree_outlook(spec(method="independent"), schema, epsilons=[1.0], sizes=[N])
    rest = next(o for o in forecast if o.table == "kids" and not o.role)
    assert rest.columns == pytest.approx(sum(found) / 2, rel=1e-6)


def test_each_step_is_forecast_and_pairs_of_children_are_not():
    lines = tree_outlook(spec(), DEEP["roles"], epsilons=[0.5, 2.0], sizes=[1_000, 10_000])
    steps = {(o.table, o.role) for o in lines}
    assert {("roots", ""), ("kids", "0"), ("kids", ""), ("toys", "1"), ("toys", "")} >= steps
    assert all(o.pairs is None for o in lines if o.table != "roots")
    for step in steps:
        own = {(o.epsilon, o.n_roots): o.columns for o in lines if (o.table, o.role) == step}
        assert own[2.0, 10_000] < own[0.5, 10_000] < own[0.5, 1_000], step


def test_an_epsilon_is_found_for_the_largest_error_of_a_table():
    schema = SCHEMAS["roles"]
    whole = tree_epsilon(spec(), schema, of=COLUMNS, target=0.05, n_roots=2_000)
    kids = tree_epsilon(spec(), schema, of="kids", target=0.05, n_roots=2_000)
    assert whole.epsilon >= kids.epsilon > 0
    lines = tree_outlook(spec(), schema, epsilons=[whole.epsilon], sizes=[2_000])
    assert max(o.columns for o in lines) == pytest.approx(0.05, rel=0.05)
    assert tree_epsilon(spec(), schema, of="kids", target=1e-9, n_roots=10).epsilon is None
    with pytest.raises(SettingError, match="is not forecast") as told:
        tree_epsilon(spec(), schema, of="pairs", target=0.05, n_roots=10)
    assert NOT_KNOWN in str(told.value)
    with pytest.raises(SettingError, match="above 0 and below 1"):
        tree_epsilon(spec(), schema, of="kids", target=2, n_roots=10)
