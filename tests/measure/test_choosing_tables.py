"""Choosing tables for many sets: the same choice as trying every move at every step, in time for 200 columns."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals import descent
from dpsyn_core.measure.select import choose_sets, choose_tables, noise_error, shares
from dpsyn_core.privacy.budget import Cost


def tried(errors, cells, cost, sensitivity, factor):
    """Every move of every set at every step."""
    share = np.where(cells > 0, shares(cells, pure=cost.pure), 0.0)
    every, chosen, weight = np.arange(len(errors)), np.zeros(len(errors), dtype=int), 0.0
    unit, power = factor * noise_error(1.0, cost, sensitivity), 2.0 if cost.pure else 1.5
    while True:
        others = np.maximum(weight - share[every, chosen][:, None] + share, 0.0)
        gains = errors[every, chosen][:, None] - errors - unit * (others**power - weight**power)
        gains[every, chosen] = 0.0
        best = int(np.argmax(gains))
        if gains.flat[best] <= 1e-12 * np.abs(errors[:, 0]).sum():
            return chosen
        place, option = divmod(best, errors.shape[1])
        weight, chosen[place] = float(others[place, option]), option


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("options", [2, 3])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_choice_is_that_of_trying_every_move(pure, options, compiled, monkeypatch):
    monkeypatch.setattr(descent, "COMPILED_FROM", 0 if compiled else 1000)
    rng = np.random.default_rng(options + 10 * pure)
    for trial in range(12):
        n = int(rng.integers(1, 60))
        sizes = (
            rng.choice([4.0, 6.0, 9.0, 40.0], (n, options)) if trial % 2 else rng.integers(2, 500, (n, options)) + 0.0
        )
        sizes[:, 0] = 0.0
        errors = rng.gamma(2, 300, (n, options))
        errors[:, 0] += rng.gamma(2, 600, n)
        if options > 2:
            errors[rng.random(n) < 0.3, 2] = np.inf
            sizes[rng.random(n) < 0.2, 1] = np.inf
        cost = Cost(epsilon=float(rng.uniform(0.05, 3))) if pure else Cost(rho=float(rng.uniform(1e-4, 0.2)))
        got = choose_tables(errors, sizes, cost=cost, sensitivity=1.0, noise_factor=1.3)
        assert (got == tried(errors, sizes, cost, 1.0, 1.3)).all(), trial


def test_no_sets_are_chosen_from_none():
    assert choose_sets(np.zeros(0), np.zeros(0), cost=Cost(rho=1.0), sensitivity=1.0) == []


def test_all_pairs_of_two_hundred_columns_are_chosen_in_seconds():
    rng = np.random.default_rng(0)
    sizes = rng.choice([2, 3, 4, 5, 8, 10, 20], 200)
    i, j = np.triu_indices(200, 1)
    cells = (sizes[i] * sizes[j]).astype(float)
    chosen = choose_sets(rng.gamma(2, 5000, len(cells)), cells, cost=Cost(rho=5.0), sensitivity=1.0)
    assert len(chosen) > 5_000, "with every move tried at every step this test would take minutes"
