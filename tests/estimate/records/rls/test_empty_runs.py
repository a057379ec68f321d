"""Empty stretches are found by released counts, and records that stand out are never lost."""

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.oneway.empty_runs import supported
from dpsyn_core.estimate.records.rls.tuning import RECORDS


def noise(rng, size, sigma):
    return np.round(rng.normal(0, sigma, size))


def test_a_column_of_noise_alone_is_empty_as_often_as_the_test_says():
    rng = np.random.default_rng(0)
    kept = sum(supported(rng.normal(0, 5.0, 200), 5.0, strict_ends=True).any() for _ in range(2000))
    assert kept <= 2000 * RECORDS.shrinkage.empty_chance * 1.6  # overlapping windows do not reach Bonferroni's bound


def test_a_hump_is_kept_and_the_long_stretch_beside_it_is_empty():
    rng = np.random.default_rng(1)
    counts = np.zeros(200)
    counts[20:60] = 300
    found = supported(counts + noise(rng, 200, 10.0), 10.0)
    assert found[20:60].all()
    assert not found[70:].any()


def test_thin_mass_over_many_values_is_seen_by_wide_windows():
    rng = np.random.default_rng(2)
    counts = np.zeros(256)
    counts[128:] = 14.0  # little above the noise of one count, far above that of their sum
    found = supported(counts + noise(rng, 256, 10.0), 10.0)
    assert found[128:].mean() > 0.9
    assert found[:100].mean() < 0.1


def test_one_spike_far_from_the_rest_is_kept():
    counts = np.zeros(200)
    counts[:10], counts[150] = 500, 80
    found = supported(counts, 5.0)
    assert found[150]
    assert not found[20:140].any()


def test_short_gaps_stay():
    counts = np.full(50, 400.0)
    counts[20 : 20 + RECORDS.shrinkage.shortest_empty - 1] = 0
    assert supported(counts, 5.0).all()


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(3), np.full(7, -4.0)])
def test_few_values_are_left_alone(values):
    assert supported(values, 1.0).all()


def test_records_that_are_spread_thinly_over_many_values_are_kept():
    """145 records in 29 values under noise of 8: no value and no window stands out, all of them together do."""
    values = np.append(500.0, np.full(29, 5.0)) + np.random.default_rng(7).normal(0, 8, 30)
    values[1:] += 5.0 - values[1:].mean()  # the sum as it is without noise: 3.4 of its deviations
    assert supported(values, 8.0).all()
    assert not supported(values - np.append(0.0, np.full(29, 4.0)), 8.0)[1:].any()
