"""Noise of linked runs is what was charged (T3), and an attacker on synthetic tables proves no more (T4)."""

import math

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.trees.bounding import bounded
from tests.audit.blackbox import lower_bound
from tests.audit.gates import WatchGate
from tests.runs.trees.small import DEEP, KEY, SCHEMAS, fit_forest, grown, run, schema_of, tables, together

pytestmark = pytest.mark.chance("T0", "T3", "T4")

DELTA = 1e-6
ALARM = 7.0  # standard errors: chances far below 1e-9 for sums of thousands of draws


def canary(kids):
    """A root with an odd value and that many equal children."""
    return {
        "roots": pa.table({"id": ["999"], "a": ["1"]}),
        "kids": pa.table({"root": ["999"] * kids, "r": ["2"] * kids, "t": ["5"] * kids},
                         schema=pa.schema([(n, pa.string()) for n in ("root", "r", "t")])),
    }  # fmt: skip


def sides(name, kids, crowd=30):
    """Forests with and without the canary; "deep": a root with kids who have as many toys as may stay."""
    deep = name == "deep"
    schema, others = (DEEP["roles"], grown(crowd, 3, 8)) if deep else (SCHEMAS[name], tables(crowd, 3, 8))
    odd = grown(1, kids, 9, first=900) if deep else canary(kids)
    with_it, _ = bounded(schema, together(others, odd), key=KEY)
    without, _ = bounded(schema, others, key=KEY)
    return schema, with_it, without


@pytest.mark.parametrize("name", ["plain", "roles", "ordered", "deep"])
def test_the_noise_of_every_access_has_its_charged_variance_and_none_is_used_twice(name):
    schema, forest, _ = sides(name, 20)
    scaled = []
    for _ in range(25):
        gate, _ = run(forest, schema, gate=WatchGate, delta=DELTA)
        scaled.append(np.concatenate([((n.out - n.here) / n.charge.scale).ravel() for n in gate.notes[:6]]))
    sizes = min(map(len, scaled))
    z = np.array([s[:sizes] for s in scaled])
    n = z.size
    assert abs(z.mean()) < ALARM / math.sqrt(n)
    assert abs((z**2).mean() - 1) < ALARM * math.sqrt(2 / n) + 0.01  # rounding adds up to 1 / 12 of a count
    assert abs((z[1:] * z[:-1]).mean()) < ALARM / math.sqrt(n)  # successive runs
    assert abs((z[:, 1:] * z[:, :-1]).mean()) < ALARM / math.sqrt(n)  # neighbouring cells


def features(made):
    """Numbers of roots and of children, and one-ways of all."""
    parts = [[made.n_roots, *(c.counts.sum() for c in made.children)], np.bincount(made.shapes[0], minlength=40)[:40]]
    parts += [np.bincount(c, minlength=2)[:2] for c in made.roots]
    for children in made.children:
        parts += [np.bincount(column, minlength=6)[:6] for column in children.rest[:2]]
    return np.concatenate(parts).astype(float)


def attacked(name, kids, crowd, runs, epsilon):
    from dpsyn_core.runs.trees.division import costs_of
    from dpsyn_core.runs.trees.measurement import SHARES

    schema, *forests = sides(name, kids, crowd)
    budget, noise, rng = Budget(epsilon=epsilon, delta=DELTA), SystemNoise(), np.random.default_rng()
    out = []
    for forest in forests:
        rows = []
        for _ in range(runs):
            gate = Gate(account=Account(budget.gaussian()), noise=noise, unit=Unit(identifier="id"))
            costs = costs_of(schema, budget.gaussian(), SHARES)
            made = fit_forest(
                forest, schema, gate=gate, costs=costs, budget=budget, n_roots=None, effort=0.1, rng=rng
            )  # fmt: skip
            rows.append(features(made))
        out.append(np.array(rows))
    return lower_bound(out[1], out[0], DELTA, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kids", "crowd"), [("plain", 20, 3), ("roles", 0, 0), ("deep", 20, 3)])
def test_an_attacker_on_synthetic_tables_proves_no_more_than_was_promised(name, kids, crowd):
    assert attacked(name, kids, crowd, 120, 1.0) <= 1.0


@pytest.mark.slow
def test_the_attacker_would_see_a_far_larger_budget():
    assert attacked("plain", 20, 3, 160, 120.0) > 1.0


def test_which_children_stay_is_drawn_anew_for_every_run_and_evenly():
    """T0 of bounding: 9 unlike children, of which 3 stay; over 1,200 keys each stays as often, by itself."""
    schema = schema_of({})
    kids = [(str(r), str(t)) for r in range(3) for t in range(3)]
    given = {
        "roots": pa.table({"id": ["x"], "a": ["1"]}),
        "kids": pa.table({"root": ["x"] * 9, "r": [r for r, _ in kids], "t": [t for _, t in kids]}),
    }
    runs = 1200
    stays = np.zeros((runs, 9))
    for run_ in range(runs):
        rest = bounded(schema, given)[0].children[0].rest
        stays[run_, rest[0] * 3 + rest[1]] = 1
    assert (stays.sum(axis=1) == 3).all()
    error = math.sqrt(1 / 3 * 2 / 3 / runs)
    assert np.abs(stays.mean(axis=0) - 1 / 3).max() < ALARM * error
    again = ((stays[1:] - 1 / 3) * (stays[:-1] - 1 / 3)).mean(axis=0) / (2 / 9)
    assert np.abs(again).max() < ALARM / math.sqrt(runs)  # what stays in one run says nothing of the next


def test_two_runs_on_the_same_tables_share_no_noise():
    """T0 of a run: noise, and which children stay, come anew from the operating system."""
    schema, forest, _ = sides("plain", 20)
    notes = [run(forest, schema, gate=WatchGate, delta=DELTA)[0].notes for _ in range(2)]
    first, second = (np.concatenate([np.ravel(n.out) for n in own[:6]]) for own in notes)
    same = first[: len(second)] == second[: len(first)]
    assert len(same) >= 8 and same.mean() < 0.6  # small numbers agree by chance
