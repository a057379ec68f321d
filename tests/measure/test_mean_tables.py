"""Means of marginals: their values, their noise and what one individual may change."""

from itertools import combinations

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.measure import averaged, measure_mean
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from tests.seeded import SeededNoise

DOMAIN = Domain.of({"x": 3, "u": 4, "v": 4, "w": 4})
PAIRS = (("u", "x"), ("v", "x"), ("w", "x"))  # "x" comes before them in the domain


def gate(cost, unit, noise=0.0):
    return Gate(account=Account(cost), noise=SeededNoise(1, scale=noise), unit=unit)


def codes(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, k, n) for k in DOMAIN.sizes]).astype(np.uint8)


def counted(table, pair):
    first, second = (table[DOMAIN.names.index(n)] for n in pair)
    return np.array([[np.sum((first == i) & (second == j)) for j in range(3)] for i in range(4)])


def test_it_is_the_mean_of_the_tables_with_the_first_column_in_the_rows():
    cost, table = Cost(rho=1.0), codes(50)
    found = measure_mean(MemoryCounter(table, DOMAIN), PAIRS, recodes={}, cost=cost, gate=gate(cost, Unit()))
    assert found.pairs == PAIRS
    assert np.allclose(found.values, np.mean([counted(table, p) for p in PAIRS], axis=0))


def test_other_columns_are_counted_at_their_coarse_values():
    cost, table = Cost(rho=1.0), codes(50)
    recodes = {"x": Coarsening.of(np.array([0, 1, 1]))}
    found = measure_mean(MemoryCounter(table, DOMAIN), PAIRS, recodes=recodes, cost=cost, gate=gate(cost, Unit()))
    whole = np.mean([counted(table, p) for p in PAIRS], axis=0)
    assert np.allclose(found.values, np.column_stack([whole[:, 0], whole[:, 1] + whole[:, 2]]))


@pytest.mark.parametrize("cost", [Cost(rho=0.02), Cost(epsilon=0.2)])
def test_it_costs_what_the_table_of_one_pair_costs(cost):
    unit = Unit(max_records=2)
    door = gate(cost, unit, noise=1.0)
    found = measure_mean(MemoryCounter(codes(50), DOMAIN), PAIRS, recodes={}, cost=cost, gate=door)
    (charge,) = door.account.charges
    assert (charge.name, charge.kind, charge.cells) == ("mean marginal of 3: u x x", "mean", 12)
    assert averaged(charge.name) == 3
    assert averaged("marginal u x x") is None
    assert averaged("mean marginal of u x x") is None
    expected = np.sqrt(2) * cost.scale(unit.l1()) if cost.pure else cost.sigma(unit.l2())
    assert found.sigma == pytest.approx(expected, rel=0.01)
    assert found.law == ("geometric" if cost.pure else "gaussian")
    assert np.std(found.values * 3 - np.rint(found.values * 3)) == pytest.approx(0, abs=1e-9)  # of whole sums


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_no_individual_moves_the_sum_by_more_than_is_charged(neighbours):
    """All records that a table of three may gain, lose or exchange."""
    domain, cost = Domain.of({"u": 2, "v": 2, "w": 2}), Cost(rho=1.0)
    pairs, unit = tuple(combinations(domain.names, 2)), Unit(neighbours=neighbours)
    records = [np.array(list(np.ndindex(2, 2, 2))[i])[:, None] for i in range(8)]
    base = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 1]])

    def summed(table):
        door = gate(cost, unit)
        found = measure_mean(MemoryCounter(table.astype(np.uint8), domain), pairs, recodes={}, cost=cost, gate=door)
        return found.values * len(pairs), door.account.charges[0].sensitivity

    tables = [summed(np.hstack([base, r])) for r in records]
    others = tables if neighbours == "replace" else [summed(base)]
    moved = [np.linalg.norm(one - other) for one, _ in tables for other, _ in others]
    assert max(moved) <= tables[0][1] * (1 + 1e-9)
    assert max(moved) == pytest.approx(tables[0][1])  # and one of them does
