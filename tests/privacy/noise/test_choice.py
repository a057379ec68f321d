"""The exponential mechanism's draw has its stated law, and open coins are settled exactly."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.noise.choice import choose, keeps, uniform_indices
from dpsyn_core.privacy.noise.exact import exp_bounds
from dpsyn_core.privacy.noise.stream import SystemBits
from tests.privacy.noise.bits import ListedBits, SeededBits

pytestmark = pytest.mark.chance("samplers")

GAPS = np.array([3, 0, 1, 7, 0, 2, 30], dtype=np.int64)


def law(gaps, rate):
    w = np.exp(-rate * gaps)
    return w / w.sum()


def p_value(counts, expected):
    keep = expected > 20
    counts = np.append(counts[keep], counts[~keep].sum())
    expected = np.append(expected[keep], expected[~keep].sum())
    statistic = ((counts - expected) ** 2 / np.maximum(expected, 1e-9))[expected > 0.5].sum()
    return chi2.sf(statistic, max(1, (expected > 0.5).sum() - 1))


@pytest.mark.slow
def test_choices_follow_the_exponential_law_and_no_law_five_percent_away():
    draws, rate = 60_000, 0.4
    bits = SystemBits()
    counts = np.bincount([choose(GAPS, rate, bits) for _ in range(draws)], minlength=GAPS.size)
    assert p_value(counts, draws * law(GAPS, rate)) > 1e-7
    for factor in (0.9, 1.1):
        assert p_value(counts, draws * law(GAPS, rate * factor)) < 1e-7


def test_uniform_indices_are_uniform_below_a_size_that_is_no_power_of_two():
    counts = np.bincount(uniform_indices(37, 200_000, SystemBits()), minlength=37)
    assert counts.size == 37
    assert p_value(counts, np.full(37, 200_000 / 37)) > 1e-7


@pytest.mark.parametrize(("gap", "rate"), [(1, 0.3), (5, 0.01), (3, 9.0)])
def test_coins_fall_on_their_own_side_of_the_exact_boundary(gap, rate):
    p, q = rate.as_integer_ratio()
    low, high = exp_bounds(gap * p, q, 63)  # half of exp(-rate gap) in units of 2^-64
    gaps = np.array([gap, 0], dtype=np.int64)
    for word, kept in ((low - 3, True), (high + 3, False)):
        assert keeps(word, gap, rate, ListedBits([])) is kept
        # proposals 0, 1, 1, ...: the first coin decides between the two
        words = [0, *[1] * 143, word, *[0] * 63]
        assert choose(gaps, rate, ListedBits(words)) == (0 if kept else 1)


def test_a_coin_on_the_boundary_asks_for_more_bits():
    p, q = (0.3).as_integer_ratio()
    low, _ = exp_bounds(p, q, 63 + 64)
    word, rest = low >> 64, low & (2**64 - 1)
    assert keeps(word, 1, 0.3, ListedBits([rest - 50])) is True
    assert keeps(word, 1, 0.3, ListedBits([rest + 50])) is False


def test_the_best_of_many_hopeless_candidates_is_found():
    gaps = np.full(50_000, 10**9, dtype=np.int64)
    gaps[777] = 0
    assert choose(gaps, 1.0, SeededBits(1)) == 777


def test_a_tiny_rate_makes_the_choice_uniform():
    picked = {choose(np.arange(4, dtype=np.int64), 1e-300, SystemBits()) for _ in range(200)}
    assert picked == {0, 1, 2, 3}


@pytest.mark.parametrize(("gaps", "rate"), [([], 1.0), ([1], 1.0), ([-1, 0], 1.0), ([0], 0.0), ([0], math.nan)])
def test_ill_formed_choices_are_refused(gaps, rate):
    with pytest.raises(EngineError, match="smallest is 0"):
        choose(np.array(gaps, dtype=np.int64), rate, SeededBits(0))
