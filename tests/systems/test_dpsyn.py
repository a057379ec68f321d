"""DPSyn: its choice of noise, its total, its accuracy beside the independent baseline, and its refusals."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.others.dpsyn import cheaper_noise, pair_cells
from dpsyn_core.systems.registry import configure
from tests.systems.harness import SeededNoise, random_codes, run, task_for

SIZES = {"a": 3, "b": 2, "c": 4, "d": 5}


def standard_crossing(epsilon, delta):
    """k* of the standard conversion (oracle O2): Gaussian noise by exact accounting must win no later."""
    log = math.log(1 / delta)
    return ((math.sqrt(log) + math.sqrt(log + epsilon)) / 2) ** 2


@pytest.mark.parametrize(
    ("epsilon", "delta", "crossing"),
    [(0.01, 1e-8, 18.4257), (0.01, 1e-12, 27.6360), (1, 1e-8, 18.9174), (1, 1e-12, 28.1288)],
)
def test_laplace_wins_for_few_marginals_and_gaussian_before_the_standard_crossing(epsilon, delta, crossing):
    assert standard_crossing(epsilon, delta) == pytest.approx(crossing, abs=1e-3)
    budget = Budget(epsilon=epsilon, delta=delta)
    chosen = [cheaper_noise(budget, Unit(), k).pure for k in range(1, 40)]
    assert chosen[0]
    switch = chosen.index(False) + 1
    assert 1 < switch <= math.ceil(crossing)
    assert not any(chosen[switch - 1 :])


def test_the_crossing_does_not_depend_on_records_per_individual_and_halves_for_replace():
    budget = Budget(epsilon=1, delta=1e-9)

    def switch(unit):
        return next(k for k in range(1, 60) if not cheaper_noise(budget, unit, k).pure)

    assert switch(Unit()) == switch(Unit(max_records=7))
    assert abs(switch(Unit(neighbours="replace")) - switch(Unit()) / 2) <= 1


def test_delta_zero_leaves_laplace_only():
    assert cheaper_noise(Budget(epsilon=1, delta=0), Unit(), 500).pure


def test_the_noise_of_every_pair_is_that_of_the_whole_run():
    system = configure("dpsyn", {}).calibrate(task_for("dpsyn", SIZES, 50, epsilon=1.0, theta=2))
    _, gate, _ = run("dpsyn", system.task, random_codes(SIZES, 50), n_records=5)
    scales = {c.scale for c in gate.account.charges}
    assert len(gate.account.charges) == 6
    assert max(scales) == pytest.approx(min(scales))
    # six pairs, two records an individual: Laplace with b = 6 * 2 / epsilon is smaller than Gaussian here
    assert system.cost.pure
    assert max(scales) == pytest.approx(12.0)


def pair_shares(codes, a, b, shape):
    cells = np.ravel_multi_index(codes[[a, b]].astype(int), shape)
    return np.bincount(cells, minlength=shape[0] * shape[1]) / codes.shape[1]


def pairs_distance(codes, other, sizes):
    distances = []
    for a, b in itertools.combinations(range(len(sizes)), 2):
        shape = (sizes[a], sizes[b])
        distances.append(np.abs(pair_shares(codes, a, b, shape) - pair_shares(other, a, b, shape)).sum() / 2)
    return float(np.mean(distances))


@pytest.mark.parametrize(
    "settings", [{}, {"update.updater": "mcf"}, {"update.polish": 0}, {"update.nonnegativity": "norm_cut"}]
)
def test_dependences_survive_and_independent_loses_them(settings):
    codes = random_codes(SIZES, 4000)
    task = task_for("dpsyn", SIZES, 4000, epsilon=5.0)
    ours, _, _ = run("dpsyn", task, codes, settings=settings)
    baseline, _, _ = run("independent", task, codes)
    sizes = list(SIZES.values())
    assert pairs_distance(codes, ours, sizes) < 0.3 * pairs_distance(codes, baseline, sizes)


def test_the_default_size_is_the_released_total():
    codes = random_codes(SIZES, 3000)
    out, _, _ = run("dpsyn", task_for("dpsyn", SIZES, 3000, epsilon=3.0), codes)
    assert out.shape[1] != 0
    # the total of six tables at b = 2 has a standard deviation of about 5 records; 6 of them
    assert abs(out.shape[1] - 3000) < 30


def test_without_noise_the_records_match_all_pairs():
    codes = random_codes(SIZES, 1000)
    out, _, _ = run("dpsyn", task_for("dpsyn", SIZES, 1000), codes, noise=SeededNoise(scale=0.0))
    assert out.shape == codes.shape
    assert pairs_distance(codes, out, list(SIZES.values())) < 0.004


def test_a_domain_above_the_cell_cap_is_refused_with_another_method_named():
    config = configure("dpsyn", {"max_cells": 70})
    with pytest.raises(SizeError, match=r"71 cells.*'privsyn'"):
        config.calibrate(task_for("dpsyn", SIZES, 10))


@pytest.mark.parametrize(
    "setting",
    [
        {"update.sweeps": -1},
        {"update.alpha": 0},
        {"update.decay": 1.5},
        {"update.fill": "all"},
        {"update.updater": "x"},
    ],
)
def test_settings_outside_their_range_are_refused_by_name(setting):
    with pytest.raises(SettingError, match=next(iter(setting))):
        configure("dpsyn", setting)


@pytest.mark.parametrize(("name", "most"), [("dpsyn", 200), ("privsyn", 447)])
def test_a_thousand_attributes_are_refused_at_once(name, most):
    task = task_for(name, {f"a{i}": 2 for i in range(1000)}, 10)
    with pytest.raises(SizeError, match=r"1000 attributes have 499500 pairs.*'independent'"):
        configure(name, {}).calibrate(task)
    configure(name, {}).calibrate(task_for(name, {f"a{i}": 2 for i in range(most)}, 10))


def test_cells_of_all_pairs_are_added_up_without_listing_them():
    domain = task_for("dpsyn", SIZES, 10).domain
    assert pair_cells(domain) == sum(domain.cells(s) for s in domain.subsets(2))
    assert pair_cells(domain.project(["c"])) == 4
