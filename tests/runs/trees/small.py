"""Small linked schemas of every shape, random tables for them, and what is asked of any two neighbours of them."""

import math

import numpy as np
import pyarrow as pa

from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.trees.answers import measure_questions
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.division import costs_of
from dpsyn_core.runs.trees.fit import TreeFit
from dpsyn_core.runs.trees.measurement import SHARES, counter_of, sibling_counter
from dpsyn_core.runs.trees.real_tables import RealForests
from dpsyn_core.runs.trees.stages import stages_of
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.systems.rls.system import RlsConfig
from tests.audit.gates import TapeGate, WatchGate, released

KEY = bytes(range(32))


def listed(name, count, **more):
    return {"name": name, "kind": "categorical", "values": [str(v) for v in range(count)], **more}


def number(name, count):
    bins = {"count": count}
    return {"name": name, "kind": "numeric", "dtype": "integer", "min": 0, "max": count - 1, "bins": bins}


def schema_of(link, *, root=(listed("a", 2),), child=(listed("r", 3), number("t", 6)), theta=3, **more):
    tables = [
        {"name": "roots", "key": "id", "schema": {"version": 1, "name": "roots", "attributes": list(root)}},
        {"name": "kids", "schema": {"version": 1, "name": "kids", "attributes": list(child)}},
    ]
    link = {"parent": "roots", "child": "kids", "key": "root", "max_children": theta} | link
    return LinkedSchema.of({"version": 2, "name": "small", "tables": tables, "links": [link]} | more)


SCHEMAS = {
    "plain": schema_of({}),
    "roles": schema_of({"roles": {"column": "r", "single": ["0", "1"]}}),
    "ordered": schema_of({"order": "t"}),
    "distinct": schema_of({"order": "t", "distinct": True}, theta=6),
    "one child": schema_of({}, theta=1),
    "many": schema_of({}, theta=20),
    "replace": schema_of({"order": "t"}, unit={"neighbours": "replace"}),
    "ruled": schema_of(
        {
            "roles": {"column": "r", "single": ["0", "1"]},
            "rules": [
                {"kind": "count", "where": "r = 0", "least": 1},
                {"kind": "order", "lower": "t", "upper": "0.t", "where": "r = 2"},
                {"kind": "count", "where": "t > 1", "least": 1, "given": "t = 0"},
            ],
        }
    ),
}


def tables(roots, most, seed, first=0):
    """Random roots named from `first` on, with up to `most` children each."""
    rng = np.random.default_rng(seed)
    names = np.arange(first, first + roots)
    of = np.repeat(names, rng.integers(0, most + 1, roots))
    return {
        "roots": pa.table({"id": names.astype(str), "a": rng.integers(0, 2, roots).astype(str)}),
        "kids": pa.table(
            {
                "root": of.astype(str),
                "r": rng.integers(0, 3, len(of)).astype(str),
                "t": rng.integers(0, 6, len(of)).astype(str),
            }
        ),
    }


def together(*parts):
    """Tables one below the other."""
    return {name: pa.concat_tables([p[name] for p in parts]) for name in parts[0]}


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


def views(forest, schema):
    """Every view of a forest with its unit, and the number of cells of its largest table."""
    for stage in stages_of(schema):
        yield stage.view, counter_of(forest, stage, schema)
        if stage.siblings is not None:
            yield stage.siblings, sibling_counter(forest, stage)


def fit_forest(forest, schema, *, gate, costs, budget, n_roots, effort, rng):
    """One synthetic forest of a real one in memory."""
    fit = TreeFit(schema, config=RlsConfig(effort=effort), budget=budget, costs=costs, rng=rng)
    fit.measure_root(RealForests.whole(forest, schema), gate)
    return next(fit.forests(n_roots))


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


def check_one_root_alone(schema, crowd, one):
    """What is counted of a root among others, in any order of records, is what is counted of it by itself."""
    rng = np.random.default_rng(5)
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


def moved(first, second, delta):
    """For each access by how much its exact values differ, over the sensitivity that it is charged for."""
    for a, b in zip(first, second, strict=True):
        assert a.charge == b.charge
        apart = (a.here - b.here).astype(float).ravel()
        found = np.abs(apart).sum() if delta == 0 else math.sqrt((apart**2).sum())
        assert found <= a.charge.sensitivity * (1 + 1e-12), a.charge.name
        yield found / a.charge.sensitivity


def most_moved(schema, given, delta):
    """The most that runs on neighbours move by, over what is charged. given: a crowd, a root, another in its place."""
    crowd, one, other = given
    here, _ = bounded(schema, together(crowd, one), key=KEY)
    exchanged = [other] if schema.unit.neighbours == "replace" else []
    there, _ = bounded(schema, together(crowd, *exchanged), key=KEY)
    first, _ = run(here, schema, delta=delta)
    second, _ = run(there, schema, delta=delta, forced=released(first.notes))
    assert not first.late and len(first.notes) == len(second.notes)
    assert compose(first.account.charges).within(8.0, delta)
    return max(moved(first.notes, second.notes, delta))


def most_moved_by_questions(schema, asked, crowd, one):
    """By name of the charge, the most that tables of questions move by with a root, over what is charged."""
    notes = []
    for given in (together(crowd, one), crowd):
        forest, _ = bounded(schema, given, key=KEY)
        cost = Budget(epsilon=1.0, delta=1e-6).gaussian()
        gate = WatchGate(account=Account(cost), noise=SystemNoise(), unit=Unit(identifier="id"), forced=None)
        measure_questions(forest, schema, asked, cost.split([1.0] * len(asked.across)), gate)
        notes.append(gate.notes)
    return dict(zip([n.charge.name for n in notes[0]], moved(*notes, delta=1e-6), strict=True))


def check_made_of_released_values(schema, of):
    """Runs on other tables make the same where the gate releases the same. of: tables with a number of roots."""
    found = []
    for roots in (0, 1, 60):
        forest, _ = bounded(schema, of(roots), key=KEY)
        gate, made = run(forest, schema, gate=TapeGate)
        of_children = [x for c in made.children for x in (c.rest, c.counts, *(s for one in c.singles for s in one))]
        found.append((gate.account.charges, [made.roots, *made.shapes, *of_children]))
    for charges, arrays in found[1:]:
        assert charges == found[0][0]
        assert all(np.array_equal(a, b) for a, b in zip(arrays, found[0][1], strict=True))
