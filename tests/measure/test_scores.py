"""Scores of a selection on their grid: which are rounded, how far, and at which rate the best is favoured."""

import math

import numpy as np
import pytest

from dpsyn_core.errors import EngineError
from dpsyn_core.measure.scores import gaps_and_rate

GRID = 2**20


def of(scores, **named):
    return gaps_and_rate(np.asarray(scores), "pair", **{"sensitivity": 2.0, "epsilon": 1.0, "one_sided": False} | named)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("one_sided", [False, True])
def test_whole_scores_keep_their_distances_and_a_step_is_a_sensitivity(kind, one_sided):
    gaps, rate = of(np.array([3, 9, 0, 9], dtype=kind), one_sided=one_sided)
    assert gaps.tolist() == [6, 0, 9, 0] and gaps.dtype == np.int64
    assert rate < 1.0 / 2.0 * (1.0 if one_sided else 0.5)
    assert rate == pytest.approx(1.0 / 2.0 * (1.0 if one_sided else 0.5), rel=1e-14, abs=0)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_fractions_are_rounded_to_steps_of_the_sensitivity_and_two_steps_are_paid_for_it(kind):
    step = 2.0 / GRID
    scores = np.array([0.0, 0.4 * step, 0.6 * step, 3.0], dtype=kind)
    gaps, rate = of(scores)
    assert gaps.tolist() == [GRID * 3 // 2, GRID * 3 // 2, GRID * 3 // 2 - 1, 0]
    assert rate < 0.5 / (GRID + 2) and rate == pytest.approx(0.5 / (GRID + 2), rel=1e-14, abs=0)


@pytest.mark.parametrize("unit", [1.0, -1.0])
def test_fractions_of_2_to_31_sensitivities_are_refused_and_those_below_are_not(unit):
    largest = 2.0 * 2.0**31
    gaps, _ = of([0.0, unit * math.nextafter(largest, 0.0)])
    assert gaps.max() == GRID << 31
    with pytest.raises(EngineError, match="finite and below 2"):
        of([0.0, unit * largest])


def test_whole_scores_have_no_such_limit():
    assert of([0, 1 << 60])[0].tolist() == [1 << 60, 0]


@pytest.mark.parametrize("wrong", [[], [[1, 2]], ["a"], [True, False], [1j]])
def test_what_is_no_list_of_numbers_is_refused(wrong):
    with pytest.raises(EngineError, match="list of at least one number"):
        of(wrong)
