"""One-ways of few records: positive, with the total, and nearer to the truth than what large tables are given."""

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.denoise import shrink_one_way, simplex
from dpsyn_core.estimate.records.rls.oneway.few_records import (
    shrink_blocks,
    shrink_few,
    simplex_posterior_mean,
    spike_slab_mean,
    truncated_normal_mean,
)
from dpsyn_core.estimate.records.rls.oneway.shape import Sums

RNG = np.random.default_rng
SIZE, BLOCKS = 640, np.arange(640) // 40


def drift(found, truth):
    """Mean distance of the running sums, as a share of the records."""
    return np.abs(np.cumsum(found - truth)).mean() / truth.sum()


def hump(total, at=200.0, width=60.0):
    truth = np.exp(-0.5 * ((np.arange(SIZE) - at) / width) ** 2)
    return truth * total / truth.sum()


def test_the_mean_of_what_is_above_zero_is_that_of_a_truncated_normal():
    drawn = RNG(0).normal(-3.0, 2.0, 4_000_000)
    assert truncated_normal_mean(np.array([-3.0]), 2.0)[0] == pytest.approx(drawn[drawn > 0].mean(), abs=0.02)
    assert truncated_normal_mean(np.array([90.0, -1e4]), 2.0) == pytest.approx([90.0, 4e-4], rel=1e-3)


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 50.0, 1e6])
def test_even_counts_are_positive_and_add_up(sigma):
    values = np.array([70.0, 25.0, -4.0])
    found = simplex_posterior_mean(values, sigma, 91.0)
    assert found.min() >= 0 and found.sum() == pytest.approx(91.0)
    if sigma == 1e-3:
        assert found == pytest.approx([68, 23, 0], abs=0.01)  # the nearest point of the simplex
    if sigma == 1e6:
        assert found == pytest.approx([91 / 3] * 3, rel=0.01)


def test_short_lists_under_large_noise_are_nearer_to_the_truth_and_seldom_lose_a_value():
    truth, near, far, lost = np.array([110.0, 60.0, 30.0]), 0.0, 0.0, 0
    for seed in range(300):
        noisy = truth + RNG(seed).normal(0, 150, 3)
        found = shrink_few(noisy, 150.0, ordered=False, special=0, total=200.0)
        near += np.abs(found - truth).sum()
        far += np.abs(simplex(noisy, 200.0) - truth).sum()
        lost += np.count_nonzero(found < 10)
    assert near < 0.6 * far
    assert lost < 30  # the projection loses 400


def test_a_missing_cell_holds_records_where_its_count_says_so_and_else_hardly_any():
    assert spike_slab_mean(25.0, 20.0, 300.0) < 10
    assert spike_slab_mean(-40.0, 20.0, 300.0) < 2
    assert spike_slab_mean(150.0, 20.0, 300.0) == pytest.approx(150, abs=5)
    assert spike_slab_mean(9_000.0, 1.0, 300.0) == 300
    found = shrink_few(np.array([30.0, 45.0, 40.0]), 40.0, ordered=False, special=1, total=100.0)
    assert found[2] < 25 < found[0] < found[1]


@pytest.mark.parametrize("sigma", [5.0, 15.0])
def test_a_column_counted_in_blocks_has_half_the_drift_of_one_counted_bin_by_bin(sigma):
    truth, plain, few = hump(150.0), [], []
    for seed in range(12):
        rng = RNG(seed)
        fine = shrink_one_way(truth + rng.normal(0, sigma, SIZE), sigma, ordered=True, special=0, total=150.0)
        counts = np.bincount(BLOCKS, weights=truth) + rng.normal(0, sigma, 16)
        found = shrink_blocks([Sums(BLOCKS, counts, sigma)], SIZE, special=0, total=150.0)
        assert found.min() >= 0 and found.sum() == pytest.approx(150)
        plain.append(drift(fine, truth))
        few.append(drift(found, truth))
    assert np.mean(few) < 0.5 * np.mean(plain)


def test_two_humps_stay_two_where_the_noise_is_small():
    truth = hump(500.0, 130, 25) + hump(500.0, 500, 25)
    recode = np.arange(SIZE) // 20
    counts = np.bincount(recode, weights=truth) + RNG(1).normal(0, 4, 32)
    found = shrink_blocks([Sums(BLOCKS, np.bincount(BLOCKS, weights=truth), 4.0), Sums(recode, counts, 4.0)],
                          SIZE, special=0, total=1_000.0)  # fmt: skip
    assert drift(found, truth) < 0.01
    assert found[280:360].sum() < 15


@pytest.mark.parametrize("total", [0.0, 0.5, 40.0])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1e7])
def test_any_counts_give_a_column_with_the_total(total, scale):
    rng = RNG(2)
    recode = np.append(BLOCKS, [16, 17])
    later = np.append(BLOCKS // 4, [4, 4])  # special values may have been put together
    tables = [Sums(recode, rng.normal(0, scale, 18), 9.0), Sums(later, rng.normal(0, scale, 5), 3.0)]
    found = shrink_blocks(tables, SIZE + 2, special=2, total=total)
    assert np.isfinite(found).all() and found.min() >= 0 and found.sum() == pytest.approx(total)


def test_values_in_order_follow_a_smooth_shape_under_large_noise():
    truth, near, far = 400 * np.exp(-0.5 * ((np.arange(20) - 8) / 3) ** 2) / 7.5, 0.0, 0.0
    for seed in range(30):
        noisy = np.append(truth, 0.0) + RNG(seed).normal(0, 25, 21)
        kwargs = {"ordered": True, "special": 1, "total": float(truth.sum())}
        near += np.abs(shrink_few(noisy, 25.0, **kwargs)[:20] - truth).sum()
        far += np.abs(shrink_one_way(noisy, 25.0, **kwargs)[:20] - truth).sum()
    assert near < 0.7 * far


@pytest.mark.parametrize("z", [-300.0, -40.0, -20.1, -20.0, -19.9, -5.0, 0.0, 3.0, 30.0])
def test_the_mean_of_a_truncated_normal_is_that_of_its_density_however_far_below_zero(z):
    sigma, top = 2.5, max(z, 0.0) + 12
    at = np.linspace(0, top if z > -3 else 40 / -z, 200_001)
    density = np.exp(z * at - at**2 / 2 - (max(z, 0.0) ** 2) / 2)
    mean = float((at * density).sum() / density.sum())
    if z > -3:  # the trapezoid at its first end
        mean = float((at[1:] * density[1:]).sum() / (density[1:].sum() + density[0] / 2))
    assert truncated_normal_mean(np.array([z * sigma]), sigma)[0] == pytest.approx(sigma * mean, rel=3e-4)
