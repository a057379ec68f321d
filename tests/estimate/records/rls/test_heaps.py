"""Values that stand out of their neighbours: which may, how they are counted apart, and when they are believed."""

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.oneway.few_records import shrink_blocks, shrink_few
from dpsyn_core.estimate.records.rls.oneway.heaps import expected_heaps, heaps, set_apart
from dpsyn_core.estimate.records.rls.oneway.shape import Sums

RUNS = np.arange(400) // 25
LEVELS = bytes(255 if i == 0 else 8 if i % 100 == 0 else 6 if i % 10 == 0 else 0 for i in range(400))


def test_zero_both_ends_and_the_roundest_value_of_each_run_may_be_heaped():
    chance = expected_heaps(400, LEVELS, RUNS)
    found = np.flatnonzero(chance).tolist()
    assert {0, 100, 200, 300, 399} <= set(found)
    assert {80, 90} <= set(found) and not {85, 110, 120} & set(found)  # from 100 to 124, 100 is roundest
    assert chance[0] > chance[399] > chance[100] > 0
    assert np.flatnonzero(expected_heaps(400, b"", RUNS)).tolist() == [0, 399]
    assert expected_heaps(0, b"").tolist() == []


def test_cells_of_values_apart_are_numbered_by_first_values_and_special_values_stay_last():
    alone = np.zeros(8, dtype=bool)
    alone[[0, 5]] = True
    assert set_apart(np.array([0, 0, 0, 0, 1, 1, 1, 1, 2]), alone).tolist() == [0, 1, 1, 1, 2, 3, 2, 2, 4]


@pytest.mark.parametrize(("at", "sigma"), [(0, 20.0), (200, 20.0), (399, 20.0), (0, 60.0)])
def test_a_heap_keeps_its_records_and_the_others_their_shape(at, sigma):
    truth = np.full(400, 1.0)
    truth[at] += 600
    chance = expected_heaps(400, LEVELS, RUNS)
    recode = set_apart(RUNS, chance > 0)
    for seed in range(5):
        held = np.bincount(recode, weights=truth)
        table = Sums(recode, held + np.random.default_rng(seed).normal(0, sigma, len(held)), sigma)
        found = shrink_blocks([table], 400, special=0, total=1_000.0, heaped=chance)
        assert found.sum() == pytest.approx(1_000) and found.min() >= 0
        assert found[at] == pytest.approx(601, abs=4 * sigma)
        assert np.delete(found, at).max() < 30


def test_in_a_smooth_column_noise_is_seldom_called_a_heap():
    truth = 1_500 * np.exp(-0.5 * ((np.arange(400) - 180) / 60) ** 2) / 150
    chance = expected_heaps(400, LEVELS, RUNS)
    recode = set_apart(RUNS, chance > 0)
    held, wrong = np.bincount(recode, weights=truth), 0
    for seed in range(200):
        counts = held + np.random.default_rng(seed).normal(0, 30, len(held))
        wrong += int((heaps([Sums(recode, counts, 30.0)], chance, 1_500.0)[0] > 0.5).any())
    assert wrong < 20


def test_values_counted_one_by_one_have_heaps_too():
    truth = np.array([600.0, *(40 * 0.8 ** np.arange(19))])
    for seed in range(5):
        noisy = truth + np.random.default_rng(seed).normal(0, 25, 20)
        kwargs = {"ordered": True, "special": 0, "total": float(truth.sum())}
        found = shrink_few(noisy, 25.0, heaped=expected_heaps(20, b""), **kwargs)
        assert found[0] == pytest.approx(600, abs=80)
        assert found[1] < 120
