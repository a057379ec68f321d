"""Composition against independent compositions: closed forms, dp_accounting, brute force."""

import itertools
import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from scipy.optimize import brentq
from scipy.stats import binom, norm

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.composition import Composition, compose
from dpsyn_core.privacy.conversions import gdp_epsilon, gdp_mu, zcdp_epsilon


def gaussian(sensitivity, sigma, **more):
    return Charge(
        name="g",
        mechanism="gaussian",
        sensitivity=sensitivity,
        scale=sigma,
        cells=1,
        rho=(sensitivity / sigma) ** 2 / 2,
        **more,
    )


def geometric(epsilon):
    return Charge(
        name="l",
        mechanism="geometric",
        sensitivity=1.0,
        scale=1 / epsilon,
        cells=1,
        epsilon=epsilon,
        rho=epsilon**2 / 2,
    )


def exponential(epsilon):
    return Charge(
        name="e", mechanism="exponential", sensitivity=1.0, scale=0.0, cells=9, epsilon=epsilon, rho=epsilon**2 / 8
    )


def randomised_response_epsilon(epsilons, delta):
    """Smallest epsilon of a composition of randomised responses, by enumerating every outcome."""
    losses, weights = np.zeros(1), np.ones(1)
    for e in epsilons:
        p = math.exp(e) / (1 + math.exp(e))
        losses = np.concatenate([losses + e, losses - e])
        weights = np.concatenate([weights * p, weights * (1 - p)])
    low, high = 0.0, sum(epsilons)
    for _ in range(100):
        middle = (low + high) / 2
        got = np.sum(weights * np.clip(-np.expm1(middle - losses), 0, None))
        low, high = (middle, high) if got > delta else (low, middle)
    return high


def test_gaussian_charges_compose_exactly_as_scipy_says():
    charges = [gaussian(1, 5), gaussian(2, 9), gaussian(math.sqrt(2), 30)]
    mu = math.sqrt(1 / 25 + 4 / 81 + 2 / 900)
    assert compose(charges).mu == pytest.approx(mu, rel=1e-14)
    epsilon = compose(charges).epsilon(1e-6)
    delta = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert delta == pytest.approx(1e-6, rel=1e-8)


def test_gaussian_charges_compose_as_dp_accounting_says():
    accountant = PLDAccountant()
    for sigma in (5, 4.5, 21.2):
        accountant.compose(dp_accounting.GaussianDpEvent(sigma))
    ours = compose([gaussian(1, s) for s in (5, 4.5, 21.2)]).epsilon(1e-6)
    assert ours == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-4)
    assert ours <= accountant.get_epsilon(1e-6)


def test_pure_charges_add_up_at_delta_zero():
    assert compose([geometric(0.25), exponential(0.5)]).epsilon(0) == pytest.approx(0.75, rel=1e-12)
    assert compose([geometric(0.25)] * 3).within(0.75 * (1 + 1e-12), 0)
    assert not compose([geometric(0.25)] * 3).within(0.7499, 0)
    assert compose([gaussian(1, 5)]).epsilon(0) == math.inf


def test_many_pure_charges_beat_their_sum_at_a_positive_delta():
    epsilons = [0.1] * 12
    truth = randomised_response_epsilon(epsilons, 1e-3)
    ours = compose([geometric(e) for e in epsilons]).epsilon(1e-3)
    assert truth <= ours <= truth * 1.001 + 2e-4
    assert ours < 1.2


def test_hundreds_of_different_mechanisms_are_bounded_in_closed_form():
    epsilons = [0.001 * (1 + i / 500) for i in range(500)]
    rho = sum(e * e / 2 for e in epsilons)
    assert compose([geometric(e) for e in epsilons]).epsilon(1e-6) == pytest.approx(zcdp_epsilon(rho, 1e-6), rel=1e-9)


def test_a_mixture_costs_no_more_than_zcdp_and_no_less_than_its_parts():
    mixed = compose([gaussian(1, 8), geometric(0.1), exponential(0.2)])
    rho = 1 / 128 + 0.1**2 / 2 + 0.2**2 / 8
    assert mixed.zcdp == pytest.approx(rho, rel=1e-12)
    assert mixed.mu is None
    ours = mixed.epsilon(1e-6)
    assert ours <= zcdp_epsilon(rho, 1e-6)
    assert ours >= compose([gaussian(1, 8)]).epsilon(1e-6)


