"""Smooth shapes: values that were counted alone keep their counts, and a hump of noise far out is not followed."""

import numpy as np
import pytest
from scipy.stats import norm

from dpsyn_core.estimate.records.rls.oneway.shape import Sums, smooth_counts

FEW = [766, 1601, 1879, 1549, 1002, 594, 310, 162, 76, 34, 19, 8]  # days missed, visits: all near the lower end


def counted(recode, true, noise, sigma=36.0):
    values = np.bincount(recode, true) + noise
    return Sums(recode, values, sigma)


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


def test_a_coarse_value_that_shows_records_and_reaches_to_the_end_of_the_range_does_not_hide_a_hump_there():
    true = np.zeros(43)
    true[:20] = [3000, 480, 390, 300, 190, 170, 120, 85, 64, 42, 40, 34, 17, 19, 9, 9, 3, 4, 8, 1]  # days of illness
    rest = np.minimum(np.arange(43), 6)  # the last holds 37 of 43 values
    pairs = np.maximum(np.arange(43) // 2, 2) - 2
    noise = np.zeros(20)
    noise[-3:] = 70.0  # a good deviation and a half each
    tables = [counted(pairs, true, noise, 40.0), counted(rest, true, np.zeros(7), 40.0)]
    found = smooth_counts(43, tables, true.sum())
    assert found[25:].sum() < 40
    assert found @ np.arange(43) / found.sum() == pytest.approx(true @ np.arange(43) / true.sum(), rel=0.25)


def lost_peaks(middle, spread, sigma):
    """Of thirty draws of noise, those that leave less than half of a quarter of the records that lies far away."""
    place = np.arange(300) / 300
    near, far = (np.exp(-0.5 * ((place - m) / s) ** 2) / s for m, s in ((0.08, 0.012), (middle, spread)))
    true = 2000 * (0.75 * near / near.sum() + 0.25 * far / far.sum())
    runs, masses = np.arange(300) * 27 // 300, np.minimum(np.cumsum(true) * 12 // true.sum(), 11).astype(int)
    lost = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        tables = [counted(r, true, rng.normal(0, sigma, r.max() + 1), sigma) for r in (runs, masses)]
        lost += smooth_counts(300, tables, true.sum())[150:].sum() < 0.125 * true.sum()
    return lost


def test_a_quarter_of_the_records_that_lies_far_from_the_others_is_not_lost():
    """Of a broad peak each count is in the noise, and their sum is not; seeds leave nothing to chance."""
    assert lost_peaks(0.95, 0.008, 40.0) == 0
    assert lost_peaks(0.6, 0.1, 40.0) == 0


def test_amounts_of_a_few_keep_their_tail_where_bins_of_a_hundred_follow_bins_of_ten_and_of_one():
    """The density is smooth, and counts of single bins are not: they are ten times as large beyond 100 and 1,000."""
    edges = np.concatenate([np.arange(0, 100), np.arange(100, 1000, 10), np.arange(1000, 60_001, 100)])
    upto = norm.cdf(np.log(np.maximum(edges, 0.5)) - 7)
    true = 1200 * np.diff(upto) / np.diff(upto).sum()
    blocks = np.minimum(np.cumsum(true) * 12 // 1200, 11).astype(int)
    recodes, lengths = ((np.arange(len(true)), 21.0), (blocks, 36.0)), np.diff(np.arcsinh(edges))

    def tail(counts):
        return np.log(edges[np.searchsorted(np.cumsum(counts), 0.99 * 1200)])

    off = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        tables = [counted(r, true, rng.normal(0, s, int(r.max()) + 1), s) for r, s in recodes]
        found = [smooth_counts(len(true), tables, true.sum(), lengths=known) for known in (lengths, None)]
        off.append([abs(tail(counts) - tail(true)) for counts in found])
    known, unknown = np.mean(off, axis=0)
    assert known < 0.25 and known < 0.5 * unknown
