"""Combining rules against values worked out by hand."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from dpsyn_core.errors import SettingError
from dpsyn_core.questions.answers import combine

Q, U = [1.0, 2.0, 3.0, 6.0], [0.5, 0.7, 0.6, 0.6]  # mean 3, B = (4 + 1 + 0 + 9) / 3 = 14/3, mean of U = .6


def test_refits_speak_about_the_population_with_sampling_and_twice_the_noise():
    got = combine(Q, U)
    noise = 2 * 14 / 3
    freedom = 3 * (1 + 0.6 / noise) ** 2
    assert (got.estimate, got.variance, got.freedom) == pytest.approx((3.0, 0.6 + noise, freedom))
    half = student.ppf(0.975, freedom) * math.sqrt(0.6 + noise)
    assert (got.low, got.high) == pytest.approx((3 - half, 3 + half))
    assert "T = U + 2 B" in got.rule


def test_refits_speak_about_the_real_table_without_any_variance_of_the_analysis():
    got = combine(Q, rule="refits", truth="table")
    assert (got.variance, got.freedom) == pytest.approx((28 / 3, 3))
    assert got.high - got.low == pytest.approx(2 * 3.182446305 * math.sqrt(28 / 3))


def test_records_drawn_afresh_follow_raghunathan_reiter_and_rubin():
    got = combine(Q, U, rule="fully-synthetic")
    spread = 1.25 * 14 / 3
    assert (got.variance, got.freedom) == pytest.approx((spread - 0.6, 3 * (1 - 0.6 / spread) ** 2))
    assert "Raghunathan" in got.rule and "Reiter 2002" not in got.rule


def test_a_variance_that_would_not_be_positive_is_that_within_the_tables():
    got = combine([1.0, 1.1, 0.9], [4.0, 4.0, 4.0], rule="fully-synthetic")
    assert (got.variance, got.freedom) == pytest.approx((4.0, 2))
    assert "Reiter 2002" in got.rule


def test_several_figures_are_combined_at_once():
    got = combine(np.column_stack([Q, Q]), np.column_stack([U, U]))
    alone = combine(Q, U)
    assert got.low.tolist() == pytest.approx([alone.low] * 2)


def test_without_noise_and_sampling_the_interval_is_a_point():
    got = combine([2.0, 2.0], [0.0, 0.0])
    assert (got.low, got.estimate, got.high) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    ("estimates", "variances", "words", "said"),
    [
        ([1.0], [1.0], {}, "at least two"),
        ([1.0, 2.0], None, {}, "needs the variances"),
        ([1.0, 2.0], [1.0], {}, "shape"),
        ([1.0, float("nan")], [1.0, 1.0], {}, "not finite"),
        ([1.0, 2.0], [1.0, -1.0], {}, "negative"),
        ([1.0, 2.0], [1.0, 1.0], {"rule": "other"}, "rules are"),
        ([1.0, 2.0], [1.0, 1.0], {"rule": "fully-synthetic", "truth": "table"}, "population"),
        ([1.0, 2.0], [1.0, 1.0], {"confidence": 95}, "0.95"),
    ],
)
def test_what_cannot_be_combined_is_refused_in_a_sentence(estimates, variances, words, said):
    with pytest.raises(SettingError, match=said):
        combine(estimates, variances, **words)
