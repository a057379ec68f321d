"""Figures of one noisy table against the closed forms of their variances."""

import numpy as np
import pytest

from dpsyn_core.questions.answers.quantities import Gaps, WeightedCounts
from ui.learn.numbers.family import read_directly

TABLE = np.array([[70.0, 30.0], [150.0, 50.0]])  # (arm, recovered)


def test_a_difference_of_shares_has_the_variances_of_the_delta_method():
    gap = Gaps(attributes=("arm", "yes"), axis=1, side=0, codes=(1, 0), numbers=np.array([0.0, 1.0]))
    found = read_directly(gap, TABLE, 5.0)
    p, n = np.array([0.3, 0.25]), np.array([100.0, 200.0])
    assert found.estimate == pytest.approx([-0.05])
    assert found.sampling == pytest.approx([(p * (1 - p) / n).sum()])
    assert found.noise == pytest.approx([(25 * ((1 - p) ** 2 + p**2) / n**2).sum()])
    assert found.half() < found.half("population")
    assert found.half("population") ** 2 == pytest.approx(found.half() ** 2 + found.forgetful() ** 2)


def test_the_noise_of_a_sum_is_that_of_its_cells():
    found = read_directly(WeightedCounts(attributes=("arm", "yes"), weights=np.ones((1, 2, 2))), TABLE, 5.0)
    assert found.estimate == pytest.approx([300.0])
    assert found.half() == pytest.approx([1.959964 * 5 * 2], rel=1e-6)
    assert found.sampling == pytest.approx([0.0])  # of a fixed number of records
