"""Budgets, costs, accounts and spends at the very ends of what they allow, and whom a past run still protects."""

import itertools
import math

import pytest

from dpsyn_core.errors import BudgetError, UnitError
from dpsyn_core.privacy.account import TOLERANCE, Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.charge import Charge, is_kind, is_table, table_kind
from dpsyn_core.privacy.conversions import gdp_mu, zcdp_rho
from dpsyn_core.privacy.ledger.entry import Entry, Protected, Spend, composition, protected, unbounded
from dpsyn_core.privacy.names import dataset_name, near
from dpsyn_core.privacy.unit import Unit


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [
        *((1e-6, ""), (math.nextafter(1e-6, 0), "drown any table"), (1000.0, ""), (1000.1, "protect nobody")),
        *((0.0, "above 0"), (math.inf, "above 0"), (1.0, "")),
    ],
)
def test_an_epsilon_lies_between_a_millionth_and_a_thousand(epsilon, words):
    if words:
        with pytest.raises(BudgetError, match=words):
            Budget(epsilon=epsilon, delta=0.0)
    else:
        assert Budget(epsilon=epsilon, delta=0.0).epsilon == epsilon


def test_a_large_epsilon_is_answered_with_a_caution_and_a_large_delta_is_not_spent():
    assert Budget(epsilon=20.0, delta=0.0).caution == ""
    assert "promises next to nothing" in Budget(epsilon=20.01, delta=0.0).caution
    Budget(epsilon=1.0, delta=math.nextafter(0.01, 0)).check_spendable()
    with pytest.raises(BudgetError, match="unprotected"):
        Budget(epsilon=1.0, delta=0.01).check_spendable()
    assert Budget(epsilon=1.0, delta=math.nextafter(1.0, 0)).delta < 1
    for delta in (1.0, -1e-300, math.nan):
        with pytest.raises(BudgetError, match="delta is"):
            Budget(epsilon=1.0, delta=delta)


def test_a_budget_buys_what_its_conversions_say_less_the_delta_that_is_kept_apart():
    budget = Budget(epsilon=1.5, delta=1e-6)
    for spare in (0.0, 4e-7):
        assert budget.gaussian(spare_delta=spare) == Cost(rho=gdp_mu(1.5, 1e-6 - spare) ** 2 / 2)
        assert budget.zcdp(spare_delta=spare) == Cost(rho=zcdp_rho(1.5, 1e-6 - spare), mixed=True)
    assert budget.pure() == Cost(epsilon=1.5 * (1 - 2e-13))
    for spare in (1e-6, -1e-9, 1.0):
        with pytest.raises(BudgetError, match="kept apart"):
            budget.zcdp(spare_delta=spare)


@pytest.mark.parametrize("cost", [Cost(epsilon=0.7), Cost(rho=0.3), Cost(rho=0.3, mixed=True)])
def test_what_a_cost_buys_spends_it_and_no_more(cost):
    amount = cost.epsilon or cost.rho
    for l1 in (1.0, 3.0, 7.0):
        if cost.pure or cost.mixed:
            scale = cost.scale(l1)
            spent = l1 / scale if cost.pure else (l1 / scale) ** 2 / 2
            assert spent <= amount and spent == pytest.approx(amount, rel=1e-14)
        if not cost.pure:
            spent = (l1 / cost.sigma(l1)) ** 2 / 2
            assert spent <= amount and spent == pytest.approx(amount, rel=1e-14)
    if cost.pure or cost.mixed:
        epsilon = cost.selection()
        assert epsilon == 0.7 if cost.pure else epsilon**2 / 8 <= 0.3
        assert epsilon == pytest.approx(0.7 if cost.pure else math.sqrt(2.4), rel=1e-14)
    else:
        for buys in (lambda: cost.scale(1.0), cost.selection):
            with pytest.raises(BudgetError, match="Gaussian noise alone"):
                buys()
    if cost.pure:
        with pytest.raises(BudgetError, match="above 0"):
            cost.sigma(1.0)
    assert cost.scaled(0.5).mixed == cost.mixed and cost.scaled(0.5).pure == cost.pure
    parts = cost.split([1.0, 3.0])
    assert [(p.epsilon or p.rho) / amount for p in parts] == pytest.approx([0.25, 0.75])
    rest = cost.less(cost.scaled(0.25))
    assert (rest.epsilon or rest.rho) == pytest.approx(0.75 * amount) and rest.mixed == cost.mixed
    for wrong in (cost, cost.scaled(1.01), Cost(rho=1e-9) if cost.pure else Cost(epsilon=1e-9)):
        with pytest.raises(BudgetError, match="cannot take"):
            cost.less(wrong)


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


@pytest.mark.parametrize(("amount", "delta", "fits"), [
    *((1.0, 0.0, True), (0.0, 0.0, False), (math.inf, 0.0, False), (math.nan, 0.0, False), (-1.0, 0.0, False)),
    *((1.0, math.nextafter(1, 0), True), (1.0, 1.0, False), (1.0, -1e-9, False), (1.0, 1.5, False)),
])  # fmt: skip
def test_a_spend_is_positive_and_its_delta_below_one(amount, delta, fits):
    if fits:
        assert Spend(kind="pure", amount=amount, delta=delta).amount == amount
    else:
        with pytest.raises(BudgetError, match="a spend needs"):
            Spend(kind="pure", amount=amount, delta=delta)


