"""Attacks on linked tables: a coin moves one root with all that hangs on it, and a release with a seeded bug is caught.

Chances: see `test_attack`. The seeded bugs are found with a bound far above the promise.
"""

import io

import numpy as np
import pytest

from dpsyn_core.errors import InputError, TableError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.attacks.attack import attack, check_attack
from dpsyn_core.runs.attacks.child import TreeShadow, packed, unpacked
from dpsyn_core.runs.attacks.membership import Probe
from dpsyn_core.runs.attacks.tree_world import build_trees, views_of, world_of
from dpsyn_core.runs.attacks.world import ALWAYS
from dpsyn_core.runs.trees import measurement, stages
from dpsyn_core.runs.trees.forest import columns_of
from dpsyn_core.schema.rules.linked_spans import measured_schema
from tests.audit.mutants.base import replacing
from tests.runs.attacks import small
from tests.runs.trees.small import DEEP, SCHEMAS, grown, listed, number, schema_of, tables

SHAPES = {**SCHEMAS, **{f"deep {name}": schema for name, schema in DEEP.items()}}
KINDS = ("membership", "singling-out", "linkage", "inference")


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))


def given(name, roots=80):
    return grown(roots, 2, 1) if name.startswith("deep") else tables(roots, 3, 1)


def world(name, kind, seed=3, **more):
    schema = measured_schema(SHAPES[name], ())
    return build_trees(given(name), schema, small.spec(kind, 4, **more), rng=np.random.default_rng(seed)), schema


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_release_is_not_accused_and_the_ledger_stays_empty(kind):
    result = attack(tables(120, 3, 1), SCHEMAS["roles"], small.spec(kind, 8))
    assert result.verdict != "leak" and result.sure <= 1.0
    assert any("one record of 'roots' with all that hangs on it" in s for s in result.sentences)
    assert not Ledger().path.exists()


@pytest.mark.parametrize("name", ["roles", "replace", "deep roles"])
def test_membership_catches_noise_of_a_hundredth_of_its_scale(name):
    with small.a_hundredth_of_the_noise():
        result = attack(given(name), SHAPES[name], small.spec("membership", 60))
    assert result.verdict == "leak" and result.roc.area > 0.75


def test_membership_catches_children_of_which_each_weighs_what_all_of_a_root_may():
    real = measurement.in_root
    wide = schema_of({}, child=(listed("r", 20), number("t", 30)), theta=20)
    asked = small.spec("membership", 40, canaries=12)
    assert attack(tables(120, 3, 1), wide, asked).verdict != "leak"
    with replacing((measurement, "in_root", lambda forest, stage: np.ones_like(real(forest, stage)))):
        result = attack(tables(120, 3, 1), wide, asked)
    assert result.verdict == "leak" and result.roc.area > 0.9


@pytest.mark.parametrize("name", list(SHAPES))
@pytest.mark.parametrize("kind", ["membership", "linkage"])
def test_a_coin_moves_one_root_with_all_that_hangs_on_it(name, kind):
    trees, schema = world(name, kind)
    coins = np.random.default_rng(4).random(trees.coins) < 0.5
    for one in (0, trees.coins - 1):
        other = coins.copy()
        other[one] = ~other[one]
        a, b = trees.drawn(coins), trees.drawn(other)
        moved = np.flatnonzero(a != b)
        assert len(moved) == (2 if schema.unit.neighbours == "replace" else 1)
        apart = trees.forest(schema, a).n_roots - trees.forest(schema, b).n_roots
        assert abs(apart) == (0 if schema.unit.neighbours == "replace" else 1)
        for table, root in trees.roots_of(schema).items():
            kept = [np.isin(root, np.flatnonzero(there)) for there in (a, b)]
            assert set(root[kept[0] != kept[1]]) <= set(moved), table
    if kind == "membership":
        assert (trees.coin == ALWAYS).any()
    else:
        assert set(trees.coin[trees.coin != ALWAYS]) == set(range(trees.coins))


