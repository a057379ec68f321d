"""Scores that are counted in batches: the same whatever a batch holds, none too large, and no more than are needed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure import dependence, measure, select
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.dependence import expected_pairs, filled, independence_gap, indif_counts, l1_counts
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.select import exceptions_noise, score_exceptions, score_sets
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 3, "b": 2, "c": 4, "d": 5})
CODES = np.stack([np.random.default_rng(i).integers(0, s, 200) for i, s in enumerate(DOMAIN.sizes)]).astype(np.uint8)
PAIRS = DOMAIN.subsets(2)
CELLS = [math.prod(DOMAIN.shape(p)) for p in PAIRS]
HALVES = {"d": Coarsening.of([0, 0, 0, 1, 1])}
NONE = {}


class Quiet:
    """No noise."""

    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)

    geometric = gaussian


class Heard(MemoryCounter):
    """Keeps which sets were counted together."""

    def __init__(self):
        super().__init__(CODES, DOMAIN)
        self.asked = []

    def marginals(self, sets, recodes=NONE):
        self.asked.append(list(sets))
        return super().marginals(sets, recodes)


def gate(unit=None, cost=None):
    return Gate(account=Account(cost or Cost(rho=1.0)), noise=Quiet(), unit=unit or Unit())


def fits(asked, cells, most):
    """Whether each reading but the last could not have held the first table of the next one, and none is too large."""
    sizes = [[cells[s] for s in sets] for sets in asked]
    small = all(len(s) == 1 or sum(s) <= most for s in sizes)
    return small and all(sum(s) + following[0] > most for s, following in itertools.pairwise(sizes))


@pytest.mark.parametrize("most", [1, 6, 8, 14, 15, 34, 4_000_000])
def test_tables_are_measured_and_scored_in_as_few_readings_as_their_cells_allow(most, monkeypatch):
    of = dict(zip(PAIRS, CELLS, strict=True))
    expected = [np.full(DOMAIN.shape(p), 3.3) for p in PAIRS]
    tables = [MemoryCounter(CODES, DOMAIN).marginal(p) for p in PAIRS]
    monkeypatch.setattr(select, "BATCH", most)
    heard = Heard()
    scores, sigma = score_sets(
        heard, PAIRS, expected, [NONE] * len(PAIRS), cost=Cost(rho=0.5), gate=gate(), name="scores"
    )
    rounded = round(3.3 * 16) / 16
    assert scores.tolist() == [float(np.abs(t - rounded).sum()) for t in tables]
    assert sigma == pytest.approx(math.sqrt(len(PAIRS)))
    assert fits(heard.asked, of, most)
    heard = Heard()
    first = [pair[0] for pair in PAIRS]
    found, _ = score_exceptions(heard, PAIRS, first, [NONE] * len(PAIRS), cost=Cost(rho=0.5), gate=gate())
    assert found.tolist() == [float(t.sum() - t.max(axis=1).sum()) for t in tables]
    assert fits(heard.asked, of, most)
    monkeypatch.setattr(measure, "BATCH", most)
    heard = Heard()
    got = measure.measure_marginals(heard, PAIRS, Cost(rho=1.0).split([1.0] * len(PAIRS)), gate=gate())
    assert all(np.array_equal(m.values, t) for m, t in zip(got, tables, strict=True))
    assert fits(heard.asked, of, most)


def test_sets_of_other_coarse_maps_are_counted_by_these():
    maps = [HALVES, NONE, HALVES, NONE, HALVES, NONE]
    counter = MemoryCounter(CODES, DOMAIN)
    tables = [counter.marginal(p, m) for p, m in zip(PAIRS, maps, strict=True)]
    scores, _ = score_sets(
        counter, PAIRS, [np.zeros(t.shape) for t in tables], maps, cost=Cost(rho=0.5), gate=gate(), name="scores"
    )
    assert scores.tolist() == [200.0] * len(PAIRS)
    found, _ = score_exceptions(counter, PAIRS, [p[1] for p in PAIRS], maps, cost=Cost(rho=0.5), gate=gate())
    assert found.tolist() == [float(200 - t.max(axis=0).sum()) for t in tables]
    found, _ = score_exceptions(counter, PAIRS, [None] * len(PAIRS), maps, cost=Cost(rho=0.5), gate=gate())
    assert found.tolist() == [float(200 - t[0, 0] - t[-1, -1]) for t in tables]


def test_no_sets_cost_nothing():
    none = gate()
    scores, sigma = score_sets(MemoryCounter(CODES, DOMAIN), [], [], [], cost=Cost(rho=1.0), gate=none, name="scores")
    assert (scores.tolist(), sigma, none.account.charges) == ([], 0.0, [])


@pytest.mark.parametrize("cost", [Cost(rho=0.02), Cost(epsilon=0.02)])
@pytest.mark.parametrize("unit", [Unit(), Unit(max_records=3), Unit(neighbours="replace", max_records=2)])
def test_the_noise_of_exceptions_is_known_before_they_are_scored(cost, unit):
    given = gate(unit, cost)
    _, sigma = score_exceptions(
        MemoryCounter(CODES, DOMAIN), PAIRS, [p[0] for p in PAIRS], [NONE] * len(PAIRS), cost=cost, gate=given
    )
    assert exceptions_noise(len(PAIRS), cost, unit) == pytest.approx(sigma, rel=1e-4)
    [charge] = given.account.charges
    moved = unit.max_records * (len(PAIRS) if cost.pure else math.sqrt(len(PAIRS)))
    assert charge.sensitivity == pytest.approx(moved) and charge.cells == len(PAIRS) and charge.kind == "scores"


@pytest.mark.parametrize("batch", [1, 2, 5, 6, 7])
def test_dependence_is_counted_in_batches_in_the_order_of_the_pairs(batch, monkeypatch):
    monkeypatch.setattr(dependence, "BATCH", batch)
    heard = Heard()
    tables = [MemoryCounter(CODES, DOMAIN).marginal(p) for p in PAIRS]
    gaps = [np.abs(200 * t - np.outer(t.sum(axis=1), t.sum(axis=0))).sum() for t in tables]
    assert indif_counts(heard, PAIRS, NONE).tolist() == [math.floor(Fraction(int(g), 200)) for g in gaps]
    assert [len(sets) for sets in heard.asked] == [min(batch, 6 - i) for i in range(0, 6, batch)]
    assert [independence_gap(t, 200) for t in tables] == gaps
    expected = [np.full(t.shape, i) for i, t in enumerate(tables)]
    found = l1_counts(Heard(), PAIRS, expected, NONE)
    assert found.tolist() == [int(np.abs(t - i).sum()) for i, t in enumerate(tables)]


def test_expected_pairs_multiply_one_ways_and_share_the_median_total():
    values = {"a": [60.0, 20.0, 20.0], "b": [50.0, 60.0], "c": [0.0, 30.0, 30.0, 60.0]}
    ones = {n: Measurement(attributes=(n,), values=np.array(v), sigma=1.0) for n, v in values.items()}
    for (a, b), table in zip([("a", "b"), ("c", "b")], expected_pairs(ones, [("a", "b"), ("c", "b")]), strict=True):
        parts = [np.array(values[n]) / sum(values[n]) for n in (a, b)]
        assert table.dtype == np.int64 and table.tolist() == np.rint(np.outer(*parts) * 110).astype(int).tolist()


def test_a_table_of_fewer_records_is_filled_up_in_its_first_cell_alone():
    table = np.array([[2, 1], [0, 4]])
    assert filled(table, 10).tolist() == [[5, 1], [0, 4]]
    assert filled(table, 7).tolist() == filled(table, 6).tolist() == table.tolist() == [[2, 1], [0, 4]]
