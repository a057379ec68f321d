"""Differences of a number between categories: as large as measured where they stand out of their noise."""

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.denoise import shrink_pair
from dpsyn_core.estimate.records.rls.fit import Target
from dpsyn_core.estimate.records.rls.gaps import coarse_scores, place_by_category, steepness, with_gaps
from dpsyn_core.estimate.records.rls.placement import Number

RANKS = np.arange(12)


def table(gap, n=4_000, groups=4):
    """Counts of twelve coarse values in groups of one size whose means lie up to `gap` values apart."""
    middles = 5.5 + gap * np.linspace(-0.5, 0.5, groups)
    density = np.exp(-((RANKS[:, None] - middles) ** 2) / 8)
    return n / groups * density / density.sum(axis=0)


def slope(made, real):
    means = [RANKS @ t / t.sum(axis=0) - RANKS @ t.sum(axis=1) / t.sum() for t in (made, real)]
    return float(means[0] @ means[1] / (means[1] @ means[1]))


def slopes(gap, sigma, runs=40):
    """Mean slopes of shrunk tables, and of those with gaps."""
    real, rng, found = table(gap), np.random.default_rng(3), []
    expected = np.outer(real.sum(axis=1), real.sum(axis=0)) / real.sum()
    scores, kept = coarse_scores(real.sum(axis=1), RANKS)
    for _ in range(runs):
        noisy = real + rng.normal(0, sigma, real.shape)
        clean = shrink_pair(noisy, expected, sigma)
        found.append([slope(clean, real), slope(with_gaps(clean, noisy, scores, kept, sigma), real)])
    return np.mean(found, axis=0)


def test_shrinking_makes_differences_smaller_and_tilting_gives_them_back():
    shrunk, tilted = slopes(gap=2.0, sigma=40.0)
    assert shrunk < 0.93
    assert tilted == pytest.approx(1.0, abs=0.04)  # 40 runs of standard deviation .1: three standard errors


def test_the_variance_between_groups_is_kept_though_most_of_them_are_small():
    """120 groups of falling sizes, whose single sums are mostly noise: as measured, variance would be many times it."""
    rng = np.random.default_rng(6)
    sizes, middles = 20_000 / np.arange(4, 124), rng.normal(5.5, 1.0, 120)
    density = np.exp(-((RANKS[:, None] - middles) ** 2) / 8)
    real = sizes * density / density.sum(axis=0)
    scores, kept = coarse_scores(real.sum(axis=1), RANKS)
    clean = np.outer(real.sum(axis=1), real.sum(axis=0)) / real.sum()
    found, rank = [], []
    for _ in range(10):
        made = with_gaps(clean, real + rng.normal(0, 30.0, real.shape), scores, kept, 30.0)
        means, others = (RANKS @ t / t.sum(axis=0) for t in (made, real))
        found.append(np.var(means) / np.var(others))
        rank.append(np.corrcoef(means, others)[0, 1])
    assert np.mean(found) == pytest.approx(1.0, abs=0.3)
    assert np.mean(rank) > 0.5


def test_differences_that_are_noise_stay_as_shrinking_left_them():
    real, rng = table(0.0), np.random.default_rng(5)
    noisy = real + rng.normal(0, 5.0, real.shape)
    scores, kept = coarse_scores(real.sum(axis=1), RANKS)
    before = np.abs(scores @ (noisy - real)).sum()
    assert np.abs(scores @ (with_gaps(real, noisy, scores, kept, 5.0) - real)).sum() < 0.6 * before


def test_columns_keep_their_records_and_empty_cells_stay_empty():
    real = table(2.0)
    clean = real.copy()
    clean[:2, 1], clean[:, 3] = 0.0, 0.0
    scores, kept = coarse_scores(real.sum(axis=1), RANKS)
    out = with_gaps(clean, real, scores, kept, 1.0)
    assert out.sum(axis=0) == pytest.approx(clean.sum(axis=0))
    assert (out[clean == 0] == 0).all()
    assert not np.allclose(out, clean)


def test_coarse_values_keep_less_of_the_scores_than_single_values_and_heaps_keep_all():
    counts = np.ones(40)
    assert coarse_scores(counts, np.arange(40))[1] == pytest.approx(1.0)
    few = coarse_scores(counts, np.arange(40) // 10)[1]
    assert 0.8 < few < 0.95
    heap = np.where(np.arange(40) % 10 == 0, 1.0, 0.0)
    assert coarse_scores(heap, np.arange(40) // 10)[1] == pytest.approx(1.0)
    scores, kept = coarse_scores(np.zeros(4), np.arange(4))
    assert kept == 1.0
    assert not scores.any()


def between(mean, spread, score):
    """Steepness of the second group less that of the first, of two normal laws."""
    density = np.exp(-((score[:, None] - mean) ** 2) / (2 * spread**2)) / spread
    found = steepness(1000 * density, score)
    return found[:, 1] - found[:, 0]


def test_steepness_is_the_difference_of_means_over_the_variance_and_grows_where_a_group_is_wider():
    score = np.linspace(-2, 2, 33)
    alike = between(np.array([-0.3, 0.3]), np.array([0.9, 0.9]), score)
    assert alike == pytest.approx(0.6 / 0.81, rel=0.15)
    assert (np.diff(between(np.array([-0.3, 0.3]), np.array([0.7, 1.2]), score)) > 0).all()
    assert not steepness(np.zeros((3, 2)), np.arange(3.0)).any()


def test_values_inside_a_coarse_one_are_higher_where_the_mean_of_the_category_is():
    """Four coarse values of a column: with values by chance a twentieth of the gap would be lost."""
    rng, n = np.random.default_rng(8), 8_000
    group = rng.integers(0, 2, n)
    score = rng.normal(0, 1, n) + 0.8 * group
    rank = np.argsort(np.argsort(score)) * 60 // n
    boxes = np.arange(60) // 15
    real = np.zeros((4, 2))
    np.add.at(real, (boxes[rank], group), 1)
    rows = np.stack([np.empty(n, dtype=np.uint16), group.astype(np.uint16)], axis=1)
    for box in range(4):  # values of a coarse one by chance
        inside = boxes[rank] == box
        rows[inside, 0] = rng.permutation(rank[inside])
    table = Target(attributes=(0, 1), maps=(boxes, np.arange(2)), values=real, sigma=1.0)
    before, ones = rows.copy(), [np.bincount(rank, minlength=60).astype(float), np.bincount(group).astype(float)]
    place_by_category(rows, [table], ones, [Number(place=0, ranked=60)], rng=rng)

    def gap(values):
        return values[group == 1].mean() - values[group == 0].mean()

    truth = gap(rank)
    missed = truth - gap(before[:, 0].astype(float))
    assert missed > 0.05 * truth
    assert abs(truth - gap(rows[:, 0].astype(float))) < 0.5 * missed
    assert np.array_equal(boxes[rows[:, 0]], boxes[before[:, 0]])
    assert np.array_equal(np.sort(rows[:, 0]), np.sort(before[:, 0]))
    assert np.array_equal(rows[:, 1], before[:, 1])
