"""What epsilon means in odds, against brute force over attacks on randomised response."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.conversions import gdp_delta
from dpsyn_core.privacy.curves import (
    best_guess,
    best_guess_of_mu,
    posterior,
    trade_off,
)


def test_a_larger_delta_helps_the_attacker():
    assert best_guess(1, 0.5) == pytest.approx((math.e + 0.5) / (math.e + 1))
    assert best_guess(1, 1e-9) > best_guess(1, 0)


def mechanism(epsilon, delta):
    """The pair that attains (epsilon, delta): with chance delta all is told, else randomised response."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    present = np.array([delta, (1 - delta) * p, (1 - delta) * (1 - p), 0.0])
    return present, present[::-1].copy()


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.05), (3.0, 0.3)])
def test_every_attack_on_the_worst_mechanism_stays_within_and_the_best_attains_it(epsilon, delta):
    present, absent = mechanism(epsilon, delta)
    priors = np.linspace(0, 1, 21)
    best = np.zeros_like(priors)
    for attack in range(16):
        says = np.array([(attack >> i) & 1 for i in range(4)])
        alarm, miss = float(says @ absent), float((1 - says) @ present)
        assert miss >= float(trade_off(alarm, epsilon, delta)) - 1e-12
        best = np.maximum(best, priors * (1 - miss) + (1 - priors) * (1 - alarm))
    assert best[10] == pytest.approx(best_guess(epsilon, delta)), "from a belief of one half"


def test_posterior_beliefs_stay_within_e_to_the_epsilon():
    low, high = posterior(np.array([0.0, 0.01, 0.5, 1.0]), 1.0)
    assert high == pytest.approx([0, 0.01 * math.e / (0.01 * math.e + 0.99), math.e / (1 + math.e), 1])
    assert low == pytest.approx([0, 0.01 / (0.01 + 0.99 * math.e), 1 / (1 + math.e), 1])
    assert posterior(0.3, 800.0)[1] == pytest.approx(1.0)


def test_the_gaussian_curve_lies_above_every_epsilon_delta_line_it_implies():
    alarms = np.linspace(0, 1, 101)
    exact = ndtr(-ndtri(alarms) - 0.9)  # Dong, Roth, Su 2022, Definition 2.6
    for epsilon in (0.1, 0.5, 1, 3):
        assert (exact >= trade_off(alarms, epsilon, gdp_delta(epsilon, 0.9)) - 1e-12).all()
    assert exact[0] == 1.0
    assert exact[-1] == 0.0
    assert best_guess_of_mu(0.9) == pytest.approx(float(np.max(1 - (alarms + exact) / 2)), abs=1e-4)


def test_shares_outside_zero_and_one_are_refused():
    with pytest.raises(BudgetError, match="between 0 and 1"):
        trade_off(1.5, 1.0)
    with pytest.raises(BudgetError):
        best_guess(0)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.05), (3.0, 0.3), (700.0, 0.1)])
def test_the_smallest_share_of_misses_is_that_of_the_likeliest_attacks_on_the_worst_mechanism(epsilon, delta):
    """Attacks name outputs by their likelihood ratio, the last of them with the chance that makes up the alarms."""
    shrink = math.exp(-epsilon)
    alarms = np.array([*np.linspace(0, 1, 51), shrink / 9, shrink * 0.3])
    unlike, like = (1 - delta) * shrink / (1 + shrink), (1 - delta) / (1 + shrink)
    missed = []
    for alarm in alarms:
        miss, left = 1 - delta, alarm  # what only those who are in the table send out is named at no alarm
        for absent, present in ((unlike, like), (like, unlike), (delta, 0.0)):
            named = min(1.0, left / absent) if absent else 1.0
            miss, left = miss - named * present, max(0.0, left - named * absent)
        missed.append(miss)
    assert trade_off(alarms, epsilon, delta) == pytest.approx(np.array(missed), abs=1e-12)
    assert trade_off(np.array([0.0, 1e-300]), 800.0, delta) == pytest.approx(np.array([1 - delta, 0.0]))
