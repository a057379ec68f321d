"""What right guesses prove: never more than is true, close to it where the attack is best, and intervals that hold."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsyn_core.runs.attacks.judge import LARGEST, chance_of, excess, interval, least_epsilon


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_bound_on_randomised_response_is_below_its_epsilon_and_comes_close(epsilon):
    share = 1 / (1 + math.exp(-epsilon))
    n = 20_000
    usual = least_epsilon(n, n, round(share * n), 0.0, 1e-4)
    assert 0.85 * epsilon < usual < epsilon
    # the number of right guesses under which the bound would be above epsilon is as rare as was asked for
    rights = np.arange(int(share * n), n)
    first = rights[np.array([chance_of(n, n, int(r), epsilon, 0.0) <= 1e-4 for r in rights[:800]]).argmax()]
    assert binom.sf(first - 1, n, share) <= 1e-4


def test_guessing_half_of_the_coins_right_proves_nothing_and_all_of_them_proves_what_their_number_allows():
    assert least_epsilon(1000, 1000, 510, 1e-9, 0.05) == 0
    assert least_epsilon(1000, 0, 0, 1e-9, 0.05) == 0
    # 0.05 = q^1000 with q = 1 / (1 + e^-epsilon)
    assert least_epsilon(1000, 1000, 1000, 0.0, 0.05) == pytest.approx(-math.log(0.05 ** (-1 / 1000) - 1), abs=1e-6)


def test_a_delta_makes_the_bound_smaller_and_a_large_one_takes_it_away():
    exact, small, large = (least_epsilon(400, 100, 99, delta, 0.01) for delta in (0.0, 1e-5, 0.01))
    assert exact > small > large == 0
    assert exact < LARGEST


def test_the_chance_is_that_of_the_published_program():
    """Steinke, Nasr, Jagielski 2023, appendix D, written out as a loop."""
    m, r, v, epsilon, delta = 300, 90, 80, 1.3, 1e-4
    q = 1 / (1 + math.exp(-epsilon))
    alpha = total = 0.0
    for i in range(1, v + 1):
        total += binom.pmf(v - i, r, q)
        alpha = max(alpha, total / i)
    expected = min(1.0, binom.sf(v - 1, r, q) + alpha * delta * 2 * m)
    assert chance_of(m, r, v, epsilon, delta) == pytest.approx(expected, rel=1e-9)


def test_intervals_of_shares_are_exact_and_the_excess_lies_in_its_own():
    assert interval(0, 10) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert interval(0, 0) == (0.0, 1.0)
    value, low, high = excess((90, 100), (50, 100))
    assert value == pytest.approx(0.8) and 0.5 < low < value < high <= 1.0
    assert excess((50, 100), (50, 100))[1] < 0 < excess((50, 100), (50, 100))[2]
    assert excess((5, 5), (5, 5)) == (0.0, -1.0, 1.0)  # no room above the control group
