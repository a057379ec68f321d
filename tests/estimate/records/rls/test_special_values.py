"""Counts that noise nearly hides: posterior means by numerical integration, and what special values get."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from dpsyn_core.estimate.records.rls.oneway.few_records import (
    shrink_blocks,
    shrink_few,
    simplex_posterior_mean,
    spike_slab_mean,
    truncated_normal_mean,
)
from dpsyn_core.estimate.records.rls.oneway.shape import Sums, smooth_counts


def slab(value, sigma, total):
    """0, or anything up to the total, equally likely beforehand."""
    spots = [min(max(value, 0.0), total)]
    mass = quad(lambda x: norm.pdf((value - x) / sigma) / sigma, 0, total, points=spots)[0] / total
    mean = quad(lambda x: x * norm.pdf((value - x) / sigma) / sigma, 0, total, points=spots)[0] / total
    none = norm.pdf(value / sigma) / sigma
    return mean / (mass + none)


@pytest.mark.parametrize("sigma", [2.0, 9.0])
@pytest.mark.parametrize("value", [-9.0, 0.0, 3.0, 14.0, 40.0, 96.0, 104.0])
def test_a_count_that_may_be_0_is_the_mean_of_both_laws(value, sigma):
    assert spike_slab_mean(value, sigma, 100.0) == pytest.approx(slab(value, sigma, 100.0), rel=1e-6, abs=1e-6)


def test_far_outside_of_what_can_be_a_count_is_at_the_end():
    assert spike_slab_mean(-100.0, 1.0, 50.0) == 0.0 and spike_slab_mean(200.0, 1.0, 50.0) == 50.0


@pytest.mark.parametrize("value", [-300.0, -61.0, -59.0, -4.0, 0.0, 5.0, 40.0])
def test_a_count_that_is_not_negative_is_the_mean_of_the_cut_law(value):
    z = -value / 3.0
    sought = value + 3.0 * math.exp(norm.logpdf(z) - norm.logsf(z))
    assert truncated_normal_mean(np.array([value]), 3.0)[0] == pytest.approx(sought, rel=1e-3)


@pytest.mark.parametrize("total", [1.0, 40.0, 500.0])
def test_counts_on_the_simplex_share_one_shift(total):
    values = np.array([-8.0, 3.0, 12.0, 30.0])
    found = simplex_posterior_mean(values, 5.0, total)
    assert found.sum() == pytest.approx(total)
    shift = brentq(lambda s: truncated_normal_mean(values + s, 5.0).sum() - total, -600, 600)
    assert np.allclose(found, truncated_normal_mean(values + shift, 5.0), rtol=1e-6)


def blocks(seed, sigmas=(3.0, 6.0)):
    """Counts of 40 values in runs with two special values: alone in both tables, and together in a third."""
    rng = np.random.default_rng(seed)
    first, second = np.append(np.arange(40) // 4, [10, 11]), np.append(np.arange(40) // 8, [5, 6])
    third = np.append(np.arange(40) // 10, [4, 4])
    truth = np.append(np.full(40, 5.0), [30.0, 0.0])
    return [
        Sums(r, np.bincount(r, truth) + rng.normal(0, s, r.max() + 1), s)
        for r, s in ((first, sigmas[0]), (second, sigmas[1]), (third, 1.0))
    ]


@pytest.mark.parametrize("seed", range(3))
def test_special_values_are_means_by_the_tables_that_count_them_alone(seed):
    tables, total = blocks(seed), 230.0
    beside = []
    for k in range(2):
        pairs = [(tables[0].values[10 + k], 9.0), (tables[1].values[5 + k], 36.0)]
        sure = sum(1 / v for _, v in pairs)
        beside.append(slab(sum(x / v for x, v in pairs) / sure, math.sqrt(1 / sure), total))
    found = shrink_blocks(tables, 42, special=2, total=total)
    assert found[40:].tolist() == pytest.approx(beside, rel=1e-6, abs=1e-6)
    runs = [Sums(t.recode[:40], t.values[: t.recode[39] + 1], t.sigma) for t in tables]
    assert np.allclose(found[:40], smooth_counts(40, runs, total - sum(beside)))
    assert shrink_blocks(tables, 42, special=2, total=0.0).tolist() == [0.0] * 42


def test_special_values_have_no_more_than_all_records():
    tables = blocks(0, sigmas=(0.1, 0.1))
    found = shrink_blocks(tables, 42, special=2, total=20.0)
    assert found.sum() == pytest.approx(20) and (found[:40] == 0).all()
    few = shrink_few(np.array([0.0, 0, 40, 20]), 0.1, ordered=False, special=2, total=30.0)
    assert few.sum() == pytest.approx(30) and few[2] > few[3] > 5 and few[:2].max() < 1


@pytest.mark.parametrize("total", [200.0, 260.0])
def test_few_values_without_order_lie_on_the_simplex_beside_special_ones(total):
    values = np.array([100.0, 60.0, 20.0, 25.0])
    clean = values + (total - values.sum()) / 4
    beside = slab(clean[3], 8.0, total)
    found = shrink_few(values, 8.0, ordered=False, special=1, total=total)
    assert found[3] == pytest.approx(beside, rel=1e-6)
    assert np.allclose(found[:3], simplex_posterior_mean(clean[:3], 8.0, total - beside))
    assert shrink_few(np.array([7.0]), 8.0, ordered=False, special=1, total=20.0).tolist() == pytest.approx([20.0])