def test_a_spend_is_composed_by_its_kind():
    found = {
        Spend.of(Budget(epsilon=1.5, delta=1e-6)): {"pairs": ((1.5, 1e-6),)},
        Spend.of(Cost(epsilon=0.7), delta=1e-7): {"pure": (0.7,), "delta": 1e-7},
        Spend.of(Cost(rho=0.3, mixed=True), delta=1e-7): {"rho": 0.3, "delta": 1e-7},
        Spend.of(Cost(rho=0.32), delta=1e-7): {"mu2": pytest.approx(0.64), "delta": 1e-7},
    }
    for spend, said in found.items():
        made = composition(spend)
        for name, nothing in (("pairs", ()), ("pure", ()), ("rho", 0.0), ("mu2", 0.0), ("delta", 0.0)):
            assert getattr(made, name) == said.get(name, nothing), (spend, name)


def entry(neighbours="add-remove", most=1, individuals="", purpose="synthesis"):
    return Entry(
        seq=1, dataset="d", run_id="r", method="m", purpose=purpose, neighbours=neighbours, max_records=most,
        kind="pure", amount=1.0, failure=0.0, epsilon=1.0, delta=0.0, recorded="", individuals=individuals,
    )  # fmt: skip


def test_steps_from_whom_a_run_protects_to_whom_is_asked_about():
    both = ("add-remove", "replace")
    for mine, theirs, records, most in itertools.product(both, both, (1, 2, 5), (1, 2, 3)):
        any_records = Protected(records=records, neighbours=mine)
        run = entry(theirs, most)
        exchange = 1 if mine == theirs else 2
        hidden = theirs == "replace" and mine == "add-remove"
        assert any_records.steps(run) == (None if hidden else exchange * math.ceil(records / most))
        named = entry(theirs, most, "who")
        expected = None if theirs == "replace" else 2 * exchange * records
        assert any_records.steps(named) == expected
        who = Protected(identifier="who", neighbours=mine)
        assert who.steps(named) == (None if hidden else exchange)
        assert who.steps(run) is None and who.steps(entry(theirs, most, "other")) is None
        assert who.steps(entry(theirs, most, "who", "no promise")) is None


def test_everybody_whom_a_run_protects_is_listed_once():
    runs = [entry(), entry(most=3), entry(individuals="who", most=2), entry(most=3), entry(individuals=None, most=4)]
    assert protected(runs) == [Protected(), Protected(records=3), Protected(identifier="who")]
    assert {p.neighbours for p in protected([*runs, entry("replace")])} == {"replace"}
    assert unbounded(runs, Protected(identifier="who")) == (runs[0], runs[1], runs[3], runs[4])
    assert Protected.by(Unit(max_records=3)) == Protected(records=3)
    assert Protected.by(Unit(max_records=3, identifier="who", neighbours="replace")) == Protected(
        identifier="who", neighbours="replace"
    )
    said = [Protected().words, Protected(records=2).words, Protected(identifier="who").words]
    assert said == ["single records", "any 2 records together", "individuals named by 'who'"]


def test_kinds_of_charges_are_public_words():
    assert [table_kind(k) for k in (0, 1, 12)] == ["total", "1-way", "12-way"]
    assert all(map(is_kind, ("total", "1-way", "10-way", "training")))
    assert not any(map(is_kind, ("", "-way", "0-way", "01-way", "1-ways", "x-way", "1-way-way")))
    assert all(map(is_table, ("total", "question", "group", "1-way")))
    assert not any(map(is_table, ("scores", None, "sum")))


@pytest.mark.parametrize("most", [1, 2, 7])
@pytest.mark.parametrize("tables", [1, 3])
def test_sensitivities_are_those_of_the_worst_individual(most, tables):
    one, two = Unit(max_records=most), Unit(max_records=most, neighbours="replace")
    assert (one.l1(tables), two.l1(tables)) == (tables * most, 2 * tables * most)
    # all records of an individual in one cell of each table; of two individuals in two different cells
    assert one.l2(tables) == pytest.approx(math.hypot(*[most] * tables))
    assert two.l2(tables) == pytest.approx(math.hypot(*[most] * 2 * tables))
    for wrong in (0, -1, True, 1.0):
        with pytest.raises(UnitError):
            Unit(max_records=wrong)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("people.csv", "people"), ("people.CSV.gz", "people"), ("a.b.parquet", "a.b"), ("people", "people")),
        *((".csv", "table"), ("  x .txt", "x"), ("x" * 200 + ".csv", "x" * 200), ("x" * 201 + ".csv", "x" * 200)),
        *(("people.csvx", "people.csvx"), ("t\u202e.csv", "t"), ("", "table")),
    ],
)  # fmt: skip
def test_a_data_set_is_called_as_its_file_without_its_ending(file, name):
    assert dataset_name(file) == name


def test_names_that_look_alike_are_pointed_out():
    known = ["People", "people.csv", "pe-ople", "people_", "persons", "people"]
    assert near("people", known) == ("People", "people.csv", "people_")
    assert near("--", ["-", "__"]) == () and near("a b", ["a_b", "ab"]) == ("a_b",)
