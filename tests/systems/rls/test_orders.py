"""Sets of any order: what the search finds, what it costs where there is nothing, and which tables are measured."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.rls.orders import Wide, _gathered
from tests.seeded import SeededNoise


def run(codes, domain, *, epsilon=1.0, delta=1e-9):
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=delta), n_public=None)
    system = configure("rls", {"even": False}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(3), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    return measured, gate.account, system


def bits(k, n=12_000, d=9):
    """Independent columns, but that the last is the exclusive or of the k before it, 19 times in 20."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (d, n)).astype(np.uint8)
    if k:
        codes[-1] = codes[-1 - k : -1].sum(axis=0) % 2 ^ (rng.random(n) < 0.05)
    return codes, Domain.of({f"c{i}": 2 for i in range(d)})


@pytest.mark.parametrize(("k", "delta"), [(3, 1e-9), (5, 1e-9), (4, 0.0)])
def test_a_parity_of_any_order_is_found_and_told_by_the_records(k, delta):
    codes, domain = bits(k)
    measured, account, system = run(codes, domain, epsilon=1.0 if delta else 3.0, delta=delta)
    assert domain.names[-1 - k :] in [m.attributes for m in measured]
    made = system.synthesize(measured, 4_000, rng=np.random.default_rng(0))
    assert np.mean(made[-1 - k : -1].sum(axis=0) % 2 == made[-1]) > 0.85
    whole = system.cost.rho or system.cost.epsilon
    assert 0.999 * whole < account.spent <= whole * (1 + 1e-9)


def test_where_there_is_nothing_to_find_the_search_costs_next_to_nothing():
    measured, account, system = run(*bits(0))
    asked = [c for c in account.charges if c.name.startswith("largest scores")]
    assert len(asked) >= 3
    assert all(c.cells == 1 for c in asked)
    assert sum(c.rho for c in asked) < 0.005 * system.cost.rho
    assert max(len(m.attributes) for m in measured) <= 2


def test_a_budget_at_which_half_of_the_records_would_not_stand_out_buys_no_search():
    _, account, _ = run(*bits(3, n=300), epsilon=0.1)
    assert not [c for c in account.charges if c.name.startswith("largest scores")]


def test_triples_inside_a_group_of_four_become_one_table_and_others_stay():
    domain = Domain.of(dict.fromkeys("abcde", 3))

    def triple(names, known=100.0, recodes=None):
        return Wide(attributes=tuple(names), shape=(3, 3, 3), recodes=recodes or {}, gain=known, known=known)

    four = [triple(t) for t in ("abc", "abd", "acd", "bcd")]
    (whole,) = _gathered(four, domain, 2_000)
    assert (whole.attributes, whole.shape, whole.known) == (("a", "b", "c", "d"), (3, 3, 3, 3), 400.0)
    assert len(_gathered(four, domain, 80)) == 4  # too many cells
    two = [triple("abc"), triple("cde")]
    assert _gathered(two, domain, 2_000) == two
    coarse = [*four[:3], triple("bcd", recodes={"b": Coarsening.of([0, 0, 1])})]
    assert len(_gathered(coarse, domain, 2_000)) == 2  # one table for three, and the triple that is coarser
