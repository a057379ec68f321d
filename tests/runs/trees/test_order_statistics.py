"""Quantiles and Gini indices of noisy cells, against plain loops over places, values and draws."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dpsyn_core.runs.trees.order_statistics import RankedCounts, gini_interval


def table(seed, *, groups=3, values=5, sigma=4.0, wide=True, whole=False):
    rng = np.random.default_rng(seed)
    low = np.array([-2.0, 0, 1, 4, 8])[:values]
    high = low + (np.array([2.0, 1, 3, 4, 5])[:values] if wide else 0)
    counts = rng.uniform(0, 40, (groups, values)) + rng.normal(0, sigma, (groups, values))
    return RankedCounts(counts=counts, sigma=sigma, low=low, high=high, middle=(low + high) / 2, whole=whole)


def interval(t, g, at, z):
    """First place at which the noisy number may be 0 or more, last at which it may be 0 or less, a step outwards."""
    counts, n = t.counts[g], t.counts.shape[1]
    parts = [0.0, 1.0] if t.whole else [k / 8 for k in range(9)]
    places, enough, few = [], [], []
    for i in range(n):
        for part in parts:
            below = counts[:i].sum() + part * counts[i]
            above = (1 - part) * counts[i] + counts[i + 1 :].sum()
            number = (1 - at) * below - at * above
            # weights of the cells: below 1 - at, of this one part - at, above -at
            spread = i * (1 - at) ** 2 + (part - at) ** 2 + (n - 1 - i) * at**2
            off = z * t.sigma * math.sqrt(spread)
            places.append(t.low[i] + part * (t.high[i] - t.low[i]))
            enough.append(number >= -off)
            few.append(number <= off)
    if not any(enough) or not any(few):
        return math.nan, math.nan
    first, last = enough.index(True), len(few) - 1 - few[::-1].index(True)
    return places[max(first - 1, 0)], places[min(last + 1, len(places) - 1)]


def quantile(t, g, at):
    """Of the numbers of records up to each value, made monotone; inside a bin records are spread evenly."""
    sums = np.cumsum(t.counts[g])
    n = len(sums)
    rising = [max((max(sums[: i + 1]) + min(sums[i:])) / 2, 0.0) for i in range(n)]
    weights = np.diff(rising, prepend=0.0)
    wanted = at * rising[-1]
    for i in range(n):
        if weights[i] > 0 and rising[i] >= wanted - 1e-12:
            return t.low[i] + (t.high[i] - t.low[i]) * (wanted - (rising[i] - weights[i])) / weights[i]
    return math.nan


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("at", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("whole", [False, True])
def test_intervals_of_quantiles_hold_what_noisy_counts_do_not_contradict(seed, at, whole):
    t = table(seed, whole=whole)
    for z in (0.5, 1.96):
        found, low, high = t.quantiles(at, z)
        for g in range(3):
            sought = interval(t, g, at, z)
            assert (low[g], high[g]) == pytest.approx(sought, nan_ok=True)
            assert found[g] == pytest.approx(np.clip(quantile(t, g, at), *sought))


def test_values_without_a_width_are_their_own_quantiles():
    t = table(3, wide=False, sigma=0.5)
    found, low, high = t.quantiles(0.5, 1.96)
    for g in range(3):
        assert (low[g], high[g]) == pytest.approx(interval(t, g, 0.5, 1.96))
        assert found[g] in t.low


@pytest.mark.parametrize("at", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("counts", [[-90.0, -80.0], [0.0, 0.0], [9.0, -9.0], [1.0, 5.0]])
def test_every_table_has_an_interval(at, counts):
    ends = np.array([0.0, 1.0, 3.0])
    t = RankedCounts(counts=np.array([counts]), sigma=1.0, low=ends[:2], high=ends[1:], middle=np.array([0.5, 2]))
    _, low, high = t.quantiles(at, 1.0)
    assert (low[0], high[0]) == pytest.approx(interval(t, 0, at, 1.0)) and not math.isnan(low[0])


def parts_by_records(counts, numbers):
    """Of whole counts: the integral of the square of how many lie above, and the number times the sum."""
    people = sorted(max(x, 0.0) for x, n in zip(numbers, counts, strict=True) for _ in range(int(n)))
    edges = sorted({0.0, *people})
    squares = sum((b - a) * sum(p > a for p in people) ** 2 for a, b in pairwise(edges))
    return squares, len(people) * sum(people)


def test_two_sums_give_the_gini_index_of_whole_counts():
    counts = np.array([[3.0, 2, 5, 1, 4], [0, 0, 7, 0, 0]])
    t = RankedCounts(
        counts=counts, sigma=1.0, low=np.arange(5.0), high=np.arange(5.0), middle=np.array([-2.0, 0, 1, 4, 8])
    )
    found = t.gini_parts(0.0)
    for g in range(2):
        assert found[:, g].tolist() == pytest.approx(parts_by_records(counts[g], t.middle))
    people = np.repeat(np.maximum(t.middle, 0), counts[0].astype(int))
    gini = np.abs(people[:, None] - people).sum() / (2 * len(people) ** 2 * people.mean())
    assert 1 - found[0, 0] / found[1, 0] == pytest.approx(gini)


def test_both_sums_lose_on_average_what_noise_adds():
    t = table(1, groups=1)
    clean, variance = t.gini_parts(0.0)[:, 0], 9.0
    rng = np.random.default_rng(2)
    drawn = []
    for noise in rng.normal(0, 3.0, (4000, 1, 5)):
        for sign in (1, -1):  # what is linear in the noise cancels
            one = RankedCounts(counts=t.counts + sign * noise, sigma=3.0, low=t.low, high=t.high, middle=t.middle)
            drawn.append(one.gini_parts(variance)[:, 0])
    assert np.mean(drawn, axis=0) == pytest.approx(clean, abs=0.05 * 9 * 5 * 10)
    added = t.gini_parts(0.0)[:, 0] - t.gini_parts(variance)[:, 0]
    numbers = np.maximum(t.middle, 0)
    assert added.tolist() == pytest.approx(
        [9 * sum((5 - i) * d for i, d in enumerate(np.diff(numbers, prepend=0))), 9 * numbers.sum()]
    )


def gini(parts, drawn, z):
    """Every tried value by itself: the difference of both sums is 0 within its standard deviation."""
    fits = []
    for k in range(501):
        share = 1 - k / 500
        draws = [d[0] - share * d[1] for d in drawn]
        fits.append(abs(parts[0] - share * parts[1]) <= z * np.std(draws))
    if not any(fits):
        return math.nan, math.nan
    first, last = fits.index(True), 500 - fits[::-1].index(True)
    return max(first - 1, 0) / 500, min(last + 1, 500) / 500


@pytest.mark.parametrize("z", [0.02, 0.5, 1.96, 50.0])
def test_intervals_of_a_gini_index_hold_the_values_that_the_sums_allow(z):
    t = table(4, groups=3, sigma=1.0)
    parts = t.gini_parts(1.0)
    rng = np.random.default_rng(5)
    drawn = parts + rng.normal(0, 1, (40, 2, 3)) * np.abs(parts) * [[0.05], [0.03]]
    found, low, high = gini_interval(parts, drawn, z)
    for g in range(3):
        sought = gini(parts[:, g], drawn[:, :, g], z)
        assert (low[g], high[g]) == pytest.approx(sought, nan_ok=True)
        ratio = 1 - parts[0, g] / parts[1, g]
        assert found[g] == pytest.approx(np.clip(ratio, *sought), nan_ok=True)


def test_a_gini_index_without_records_is_none():
    found, low, high = gini_interval(np.array([[5.0], [0.0]]), np.array([[[4.0], [0.0]], [[6.0], [0.0]]]), 0.5)
    assert np.isnan([found[0], low[0], high[0]]).all()
    found, *_ = gini_interval(np.array([[5.0], [0.5]]), np.full((2, 2, 1), 5.0) * [[[1.0]], [[2.0]]], 3.0)
    assert not math.isnan(found[0])
