"""Accounts of a run: full at their caps to a rounding, and open to the mechanisms that have their currency."""

import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.account import TOLERANCE, Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.charge import Charge


def charge(rho=0.0, epsilon=0.0, delta=0.0, mechanism="gaussian"):
    made = {"name": "x", "sensitivity": 1.0, "scale": 1.0, "cells": 1}
    return Charge(mechanism=mechanism, rho=rho, epsilon=epsilon, delta=delta, **made)


@pytest.mark.parametrize("cap", [Cost(epsilon=1.0), Cost(rho=1.0), Cost(rho=1.0, mixed=True)])
def test_an_account_is_full_at_its_cap_and_a_rounding_beyond_it(cap):
    def of(amount, delta=0.0):
        made = {"epsilon": amount, "mechanism": "geometric"} if cap.pure else {"rho": amount}
        return charge(delta=delta, **made)

    account = Account(cap, delta=1e-6)
    account.debit(of(0.25, 4e-7))
    account.debit(of(0.75, 6e-7))
    assert account.spent == 1.0 == account.limit
    with pytest.raises(BudgetError, match="nothing was counted"):
        account.debit(of(TOLERANCE * 2))
    assert len(account.charges) == 2
    account.debit(of(TOLERANCE / 2))
    other = Account(cap, delta=1e-6)
    for delta in (1e-6 * (1 + 3 * TOLERANCE), 1e-5):
        with pytest.raises(BudgetError):
            other.debit(of(0.1, delta))
    other.debit(of(0.1, 1e-6))
    other.charges.pop()
    assert other.spent == 0.0
    with pytest.raises(BudgetError):
        Account(cap).debit(of(0.1, 1e-12))


def test_a_cost_admits_the_mechanisms_that_have_its_currency():
    pure, gaussian = charge(epsilon=0.1, rho=0.005, mechanism="geometric"), charge(rho=0.005)
    threshold = charge(rho=0.005, mechanism="partition-selection")
    sampled = charge(rho=0.005, mechanism="sampled-gaussian")
    chosen = charge(rho=0.005, epsilon=0.1, mechanism="exponential")
    laplace = charge(rho=0.005, epsilon=0.1, mechanism="partition-selection")
    admitted = {
        Cost(epsilon=1.0): (pure, chosen, laplace), Cost(rho=1.0): (gaussian, threshold, sampled),
        Cost(rho=1.0, mixed=True): (pure, gaussian, threshold, sampled, chosen, laplace),
    }  # fmt: skip
    for cap, fits in admitted.items():
        for one in (pure, gaussian, threshold, sampled, chosen, laplace):
            if one in fits:
                Account(cap).debit(one)
            else:
                with pytest.raises(BudgetError, match=r"no cost in the currency|does not cover"):
                    Account(cap).debit(one)