def test_a_mixture_is_composed_as_dp_accounting_composes_it():
    accountant = PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(dp_accounting.GaussianDpEvent(6.0))  # it doubles the sensitivity for replace-one
    for _ in range(5):  # its count argument is ignored for randomised response (dp-accounting 0.6.0)
        accountant.compose(dp_accounting.RandomizedResponseDpEvent(2 / (math.e**0.5 + 1), 2))
    ours = compose([gaussian(1, 3), *[geometric(0.5)] * 5]).epsilon(1e-5)
    assert ours == pytest.approx(accountant.get_epsilon(1e-5), rel=2e-3)


def test_sampled_gaussian_noise_is_amplified_as_dp_accounting_says():
    charge = Charge(
        name="sgd", mechanism="sampled-gaussian", sensitivity=2.0, scale=3.0, cells=1, sampling=0.01, steps=500
    )
    accountant = PLDAccountant()
    accountant.compose(dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.5)), 500)
    assert compose([charge]).epsilon(1e-5) == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-6)
    assert compose([charge]).epsilon(1e-5) < compose([gaussian(2, 3)] * 500).epsilon(1e-5) / 10
    assert compose([charge]).zcdp is None


def test_partition_selection_keeps_its_failure_apart():
    noisy = Charge(
        name="p", mechanism="partition-selection", sensitivity=1.0, scale=10.0, cells=1, rho=0.005, delta=4e-7
    )
    assert compose([noisy]).epsilon(1e-6) == compose([gaussian(1, 10)]).epsilon(1e-6 - 4e-7)
    assert compose([noisy]).epsilon(1e-7) == math.inf
    pure = Charge(
        name="p", mechanism="partition-selection", sensitivity=1.0, scale=2.0, cells=1, epsilon=0.5, delta=1e-7
    )
    assert compose([pure]).epsilon(1e-6) <= 0.5 * (1 + 1e-12)
    assert compose([pure]).epsilon(1e-8) == math.inf


def test_pairs_add_epsilon_and_delta():
    two = Composition(pairs=((0.5, 1e-7), (0.25, 1e-7)))
    assert two.epsilon(1e-6) <= 0.75 * (1 + 1e-12)
    assert two.epsilon(1e-7) == math.inf


def test_replace_neighbours_pay_twice_the_mu_of_add_remove():
    both = compose([gaussian(1, 8), geometric(0.1), exponential(0.2)]).grouped(2)
    assert math.sqrt(both.mu2) == pytest.approx(2 / 8)
    assert both.pure == pytest.approx((0.2, 0.4))


def test_two_steps_of_an_epsilon_delta_pair_follow_brute_force():
    """Three points in a chain, each neighbour pair (e, d)-private at its extreme: the ends are (2 e, d + d exp(e))."""
    e, d = 0.7, 0.01
    ((epsilon, delta),) = Composition(pairs=((e, d),)).grouped(2).pairs
    assert epsilon == pytest.approx(2 * e)
    middle = math.exp(e) * 1e-3 + d  # chance of an event at each point, as large as allowed
    assert delta == pytest.approx(math.exp(e) * middle + d - math.exp(2 * e) * 1e-3)


def test_an_unknown_mechanism_is_a_fault_and_not_free():
    with pytest.raises(EngineError, match="does not know"):
        compose([Charge(name="x", mechanism="magic", sensitivity=1.0, scale=1.0, cells=1)])


