"""Algebra of marginals against einsum and by hand."""

import numpy as np
import pytest

from dpsyn_core.errors import EngineError
from dpsyn_core.estimate.marginals.types import probabilities, product, project, spread, whole_counts

T = np.array([[20.0, 15, 20], [15, 20, 10]])


def test_oracle_o6_independent_product_and_its_distance():
    rows, columns = project(T, ("g", "c"), ("g",)), project(T, ("g", "c"), ("c",))
    np.testing.assert_allclose(rows, [55, 45])
    np.testing.assert_allclose(columns, [35, 35, 30])
    independent = product([rows, columns], 100)
    np.testing.assert_allclose(independent, [[19.25, 19.25, 16.5], [15.75, 15.75, 13.5]])
    assert np.abs(T - independent).sum() == pytest.approx(17)


def test_projection_equals_einsum_and_follows_the_order_of_the_kept_names():
    values = np.random.default_rng(0).random((2, 3, 4))
    np.testing.assert_allclose(project(values, "abc", "ca"), np.einsum("abc->ca", values))
    np.testing.assert_allclose(project(values, "abc", ()), values.sum())
    with pytest.raises(EngineError, match="'z'"):
        project(values, "abc", "z")


def test_spread_broadcasts_over_the_missing_attributes():
    values = np.random.default_rng(0).random((4, 2))
    whole = np.zeros((2, 3, 4)) + spread(values, "ca", "abc")
    np.testing.assert_allclose(whole, np.einsum("ca,b->abc", values, np.ones(3)))


def test_probabilities_fall_back_to_uniform():
    np.testing.assert_allclose(probabilities(np.array([-1.0, -2])), [0.5, 0.5])
    np.testing.assert_allclose(probabilities(np.array([-1.0, 3, 1])), [0, 0.75, 0.25])


@pytest.mark.parametrize("total", [0, 1, 7, 1000])
def test_whole_counts_add_up_and_stay_within_one_record(total):
    values = np.random.default_rng(0).random((5, 6)) - 0.1
    got = whole_counts(values, total, rng=np.random.default_rng(1))
    assert got.sum() == total
    assert np.abs(got - probabilities(values) * total).max() < 1


def test_equal_remainders_are_drawn_by_lot():
    rng = np.random.default_rng(0)
    mean = np.mean([whole_counts(np.ones(10), 3, rng=rng) for _ in range(4000)], axis=0)
    # each cell is Bernoulli(.3): 4 standard errors are .029
    np.testing.assert_allclose(mean, 0.3, atol=0.029)
