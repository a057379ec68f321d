"""What right guesses prove: never more than is true, close to it where the attack is best, and intervals that hold."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from dpsyn_core.runs.attacks.judge import (
    LARGEST,
    chance_of,
    cut,
    excess,
    gained,
    interval,
    least_epsilon,
    sure_enough,
)


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


def proved(right, guesses):
    """The logit of the lower limit of Wilson: the share at which this many right ones are just as likely."""
    if not guesses:
        return -math.inf
    low, high = 0.0, right / guesses
    for _ in range(200):
        middle = (low + high) / 2
        beyond = (right / guesses - middle) > 1.645 * math.sqrt(middle * (1 - middle) / guesses)
        low, high = (middle, high) if beyond else (low, middle)
    return math.log(max(low, 1e-9) / max(1 - low, 1e-9))


@pytest.mark.parametrize(("right", "guesses"), [(0, 1), (1, 1), (5, 9), (90, 100), (100, 100), (7, 1000), (0, 0)])
def test_what_right_guesses_prove_is_the_logit_of_the_lower_limit_of_wilson(right, guesses):
    assert gained(np.array([right]), np.array([guesses]))[0] == pytest.approx(proved(right, guesses), rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_the_best_attacker_is_cut_where_its_guesses_prove_most(seed):
    rng = np.random.default_rng(seed)
    coins = rng.random((6, 40)) < 0.5
    scores = [rng.permutation(240).reshape(6, 40) + k * 30.0 * coins * (seed % 3) for k in range(3)]
    k, high, low = cut(scores, coins, 5)
    best = -math.inf
    for score in scores:
        flat, truth = score[:5].ravel(), coins[:5].ravel()
        ranked = np.sort(flat)[::-1]
        for top, bottom in itertools.product((0.0, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5), repeat=2):
            a, b = int(top * 200), int(bottom * 200)
            said_in = flat >= ranked[a - 1] if a else np.zeros(200, dtype=bool)
            said_out = flat <= ranked[200 - b] if b else np.zeros(200, dtype=bool)
            best = max(best, proved(int(truth[said_in].sum() + (~truth[said_out]).sum()), a + b))
    flat, truth = scores[k][:5].ravel(), coins[:5].ravel()
    right = int((truth & (flat >= high)).sum() + (~truth & (flat <= low)).sum())
    guesses = int((flat >= high).sum() + (flat <= low).sum())
    assert proved(right, guesses) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_guesses_count_from_the_level_on_that_proves_most(seed):
    rng = np.random.default_rng(seed)
    outcomes = []
    for _ in range(3):
        coins, guessed = rng.random(50) < 0.5, rng.choice(50, 20, replace=False)
        sure = rng.integers(0, 6, 20).astype(float)
        said = np.where(rng.random(20) < sure / 6, coins[guessed], ~coins[guessed])
        outcomes.append(SimpleNamespace(coins=coins, guessed=guessed, said=said, sure=sure))
    levels = {}
    for level in range(6):
        right = sum(int((o.coins[o.guessed] == o.said)[o.sure >= level].sum()) for o in outcomes)
        levels[level] = proved(right, sum(int((o.sure >= level).sum()) for o in outcomes))
    assert levels[int(sure_enough(outcomes))] == pytest.approx(max(levels.values()), rel=1e-6)
    assert sure_enough([SimpleNamespace(sure=np.zeros(0), coins=[], guessed=[], said=[])]) == -math.inf