@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-5])
@pytest.mark.parametrize("epsilon", [0.1, 1, 8])
def test_what_a_budget_buys_is_within_it_and_a_little_more_is_not(epsilon, delta):
    budget = Budget(epsilon=epsilon, delta=delta)
    for shares in ([1.0], [0.25, 0.02, 0.73], [1.0] * 91):
        sigmas = [part.sigma(1.0) for part in budget.gaussian().split(shares)]
        assert compose([gaussian(1, s) for s in sigmas]).within(epsilon, delta)
        assert compose([gaussian(1, s) for s in sigmas]).epsilon(delta) <= epsilon * (1 + 1e-11)
        assert not compose([gaussian(1, s * (1 - 1e-10)) for s in sigmas]).within(epsilon, delta)
        mixed = budget.zcdp().split(shares)
        charges = [gaussian(1, c.sigma(1.0)) if i % 3 else exponential(c.selection()) for i, c in enumerate(mixed)]
        assert compose(charges).within(epsilon, delta)
        laplace = [geometric(1 / c.scale(1.0)) for c in budget.pure().split(shares)]
        assert compose(laplace).within(epsilon, 0)


def test_a_gaussian_account_refuses_other_noise_and_a_mixed_one_takes_it():
    budget = Budget(epsilon=1, delta=1e-9)
    with pytest.raises(BudgetError, match="does not cover"):
        Account(budget.gaussian()).debit(exponential(0.01))
    with pytest.raises(BudgetError, match="Gaussian noise alone"):
        budget.gaussian().selection()
    account = Account(budget.zcdp())
    account.debit(exponential(budget.zcdp().scaled(0.5).selection()))
    account.debit(gaussian(1, budget.zcdp().scaled(0.5).sigma(1)))
    assert account.spent == pytest.approx(account.limit, rel=1e-12)
    with pytest.raises(BudgetError, match="overdraw"):
        account.debit(gaussian(1, 1e4))
    assert len(account.charges) == 2


def test_a_pure_account_refuses_gaussian_noise():
    with pytest.raises(BudgetError, match="no cost in the currency"):
        Account(Cost(epsilon=1)).debit(gaussian(1, 1e6))


def test_an_account_keeps_failures_within_their_own_cap():
    charge = Charge(name="p", mechanism="partition-selection", sensitivity=1, scale=99, cells=1, rho=1e-4, delta=1e-10)
    with pytest.raises(BudgetError, match="overdraw"):
        Account(Cost(rho=1)).debit(charge)
    account = Account(Cost(rho=1), delta=1.5e-10)
    account.debit(charge)
    with pytest.raises(BudgetError, match="overdraw"):
        account.debit(charge)


@pytest.mark.slow
def test_an_account_with_a_budget_composes_exactly():
    step = Charge(name="s", mechanism="sampled-gaussian", sensitivity=1.0, scale=2.0, cells=1, sampling=0.01, steps=200)
    account = Account(Budget(epsilon=1, delta=1e-5))
    account.debit(step)
    assert 0 < account.spent <= 1
    with pytest.raises(BudgetError, match="overdraw"):
        for _ in range(40):
            account.debit(step)


def test_spare_delta_is_taken_off_before_conversion():
    budget = Budget(epsilon=1, delta=1e-6)
    assert budget.gaussian(spare_delta=4e-7).rho == pytest.approx(gdp_mu(1, 6e-7) ** 2 / 2, rel=1e-9)
    with pytest.raises(BudgetError, match="kept apart"):
        budget.zcdp(spare_delta=1e-6)
    with pytest.raises(BudgetError, match="pure DP only"):
        Budget(epsilon=1, delta=0).zcdp()


def test_a_run_of_thousands_of_charges_is_added_exactly():
    cost = Budget(epsilon=1, delta=1e-9).gaussian()
    account = Account(cost)
    for part in cost.split([1.0 + i % 7 for i in range(5000)]):
        account.debit(gaussian(1, part.sigma(1.0)))
    assert account.spent == math.fsum(c.rho for c in account.charges)
    with pytest.raises(BudgetError, match="overdraw"):
        account.debit(gaussian(1, 1e5))
    account.charges.clear()
    assert account.spent == 0


def test_equal_parts_of_a_failure_probability_fit_it():
    account = Account(Cost(rho=1), delta=1e-10)
    for _ in range(7):
        account.debit(
            Charge(
                name="p", mechanism="partition-selection", sensitivity=1, scale=99, cells=1, rho=1e-4, delta=1e-10 / 7
            )
        )
    with pytest.raises(BudgetError, match="overdraw"):
        account.debit(gaussian(1, 1e-3))


