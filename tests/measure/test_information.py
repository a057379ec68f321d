"""Mutual information and distance from independence: values, and sensitivities by exhaustive search (oracle 19)."""

import itertools

import numpy as np
import pytest

from dpsyn_core.measure.dependence import (
    independence_gap,
    independence_gap_sensitivity,
    mutual_information,
    mutual_information_sensitivity,
)


def all_tables(n, shape):
    cells = shape[0] * shape[1]
    for places in itertools.combinations_with_replacement(range(cells), n):
        yield np.bincount(places, minlength=cells).reshape(shape)


def worst_exchange(n, shape, score):
    worst = 0.0
    for table in all_tables(n - 1, shape):
        scores = []
        for cell in range(table.size):
            flat = table.ravel().copy()
            flat[cell] += 1
            scores.append(score(flat.reshape(shape)))
        worst = max(worst, max(scores) - min(scores))
    return worst


def test_sensitivities_are_those_of_the_paper():
    assert mutual_information_sensitivity(5, binary=True) == pytest.approx(0.7219, abs=5e-5)
    assert mutual_information_sensitivity(5, binary=False) == pytest.approx(1.1020, abs=5e-5)
    assert mutual_information_sensitivity(3, binary=True) == pytest.approx(0.9183, abs=5e-5)
    assert mutual_information_sensitivity(3, binary=False) == pytest.approx(1.3333, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "shape", "binary"), [(3, (2, 2), True), (5, (2, 3), True), (3, (3, 3), False), (5, (3, 3), False)]
)
def test_no_exchange_moves_mutual_information_further(n, shape, binary):
    bound = mutual_information_sensitivity(n, binary=binary)
    assert worst_exchange(n, shape, mutual_information) == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize(("n", "shape"), [(2, (2, 2)), (4, (2, 2)), (4, (3, 3)), (6, (2, 3))])
def test_no_exchange_moves_the_distance_from_independence_further(n, shape):
    worst = worst_exchange(n, shape, lambda t: independence_gap(t, n))
    assert 0.2 * independence_gap_sensitivity(n) < worst <= independence_gap_sensitivity(n)


def test_individuals_with_several_records_and_changed_numbers_of_records_are_covered():
    n, theta = 6, 2
    tables = [t for k in range(n - theta, n + 1) for t in all_tables(k, (2, 2))]
    for a, b in itertools.combinations(tables, 2):
        moved = a - b
        if moved.clip(min=0).sum() <= theta and (-moved).clip(min=0).sum() <= theta:
            bound = independence_gap_sensitivity(n, theta)
            assert abs(independence_gap(a, n) - independence_gap(b, n)) <= bound


def test_scores_of_tables_worked_by_hand():
    dependent, independent = np.array([[5, 0], [0, 5]]), np.array([[4, 2], [2, 1]])
    assert mutual_information(dependent) == pytest.approx(1.0)
    assert mutual_information(independent) == pytest.approx(0.0)
    assert mutual_information(np.zeros((2, 2), dtype=int)) == 0
    # R = half the L1 distance of the distributions = 1/2 here; the gap is 2 n^2 R
    assert independence_gap(dependent, 10) == 100
    assert independence_gap(independent, 9) == 0
