"""Positions inside coarse values follow a copula, and no table that was measured changes."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, spearmanr

from dpsyn_core.estimate.records.copula import positive_definite
from dpsyn_core.estimate.records.rls.fit import Plan, Target
from dpsyn_core.estimate.records.rls.placement import Number, correlation, place_numbers

FINE, COARSE = 60, 6


def normal_codes(rng, n, rho):
    """Two columns of 60 equally frequent values with a Gaussian copula."""
    z = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], n)
    return np.minimum((norm.cdf(z) * FINE).astype(np.uint16), FINE - 1)


def table(rows, places, maps):
    shape = [int(m.max()) + 1 for m in maps]
    counts = np.zeros(shape)
    np.add.at(counts, tuple(m[rows[:, p]] for p, m in zip(places, maps, strict=True)), 1)
    return Target(attributes=tuple(places), maps=tuple(maps), values=counts, sigma=1.0)


def counts(rows, targets, sizes):
    return Plan(sizes, targets).counts(np.ascontiguousarray(rows))


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.5, 0.97])
def test_the_correlation_behind_a_table_is_found(rho):
    edges = norm.ppf(np.linspace(0, 1, 9))
    joint = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    ends = np.clip(edges, -9, 9)
    grid = np.array([[joint.cdf([a, b]) for b in ends] for a in ends])
    cells = np.diff(np.diff(grid, axis=0), axis=1) * 10_000
    assert correlation(cells, cells.sum(axis=1), cells.sum(axis=0)) == pytest.approx(rho, abs=0.01)


def test_fine_values_follow_the_coarse_table_and_tables_stay_as_they_are():
    rng = np.random.default_rng(0)
    real = normal_codes(rng, 6000, 0.95)
    coarse = np.arange(FINE) // (FINE // COARSE)
    group = (real[:, 0] > 30).astype(np.uint16)
    rows = np.column_stack([real, group]).astype(np.uint16)
    for j in (0, 1):  # what a fit leaves to chance: fine values inside coarse ones, apart for each group
        for cell in range(COARSE):
            for g in (0, 1):
                at = np.flatnonzero((coarse[rows[:, j]] == cell) & (group == g))
                rows[at, j] = rng.permutation(rows[at, j])
    targets = [
        table(rows, (0, 1), (coarse, coarse)),
        table(rows, (0, 2), (np.arange(FINE), np.arange(2))),
    ]
    ones = [np.bincount(rows[:, j], minlength=s).astype(float) for j, s in ((0, FINE), (1, FINE), (2, 2))]
    before, blurred = counts(rows, targets, (FINE, FINE, 2)), spearmanr(rows[:, 0], rows[:, 1]).statistic
    low = np.flatnonzero((coarse[rows[:, 0]] == 0) & (coarse[rows[:, 1]] == 0))
    apart = spearmanr(rows[low, 0], rows[low, 1]).statistic
    place_numbers(rows, targets, ones, [Number(place=0, ranked=FINE), Number(place=1, ranked=FINE)], rng=rng)
    low = np.flatnonzero((coarse[rows[:, 0]] == 0) & (coarse[rows[:, 1]] == 0))
    assert spearmanr(rows[low, 0], rows[low, 1]).statistic > apart + 0.2, "inside the lowest values too"
    truth, placed = spearmanr(*real.T).statistic, spearmanr(rows[:, 0], rows[:, 1]).statistic
    assert np.array_equal(before, counts(rows, targets, (FINE, FINE, 2)))
    assert abs(placed - truth) < abs(blurred - truth) / 3
    for j, one in enumerate(ones):
        assert np.array_equal(np.bincount(rows[:, j], minlength=len(one)), one)


def test_a_value_with_a_cell_of_its_own_behind_those_in_order_is_no_fault():
    rng = np.random.default_rng(2)
    real = normal_codes(rng, 6000, 0.95)
    coarse = np.arange(FINE) // (FINE // COARSE)
    apart = coarse.copy()
    apart[17] = COARSE  # as a frequent value is counted by itself
    rows = real.copy()
    targets = [table(rows, (0, 1), (apart, coarse))]
    ones = [np.bincount(rows[:, j], minlength=FINE).astype(float) for j in (0, 1)]
    place_numbers(rows, targets, ones, [Number(place=0, ranked=FINE), Number(place=1, ranked=FINE)], rng=rng)
    assert (rows[real[:, 0] == 17, 0] == 17).all()
    assert spearmanr(rows[:, 0], rows[:, 1]).statistic > 0.9


def test_special_values_keep_their_records():
    rng = np.random.default_rng(1)
    rows = normal_codes(rng, 2000, 0.9)
    rows[:300, 0] = FINE  # a special value behind the ranked ones
    coarse = np.append(np.arange(FINE) // 10, 6)
    targets = [table(rows, (0, 1), (coarse, coarse[:FINE]))]
    ones = [np.bincount(rows[:, j], minlength=s).astype(float) for j, s in ((0, FINE + 1), (1, FINE))]
    place_numbers(rows, targets, ones, [Number(place=0, ranked=FINE), Number(place=1, ranked=FINE)], rng=rng)
    assert (rows[:300, 0] == FINE).all()
    assert (rows[300:, 0] < FINE).all()


def test_numbers_without_a_table_of_their_own_stay_where_they_are():
    rng = np.random.default_rng(2)
    rows = rng.integers(0, FINE, (500, 2)).astype(np.uint16)
    before = rows.copy()
    ones = [np.full(FINE, 500 / FINE)] * 2
    place_numbers(rows, [], ones, [Number(place=0, ranked=FINE), Number(place=1, ranked=FINE)], rng=rng)
    assert np.array_equal(rows, before)


def test_correlations_that_contradict_each_other_are_made_possible():
    matrix = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    mended = positive_definite(matrix)
    assert np.linalg.eigvalsh(mended).min() > 0
    assert np.diag(mended) == pytest.approx(1)
