"""Non-negativity rules against their oracle, a bisection and their edges."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.simplex import norm_cut, norm_sub, ripple

X = np.array([-1.5, -2.5, 2, 1, 10])


def test_oracle_o5():
    np.testing.assert_allclose(norm_sub(X), [0, 0, 0.5, 0, 8.5])
    np.testing.assert_allclose(norm_cut(X), [0, 0, 0, 0, 9])


def bisected(x, total):
    low, high = x.min() - total - 1, x.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(x - middle, 0, None).sum() > total else (low, middle)
    return np.clip(x - low, 0, None)


@pytest.mark.parametrize("seed", range(20))
def test_norm_sub_equals_a_bisection_for_its_shift(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.5, 3, (4, 5))
    total = max(x.sum(), 1.0)
    np.testing.assert_allclose(norm_sub(x, total), bisected(x, total), atol=1e-9)


@pytest.mark.parametrize("rule", [norm_sub, norm_cut])
@pytest.mark.parametrize("seed", range(10))
def test_rules_keep_the_total_and_remove_every_negative_cell(rule, seed):
    x = np.random.default_rng(seed).normal(1, 3, (3, 7))
    for total in (None, 11.0, 400.0):
        y = rule(x, total)
        assert y.min() >= 0
        assert y.sum() == pytest.approx(max(0.0, x.sum() if total is None else total))
        assert y.shape == x.shape


@pytest.mark.parametrize("rule", [norm_sub, norm_cut])
def test_a_total_of_zero_or_less_gives_zeros(rule):
    assert not rule(np.array([-3.0, 1, 1])).any()
    assert not rule(np.array([3.0, 1]), 0).any()


@pytest.mark.parametrize("rule", [norm_sub, norm_cut])
def test_a_table_without_a_positive_cell_shares_a_positive_total_evenly(rule):
    np.testing.assert_allclose(rule(np.zeros(4), 8), [2, 2, 2, 2])


@pytest.mark.parametrize("rule", [norm_sub, norm_cut])
def test_a_non_negative_table_stays_as_it_is(rule):
    x = np.array([[0.0, 3], [2, 5]])
    np.testing.assert_allclose(rule(x), x)


def test_a_total_lost_in_rounding_gives_nearly_nothing():
    y = norm_sub(np.array([2.5, -2.5, 0.7]), 1e-17)
    assert y.min() >= 0
    assert y.sum() == pytest.approx(0, abs=1e-12)


def test_ripple_takes_a_deficit_equally_from_the_neighbours():
    x = np.array([[[-9.0, 8], [8, 8]], [[8, 8], [8, 8]]])
    y = ripple(x)
    np.testing.assert_allclose(y, [[[0, 5], [5, 8]], [[5, 8], [8, 8]]])


def test_ripple_runs_on_through_neighbours_that_become_deep():
    x = np.array([-10.0, 3, 40])
    y = ripple(x)  # each neighbour pays 5, the second then owes 2 and the others pay 1 each, and so on
    assert y.sum() == pytest.approx(33)
    assert y.min() >= -1


@pytest.mark.parametrize("seed", range(10))
def test_ripple_keeps_the_sum_and_leaves_no_deep_cell(seed):
    x = np.random.default_rng(seed).normal(3, 6, (2, 3, 4))
    y = ripple(x)
    assert y.min() >= -1
    assert y.sum() == pytest.approx(max(0.0, x.sum()))


def test_ripple_leaves_shallow_cells_alone():
    x = np.array([[-0.9, 5], [3, 2]])
    np.testing.assert_array_equal(ripple(x), x)


def test_ripple_serves_tables_without_neighbours_or_without_mass():
    assert not ripple(np.array([[-4.0]])).any()
    assert not ripple(np.array([-4.0, 1.0])).any()
    np.testing.assert_allclose(ripple(np.array([[4.0]])), [[4.0]])
