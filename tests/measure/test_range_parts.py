"""The public arithmetic of bought ranges and edges: buckets, heights that noise passes, and quantiles of trees."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from dpsyn_core.measure import quantiles
from dpsyn_core.measure.dependence import filled, independence_gap, mutual_information, mutual_information_sensitivity
from dpsyn_core.measure.releases import sigma_of
from dpsyn_core.privacy.charge import Charge

SIDES = {True: 0, False: -40}  # smallest exponent of whole numbers and of fractions


def charge(mechanism, scale=3.0):
    return Charge(name="c", mechanism=mechanism, sensitivity=1, scale=scale, cells=9)


@pytest.mark.parametrize("whole", [True, False])
def test_buckets_hold_the_numbers_between_their_ends_and_no_others(whole):
    lowest = SIDES[whole]
    side = 62 - lowest
    assert quantiles.RANGE_CELLS[not whole] == 2 * side + 2, "all buckets, and blank cells"
    for bucket in range(2 * side + 1):
        low, high = quantiles._edge(bucket, side, lowest, whole=whole)
        assert low <= high
        near, far = (low, high) if bucket >= side else (high, low)
        exact = whole and abs(bucket - side) <= 52  # larger whole numbers are rounded
        inside = np.array([near, far if exact else (near + far) / 2])
        assert quantiles._bucket(inside, lowest).tolist() == [bucket] * 2
        if not whole and bucket not in (0, side, 2 * side):
            assert abs(quantiles._bucket(np.array([far]), lowest)[0] - side) == abs(bucket - side) + 1
    magnitudes = np.array([0, 1, 2, 3, 4, 2.0**61, 2.0**70, np.inf])
    got = quantiles._bucket(magnitudes, 0) - 62
    assert got.tolist() == [0, 1, 2, 2, 3, 62, 62, 62]
    assert (quantiles._bucket(-magnitudes, 0) - 62).tolist() == (-got).tolist()
    assert quantiles._bucket(np.array([2.0**-41, 2.0**-40, -(2.0**-40)]), -40).tolist() == [102, 103, 101]


@pytest.mark.parametrize("cells", [1, 9, 250])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_noise_alone_hardly_passes_the_ceiling_which_is_not_far_above(cells, width):
    got = quantiles.ceiling(charge("gaussian"), cells, width)
    deviation = sigma_of(charge("gaussian")) * np.sqrt(width)
    assert cells * norm.sf((got - 0.5) / deviation) < 1e-3, "rounding moves a count by a half"
    assert got < 1.35 * (norm.isf(1e-3 / cells) * deviation + 0.5)
    scale = 3.0
    got = quantiles.ceiling(charge("geometric", scale), cells, width)
    odds = np.log(cells / 1e-3)
    bound = minimize_scalar(lambda s: (odds - width * np.log1p(-(s**2))) / s, bounds=(1e-6, 1 - 1e-9), method="bounded")
    assert scale * odds <= got
    if width == 1:
        assert got == pytest.approx(scale * odds)
    else:
        assert scale * bound.fun <= got * (1 + 1e-9) and got < 1.01 * scale * bound.fun


@pytest.mark.parametrize("seed", range(6))
def test_what_stands_out_is_found_in_the_narrowest_window_that_passes(seed):
    rng = np.random.default_rng(seed)
    got = SimpleNamespace(charge=charge("gaussian"), values=np.zeros(41))
    counts = rng.normal(0, 9, 40)
    counts[rng.integers(0, 40, 4)] += rng.choice([15, 30, 90], 4)
    seen = [False] * 40
    for width in (1, 2, 4):
        high = quantiles.ceiling(got.charge, 41, width)
        for start in range(40 - width + 1):
            if sum(counts[start : start + width]) > high and not any(seen[start : start + width]):
                seen[start : start + width] = [True] * width
    assert quantiles._standing_out(counts, got).tolist() == seen


def tree(leaves):
    """Counts of all levels of a tree of branching 4, the coarsest first."""
    levels = round(np.log(len(leaves)) / np.log(4))
    return [leaves.reshape(4**level, -1).sum(axis=1) for level in range(1, levels + 1)]


@pytest.mark.parametrize(("seed", "bins"), list(itertools.product(range(4), [2, 5, 10])))
def test_exact_trees_are_cut_at_the_nearest_ends_of_leaves_to_the_quantiles(seed, bins):
    leaves = np.random.default_rng(seed).integers(1, 9, 256)
    upto = np.concatenate([[0], np.cumsum(leaves)])
    expected = {int(np.abs(upto - upto[-1] * j / bins).argmin()) for j in range(1, bins)}
    got = quantiles.edges_of(tree(leaves), bins)
    assert [abs(upto[g] - upto[e]) <= 4 for g, e in zip(got, sorted(expected), strict=True)] == [True] * (bins - 1)
    assert all(np.abs(upto[g] - upto[-1] * np.arange(1, bins) / bins).min() <= leaves.max() / 2 for g in got)


def test_a_leaf_that_fills_a_bin_has_one_of_its_own_and_empty_trees_have_no_edges():
    heap = np.ones(64, dtype=np.int64)
    heap[17] = 500
    edges = quantiles.edges_of(tree(heap), 4)
    assert edges == [17, 18]
    assert quantiles.edges_of(tree(np.zeros(64, dtype=np.int64)), 4) == []
    assert quantiles.edges_of([-level for level in tree(heap)], 4) == []
    assert quantiles.edges_of(tree(heap), 1) == []


def bits(table):
    """Mutual information by its definition, cell by cell."""
    p = table / table.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    return sum(
        p[i, j] * np.log2(p[i, j] / rows[i] / columns[j]) for i, j in np.ndindex(p.shape) if p[i, j] > 0
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_dependence_are_their_definitions(seed):
    table = np.random.default_rng(seed).integers(0, 5, (3, 4))
    n = int(table.sum())
    assert mutual_information(table) == pytest.approx(bits(table))
    gap = sum(
        abs(n * int(table[i, j]) - int(table[i].sum()) * int(table[:, j].sum())) for i, j in np.ndindex(table.shape)
    )
    assert independence_gap(table, n) == gap
    full = filled(table, n + 7)
    assert full.sum() == n + 7 and (full - table).ravel().tolist() == [7] + [0] * 11
    assert filled(table, n - 1).tolist() == table.tolist()


@pytest.mark.parametrize("n", [2, 3, 4, 9, 30])
def test_the_sensitivity_of_mutual_information_is_attained(n):
    """The worst tables of Zhang et al. 2014: a column that is constant but for one record."""
    two = [np.array([[n - 1, 0], [0, 1]]), np.array([[n, 0], [0, 0]])]
    assert abs(bits(two[0]) - bits(two[1])) == pytest.approx(mutual_information_sensitivity(n, binary=True))
    if n % 2:
        half = (n - 1) // 2
        three = [np.array([[half, 0, 0], [0, half, 0], [0, 0, 1]]), np.array([[half, 0, 0], [0, half, 0], [1, 0, 0]])]
        assert abs(bits(three[0]) - bits(three[1])) <= mutual_information_sensitivity(n, binary=False)
    assert mutual_information_sensitivity(1, binary=True) == mutual_information_sensitivity(2, binary=True)