@pytest.mark.parametrize("name", list(SHAPES))
def test_all_of_a_canary_is_counted_whatever_the_key_and_within_what_is_declared(name):
    trees, schema = world(name, "membership")
    coins = np.ones(trees.coins, dtype=bool)
    forest = trees.forest(schema, trees.drawn(coins))
    for link, children in zip(schema.links, forest.children, strict=True):
        rows = trees.tables[link.child]
        assert rows.codes.shape[1] >= children.codes.shape[1] > 0
        sizes = [a.size for a in columns_of(schema, link.child)]
        assert all(row.max() < size for row, size in zip(children.codes, sizes, strict=True))
    last = forest.root_of(schema.downward[-1])
    per_root = np.bincount(last[forest.children[schema.downward[-1]].parents], minlength=forest.n_roots)
    assert (per_root[-trees.coins :] == per_root[-1]).all() and per_root[-1] >= 1
    if schema.unit.neighbours == "add-remove":
        whole = sum(t.codes.shape[1] for t in trees.tables.values())
        assert whole == forest.n_roots + sum(c.codes.shape[1] for c in forest.children)


@pytest.mark.parametrize("name", ["plain", "roles", "replace", "deep plain", "deep distinct"])
def test_the_cells_of_canaries_are_moved_by_their_coins_as_the_probe_says(name):
    trees, schema = world(name, "membership")
    listed = stages.stages_of(schema)
    every = trees.forest(schema, np.ones(len(trees.coin), dtype=bool))
    out = np.zeros(trees.coins, dtype=bool)
    some = out.copy()
    some[[0, 3]] = True
    made = [views_of(trees.forest(schema, trees.drawn(coins)), schema, listed) for coins in (out, some)]
    for (domain, codes, weights, root), without, with_some in zip(views_of(every, schema, listed), *made, strict=True):
        own = world_of(codes, root, trees, weights)
        probe = Probe(own, domain)
        before, after = (probe.counts(c, w) * w.sum() / own.usual_weight for _, c, w, _ in (without, with_some))
        whole = [i for i, s in enumerate(probe.sets) if not any("position" in domain.names[j] for j in s)]
        cells = np.concatenate([np.full(len(c), i in whole) for i, c in enumerate(probe.cells)])
        assert np.allclose((after - before)[cells], (probe.moves @ some)[cells])
        assert np.abs(probe.moves).max() <= 1 + 1e-9  # one root weighs 1 at most in each view


def test_what_does_not_fit_is_refused_in_a_sentence():
    schema = SCHEMAS["plain"]
    with pytest.raises(TableError, match="at least 20 individuals"):
        attack(tables(12, 3, 1), schema, small.spec("membership", 4))
    with pytest.raises(InputError, match="no column 'r'"):
        check_attack(schema, small.spec("inference", 4, secret="r"))
    with pytest.raises(InputError, match="no table 'toys'"):
        check_attack(schema, small.spec("linkage", 4, about="toys"))
    with pytest.raises(InputError, match="describes one table"):
        check_attack(small.schema(), small.spec("linkage", 4, about="toys"))
    with pytest.raises(InputError):
        check_attack(schema, small.spec("membership", 4, method="privbayes"))
    check_attack(schema, small.spec("inference", 4, secret="kids.r"))


def test_a_world_comes_through_the_pipe_as_it_was():
    trees, _ = world("deep roles", "membership")
    document, again = unpacked(io.BytesIO(packed(trees, {"runs": 2})))
    assert document["runs"] == 2 and again.coins == trees.coins
    for name, array in trees.arrays().items():
        assert np.array_equal(again.arrays()[name], array), name
    made = TreeShadow(again, DEEP["roles"], small.spec("membership", 4)).run(np.random.default_rng(9))
    assert made.coins.shape == (trees.coins,) and len(made.counts) and made.scores.shape[1] == trees.coins