def exact_mixture_epsilon(mu, epsilon, times, delta):
    """Gaussian noise beside randomised responses: their losses are binomial, its delta is in closed form."""
    i = np.arange(times + 1)
    weights = binom.pmf(i, times, 1 / (1 + math.exp(-epsilon)))
    losses = (2 * i - times) * epsilon

    def got(e):
        left = e - losses  # delta(x) = Phi(mu/2 - x/mu) - e^x Phi(-mu/2 - x/mu) holds for negative x too
        return np.sum(weights * (norm.cdf(mu / 2 - left / mu) - np.exp(left + norm.logcdf(-mu / 2 - left / mu))))

    return brentq(lambda e: got(e) - delta, 0, times * epsilon + mu * mu + 40 * mu, xtol=1e-12)


@pytest.mark.parametrize(("sigma", "epsilon", "times"), [(3, 0.5, 5), (8, 0.05, 40), (20, 1.0, 2), (1, 0.01, 200)])
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_a_mixture_lies_just_above_its_exact_cost(sigma, epsilon, times, delta):
    truth = exact_mixture_epsilon(1 / sigma, epsilon, times, delta)
    ours = compose([gaussian(1, sigma), *[geometric(epsilon)] * times]).epsilon(delta)
    assert truth <= ours <= truth * 1.005


PARTS = {
    "mu2": 0.04, "pure": (0.3, 0.2), "ranged": (0.4,), "rho": 0.01, "pairs": ((0.1, 3e-14), (0.2, 1e-14)),
    "delta": 2e-14, "sampled": ((0.01, 2.0, 3),),
}  # fmt: skip
MIXTURES = [
    {k: PARTS[k] for k in kinds} for size in range(len(PARTS) + 1) for kinds in itertools.combinations(PARTS, size)
]


def closed_form(has, delta):
    """The bounds of docs/proofs/accounting.md that need no convolution, each written out; infinite where none holds."""
    pure = sum(has.get("pure", ())) + sum(has.get("ranged", ()))
    paid = sum(e for e, _ in has.get("pairs", ()))
    noise = has.get("mu2", 0) / 2 + has.get("rho", 0)
    bounds = [] if has.keys() & {"mu2", "rho", "pairs", "delta", "sampled"} else [pure]
    left = delta - has.get("delta", 0) - sum(d for _, d in has.get("pairs", ()))
    if "sampled" not in has and (left > 0 or (left == 0 and not noise)):
        of_noise = 0.0
        if noise:
            of_noise = zcdp_epsilon(noise, left) if "rho" in has else gdp_epsilon(math.sqrt(has["mu2"]), left)
        bounds.append(paid + pure + of_noise)
        rho = noise + sum(e * e / 2 for e in has.get("pure", ())) + sum(e * e / 8 for e in has.get("ranged", ()))
        if left > 0 and rho:
            bounds.append(paid + zcdp_epsilon(rho, left))
    return min(bounds, default=math.inf)


