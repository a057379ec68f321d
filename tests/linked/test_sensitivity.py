"""One root with all that hangs on it moves every access by no more than was charged: brute force, and whole runs."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.linked.bounding import bounded
from dpsyn_core.linked.measuring import SHARES
from dpsyn_core.linked.release import costs_of, fit_forest
from dpsyn_core.linked.stages import stages_of
from dpsyn_core.linked.views import counter_of, sibling_counter
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.unit import Unit
from tests.audit.gates import TapeGate, WatchGate, released
from tests.linked.small import SCHEMAS, listed, schema_of, tables, together

KEY = bytes(range(32))


def views(forest, schema):
    """Every view of a forest with its unit, and the number of cells of its largest table."""
    for stage in stages_of(schema):
        yield stage.view, counter_of(forest, stage, schema)
        if stage.siblings is not None:
            yield stage.siblings, sibling_counter(forest, stage)


def trees():
    """All sets of up to four children of one root, beyond what may stay."""
    kinds = list(itertools.product("012", "05"))
    for size in range(5):
        yield from itertools.combinations_with_replacement(kinds, size)


@pytest.mark.parametrize("name", ["plain", "roles", "ordered", "distinct", "many"])
def test_all_small_roots_weigh_no_more_than_the_unit_of_each_view(name):
    schema = SCHEMAS[name]
    full = dict.fromkeys(range(20), 0)
    for children in trees():
        made = {
            "roots": pa.table({"id": ["x"], "a": ["1"]}),
            "kids": pa.table(
                {"root": ["x"] * len(children), "r": [r for r, _ in children], "t": [t for _, t in children]},
                schema=pa.schema([("root", "string"), ("r", "string"), ("t", "string")]),
            ),
        }
        forest, _ = bounded(schema, made, key=KEY)
        for place, (view, counter) in enumerate(views(forest, schema)):
            names = view.domain.names
            weight = int(counter.marginal((names[0],)).sum())
            assert weight <= view.unit
            for pair in view.pairs:
                table = counter.marginal(pair)
                assert table.sum() == weight  # so that no table moves by more, in L1 and hence in L2
                assert math.sqrt((table.astype(float) ** 2).sum()) <= view.unit
            full[place] = max(full[place], weight / view.unit)
    assert max(full.values()) == 1.0  # the bound is reached, so that a larger one would waste budget


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_stays_of_a_root_depends_on_its_own_records_alone(name):
    schema, rng = SCHEMAS[name], np.random.default_rng(5)
    crowd, one = tables(30, 8, 1), tables(1, 25, 2, first=900)
    alone, _ = bounded(schema, one, key=KEY)
    without, _ = bounded(schema, crowd, key=KEY)
    both = together(crowd, one)
    shuffled = {n: t.take(rng.permutation(t.num_rows)) for n, t in both.items()}
    for given in (both, shuffled):
        forest, _ = bounded(schema, given, key=KEY)
        parts = zip(views(forest, schema), views(without, schema), views(alone, schema), strict=True)
        for (view, counter), (_, rest), (_, own) in parts:
            for pair in view.pairs:
                assert (counter.marginal(pair) - rest.marginal(pair) == own.marginal(pair)).all()


def test_equal_siblings_do_not_follow_each_other_more_often_than_others():
    schema = schema_of({}, child=(listed("r", 2),), theta=8)
    rng = np.random.default_rng(1)
    of = np.repeat(np.arange(2000), 8)
    made = {
        "roots": pa.table({"id": np.arange(2000), "a": np.zeros(2000, dtype=int).astype(str)}),
        "kids": pa.table({"root": of, "r": rng.integers(0, 2, len(of)).astype(str)}),
    }
    forest, _ = bounded(schema, made, key=KEY)
    table = sibling_counter(forest, stages_of(schema)[0]).marginal(("kids.r before", "kids.r")).astype(float)
    table /= table.sum()
    # 14,000 pairs of independent children: 0.25 in each cell within five standard errors of 0.0037
    assert np.abs(table - 0.25).max() < 0.02


def run(forest, schema, *, gate=WatchGate, delta=1e-6, forced=None, noise=None):
    budget = Budget(epsilon=8.0, delta=delta)
    cost = budget.gaussian() if delta else budget.pure()
    more = {} if gate is TapeGate else {"forced": forced}
    unit = Unit(identifier="id", neighbours=schema.unit.neighbours)
    opened = gate(account=Account(cost), noise=noise or SystemNoise(), unit=unit, **more)
    made = fit_forest(
        forest, schema, gate=opened, costs=costs_of(schema, cost, SHARES), budget=budget, n_roots=25, effort=0.2,
        rng=np.random.default_rng(3),
    )  # fmt: skip
    return opened, made


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("name", SCHEMAS)
def test_neighbours_move_every_access_of_a_run_by_no_more_than_charged(name, delta):
    schema, most = SCHEMAS[name], 0.0
    for seed in (1, 2):
        crowd, one = tables(40, 4, seed), tables(1, 20, seed + 50, first=900)
        here, _ = bounded(schema, together(crowd, one), key=KEY)
        exchanged = [tables(1, 20, seed + 70, first=950)] if schema.unit.neighbours == "replace" else []
        there, _ = bounded(schema, together(crowd, *exchanged), key=KEY)
        first, _ = run(here, schema, delta=delta)
        second, _ = run(there, schema, delta=delta, forced=released(first.notes))
        assert not first.late and len(first.notes) == len(second.notes)
        for a, b in zip(first.notes, second.notes, strict=True):
            assert a.charge == b.charge
            moved = (a.here - b.here).astype(float).ravel()
            found = np.abs(moved).sum() if delta == 0 else math.sqrt((moved**2).sum())
            assert found <= a.charge.sensitivity * (1 + 1e-12), a.charge.name
            most = max(most, found / a.charge.sensitivity)
        assert compose(first.account.charges).within(8.0, delta)
    assert most == pytest.approx(1.0)


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_made_depends_on_what_the_gate_releases_alone(name):
    schema = SCHEMAS[name]
    found = []
    for roots in (0, 1, 60):
        forest, _ = bounded(schema, tables(roots, 5, roots), key=KEY)
        gate, made = run(forest, schema, gate=TapeGate)
        of_children = [x for c in made.children for x in (c.rest, c.counts, *(s for one in c.singles for s in one))]
        found.append((gate.account.charges, [made.roots, *made.shapes, *of_children]))
    for charges, arrays in found[1:]:
        assert charges == found[0][0]
        for a, b in zip(arrays, found[0][1], strict=True):
            assert np.array_equal(a, b)


def test_a_root_without_attributes_is_measured_by_its_children_alone():
    schema = schema_of({})
    document = schema.document()
    del document["tables"][0]["schema"]
    only = type(schema).of(document)
    forest, _ = bounded(only, tables(20, 3, 1), key=KEY)
    _, made = run(forest, only)
    assert made.n_roots == 25 and made.roots.shape == (0, 25)
