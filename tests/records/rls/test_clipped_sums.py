"""Sums of clipped numbers: what codes count for, and counts that agree with a released sum."""

import numpy as np
import pytest

from dpsyn_core.marginals.types import ClippedSum
from dpsyn_core.records.rls.sums import STEPS, steps_of, with_sum

MIDDLES = np.array([0.0, 1, 2, 4, 8, 100, np.nan])


def known(value, sigma=1e-3):
    return ClippedSum(name="a", low=0, high=4, value=value, sigma=sigma)


def test_codes_count_from_the_centre_of_the_clips_and_special_ones_for_nothing():
    assert steps_of(MIDDLES, 0, 4).tolist() == [-STEPS, -768, -512, 0, STEPS, STEPS, 0]


def test_counts_take_on_a_precise_sum_and_keep_their_total_and_their_special_counts():
    counts = np.array([50.0, 40, 30, 20, 10, 1, 9])
    steps = steps_of(MIDDLES, 0, 4)
    goal = float(counts @ steps) + 20 * STEPS
    out = with_sum(counts, known(goal), MIDDLES, np.arange(7), 5.0)
    assert out @ steps == pytest.approx(goal, abs=1) and out.sum() == pytest.approx(counts.sum())
    assert out[-1] == 9 and (out >= 0).all() and out[4] / counts[4] > out[3] / counts[3]


def test_a_sum_that_is_mere_noise_changes_nothing():
    counts = np.array([50.0, 40, 30, 20, 10, 1, 9])
    out = with_sum(counts, known(1e9, sigma=1e12), MIDDLES, np.arange(7), 5.0)
    assert np.allclose(out, counts, atol=0.1)


def test_a_sum_out_of_reach_moves_counts_by_a_bounded_factor():
    counts = np.array([50.0, 40, 30, 20, 10, 1, 9])
    out = with_sum(counts, known(1e9), MIDDLES, np.arange(7), 5.0)
    assert np.isfinite(out).all() and (out[:-1] > 0).all()


@pytest.mark.parametrize("counts", [np.zeros(7), np.array([0.0, 0, 10, 0, 0, 0, 0])])
def test_columns_of_nothing_and_of_one_value_stay(counts):
    assert np.allclose(with_sum(counts, known(500.0), MIDDLES, np.arange(7), 5.0), counts)
