"""One-ways that were also measured as sums of neighbours: sums over many values lose most of their noise."""

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.denoise import shrink_one_way
from dpsyn_core.estimate.records.rls.oneway.coarse_sums import shrink_with_sums
from dpsyn_core.estimate.records.rls.oneway.shape import Sums

SIZE, SIGMA = 800, 30.0
BLOCKS = np.arange(SIZE) // 25


def noisy(seed):
    """A smooth column of 20,000 records with an empty upper third, its noisy counts and the noisy sums of 25 each."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(SIZE) < 520, np.exp(-0.5 * ((np.arange(SIZE) - 200) / 90) ** 2), 0.0)
    truth = np.where(truth > 1e-3, truth, 0.0)
    truth *= 20_000 / truth.sum()
    values = truth + rng.normal(0, SIGMA, SIZE)
    sums = np.bincount(BLOCKS, weights=truth) + rng.normal(0, 1.5 * SIGMA, 32)
    return truth, values, Sums(BLOCKS, sums, 1.5 * SIGMA)


def drift(found, truth):
    """Mean distance of the running sums, which is what the Wasserstein distance adds up."""
    return np.abs(np.cumsum(found - truth)).mean()


def test_running_sums_lose_a_third_of_their_error_and_single_counts_stay_as_good():
    plain, both, far, near = [], [], [], []
    for seed in range(8):
        truth, values, sums = noisy(seed)
        kwargs = {"ordered": True, "special": 0, "total": 20_000.0}
        alone, found = shrink_one_way(values, SIGMA, **kwargs), shrink_with_sums(values, SIGMA, [sums], **kwargs)
        assert found.min() >= 0 and found.sum() == pytest.approx(20_000)
        plain.append(drift(alone, truth))
        both.append(drift(found, truth))
        far.append(np.abs(alone - truth).sum())
        near.append(np.abs(found - truth).sum())
    assert np.mean(both) < 0.67 * np.mean(plain)
    assert np.mean(near) < 1.05 * np.mean(far)


def test_without_sums_it_is_the_shrunken_one_way():
    _, values, _ = noisy(1)
    kwargs = {"ordered": True, "special": 2, "total": 20_000.0}
    assert (shrink_with_sums(values, SIGMA, [], **kwargs) == shrink_one_way(values, SIGMA, **kwargs)).all()


@pytest.mark.parametrize("total", [0.0, 1.0, 20_000.0])
def test_any_sums_give_counts_with_the_total(total):
    rng = np.random.default_rng(2)
    for scale in (0.0, 1e-3, 1e6):
        sums = [Sums(BLOCKS, rng.normal(0, scale, 32), 4.0), Sums(np.zeros(SIZE, np.intp), np.array([-5.0]), 2.0)]
        found = shrink_with_sums(rng.normal(0, scale, SIZE), 3.0, sums, ordered=True, special=1, total=total)
        assert np.isfinite(found).all() and found.min() >= 0 and found.sum() == pytest.approx(total)


def test_a_thin_tail_that_only_coarse_values_show_is_kept_and_an_empty_one_stays_empty():
    """A thousand of 20,000 records lie beyond the hump, some ten at a value; single counts have a noise of 30."""
    place = np.arange(SIZE)
    hump, tail = np.exp(-0.5 * ((place - 120) / 40) ** 2), np.where(place >= 240, np.exp(-(place - 240) / 60), 0.0)
    recode = np.minimum(place // 20, 8)  # the tail is in one coarse value with half of the hump
    for records in (1_000.0, 0.0):
        truth = hump * (20_000 - records) / hump.sum() + tail * records / tail.sum()
        held = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            values = truth + rng.normal(0, SIGMA, SIZE)
            sums = Sums(recode, np.bincount(recode, weights=truth) + rng.normal(0, 60, 9), 60.0)
            found = shrink_with_sums(values, SIGMA, [sums], ordered=True, special=0, total=20_000.0)
            held.append(found[260:].sum())
        if records:
            assert min(held) > 50 and np.mean(held) > 150
        else:
            assert np.median(held) < 1


def test_sums_of_less_than_one_record_are_shared_as_those_of_many_are():
    values, recode = np.repeat([0.02, 0.05, 0.09, 0.04], 10), np.arange(40) // 10
    sums = Sums(recode, np.bincount(recode, weights=values), 1e-4)
    found = shrink_with_sums(values, 1e-4, [sums], ordered=True, special=0, total=float(values.sum()))
    assert found == pytest.approx(values, abs=1e-6)
