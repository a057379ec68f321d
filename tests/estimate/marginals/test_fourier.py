"""Fourier coefficients of binary tables: a worked example, and marginals that come back."""

import itertools

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.reconstruction import coefficient_sets, marginal_from, signed_sum


def test_worked_example_of_two_attributes():
    """Cells 4, 1, 2, 3 of (a, b): f() = 10, f(a) = 5 - 5, f(b) = 6 - 4, f(ab) = 4 - 1 - 2 + 3."""
    table = np.array([[4, 1], [2, 3]])
    found = {(): 10, ("a",): 0, ("b",): 2, ("a", "b"): 4}
    assert signed_sum(np.array(10)) == 10
    assert signed_sum(table.sum(axis=1)) == 0 and signed_sum(table.sum(axis=0)) == 2 and signed_sum(table) == 4
    np.testing.assert_allclose(marginal_from(found, ("a", "b")), table)
    np.testing.assert_allclose(marginal_from(found, ("b",)), [6, 4])
    np.testing.assert_allclose(marginal_from({(): 10}, ("a", "b")), np.full((2, 2), 2.5))  # what is missing is 0


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_marginal_of_at_most_k_attributes_comes_back(k):
    names = ("a", "b", "c", "d")
    cube = np.random.default_rng(k).integers(0, 50, (2, 2, 2, 2))

    def marginal(wanted):
        return cube.sum(axis=tuple(i for i, n in enumerate(names) if n not in wanted))

    sets = coefficient_sets(names, k)
    assert sets[0] == () and len(sets) == sum(len(list(itertools.combinations(names, i))) for i in range(k + 1))
    found = {s: float(signed_sum(marginal(s))) for s in sets}
    for wanted in sets:
        np.testing.assert_allclose(marginal_from(found, wanted), marginal(wanted))
