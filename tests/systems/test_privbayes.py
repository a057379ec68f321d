"""PrivBayes: parent sets by brute force, the plan of the budget, the network found, and what is refused."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.errors import MethodError, UnitError
from dpsyn_core.measure.dependence import mutual_information, mutual_information_sensitivity
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.others.privbayes import Family, _Scores, maximal_sets
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise
from tests.systems.test_mst import CHAIN, chain_codes

N = 6000


def task_of(domain, *, n=N, epsilon=1.0, theta=1, neighbours="replace"):
    unit = Unit(neighbours=neighbours, max_records=theta)
    return Task(domain=domain, unit=unit, budget=Budget(epsilon=epsilon, delta=0.0), n_public=n)


def measured_on(settings, *, epsilon=1.0, codes=None):
    task = task_of(Domain.of(CHAIN), epsilon=epsilon)
    system = configure("privbayes", settings).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    counter = PlainCounter(chain_codes(N) if codes is None else codes, task.domain)
    return system, system.measure(counter, gate=gate), gate


@pytest.mark.parametrize(("room", "most"), [(1, 4), (2, 4), (6, 4), (12, 2), (12, 4), (30, 3), (1000, 4), (1000, 5)])
def test_maximal_parent_sets_against_brute_force(room, most):
    sizes = {"a": 2, "b": 3, "c": 2, "d": 5, "e": 4}
    fits = [
        set(s)
        for k in range(most + 1)
        for s in itertools.combinations(sizes, k)
        if math.prod(sizes[n] for n in s) <= room
    ]
    expected = [s for s in fits if not any(s < t for t in fits)]
    assert sorted(map(sorted, maximal_sets(sizes, room, most))) == sorted(map(sorted, expected))


def test_three_tenths_go_to_the_network_and_the_rest_to_its_largest_tables():
    _, network, gate = measured_on({"max_parents": 1})
    choices = [c for c in gate.account.charges if c.mechanism == "exponential"]
    tables = [c for c in gate.account.charges if c.mechanism == "geometric"]
    assert [c.epsilon for c in choices] == pytest.approx([0.1] * 3)
    assert [c.sensitivity for c in choices] == pytest.approx([6 * N + 4] * 3)
    assert len(tables) == 3  # the first attribute lies in the first pair
    assert [c.scale for c in tables] == pytest.approx([2 * 3 / 0.7] * 3)
    assert all(len(m.attributes) == 2 for m in network.tables)


@pytest.mark.parametrize("score", ["r", "mutual-information"])
def test_the_network_of_a_chain_is_the_chain(score):
    system, network, _ = measured_on({"score": score, "max_parents": 1}, epsilon=20.0)
    found = {frozenset((f.child, *f.parents)) for f in network.families[1:]}
    assert found == {frozenset("ab"), frozenset("bc"), frozenset("cd")}
    out, real = system.synthesize(network, N, rng=np.random.default_rng(0)), chain_codes(N)
    for i, j in itertools.combinations(range(4), 2):
        assert abs((out[i] == out[j]).mean() - (real[i] == real[j]).mean()) < 0.03


def test_tables_have_at_most_the_useful_number_of_cells():
    system, network, _ = measured_on({"usefulness": 20.0}, epsilon=1.0)
    # n epsilon_2 / (2 d usefulness) = 6000 * 0.7 / 160
    assert system.cap == pytest.approx(26.25)
    assert max(m.cells for m in network.tables) <= 26.25
    assert any(len(m.attributes) == 2 for m in network.tables)


def test_the_choice_and_the_noise_are_for_one_record_exchanged():
    _, _, gate = measured_on({"max_parents": 1})
    choice = next(c for c in gate.account.charges if c.mechanism == "exponential")
    table = next(c for c in gate.account.charges if c.mechanism == "geometric")
    assert choice.sensitivity == pytest.approx(6 * N + 4)
    assert table.sensitivity == pytest.approx(2)


def test_individuals_of_several_records_are_refused_for_their_number_of_records_is_private():
    with pytest.raises(UnitError, match=r"max_records to 1.*'rls'"):
        configure("privbayes", {}).calibrate(task_of(Domain.of(CHAIN), theta=2))


def test_no_table_can_be_useful_for_a_handful_of_records_and_attributes_stand_alone():
    domain = Domain.of(CHAIN)
    task = task_of(domain, n=8)
    system = configure("privbayes", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    network = system.measure(PlainCounter(chain_codes(8), domain), gate=gate)
    assert all(f.parents == () for f in network.families)
    assert len(network.tables) == 4


def test_the_budget_is_spent_whole_in_whatever_order_the_attributes_join():
    # attribute d fits no parents: where it comes last its choice is free, where it comes first every other one costs
    domain = Domain.of({"a": 2, "b": 2, "c": 2, "d": 40})
    codes = np.random.default_rng(0).integers(0, [[2], [2], [2], [40]], (4, 400))
    choices = set()
    for seed in range(30):
        task = task_of(domain, n=400)
        system = configure("privbayes", {"max_parents": 1}).calibrate(task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
        system.measure(PlainCounter(codes, domain), gate=gate)
        assert gate.account.spent == pytest.approx(1.0)
        choices.add(sum(c.mechanism == "exponential" for c in gate.account.charges))
    assert choices == {2, 3}


def test_the_search_is_narrowed_from_public_facts_when_there_are_too_many_candidates():
    wide = Domain.of({f"x{i}": 2 for i in range(98)})
    assert configure("privbayes", {}).calibrate(task_of(wide, n=10**6)).most == 1
    assert configure("privbayes", {"max_candidates": 200_000}).calibrate(task_of(wide, n=10**6)).most == 2


def test_add_remove_and_a_private_number_of_records_are_refused():
    domain = Domain.of(CHAIN)
    with pytest.raises(UnitError, match="'rls'"):
        configure("privbayes", {}).calibrate(task_of(domain, neighbours="add-remove"))
    with pytest.raises(MethodError, match="'rls'"):
        configure("privbayes", {}).calibrate(task_of(domain, n=None))


def test_mutual_information_keeps_its_sensitivity_when_the_table_has_fewer_records_than_declared():
    n = 10_000
    system = configure("privbayes", {"score": "mutual-information"}).calibrate(
        task_of(Domain.of({"a": 2, "b": 2}), n=n)
    )
    family = Family(child="b", parents=("a",))
    scores, plain = [], []
    for codes in ([[0] * 20, [0] * 20], [[0] * 19 + [1], [0] * 19 + [1]]):
        counter = PlainCounter(np.array(codes, dtype=np.uint8), system.domain)
        scores.append(float(_Scores(system, counter).of([family])()[0]))
        plain.append(mutual_information(counter.marginal(("a", "b"))))
    sensitivity = mutual_information_sensitivity(n, binary=True)
    assert abs(plain[0] - plain[1]) > 100 * sensitivity
    assert abs(scores[0] - scores[1]) <= sensitivity * (1 + 1e-9)
