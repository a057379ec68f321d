"""Marginals measured together: one reading of the records, one charge and one noisy table each, in order."""

import numpy as np
import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure import measure
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.measure import measure_marginals
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 6, "b": 4, "c": 3})
CODES = np.random.default_rng(0).integers(0, [[6], [4], [3]], (3, 500)).astype(np.uint8)
HALVES, THIRDS = Coarsening.of([0, 0, 0, 1, 1, 1]), Coarsening.of([0, 0, 1, 1, 2, 2])
SETS = [("a", "b"), ("a", "c"), ("b", "c"), ("a",), (), ("a", "b", "c")]
OF_HALVES, OF_THIRDS, NONE = {"a": HALVES}, {"a": THIRDS}, {}
MAPS = [OF_HALVES, OF_THIRDS, NONE, OF_HALVES, NONE, OF_THIRDS]


class Quiet:
    """No noise, so that exact tables can be compared."""

    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)


class Heard(MemoryCounter):
    """Keeps which sets were counted together, and how much was charged before."""

    def __init__(self, account=None):
        super().__init__(CODES, DOMAIN)
        self.asked, self.account = [], account

    def marginals(self, sets, recodes):
        self.asked.append((list(sets), None if self.account is None else len(self.account.charges)))
        return super().marginals(sets, recodes)


def measured(counter, account):
    gate = Gate(account=account, noise=Quiet(), unit=Unit())
    return measure_marginals(counter, SETS, Cost(rho=1.0).split([1.0] * len(SETS)), gate=gate, recodes=MAPS)


def test_each_set_is_counted_through_its_own_maps_and_in_few_readings():
    account = Account(Cost(rho=1.0))
    counter = Heard(account)
    out = measured(counter, account)
    for names, maps, m in zip(SETS, MAPS, out, strict=True):
        assert m.attributes == names and set(m.recodes) == set(maps) & set(names)
        assert np.array_equal(m.values, MemoryCounter(CODES, DOMAIN).marginal(names, maps))
    assert [sets for sets, _ in counter.asked] == [[SETS[0], SETS[3]], [SETS[1], SETS[5]], [SETS[2], SETS[4]]]


def test_all_are_charged_before_any_is_counted_and_in_their_order():
    account = Account(Cost(rho=1.0))
    counter = Heard(account)
    measured(counter, account)
    assert [held for _, held in counter.asked] == [len(SETS)] * 3
    assert [c.name for c in account.charges] == ["marginal " + " x ".join(s) if s else "total" for s in SETS]


def test_tables_of_many_cells_are_counted_in_parts(monkeypatch):
    monkeypatch.setattr(measure, "BATCH", 9)
    account = Account(Cost(rho=1.0))
    counter = Heard(account)
    out = measured(counter, account)
    assert [sets for sets, _ in counter.asked] == [[SETS[0]], [SETS[1]], [SETS[2]], [SETS[3]], [SETS[4]], [SETS[5]]]
    assert np.array_equal(out[-1].values, MemoryCounter(CODES, DOMAIN).marginal(SETS[-1], MAPS[-1]))


def test_nothing_is_counted_when_the_budget_ends_before_the_last():
    account = Account(Cost(rho=0.5))
    counter = Heard()
    with pytest.raises(BudgetError):
        measured(counter, account)
    assert not counter.asked
