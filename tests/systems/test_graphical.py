"""Graphical models against brute force on a joint table that fits in memory, and against the library mbi."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.systems.others.graphical.fit import NoisyMarginal, estimate_total, fit, fit_by_mbi
from dpsyn_core.systems.others.graphical.model import (
    draw_within,
    elimination_cliques,
    junction_tree,
    model_cells,
    sum_axes,
)

SIZES = {"a": 2, "b": 3, "c": 2, "d": 4, "e": 2, "f": 3}


def noisy_targets(sets, *, n=500, sigma=3.0, seed=0):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(math.prod(SIZES.values()), 0.2)).reshape(tuple(SIZES.values())) * n
    out = []
    for s in sets:
        axes = tuple(i for i, name in enumerate(SIZES) if name not in s)
        exact = joint.sum(axis=axes)
        values = exact + rng.normal(0, sigma, exact.shape)
        out.append(NoisyMarginal(attributes=s, values=values, variances=np.full(exact.shape, sigma**2)))
    return out


def joint_of(model, potentials):
    """The whole joint table, straight from the potentials."""
    log = np.zeros(tuple(SIZES.values()))
    for s, p in potentials.items():
        log = log + p.reshape([SIZES[n] if n in s else 1 for n in SIZES])
    joint = np.exp(log - log.max())
    return joint / joint.sum() * model.total


CASES = {
    "chain": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")],
    "star": [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e"), ("a", "f")],
    "loop": [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("e", "f")],
    "islands": [("a", "b"), ("d", "e")],
    "triples": [("a", "b", "c"), ("b", "c", "d"), ("d", "e"), ("d", "f")],
}


@pytest.mark.parametrize("case", list(CASES))
def test_every_marginal_equals_that_of_the_joint_table(case):
    targets = noisy_targets([*CASES[case], *[(n,) for n in SIZES]])
    got = fit(targets, SIZES, iterations=60)
    joint = joint_of(got.model, got.potentials)
    for k in (1, 2, 3, 4):
        for names in itertools.combinations(SIZES, k):
            axes = tuple(i for i, n in enumerate(SIZES) if n not in names)
            assert np.allclose(got.model.project(names), joint.sum(axis=axes), atol=1e-8)


@pytest.mark.parametrize("case", list(CASES))
def test_the_junction_tree_covers_every_set_and_keeps_running_intersection(case):
    tree = junction_tree(CASES[case], SIZES)
    assert set().union(*tree.cliques) == set(SIZES)
    for s in CASES[case]:
        assert any(set(s) <= set(c) for c in tree.cliques)
    for name in SIZES:  # the cliques that hold a name hang together: exactly one has no parent that holds it
        holders = [i for i, c in enumerate(tree.cliques) if name in c]
        tops = [i for i in holders if name not in tree.separators[i]]
        assert len(tops) == 1
    assert model_cells(CASES[case], SIZES) == sum(math.prod(SIZES[n] for n in c) for c in tree.cliques)


def test_a_loop_is_triangulated_and_islands_stay_apart():
    assert max(len(c) for c in elimination_cliques(CASES["loop"], SIZES)) == 3
    tree = junction_tree(CASES["islands"], SIZES)
    assert sum(s == () for s in tree.separators) == 4  # the root, and three islands beside it


def test_consistent_targets_are_met_and_the_total_is_theirs():
    targets = noisy_targets([("a", "b"), ("b", "c")], sigma=1e-9)
    got = fit(targets, SIZES, iterations=3000, tolerance=0.0)
    assert got.model.total == pytest.approx(500)
    for t in targets:
        assert np.allclose(got.model.project(t.attributes), t.values, atol=1e-2)
    # unmeasured attributes are uniform and independent
    assert np.allclose(got.model.project(("d",)), 125)


@pytest.mark.slow
def test_the_fit_agrees_with_the_library_mbi():
    targets = noisy_targets(CASES["loop"][:4], sigma=10.0)
    got = fit(targets, SIZES, iterations=4000, tolerance=0.0)
    other = fit_by_mbi(targets, SIZES, iterations=4000)
    assert other.total == pytest.approx(got.model.total)
    loss = sum(float(((other.project(t.attributes) - t.values) ** 2 / t.variances).sum()) / 2 for t in targets)
    assert got.loss == pytest.approx(loss, rel=2e-3)
    for s in CASES["loop"]:
        assert np.allclose(got.model.project(s), other.project(s), atol=1.0)


def test_a_total_weighs_its_sources_by_their_variance():
    precise = NoisyMarginal(attributes=("a",), values=np.array([40.0, 60.0]), variances=np.full(2, 1.0))
    coarse = NoisyMarginal(attributes=("b",), values=np.array([30.0, 30.0, 60.0]), variances=np.full(3, 6.0))
    # variances of the sums: 2 and 18
    assert estimate_total([precise, coarse]) == pytest.approx((100 / 2 + 120 / 18) / (1 / 2 + 1 / 18))


def test_samples_follow_the_model_more_closely_than_independent_draws():
    got = fit(noisy_targets(CASES["triples"]), SIZES, iterations=300)
    n = 3000
    codes = got.model.sample(n, rng=np.random.default_rng(1))
    for s in CASES["triples"]:
        index = np.ravel_multi_index([codes[list(SIZES).index(x)] for x in s], [SIZES[x] for x in s])
        p = got.model.project(s).ravel() / got.model.total
        seen = np.bincount(index, minlength=p.size)
        assert ((seen - n * p) ** 2 / np.maximum(n * p, 1e-9)).sum() < p.size + 6 * math.sqrt(2 * p.size)
    root = got.model.tree.cliques[0]
    index = np.ravel_multi_index([codes[list(SIZES).index(x)] for x in root], [SIZES[x] for x in root])
    p = got.model.project(root).ravel() / got.model.total
    assert np.abs(np.bincount(index, minlength=p.size) - n * p).max() < 2  # stratified: within one record or two


def test_draws_within_groups_are_stratified_and_empty_rows_uniform():
    table = np.array([[1.0, 3.0], [0.0, 0.0]])
    groups = np.repeat([0, 1], 1000)
    out = draw_within(table, groups, rng=np.random.default_rng(0))
    assert abs(out[:1000].sum() - 750) <= 1
    assert abs(out[1000:].sum() - 500) <= 1
    assert abs(out[:500].sum() - 375) < 70  # in random order


def test_a_chain_of_sixty_attributes_projects_its_ends():
    sizes = {f"x{i}": 2 for i in range(60)}
    names = list(sizes)
    keep = np.array([[45.0, 5.0], [5.0, 45.0]])
    targets = [NoisyMarginal(attributes=s, values=keep, variances=np.ones((2, 2))) for s in itertools.pairwise(names)]
    got = fit(targets, sizes, iterations=3000, tolerance=0.0).model
    # correlation falls by 0.8 a link
    for gap in (2, 5, 59):
        expected = 25 * (1 + 0.8**gap)
        assert got.project((names[0], names[gap]))[0, 0] == pytest.approx(expected, rel=2e-2)


@pytest.mark.parametrize("shape", [(4, 3), (50, 60), (13, 7, 6, 5), (1, 90, 30), (40, 1, 70)])
def test_sums_over_axes_are_those_of_numpy(shape):
    x = np.random.default_rng(0).random(shape)
    for k in range(len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), k):
            got = sum_axes(x, axes)
            assert got.shape == x.sum(axis=axes).shape
            assert np.allclose(got, x.sum(axis=axes), rtol=1e-12)
