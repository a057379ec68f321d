"""MST: the scales of the 2018 winner (oracle 20), the spanning tree, rare codes and the settings."""

import importlib.util
import itertools
from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.errors import MethodError, SettingError, SizeError
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.others.graphical.compress import coarse_sizes, decode, rare_codes, target
from dpsyn_core.systems.others.mst import spanning_tree
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise

CHAIN = {"a": 3, "b": 3, "c": 3, "d": 3}


def chain_codes(n=6000, seed=0):
    """a copies into b, b into c, c into d, each time four times out of five."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 3, n)]
    for _ in range(3):
        rows.append(np.where(rng.random(n) < 0.8, rows[-1], rng.integers(0, 3, n)))
    return np.array(rows, dtype=np.uint8)


def measured_on(settings, *, domain=None, codes=None, epsilon=1.0, delta=1e-9, noise=None, **unit):
    domain = domain or Domain.of(CHAIN)
    codes = chain_codes() if codes is None else codes
    task = Task(domain=domain, unit=Unit(**unit), budget=Budget(epsilon=epsilon, delta=delta))
    system = configure("mst", settings).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=noise or SeededNoise(1), unit=task.unit)
    return system, system.measure(PlainCounter(codes, domain), gate=gate), gate


@pytest.mark.parametrize(("rho", "sigma"), [(0.00083470, 34.6126), (0.00915630, 10.4506), (0.52158807, 1.3846)])
def test_two_rounds_of_the_winner_have_the_published_scale(rho, sigma):
    # one half of the budget a round, each round a vector of unit L2 norm: sigma = 1 / sqrt(rho)
    assert Cost(rho=rho).split([1.0, 1.0])[0].sigma(1.0) == pytest.approx(sigma, rel=2e-4)


def test_exact_accounting_needs_less_noise_than_the_winner_had():
    delta = 2.2820544e-12
    for epsilon, published in ((0.3, 34.6126), (1.0, 10.4506), (8.0, 1.3846)):
        sigma = Budget(epsilon=epsilon, delta=delta).gaussian().split([1.0, 1.0])[0].sigma(1.0)
        assert 0.8 * published < sigma < 0.95 * published


def test_a_fixed_list_spends_half_a_round_and_halves_the_noise_of_heavy_attributes():
    _, measured, gate = measured_on({"marginals": "a+b+c, c+d", "heavy": "d"})
    charges = gate.account.charges
    assert [c.name for c in charges] == [
        *("marginal a", "marginal b", "marginal c", "marginal d", "marginal a x b x c", "marginal c x d")
    ]
    total = gate.account.cap.rho
    assert sum(c.rho for c in charges[:4]) == pytest.approx(total / 2)
    assert charges[3].scale == pytest.approx(charges[0].scale / 2)
    assert charges[5].scale == pytest.approx(charges[4].scale / 2)
    assert measured.measurements[4].attributes == ("a", "b", "c")


def test_the_tree_of_a_chain_is_the_chain_and_each_step_has_a_third():
    system, measured, gate = measured_on({})
    assert [m.attributes for m in measured.measurements[4:]] == [("a", "b"), ("b", "c"), ("c", "d")]
    charges = gate.account.charges
    third = system.cost.rho / 3
    assert sum(c.rho for c in charges[:4]) == pytest.approx(third)
    assert charges[4].name == "pair scores"
    assert charges[4].rho == pytest.approx(third)
    assert charges[4].sensitivity == pytest.approx(16 * 6**0.5)  # grid of 16, six pairs in L2
    assert sum(c.rho for c in charges[5:]) == pytest.approx(third)


def test_records_carry_the_dependence_along_the_chain():
    system, measured, _ = measured_on({}, epsilon=5.0)
    out = system.synthesize(measured, 6000, rng=np.random.default_rng(0))
    real = chain_codes()
    for i, j in itertools.combinations(range(4), 2):
        assert abs((out[i] == out[j]).mean() - (real[i] == real[j]).mean()) < 0.03


def test_sensitivities_follow_the_unit():
    noise = {}
    for neighbours, theta in (("add-remove", 1), ("add-remove", 3), ("replace", 1)):
        _, _, gate = measured_on({}, neighbours=neighbours, max_records=theta)
        noise[neighbours, theta] = [c.sensitivity for c in gate.account.charges[3:5]]
    assert noise["add-remove", 3] == pytest.approx([3 * s for s in noise["add-remove", 1]])
    assert noise["replace", 1] == pytest.approx([2**0.5 * noise["add-remove", 1][0], 2 * noise["add-remove", 1][1]])


def test_spanning_tree_against_all_forests():
    rng = np.random.default_rng(2)
    names = "abcde"
    pairs = list(itertools.combinations(names, 2))
    scores = rng.random(10)

    def connected(edges):
        part = {n: {n} for n in names}
        for a, b in edges:
            joined = part[a] | part[b]
            for n in joined:
                part[n] = joined
        return len(part["a"]) == 5

    best = max(
        (e for e in itertools.combinations(range(10), 4) if connected([pairs[i] for i in e])),
        key=lambda e: scores[list(e)].sum(),
    )
    assert spanning_tree(pairs, scores) == [pairs[i] for i in best]


def test_rare_codes_are_joined_and_drawn_again_by_their_released_counts():
    domain = Domain.of({"a": 5, "b": 2})
    a = Measurement(attributes=("a",), values=np.array([100.0, 3.0, 60.0, 1.0, -9.0]), sigma=5.0)
    b = Measurement(attributes=("b",), values=np.array([100.0, 2.0]), sigma=5.0)
    recodes = rare_codes([a, b], 3.0, domain)
    assert recodes["a"].map.tolist() == [0, 2, 1, 2, 2]
    assert "b" not in recodes  # a single rare code is no saving
    assert coarse_sizes(domain, recodes) == {"a": 3, "b": 2}
    joined = target(a, recodes)
    assert joined.values.tolist() == [100.0, 60.0, -5.0]
    assert joined.variances.tolist() == [25.0, 25.0, 75.0]
    codes = np.array([[0] * 10 + [1] * 10 + [2] * 400, [0] * 420])
    back = decode(codes, {"a": a, "b": b}, domain, recodes, rng=np.random.default_rng(0))
    assert (back[0, :10] == 0).all()
    assert (back[0, 10:20] == 2).all()
    assert np.bincount(back[0, 20:], minlength=5).tolist() == [0, 300, 0, 100, 0]
    even = decode(codes, {"a": replace(a, values=-a.values), "b": b}, domain, recodes, rng=np.random.default_rng(0))
    assert np.bincount(even[0, 20:], minlength=5)[4] > 0


def test_pairs_above_the_cell_cap_stay_out_of_the_tree():
    _, measured, gate = measured_on({"max_cells": 8})
    assert len(measured.measurements) == 4
    assert gate.account.spent < gate.account.cap.rho


@pytest.mark.slow
def test_the_library_engine_gives_the_same_marginals():
    # two attributes, so that there is little to compile
    domain, codes = Domain.of({"a": 3, "b": 3}), chain_codes()[:2]
    system, measured, _ = measured_on({"iterations": 500}, domain=domain, codes=codes)
    other = configure("mst", {"engine": "mbi", "iterations": 500}).calibrate(system.task)
    ours, theirs = (s.synthesize(measured, 4000, rng=np.random.default_rng(0)) for s in (system, other))
    tables = [np.bincount(out[0] * 3 + out[1], minlength=9) / 4000 for out in (ours, theirs)]
    assert np.abs(tables[0] - tables[1]).sum() / 2 < 0.01


def test_what_cannot_be_served_is_refused(monkeypatch):
    domain = Domain.of({f"x{i}": 200 for i in range(4)})
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9))
    with pytest.raises(SizeError, match="'rls'"):
        configure("mst", {"marginals": "x0+x1+x2+x3"}).calibrate(task)
    with pytest.raises(SettingError, match="no attribute"):
        configure("mst", {"marginals": "x0+y"}).calibrate(task)
    with pytest.raises(SettingError, match="add up"):
        configure("mst", {"one_way_share": 0.6, "score_share": 0.5}).calibrate(task)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MethodError, match="pip install"):
        configure("mst", {"engine": "mbi"}).calibrate(task)
