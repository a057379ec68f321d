"""One root with all that hangs on it moves every access by no more than was charged: brute force, and whole runs."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.measurement import sibling_counter
from dpsyn_core.runs.trees.stages import stages_of
from tests.runs.trees.small import (
    KEY,
    SCHEMAS,
    check_made_of_released_values,
    check_one_root_alone,
    listed,
    most_moved,
    run,
    schema_of,
    tables,
    views,
)


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
    check_one_root_alone(SCHEMAS[name], tables(30, 8, 1), tables(1, 25, 2, first=900))


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


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("name", SCHEMAS)
def test_neighbours_move_every_access_of_a_run_by_no_more_than_charged(name, delta):
    given = [(tables(40, 4, i), tables(1, 20, i + 50, first=900), tables(1, 20, i + 70, first=950)) for i in (1, 2)]
    assert max(most_moved(SCHEMAS[name], three, delta) for three in given) == pytest.approx(1.0)


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_made_depends_on_what_the_gate_releases_alone(name):
    check_made_of_released_values(SCHEMAS[name], lambda roots: tables(roots, 5, roots))


def test_a_root_without_attributes_is_measured_by_its_children_alone():
    schema = schema_of({})
    document = schema.document()
    del document["tables"][0]["schema"]
    only = type(schema).of(document)
    forest, _ = bounded(only, tables(20, 3, 1), key=KEY)
    _, made = run(forest, only)
    assert made.n_roots == 25 and made.roots.shape == (0, 25)