@pytest.mark.parametrize("has", MIXTURES, ids=lambda has: "+".join(has) or "nothing")
def test_what_a_mixture_costs_follows_from_which_parts_it_has(has):
    whole, kinds = Composition(**has), set(has)
    assert whole.empty == (not has)
    gaussian_alone = kinds <= {"mu2", "delta"}
    assert whole.gaussian == gaussian_alone
    assert whole.mu == (math.sqrt(has.get("mu2", 0)) if gaussian_alone else None)
    spent = math.fsum((*has.get("pure", ()), *has.get("ranged", ())))
    assert whole.pure_epsilon == (spent if kinds <= {"pure", "ranged"} else None)
    rho = has.get("mu2", 0) / 2 + has.get("rho", 0) + (0.065 if "pure" in has else 0) + (0.02 if "ranged" in has else 0)
    assert whole.zcdp == (None if kinds & {"pairs", "sampled"} else pytest.approx(rho))
    for delta in (0.0, 1e-14, 2e-14, 3e-14, 9e-13):  # below 1e-12 nothing is convolved
        expected = closed_form(has, delta) if has else 0.0
        assert whole.epsilon(delta) == (pytest.approx(expected, rel=1e-9) if math.isfinite(expected) else math.inf)
        if math.isfinite(expected) and expected > 0.01:
            assert whole.within(expected * (1 + 1e-8), delta) and not whole.within(expected * (1 - 1e-8), delta)
    if kinds & {"sampled", "delta"}:
        with pytest.raises(EngineError, match="no group bound"):
            whole.grouped(2)
        return
    three = whole.grouped(3)
    assert (three.mu2, three.rho) == pytest.approx((9 * whole.mu2, 9 * whole.rho))
    assert three.pure == pytest.approx(tuple(3 * e for e in (*whole.pure, *whole.ranged))) and three.ranged == ()
    assert [e for e, _ in three.pairs] == pytest.approx([3 * e for e, _ in whole.pairs])
    for (_, grown), (e, d) in zip(three.pairs, whole.pairs, strict=True):
        exact = d * (1 + math.exp(e) + math.exp(2 * e))
        assert exact <= grown == pytest.approx(exact, rel=1e-11)
    assert whole.grouped(1).pairs == whole.pairs


def test_a_pair_seen_from_many_steps_away_promises_nothing():
    def delta(epsilon, d, size):
        return Composition(pairs=((epsilon, d),)).grouped(size).pairs[0][1]

    assert delta(100.0, 1e-300, 5) == pytest.approx(1e-300 * math.expm1(500) / math.expm1(100))
    assert delta(100.1, 1e-300, 5) == 1.0 and delta(3.0, 0.2, 4) == 1.0
    assert delta(0.0, 1e-3, 7) == pytest.approx(7e-3) and delta(600.0, 0.0, 2) == 0.0
    assert delta(600.0, 1e-3, 1) == 1e-3


def test_charges_are_composed_by_their_mechanisms():
    def made(mechanism, **given):
        return Charge(**{"name": "x", "mechanism": mechanism, "sensitivity": 3.0, "scale": 6.0, "cells": 1} | given)

    found = [
        (made("gaussian"), Composition(mu2=0.25)),
        (made("geometric", epsilon=9.0), Composition(pure=(0.5,))),
        (made("exponential", epsilon=0.3), Composition(ranged=(0.3,))),
        (made("dirichlet", epsilon=0.3), Composition(pure=(0.3,))),
        (made("partition-selection", delta=1e-9), Composition(mu2=0.25, delta=1e-9)),
        (made("partition-selection", epsilon=0.3, delta=1e-9), Composition(pure=(0.3,), delta=1e-9)),
        (made("sampled-gaussian", sampling=0.1, steps=7), Composition(sampled=((0.1, 2.0, 7),))),
    ]
    for charge, expected in found:
        assert compose([charge]) == expected
    for changes in ({"records": 2}, {"exchanged": True}):
        with pytest.raises(EngineError, match="no delta for failures"):
            compose([made("sampled-gaussian", **changes)])
    whole = compose([charge for charge, _ in found])
    assert (whole.mu2, whole.pure, whole.ranged) == (0.5, (0.5, 0.3, 0.3), (0.3,))
    assert (whole.delta, whole.sampled, whole.pairs) == (2e-9, ((0.1, 2.0, 7),), ())


def test_nothing_is_convolved_where_its_rounding_would_decide():
    rare = Composition(pure=(0.5,) * 40)
    assert rare.epsilon(1e-12) < rare.closed_form_epsilon(1e-12) * (1 - 1e-6)
    assert rare.epsilon(0.99e-12) == rare.closed_form_epsilon(0.99e-12)
    apart = tuple(0.3 + i / 1e4 for i in range(65))
    for count, shown in ((64, True), (65, False)):
        some = Composition(pure=apart[:count])
        assert (some.epsilon(1e-6) < some.closed_form_epsilon(1e-6)) == shown
    paid = Composition(pairs=((0.5, 1e-7), (0.5, 1e-7)))
    assert paid.epsilon(2e-7) == pytest.approx(1.0) and paid.epsilon(1.9e-7) == math.inf
