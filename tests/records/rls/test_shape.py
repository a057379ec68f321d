"""Smooth shapes: values that were counted alone keep their counts, and a hump of noise far out is not followed."""

import numpy as np
import pytest

from dpsyn_core.records.rls.shape import Sums, smooth_counts

FEW = [766, 1601, 1879, 1549, 1002, 594, 310, 162, 76, 34, 19, 8]  # days missed, visits: all near the lower end


def counted(recode, true, noise):
    values = np.bincount(recode, true) + noise
    return Sums(recode, values, 36.0)


@pytest.mark.parametrize("size", [81, 365, 1000])
def test_values_that_were_counted_alone_keep_their_counts_on_a_range_of_any_width(size):
    true = np.zeros(size)
    true[: len(FEW)] = FEW
    rng = np.random.default_rng(1)
    runs, alone = np.arange(size) * 37 // size, np.minimum(np.arange(size), 9)
    tables = [counted(r, true, rng.normal(0, 36, int(r.max()) + 1)) for r in (runs, alone)]
    found = smooth_counts(size, tables, true.sum())
    assert found.sum() == pytest.approx(true.sum())
    assert np.abs(found[:7] - true[:7]).max() < 6 * 36


def test_a_hump_of_noise_far_out_is_not_followed():
    true = np.zeros(365)
    true[: len(FEW)] = FEW
    runs, alone = np.arange(365) * 37 // 365, np.minimum(np.arange(365), 9)
    noise = np.tile([-30.0, 20.0], 19)[:37]
    noise[25:28] = 70, 80, 70  # stands out of its noise by two deviations
    found = smooth_counts(365, [counted(runs, true, noise), counted(alone, true, np.zeros(10))], true.sum())
    assert (np.diff(found[12:]) <= 1e-9).all()
    assert found @ np.arange(365) / found.sum() == pytest.approx(true @ np.arange(365) / true.sum(), rel=0.1)


def test_a_hump_in_the_few_coarse_values_that_are_most_of_the_range_is_not_followed():
    true = np.zeros(640)
    true[:120] = 1000 * np.exp(-np.arange(120) / 25) / np.exp(-np.arange(120) / 25).sum()
    blocks = np.searchsorted([5, 10, 20, 30, 45, 60, 120, 170, 270, 400, 520], np.arange(640), side="right")
    noise = np.zeros(12)
    noise[10:] = 90.0  # stands out of its noise by two and a half deviations
    alone = Sums(np.arange(640), true + np.random.default_rng(2).normal(0, 14, 640), 14.0)
    found = smooth_counts(640, [alone, counted(blocks, true, noise)], true.sum())
    assert (np.diff(found[130:]) <= 1e-9).all()
    assert found @ np.arange(640) / found.sum() == pytest.approx(true @ np.arange(640) / true.sum(), rel=0.3)


@pytest.mark.parametrize("way", [1, -1], ids=["upwards", "downwards"])
def test_a_coarse_value_that_reaches_to_the_end_of_the_range_puts_no_records_there(way):
    """Its records are where the other table shows them; a hump of noise far out is none, whichever table has it."""
    rng = np.random.default_rng(5)
    size, sigma = 640, 16.0
    for _ in range(20):
        blocks = np.arange(size) // 10
        first = rng.normal(0, sigma, 64)
        first[18] += 1000
        first[50:53] += 32  # two deviations
        coarse = (np.arange(size) >= 187).astype(np.intp)
        second = np.array([0.0, 1000.0]) + rng.normal(0, sigma, 2)
        tables = [Sums(blocks, first[::way], sigma), Sums(coarse[::way], second, sigma)]
        counts = smooth_counts(size, tables, 1000.0)[::way]
        assert counts[250:].sum() < 5
