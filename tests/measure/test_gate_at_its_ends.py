"""What the gate allows at the very ends of its limits, and what comes out where no noise is drawn."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

from dpsyn_core.errors import BudgetError, EngineError, UnitError
from dpsyn_core.measure import sparse, sums, unprotected
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.counting.sums import Features, SumRule
from dpsyn_core.measure.discovery import Wanted, category_count, check_columns, shares
from dpsyn_core.measure.forecast import least_epsilon, people_needed
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.partitions import count_for, failure, gaussian_failure, reach_for, threshold, truncated
from dpsyn_core.measure.unprotected import UnprotectedGate, bounded, distinct_counts
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.document import SchemaUnit
from dpsyn_core.schema.domain import Domain

PURE, RHO = Cost(epsilon=1.0), Cost(rho=0.5)


class Quiet:
    """No noise, and every record in each sample."""

    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)

    geometric = gaussian

    def chance(self, rate, size):
        return np.ones(size, dtype=bool)


def gate(cost, *, delta=0.0, kind=Gate, **unit):
    return kind(account=Account(cost, delta=delta), noise=Quiet(), unit=Unit(**unit))


@pytest.mark.parametrize(
    ("cells", "least", "fits"),
    [(1, 1, True), (2**40, 1, True), (0, 1, False), (2**40 + 1, 1, False), (5, 0, False), (5, 7, True)],
)
def test_a_sparse_table_has_up_to_2_to_40_cells_and_a_threshold_of_one_at_least(monkeypatch, cells, least, fits):
    asked = []
    monkeypatch.setattr(sparse, "noisy_above", lambda i, c, noise, **given: asked.append(given) or (i, c))
    one = np.array([0]), np.array([3])
    made = gate(PURE)
    if fits:
        found = made.release_sparse("x", lambda: one, kind="2-way", cells=cells, threshold=least, cost=PURE)
        assert asked == [{"scale": found.charge.scale, "threshold": least, "cells": cells}]
        assert found.charge.cells == cells and found.values.tolist() == [3]
    else:
        with pytest.raises(EngineError, match="allowed are 1 to"):
            made.release_sparse("x", lambda: one, kind="2-way", cells=cells, threshold=least, cost=PURE)
        assert made.account.charges == []


@pytest.mark.parametrize("theta", [1, 3])
def test_an_urn_gets_the_prior_of_its_unit_and_exposures_over_the_least(monkeypatch, theta):
    asked = []

    def drawn(exact, prior, draws, *, noise, weights):
        asked.append((exact.tolist(), prior, draws, None if weights is None else weights.tolist()))
        return exact

    monkeypatch.setattr(sparse, "dirichlet_multinomial", drawn)
    made = gate(PURE.scaled(1.0), neighbours="replace", max_records=theta)
    given = {"cells": 2, "draws": 10, "cost": PURE.scaled(0.5)}
    first = made.dirichlet("x", lambda: np.array([[4], [6]]), **given)
    made.dirichlet("x", lambda: np.array([4, 6]), exposures=np.array([6.0, 2.0]), **given)
    prior = sparse.prior_count(10, PURE.scaled(0.5), theta)
    assert asked == [([4, 6], prior, 10, None), ([4, 6], prior, 10, [3.0, 1.0])]
    assert first.sigma == 0.0 and first.charge.scale == prior and first.charge.cells == 2
    with pytest.raises(UnitError, match="replace neighbours only"):
        gate(PURE).dirichlet("x", lambda: pytest.fail("counted"), **given)


@pytest.mark.parametrize("cost", [PURE, RHO])
@pytest.mark.parametrize(("distinct", "theta", "per_key"), [(True, 3, 1), (False, 3, 3), (False, 1, 1)])
def test_a_key_is_listed_where_its_count_is_above_the_threshold(cost, distinct, theta, per_key):
    made = gate(cost, delta=1e-6, max_records=theta)
    charge = gate(cost, delta=1e-6, max_records=theta).partitions(
        "keys", lambda: ([], np.zeros(0, dtype=np.int64)), cost=cost, delta=1e-6, distinct=distinct
    ).charge  # fmt: skip
    least = threshold(charge, per_key)
    keys, counts = ["d", "c", "b", "a"], np.array([least + 5, least, least + 1, 1])
    found = made.partitions("keys", lambda: (keys, counts), cost=cost, delta=1e-6, distinct=distinct)
    assert found.keys == ("b", "d") and found.charge == charge
    beyond = charge.scale * (2.33 if cost is RHO else math.log(0.5 / 0.01))
    assert count_for(charge, per_key) == math.ceil(least + beyond)


@pytest.mark.parametrize("scale", [0.5, 2.0, 9.0])
@pytest.mark.parametrize("per_key", [1, 2, 4])
def test_the_reach_of_truncated_noise_is_the_least_that_keeps_delta(scale, per_key):
    def outermost(k):
        """The mass of the `per_key` points at one end of P(x) proportional to exp(-|x| / scale) on -k..k."""
        law = np.exp(-np.abs(np.arange(-k, k + 1)) / scale)
        return float(law[-per_key:].sum() / law.sum())

    for delta in (0.2, 1e-3, 1e-9):
        found = reach_for(scale, per_key, delta)
        assert found >= per_key and failure(scale, per_key, found) == pytest.approx(outermost(found))
        assert outermost(found) <= delta
        assert found == per_key or outermost(found - 1) > delta * (1 - 1e-6)
    assert failure(scale, per_key, per_key - 1) == 1.0
    assert failure(scale, per_key, per_key) == pytest.approx(outermost(per_key))


@pytest.mark.parametrize(("per_key", "moved"), [(1, 1), (1, 4), (2, 4), (4, 4)])
def test_the_failure_of_gaussian_noise_is_the_worst_way_to_share_out_the_counts_of_one_individual(per_key, moved):
    for sigma, k in ((2.0, 5), (1.0, 4), (3.0, 20)):
        worst = max(moved / c * norm.sf((k - c + 0.5) / sigma) for c in range(1, per_key + 1))
        assert gaussian_failure(sigma, per_key, moved, k) == pytest.approx(worst)


def test_draws_beyond_the_reach_are_drawn_again():
    class Wild:
        def __init__(self):
            self.rounds = [np.array([0, 9, -4, 3]), np.array([5, -3])]

        def geometric(self, scale, size):
            out = self.rounds.pop(0)
            assert (scale, size) == (2.0, len(out))
            return out

    noise = Wild()
    noise.rounds += [np.array([-3])]
    assert truncated(noise, 2.0, 3, 4).tolist() == [0, -3, -3, 3]
    endless = type("Endless", (), {"geometric": lambda self, scale, size: np.full(size, 99)})()
    with pytest.raises(EngineError, match="no draw in reach"):
        truncated(endless, 2.0, 3, 4)


@pytest.mark.parametrize("cost", ["rho", "unprotected"])
def test_a_map_is_tried_on_public_rows_before_the_steps_1_2_4_8(monkeypatch, cost):
    tried = []
    monkeypatch.setattr(sums, "check_maps", lambda name, maps, rule, domain: tried.append(taken))
    domain = Domain.of({"a": 3})
    counter = MemoryCounter(np.array([[0, 1, 2, 2]], dtype=np.uint8), domain)
    rule = SumRule(features=Features(tables={"a": np.arange(3.0)[:, None]}), clip=2.0, cells=1)
    made = gate(Cost(rho=50.0), delta=1e-6) if cost == "rho" else gate(RHO, kind=UnprotectedGate)
    given = {"rule": rule, "rate": 0.5, "steps": 10, "cost": Cost(rho=50.0), "delta": 1e-6}
    step = made.release_sampled_sum("x", counter, **given)
    for taken in range(1, 10):
        found = step.step(lambda block: [block])
        assert found.values == pytest.approx([5.0], rel=2e-3)
    assert tried == ([1, 2, 4, 8] if cost == "rho" else [])


def test_exact_values_are_called_what_they_are():
    made = gate(RHO, kind=UnprotectedGate)
    found = made.release("x", lambda: np.array([4, 5]), kind="1-way", cells=2, cost=RHO)
    assert (found.values.tolist(), found.sigma, found.charge.scale) == ([4, 5], 0.1, 0.1)
    assert (found.charge.cells, found.charge.steps, found.charge.kind) == (2, 1, "1-way") and not made.account.charges
    with pytest.raises(EngineError, match="must be counted as 3 integers"):
        made.release("x", lambda: np.array([4, 5]), kind="1-way", cells=3, cost=RHO)


def test_of_each_individual_as_many_rows_stay_as_are_allowed_and_nameless_ones_none(monkeypatch):
    who = ["a", "b", None, "a", "a", "", "c", "b", "a"]
    table = pa.table({"who": who, "x": list(range(9))})
    for theta in (1, 2, 9):
        kept = bounded(table, SchemaUnit(identifier="who", max_records=theta)).column("who").to_pylist()
        assert {n: kept.count(n) for n in set(kept)} == {"a": min(4, theta), "b": min(2, theta), "c": 1}
    assert bounded(table, SchemaUnit(max_records=2)) is table
    keys = []
    for key in (bytes(range(32)), bytes(range(9, 41))):
        monkeypatch.setattr(unprotected.os, "urandom", lambda n, key=key: keys.append(n) or key)
        first = bounded(table, SchemaUnit(identifier="who", max_records=1)).column("x").to_pylist()
        again = bounded(table.take(list(range(8, -1, -1))), SchemaUnit(identifier="who", max_records=1))
        assert sorted(again.column("x").to_pylist()) == first, "the order of the file decides nothing"
    assert keys == [32] * 4


def test_values_are_counted_by_individuals_or_by_records():
    table = pa.table({"who": ["a", "a", "b", "c"], "x": ["u", "u", "u", " "], "y": [3, 3, None, 1]})
    assert [c.tolist() if hasattr(c, "tolist") else c for c in distinct_counts(table, "x", SchemaUnit())] == [
        ["u"],
        [3],
    ]
    keys, counts = distinct_counts(table, "x", SchemaUnit(identifier="who"))
    assert (keys, counts.tolist()) == (["u"], [2])
    keys, counts = distinct_counts(table, "y", SchemaUnit())
    assert (keys, counts.tolist()) == (["1", "3"], [1, 2])


def test_a_price_is_shared_out_to_the_number_of_records_and_evenly_to_the_columns():
    wanted = [Wanted(name=n, kind="integer") for n in "abc"]
    assert shares(wanted) == pytest.approx([0.1, 0.3, 0.3, 0.3]) and shares([]) == [0.1]


def test_each_column_is_asked_for_once():
    table, unit = pa.table({"a": [1], "b": [1], "who": [1]}), SchemaUnit(identifier="who")
    check_columns(table, [Wanted(name="a", kind="integer")], unit)
    for names in (["a", "a"], ["c"], ["who"]):
        with pytest.raises(Exception, match="exactly once"):
            check_columns(table, [Wanted(name=n, kind="integer") for n in names], unit)
    with pytest.raises(Exception, match="nothing is wanted"):
        check_columns(table, [], SchemaUnit())


@pytest.mark.parametrize("delta", [1e-9, 0.0])
def test_the_least_epsilon_is_where_a_tenth_of_the_records_are_enough(delta):
    wanted = [
        Wanted(name="a", kind="integer"),
        Wanted(name="d", kind="date"),
        Wanted(name="k", kind="integer", low=0, high=9),
    ]
    unit, records = Unit(), 3000
    found = least_epsilon(wanted, unit, delta, records)
    needs = [max(people_needed(wanted, unit, Budget(epsilon=e, delta=delta)).values()) for e in (found, found * 0.98)]
    assert needs[0] <= 0.1 * records < needs[1]
    assert least_epsilon(wanted, unit, delta, 3) is None
    assert set(people_needed(wanted, unit, Budget(epsilon=1.0, delta=delta))) == {"a", "d"}
    only = [Wanted(name="k", kind="integer", low=0, high=9)]
    assert least_epsilon(only, unit, delta, 3) == pytest.approx(1e-4, rel=0.02)


def test_more_is_needed_for_bins_too_for_dates_for_fractions_and_for_exchanges():
    def needed(unit=None, **more):
        want = Wanted(**({"name": "a", "kind": "integer"} | more))
        return people_needed([want], unit or Unit(), Budget(epsilon=1.0, delta=1e-9))["a"]

    plain = needed()
    assert plain < needed(kind="float") < needed(bins=4)
    # a range takes .3 of the price where edges are bought too, and the years of a date the half of it
    assert needed(bins=4) == pytest.approx(plain / math.sqrt(0.3), abs=2)
    assert needed(kind="date") == pytest.approx(plain * math.sqrt(2), abs=2)
    assert needed(Unit(neighbours="replace")) == pytest.approx(plain * math.sqrt(2), abs=2)
    assert needed(Unit(max_records=3)) == pytest.approx(3 * plain, abs=3)


def test_the_delta_of_categories_is_shared_by_those_columns_alone():
    def count(*kinds):
        wanted = [Wanted(name=str(i), kind=k) for i, k in enumerate(kinds)]
        return category_count(wanted, Cost(rho=0.5), Unit(), 1e-6)

    one = category_count([Wanted(name="a", kind="categorical")], Cost(rho=0.25), Unit(), 5e-7)
    assert count("categorical", "categorical") == one
    one = category_count([Wanted(name="a", kind="categorical")], Cost(rho=0.25), Unit(), 1e-6)
    assert count("categorical", "integer") == one


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        *(({"low": 0, "high": 0}, True), ({"low": 1, "high": 0}, False), ({"low": 1}, False), ({"high": 1}, False)),
        *(({"bins": 1}, True), ({"bins": 0}, False), ({"written": "1,234"}, True), ({"written": "1,234.5"}, False)),
        *(({"above": ("1",)}, False), ({"above": ("1",), "kind": "categorical"}, True)),
        *(({"written": "1,234.5", "kind": "float"}, True),),
    ],
)
def test_what_is_wanted_of_a_column_fits_its_kind(more, fits):
    given = {"name": "a", "kind": "integer"} | more
    if fits:
        assert Wanted(**given).name == "a"
    else:
        with pytest.raises(Exception, match="'a'"):
            Wanted(**given)


def test_a_budget_that_ends_inside_a_step_counts_nothing():
    made = gate(Cost(rho=0.1))
    with pytest.raises(BudgetError):
        made.release("x", lambda: pytest.fail("counted"), kind="1-way", cells=1, cost=RHO)


class Constant:
    """Draws that are known: 3 for Gaussian noise, 5 for geometric noise."""

    def gaussian(self, sigma, size):
        return np.full(size, 3, dtype=np.int64)

    def geometric(self, scale, size):
        return np.full(size, 5, dtype=np.int64)


def test_noise_is_added_to_counts_in_their_order_and_shape():
    for cost, drawn in ((RHO, 3), (PURE, 5)):
        made = Gate(account=Account(cost), noise=Constant(), unit=Unit())
        table = np.arange(6).reshape(2, 3)
        found = made.release("x", lambda t=table: t, kind="2-way", cells=6, cost=cost)
        assert found.values.tolist() == (table + drawn).tolist()
    made = Gate(account=Account(RHO, delta=1e-6), noise=Constant(), unit=Unit())
    probe = gate(RHO, delta=1e-6).partitions(
        "keys", lambda: ([], np.zeros(0, dtype=np.int64)), cost=RHO, delta=1e-6, distinct=True
    )
    least = threshold(probe.charge, 1)
    counts = np.array([least - 3, least - 2])
    found = made.partitions("keys", lambda: (["a", "b"], counts), cost=RHO, delta=1e-6, distinct=True)
    assert found.keys == ("b",)
