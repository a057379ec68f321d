"""DenseMarg against brute force, its allocation against a search, and combination by hand."""

import itertools

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.dense import allocation, combine, dense_marginals, noise_error
from dpsyn_core.schema.domain import Domain


def test_the_allocation_minimises_expected_noise():
    cells, rho = [4, 30, 500], 0.1
    shares = np.array(allocation(cells))

    def error(parts):
        return sum(c / np.sqrt(np.pi * rho * p) for c, p in zip(cells, parts, strict=True))

    best = error(shares)
    assert best == pytest.approx(noise_error(cells, rho))
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = shares * np.exp(rng.normal(0, 0.2, 3))
        assert error(other / other.sum()) >= best


def test_expected_l1_noise_is_what_gaussian_noise_has():
    rho, cells = 0.02, 40
    sigma = 1 / np.sqrt(2 * rho)
    draws = np.abs(np.random.default_rng(0).normal(0, sigma, (4000, cells))).sum(axis=1)
    assert noise_error([cells], rho) == pytest.approx(draws.mean(), rel=0.01)


@pytest.mark.parametrize("seed", range(8))
def test_the_greedy_choice_is_locally_optimal(seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(2, 300, 9)
    scores = rng.exponential(200, 9)
    rho = 0.05
    chosen = dense_marginals(scores, cells, rho)

    def objective(picked):
        lost = sum(scores[i] for i in range(9) if i not in picked)
        return lost + (noise_error([cells[i] for i in picked], rho) if picked else 0)

    here = objective(chosen)
    assert all(objective([*chosen, i]) >= here - 1e-9 for i in range(9) if i not in chosen)
    everything = min(objective(list(s)) for k in range(10) for s in itertools.combinations(range(9), k))
    assert here <= 1.15 * everything


def test_nothing_is_chosen_when_nothing_is_worth_its_noise():
    assert dense_marginals(np.array([1.0, -5.0]), [100, 100], 1e-4) == []
    assert dense_marginals(np.array([1e9, 1e9]), [4, 4], 1.0, gap=1e10) == []


def test_a_higher_sensitivity_buys_fewer_marginals():
    scores, cells = np.full(10, 1000.0), [50] * 10
    assert len(dense_marginals(scores, cells, 0.05, sensitivity=3)) < len(dense_marginals(scores, cells, 0.05))


def test_cliques_under_the_cap_replace_their_pairs():
    domain = Domain.of({"a": 2, "b": 3, "c": 4, "d": 5})
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    assert combine(pairs, domain, max_cells=25) == [("a", "b", "c"), ("c", "d")]
    assert combine(pairs, domain, max_cells=24) == pairs


def test_larger_cliques_go_first_and_share_at_most_two_attributes():
    domain = Domain.of(dict.fromkeys("abcdef", 2))
    pairs = [*itertools.combinations("abcde", 2), ("a", "f"), ("b", "f"), ("c", "f")]
    got = combine(pairs, domain)
    assert got[0] == ("a", "b", "c", "d", "e")
    assert got[1] == ("a", "b", "f")  # {a, b, c, f} would share three
    assert max(len(set(s) & set(t)) for s, t in itertools.combinations(got, 2)) == 2
    covered = {frozenset(p) for s in got for p in itertools.combinations(s, 2)}
    assert covered == {frozenset(p) for p in pairs}


def test_a_complete_graph_of_many_small_attributes_does_not_explode():
    domain = Domain.of({f"a{i}": 2 for i in range(60)})
    got = combine(domain.subsets(2), domain)
    assert all(domain.cells(s) < 5000 for s in got)
