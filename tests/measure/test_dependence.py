"""InDif against oracles O6 and O8, and its sensitivity by search."""

import itertools

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.dependence import expected_pairs, indif, indif_counts, indif_ratio, l1_counts
from dpsyn_core.schema.domain import Domain


@pytest.mark.parametrize("n", [1, 5, 10, 10**8])
def test_oracle_o8_and_the_supremum_of_the_sensitivity(n):
    scaled, total = indif_ratio(np.array([[n, 0], [0, 1]]))
    assert scaled / total == pytest.approx(4 * n / (n + 1))
    assert indif_ratio(np.array([[n, 0], [0, 0]]))[0] == 0


def test_oracle_o6():
    scaled, n = indif_ratio(np.array([[20, 15, 20], [15, 20, 10]]))
    assert scaled / n == 17


def test_one_record_moves_the_rounded_score_by_at_most_four():
    """All 2 x 2 tables of up to 4 records per cell, and random larger ones, plus one record anywhere."""
    tables = [np.array(c).reshape(2, 2) for c in itertools.product(range(5), repeat=4)]
    rng = np.random.default_rng(0)
    tables += [rng.integers(0, m, (3, 4)) for m in (2, 5, 1000) for _ in range(100)]
    worst = 0
    for table in tables:
        for cell in np.ndindex(table.shape):
            more = table.copy()
            more[cell] += 1
            worst = max(worst, abs(indif(more) - indif(table)))
    assert 2 < worst <= 4


def test_no_records_have_no_dependence():
    assert indif(np.zeros((3, 2), dtype=np.int64)) == 0


def test_scores_of_many_pairs_follow_their_order_and_coarse_maps():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 4, 500)
    codes = np.stack([a, a // 2, rng.integers(0, 3, 500)]).astype(np.uint8)
    domain = Domain.of({"a": 4, "b": 2, "c": 3})
    counter = MemoryCounter(codes, domain)
    pairs = domain.subsets(2)
    scores = indif_counts(counter, pairs, {})
    assert scores[0] > 400
    assert max(scores[1:]) < 100
    merged = indif_counts(counter, pairs, {"a": Coarsening.of([0, 1, 0, 1])})
    assert merged[0] < 100


def test_released_scores_compare_with_whole_expected_counts():
    codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=np.uint8)
    domain = Domain.of({"a": 2, "b": 2})
    ones = {n: Measurement(attributes=(n,), values=np.array([2.0, 2.0]), sigma=1.0) for n in "ab"}
    expected = expected_pairs(ones, [("a", "b")])
    np.testing.assert_array_equal(expected[0], [[1, 1], [1, 1]])
    counter = MemoryCounter(codes, domain)
    assert l1_counts(counter, [("a", "b")], expected, {}).tolist() == [4]
    fewer = MemoryCounter(codes[:, 1:], domain)
    assert l1_counts(fewer, [("a", "b")], expected, {}).tolist() == [3]
