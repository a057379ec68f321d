"""Grandchildren: one root moves no access by more than was charged; keys, limits and relations hold two links down."""

import itertools
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.linked.answering import asked_needs, measure_questions
from dpsyn_core.linked.asked import LinkedQuestions
from dpsyn_core.linked.bounding import bounded
from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.linked.forest import columns_of
from dpsyn_core.linked.keys import check_keys
from dpsyn_core.linked.release import synthesize_linked
from dpsyn_core.linked.rule_breaks import broken_roots
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.questions.evaluate import evaluate
from dpsyn_core.report.linked_charges import of_linked_charges
from tests.audit.gates import TapeGate, WatchGate, released
from tests.linked.small import listed, number, together
from tests.linked.test_sensitivity import KEY, run, views


def deep(upper=None, lower=None, **more):
    """Roots, their kids, and the toys of these."""

    def table(name, key, *attributes):
        own = {} if key is None else {"key": key}
        return {"name": name, **own, "schema": {"version": 1, "name": name, "attributes": list(attributes)}}

    tables = [
        table("roots", "id", listed("a", 2)),
        table("toys", None, listed("c", 2), number("u", 4)),  # listed before their parents
        table("kids", "kid", listed("r", 3)),
    ]
    links = [
        {"parent": "kids", "child": "toys", "key": "of", "max_children": 3} | (lower or {}),
        {"parent": "roots", "child": "kids", "key": "root", "max_children": 2} | (upper or {}),
    ]
    return LinkedSchema.of({"version": 2, "name": "deep", "tables": tables, "links": links} | more)


ROLES = {"roles": {"column": "r", "single": ["0"]}}
DEEP = {
    "plain": deep(),
    "order": deep(lower={"order": "u"}),
    "distinct": deep(lower={"order": "u", "distinct": True, "max_children": 4}),
    "roles": deep(upper=ROLES, lower={"roles": {"column": "c", "single": ["1"]}}),
    "replace": deep(upper=ROLES, unit={"neighbours": "replace"}),
    "ruled": deep(
        lower={
            "rules": [
                {"kind": "count", "where": "u >= 1", "least": 1, "given": "u < 1"},
                {"kind": "impossible", "where": "kids.r = 2 and c = 0"},
                {"kind": "impossible", "where": "roots.a = 1 and u = 3"},
            ]
        }
    ),
}


def grown(roots, most, seed, first=0, shared=False):
    """Random roots with kids and toys; shared: the kids of all roots have the same few names."""
    rng = np.random.default_rng(seed)
    names = np.arange(first, first + roots)
    of = np.repeat(names, rng.integers(0, most + 1, roots))
    kid = rng.integers(0, 5, len(of)) if shared else 10_000 * (first + 1) + np.arange(len(of))
    toys = np.repeat(np.unique(kid), rng.integers(0, most + 2, len(np.unique(kid))))
    return {
        "roots": pa.table({"id": names.astype(str), "a": rng.integers(0, 2, roots).astype(str)}),
        "kids": pa.table(
            {"root": of.astype(str), "kid": kid.astype(str), "r": rng.integers(0, 3, len(of)).astype(str)}
        ),
        "toys": pa.table(
            {
                "of": toys.astype(str),
                "c": rng.integers(0, 2, len(toys)).astype(str),
                "u": rng.integers(0, 4, len(toys)).astype(str),
            }
        ),
    }


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
    schema, rng = DEEP[name], np.random.default_rng(5)
    crowd = grown(30, 4, 1, shared=shared)
    one = grown(1, 12, 2, first=900)
    alone, _ = bounded(schema, one, key=KEY)
    without, _ = bounded(schema, crowd, key=KEY)
    both = together(crowd, one)
    shuffled = {n: t.take(rng.permutation(t.num_rows)) for n, t in both.items()}
    for given in (both, shuffled):
        forest, _ = bounded(schema, given, key=KEY)
        for (view, counter), (_, rest), (_, own) in zip(
            views(forest, schema), views(without, schema), views(alone, schema), strict=True
        ):
            for pair in view.pairs:
                assert (counter.marginal(pair) - rest.marginal(pair) == own.marginal(pair)).all()


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
    schema, most = DEEP[name], 0.0
    for seed in (1, 2):
        crowd, one = grown(40, 3, seed), grown(1, 6, seed + 50, first=900)
        here, _ = bounded(schema, together(crowd, one), key=KEY)
        exchanged = [grown(1, 6, seed + 70, first=950)] if schema.unit.neighbours == "replace" else []
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


@pytest.mark.parametrize("name", DEEP)
def test_what_is_made_depends_on_what_the_gate_releases_alone(name):
    found = []
    for roots in (0, 1, 60):
        forest, _ = bounded(DEEP[name], grown(roots, 3, roots), key=KEY)
        gate, made = run(forest, DEEP[name], gate=TapeGate)
        found.append((gate.account.charges, [made.roots, *made.shapes, *(c.codes for c in made.children)]))
    for charges, arrays in found[1:]:
        assert charges == found[0][0]
        assert all(np.array_equal(a, b) for a, b in zip(arrays, found[0][1], strict=True))


@pytest.mark.parametrize("name", DEEP)
def test_synthetic_keys_hold_two_links_down(name, tmp_path):
    schema = DEEP[name]
    release = synthesize_linked(grown(300, 3, 1), schema, epsilon=20, delta=1e-6, rng=1, dataset="deep")
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
    release = synthesize_linked(
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
    asked = LinkedQuestions.of([
        {"about": "toys", "ask": {"name": "q1", "kind": "table", "of": ["c", "kids.r", "roots.a"]}},
        {"about": "kids", "counts": {"n": {"of": "toys", "where": "c = 1"}},
         "ask": {"name": "q2", "kind": "mean", "of": "n", "by": ["r"]}},
    ])  # fmt: skip
    for seed in range(4):
        crowd, one = grown(30, 3, seed), grown(1, 9, seed + 50, first=900)
        notes = []
        for given in (together(crowd, one), crowd):
            forest, _ = bounded(schema, given, key=KEY)
            cost = Budget(epsilon=1.0, delta=1e-6).gaussian()
            gate = WatchGate(account=Account(cost), noise=SystemNoise(), unit=Unit(identifier="id"), forced=None)
            measure_questions(forest, schema, asked, cost.split([1.0, 1.0]), gate)
            notes.append(gate.notes)
        for a, b in zip(*notes, strict=True):
            moved = np.sqrt(((a.here - b.here).astype(float) ** 2).sum())
            assert moved <= a.charge.sensitivity
            most[a.charge.name] = max(most.get(a.charge.name, 0), moved / a.charge.sensitivity)
    assert [t.unit for t, _ in asked_needs(schema, asked)] == [6, 2] and max(most.values()) > 0.6
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
