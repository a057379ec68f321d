"""Grandchildren: one root moves no access by more than was charged; keys, limits and relations hold two links down."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees.answers import asked_needs
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.forest import columns_of
from dpsyn_core.runs.trees.keys import check_keys
from dpsyn_core.runs.trees.rule_breaks import broken_roots
from dpsyn_core.runs.verify.stated_noise import of_linked_charges
from dpsyn_core.schema.linked import LinkedSchema
from tests.runs.trees.small import (
    DEEP,
    KEY,
    check_made_of_released_values,
    check_one_root_alone,
    grown,
    listed,
    most_moved,
    most_moved_by_questions,
    together,
    views,
)


def small_trees():
    """Roots of up to three kids, each of up to four toys: beyond what may stay."""
    toys = [(), (("0", "0"),), (("1", "0"), ("1", "3")), (("0", "0"),) * 3, (("0", "1"), *((("1", "2"),) * 3))]
    kids = list(itertools.product("02", toys))
    for size in range(4):
        yield from itertools.combinations_with_replacement(kids, size)


@pytest.mark.parametrize("name", DEEP)
def test_all_small_roots_weigh_no_more_than_the_unit_of_each_view(name):
    schema, full = DEEP[name], {}
    for kids in small_trees():
        toys = [(str(i), c, u) for i, (_, own) in enumerate(kids) for c, u in own]
        text = pa.string()
        made = {
            "roots": pa.table({"id": ["x"], "a": ["1"]}),
            "kids": pa.table(
                {"root": pa.array(["x"] * len(kids), text), "kid": pa.array(map(str, range(len(kids))), text),
                 "r": pa.array([r for r, _ in kids], text)}
            ),
            "toys": pa.table({n: pa.array([t[i] for t in toys], text) for i, n in enumerate(("of", "c", "u"))}),
        }  # fmt: skip
        forest, _ = bounded(schema, made, key=KEY)
        for place, (view, counter) in enumerate(views(forest, schema)):
            weight = int(counter.marginal((view.domain.names[0],)).sum())
            assert weight <= view.unit
            for pair in view.pairs:
                assert counter.marginal(pair).sum() == weight
            full[place] = max(full.get(place, 0), weight / view.unit)
    assert min(full.values()) == 1.0  # each bound is reached


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", DEEP)
def test_what_stays_of_a_root_depends_on_what_hangs_on_it_alone(name, shared):
    check_one_root_alone(DEEP[name], grown(30, 4, 1, shared=shared), grown(1, 12, 2, first=900))


def test_toys_of_a_name_that_two_roots_have_hang_on_both_so_that_neither_moves_the_other():
    schema = DEEP["plain"]
    one, other = grown(1, 3, 4, first=7, shared=True), grown(1, 3, 9, first=8, shared=True)
    toys = pa.table({"of": ["0", "1", "2", "3", "4"] * 2, "c": ["0"] * 10, "u": ["1"] * 10})
    for t in (one, other):
        t["kids"] = pa.table({"root": [t["roots"]["id"][0].as_py()] * 2, "kid": ["0", "1"], "r": ["1", "2"]})
        t["toys"] = toys
    both = together(one, other) | {"toys": toys}
    forest, left = bounded(schema, both, key=KEY)
    assert forest.children[0].counts.tolist() == [2, 2, 2, 2]
    assert "4 records name a key that several parents have" in left[1].sentences()[-1]
    with pytest.raises(TableError, match="several parents"):
        bounded(schema, both | {"toys": toys.filter(pc.less(toys["of"], "2"))}, key=KEY, strict=True)
    alone = [bounded(schema, t, key=KEY)[0] for t in (one, other)]
    for (_, counter), (_, a), (_, b) in zip(*(views(f, schema) for f in (forest, *alone)), strict=True):
        for pair in [counter.domain.names[:1], counter.domain.names[:2]]:
            assert (counter.marginal(pair) == a.marginal(pair) + b.marginal(pair)).all()


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("name", DEEP)
def test_neighbours_move_every_access_of_a_run_by_no_more_than_charged(name, delta):
    given = [(grown(40, 3, i), grown(1, 6, i + 50, first=900), grown(1, 6, i + 70, first=950)) for i in (1, 2)]
    assert max(most_moved(DEEP[name], three, delta) for three in given) == pytest.approx(1.0)


@pytest.mark.parametrize("name", DEEP)
def test_what_is_made_depends_on_what_the_gate_releases_alone(name):
    check_made_of_released_values(DEEP[name], lambda roots: grown(roots, 3, roots))


@pytest.mark.parametrize("name", DEEP)
def test_synthetic_keys_hold_two_links_down(name, tmp_path):
    schema = DEEP[name]
    release = synthesize(grown(300, 3, 1), schema, epsilon=20, delta=1e-6, rng=1, dataset="deep")
    assert all(k.hold and k.children for k in check_keys(schema, release.arrows))
    kids, toys = (release.arrows[n].to_pandas() for n in ("kids", "toys"))
    assert kids["kid"].tolist() == list(range(1, len(kids) + 1))
    per_kid = toys.groupby("of").size()
    assert per_kid.max() <= schema.links[0].max_children and toys["of"].is_monotonic_increasing
    if name == "distinct":
        assert not toys.duplicated(["of", "u"]).any()
    if name == "ruled":
        both = toys.merge(kids, left_on="of", right_on="kid")
        assert not ((both["r"] == "2") & (both["c"] == "0")).any()
        home = both.merge(release.arrows["roots"].to_pandas(), left_on="root", right_on="id")
        assert len(home) == len(toys) and not ((home["a"] == "1") & (home["u"] == 3)).any()
        assert not any(found.parents for found in broken_roots(schema, release.arrows))
        assert any(found.parents for found in broken_roots(schema, grown(300, 3, 1)))
        small = toys[toys["u"] < 1]["of"]
        assert set(small) <= set(toys[toys["u"] >= 1]["of"])
    assert not of_linked_charges(release.manifest, schema)
    for ending in ("sqlite", "duckdb", "xlsx"):
        release.write(tmp_path / f"x.{ending}")
    release.write(tmp_path / "folder")


def test_grandchildren_follow_their_parent_and_root():
    rng = np.random.default_rng(3)
    roots, kids = 4000, 8000
    a, r = rng.integers(0, 2, roots), rng.integers(0, 3, kids)
    of = np.repeat(np.arange(roots), 2)
    toys = np.minimum(rng.poisson(0.3 + r), 3)
    kid = np.repeat(np.arange(kids), toys)
    c = np.where(rng.random(len(kid)) < 0.8, a[of][kid], 1 - a[of][kid])
    u = np.where(rng.random(len(kid)) < 0.8, r[kid], 3)
    release = synthesize(
        {
            "roots": pa.table({"id": np.arange(roots), "a": a}),
            "kids": pa.table({"root": of, "kid": np.arange(kids), "r": r}),
            "toys": pa.table({"of": kid, "c": c, "u": u}),
        },
        DEEP["plain"], epsilon=2, delta=1e-9, rng=1, dataset="deep",
    )  # fmt: skip
    h, k, t = (release.arrows[n].to_pandas() for n in ("roots", "kids", "toys"))
    number = k["kid"].map(t.groupby("of").size()).fillna(0)
    found = [number[k["r"] == str(v)].mean() for v in range(3)]
    assert np.allclose(found, [toys[r == v].mean() for v in range(3)], atol=0.1)
    both = t.merge(k, left_on="of", right_on="kid").merge(h, left_on="root", right_on="id")
    assert abs((both["c"] == both["a"]).mean() - 0.8) < 0.04
    assert abs((both["u"].astype(int) == both["r"].astype(int)).mean() - 0.8) < 0.06


def lost_toys(*of):
    return pa.table({"of": pa.array(of, pa.string()), "c": ["0"] * len(of), "u": ["1"] * len(of)})


def test_questions_about_grandchildren_name_parent_and_root_and_move_by_no_more_than_charged():
    schema, most = DEEP["plain"], {}
    asked = Questions.of([
        {"about": "toys", "ask": {"name": "q1", "kind": "table", "of": ["c", "kids.r", "roots.a"]}},
        {"about": "kids", "counts": {"n": {"of": "toys", "where": "c = 1"}},
         "ask": {"name": "q2", "kind": "mean", "of": "n", "by": ["r"]}},
        {"about": "toys", "at_most": 2, "ask": {"name": "q3", "kind": "mean", "of": "u"}},
        {"about": "toys", "at_most": 9, "ask": {"name": "q4", "kind": "table", "of": ["u", "kids.r"]}},
    ])  # fmt: skip
    for seed in range(4):
        found = most_moved_by_questions(schema, asked, grown(30, 3, seed), grown(1, 9, seed + 50, first=900))
        most = {n: max(most.get(n, 0), part) for n, part in found.items()}
    assert [t.unit for t, _ in asked_needs(schema, asked)] == [6, 2 * 256, 128 * 256, 384] and max(most.values()) > 0.6
    given = grown(200, 2, 3)
    forest, _ = bounded(schema, given, key=KEY)
    table = asked_needs(schema, asked)[0][0]
    found = evaluate(table.question.ask, table.codes(forest), table.table).values
    both = given["toys"].to_pandas().merge(given["kids"].to_pandas(), left_on="of", right_on="kid")
    whole = both.merge(given["roots"].to_pandas(), left_on="root", right_on="id")
    kept = pd.crosstab(whole["c"], [whole["r"], whole["a"]]).to_numpy().reshape(2, 3, 2)
    assert found.sum() == forest.children[0].codes.shape[1] and found.sum() <= kept.sum() and (found <= kept).all()


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda t: {"kids": t["kids"].set_column(1, "kid", pa.array([None, *t["kids"]["kid"].to_pylist()[1:]]))}, 1),
        (lambda t: {"kids": pa.concat_tables([t["kids"], t["kids"].slice(0, 1)])}, 1),
        (lambda t: {"toys": pa.concat_tables([t["toys"], lost_toys("?", None)])}, 2),
    ],
)
def test_hostile_keys_are_left_out_and_counted_or_refused(change, left):
    given = grown(20, 1, 1)
    _, before = bounded(DEEP["plain"], given, key=KEY)
    given |= change(given)
    _, lost = bounded(DEEP["plain"], given, key=KEY)

    def total(found):
        return sum(one.blank + one.repeated + one.orphans for one in found)

    assert total(lost) - total(before) >= left
    with pytest.raises(TableError, match="strict"):
        bounded(DEEP["plain"], given, key=KEY, strict=True)


def test_four_tables_deep_is_one_sentence():
    document = DEEP["plain"].document()
    document["tables"][1]["key"] = "toy"
    document["tables"].append({"name": "parts", "schema": {"version": 1, "name": "p", "attributes": [listed("p", 2)]}})
    document["links"].append({"parent": "toys", "child": "parts", "key": "toy", "max_children": 2})
    with pytest.raises(SchemaError, match="roots > kids > toys > parts are 4 tables deep; at most 3"):
        LinkedSchema.of(document)


def test_numbers_of_grandchildren_are_columns_of_the_child():
    assert [a.name for a in columns_of(DEEP["plain"], "kids")] == ["r", "toys: number"]
    assert [a.name for a in columns_of(DEEP["plain"], "roots")] == ["a"]
