"""Pair tables with numbers: noise far from the band goes, dependence of any shape stays."""

import numpy as np
import pytest

from dpsyn_core.estimate.records.rls.denoise import shrink_pair
from dpsyn_core.estimate.records.rls.numbers import shrink_classes, shrink_numbers
from dpsyn_core.estimate.records.rls.placement import Copula, correlations_of

K, N, SIGMA = 12, 20_000.0, 40.0
SIDES = np.full(K, N / K)


def band(strength):
    return N * Copula(np.full(K, 1 / K), np.full(K, 1 / K)).shares(strength)


def order(table):
    """Rank correlation of the middle ranks of a table."""
    t = np.maximum(table, 0) / np.maximum(table, 0).sum()
    a, b = t.sum(1), t.sum(0)
    u, v = np.cumsum(a) - a / 2 - 0.5, np.cumsum(b) - b / 2 - 0.5
    return u @ t @ v / np.sqrt((a @ u**2) * (b @ v**2))


def two_lines():
    """Half of the records on one diagonal and half on the other: no Gaussian copula looks like that."""
    return (np.eye(K) + np.eye(K)[::-1]) * N / (2 * K)


def errors(truth, measure):
    """Mean error of the common rule and of the one for numbers, over draws of the noise."""
    found = []
    for seed in range(6):
        noisy = truth + np.random.default_rng(seed).normal(0, SIGMA, truth.shape)
        clean, left = shrink_numbers(noisy, SIDES, SIDES, SIGMA)
        assert clean.min() >= 0 and 0 <= left <= 1
        usual = shrink_pair(noisy, np.full((K, K), N / K**2), SIGMA)
        found.append((measure(usual), measure(clean)))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("strength", [0.0, 0.5, -0.9, 0.995])
def test_a_pair_of_numbers_loses_half_of_the_error_that_the_common_rule_leaves(strength):
    truth = band(strength)
    usual, clean = errors(truth, lambda t: np.abs(t - truth).sum())
    assert clean < 0.6 * usual
    usual, clean = errors(truth, lambda t: abs(order(t) - order(truth)))
    assert clean < usual + 0.002


def test_dependence_that_no_copula_explains_is_kept():
    truth = two_lines()
    usual, clean = errors(truth, lambda t: np.abs(t - truth).sum())
    assert clean < usual


def test_correlations_of_records_are_those_of_the_copula_behind_their_cells():
    rng = np.random.default_rng(4)
    a = rng.normal(size=30_000)
    b, c = 0.6 * a + 0.8 * rng.normal(size=30_000), rng.normal(size=30_000)
    cuts = np.array([-1.0, 0.0, 1.0])
    found = correlations_of([np.searchsorted(cuts, v) for v in (a, b, c)], [4, 4, 4])
    assert found[0, 1] == pytest.approx(0.6, abs=0.04)
    assert found[0, 2] == found[1, 2] == 0 or abs(found[0, 2]) < 0.05
    assert (np.diag(found) == 1).all()


def test_a_class_with_few_records_follows_all_classes_where_its_own_noise_hides_its_correlation():
    big, small = band(0.6), band(0.6) / 20
    rows = np.stack([SIDES, SIDES / 20])
    noisy = np.stack([big, small]) + np.random.default_rng(1).normal(0, SIGMA, (2, K, K))
    clean, left = shrink_classes(noisy, rows, rows, SIGMA)
    alone = shrink_numbers(noisy[1], rows[1], rows[1], SIGMA)[0]
    assert abs(order(clean[1]) - order(small)) < abs(order(alone) - order(small)) / 2
    assert 0.0 <= left < 0.5


def test_classes_whose_correlations_differ_by_more_than_noise_keep_their_own():
    two = np.stack([band(0.8), band(-0.3)])
    rows = np.stack([SIDES, SIDES])
    clean, _ = shrink_classes(two + np.random.default_rng(1).normal(0, SIGMA, two.shape), rows, rows, SIGMA)
    for found, real in zip(clean, two, strict=True):
        assert abs(order(found) - order(real)) < 0.05
