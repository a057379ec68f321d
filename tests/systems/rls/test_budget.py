"""The plan of rls's budget: adds up to the whole, and is the one that both the run and its forecast read."""

import numpy as np
import pytest

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise

DOMAIN = Domain.of({"a": 40, "b": 3, "c": 9})


def system_of(*, delta=1e-9, n_public=None, neighbours="add-remove", theta=1, **settings):
    unit = Unit(neighbours=neighbours, max_records=theta)
    task = Task(domain=DOMAIN, unit=unit, budget=Budget(epsilon=1.0, delta=delta), n_public=n_public)
    return configure("rls", settings).calibrate(task)


def amount(cost):
    return 0.0 if cost is None else cost.epsilon or cost.rho


@pytest.mark.parametrize("delta", [0.0, 1e-9])
@pytest.mark.parametrize("n_public", [None, 5_000])
@pytest.mark.parametrize("total", [0.0, 300.0, 5_000.0, 1e7])
def test_its_parts_add_up_to_the_whole(delta, n_public, total):
    plan = system_of(delta=delta, n_public=n_public, theta=2).budget_plan(total)
    parts = [plan.total, plan.total_again, *plan.one_ways, plan.scores, plan.pairs]
    assert (plan.total is None) == (n_public is not None)
    assert (plan.total_again is None) == (n_public is not None or total > (1e6 if delta == 0 else 3_000))
    assert all(p is None or amount(p) > 0 for p in parts)
    assert amount(plan.whole) * (1 - 1e-9) < sum(map(amount, parts)) <= amount(plan.whole)


def test_what_is_decided_later_comes_out_of_the_pairs():
    plan = system_of().budget_plan(5_000.0)
    first, second = plan.rounds(plan.pairs)
    assert amount(first) + amount(second) == pytest.approx(amount(plan.pairs))
    assert amount(plan.triple_scores(plan.pairs)) == pytest.approx(0.03 * amount(second))
    assert amount(plan.second_scores(1, 3)) == pytest.approx(amount(plan.scores) / 3)


def test_settings_override_what_the_plan_would_choose():
    plan = system_of(one_way_share=0.5, resolution=7).budget_plan(5_000.0)
    assert plan.resolution == 7
    left = amount(plan.whole) - amount(plan.total)
    assert sum(map(amount, plan.one_ways)) == pytest.approx(0.5 * left)


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_a_run_charges_and_a_forecast_states_what_the_plan_says(delta):
    codes = np.zeros((3, 5_000), dtype=np.uint8)
    codes[:, 2_500:] = 1  # all three depend on each other, so that pairs pay
    system = system_of(delta=delta, n_public=5_000, triples=False)
    plan = system.budget_plan(5_000.0)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    system.measure(MemoryCounter(codes, DOMAIN), gate=gate)
    charged = {}
    for c in gate.account.charges:
        charged.setdefault(c.kind, []).append(c.epsilon if delta == 0 else c.rho)
    stated = {s.kind: s.share[0] * amount(plan.whole) for s in system.steps(77.0)}
    assert charged["1-way"] == pytest.approx([amount(c) for c in plan.one_ways])
    assert stated["1-way"] == pytest.approx(sum(charged["1-way"]))
    (scores,) = [c.epsilon if delta == 0 else c.rho for c in gate.account.charges if c.name == "scores of pairs"]
    assert scores == pytest.approx(amount(plan.scores)) == pytest.approx(stated["scores"])


def share_of_one_ways(sizes, total, **settings):
    domain = Domain.of({f"a{i}": s for i, s in enumerate(sizes)})
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=0.3, delta=1e-9), n_public=None)
    plan = configure("rls", settings).calibrate(task).budget_plan(total)
    return sum(map(amount, plan.one_ways)) / amount(plan.whole)


def test_one_ways_get_more_the_larger_their_error_would_be_and_all_where_there_are_no_pairs():
    binary, many = (2,) * 12, (100,) * 12
    assert share_of_one_ways(binary, 20_000.0) == pytest.approx(0.22, abs=0.02)
    assert share_of_one_ways(binary, 2_000_000.0) == pytest.approx(0.1, abs=0.002)
    assert share_of_one_ways(many, 20_000.0) > 0.4
    assert share_of_one_ways(binary, 200.0) > 0.3
    assert share_of_one_ways(binary, 20_000.0, one_way_share=0.3) == pytest.approx(0.3, rel=0.01)
    assert share_of_one_ways((9,), 20_000.0) == pytest.approx(0.995, rel=1e-6)


def test_fine_bins_of_a_number_take_no_more_from_pairs_than_a_hundred():
    def planned(size, number):
        attributes = tuple(CodedAttribute(name=n, size=size, ordered=True, number=number) for n in "abc")
        task = Task(domain=Domain(attributes), unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9))
        return configure("rls", {}).calibrate(task).budget_plan(10_000)

    assert planned(1000, number=True).pairs == planned(100, number=True).pairs
    assert planned(1000, number=False).pairs.rho < planned(100, number=False).pairs.rho


@pytest.mark.parametrize(("delta", "total"), [(0.0, 150_000.0), (1e-9, 20_000.0)])
def test_scores_get_more_where_those_of_all_pairs_would_be_noise_and_as_much_as_before_where_not(delta, total):
    def share(attributes, records, **settings):
        domain = Domain.of({f"a{i}": 8 for i in range(attributes)})
        task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=delta), n_public=1)
        plan = configure("rls", settings).calibrate(task).budget_plan(records)
        parts = [amount(plan.scores), amount(plan.pairs), sum(map(amount, plan.one_ways))]
        assert min(parts) > 0
        assert sum(parts) == pytest.approx(amount(plan.whole))
        return parts[0] / amount(plan.whole)

    few, many = share(8, 1e7), share(60, total)
    assert share(60, 1e9) == pytest.approx(few, rel=0.2)
    assert many > 1.5 * few
    assert share(60, total, one_way_share=0.94) < many
    assert share(60, total / 4, one_way_share=0.5) > 0.9 * many  # however noisy they stay


def test_numbers_are_counted_in_blocks_of_four_bins_or_more_and_those_of_few_bins_at_larger_budgets_too():
    sizes = {"age": 84, "grade": 20, "pay": 900}
    attributes = tuple(CodedAttribute(name=n, size=s, ordered=True, number=True) for n, s in sizes.items())
    task = Task(domain=Domain(attributes), unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9))
    plan = configure("rls", {}).calibrate(task).budget_plan
    assert plan(1_000).blocks[:2] == (21, None) and 16 <= plan(1_000).blocks[2] <= 64
    assert plan(6_000).blocks == (21, None, None)
    assert plan(100_000).blocks == (None, None, None)
    assert [c is not None for c in plan(100_000).coarse_one_ways] == [True, False, True]  # from 40 bins on
