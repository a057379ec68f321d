"""Budgets and units that promise nothing are refused; costs split without exceeding the whole."""

import math

import pytest

from dpsyn_core.errors import BudgetError, UnitError
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.conversions import gdp_mu, zcdp_rho
from dpsyn_core.privacy.unit import Unit


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, -math.inf, 1e-9, 1001, 1e300])
def test_hazard_epsilon_zero_negative_nan_infinite_or_absurd_is_refused(epsilon):
    with pytest.raises(BudgetError, match=r"epsilon is .*example"):
        Budget(epsilon=epsilon, delta=1e-9)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, math.inf])
def test_hazard_delta_outside_zero_and_one_is_refused(delta):
    with pytest.raises(BudgetError, match=r"delta is .*example"):
        Budget(epsilon=1, delta=delta)


def test_hazard_delta_zero_offers_pure_dp_only():
    budget = Budget(epsilon=1, delta=0)
    with pytest.raises(BudgetError, match="pure DP only"):
        budget.gaussian()
    assert budget.pure().epsilon == pytest.approx(1)


@pytest.mark.parametrize(
    ("given", "l1", "l2"),
    [
        ({}, 1, 1),
        ({"max_records": 3}, 3, 3),
        ({"neighbours": "replace"}, 2, math.sqrt(2)),
        ({"neighbours": "replace", "max_records": 5}, 10, 5 * math.sqrt(2)),
    ],
)
def test_sensitivity_is_theta_and_not_its_root_for_all_records_may_share_a_cell(given, l1, l2):
    unit = Unit(**given)
    assert unit.l1() == l1
    assert unit.l2() == pytest.approx(l2)
    assert unit.l1(7) == 7 * l1
    assert unit.l2(7) == pytest.approx(math.sqrt(7) * l2)


@pytest.mark.parametrize(
    "given", [{"max_records": 0}, {"max_records": 1.5}, {"max_records": True}, {"neighbours": "x"}]
)
def test_units_that_mean_nothing_are_refused(given):
    with pytest.raises(UnitError, match=r"allowed|at least 1"):
        Unit(**given)


@pytest.mark.parametrize("cost", [Cost(rho=0.3), Cost(epsilon=0.7), Cost(rho=0.01, mixed=True)])
def test_parts_never_add_up_to_more_than_the_whole(cost):
    for shares in ([1.0] * 91, [0.25, 0.02, 0.73], [1e-9, 1.0], [3.0]):
        parts = cost.split(shares)
        whole = cost.epsilon if cost.pure else cost.rho
        total = math.fsum(p.epsilon if p.pure else p.rho for p in parts)
        assert whole * (1 - 1e-12) < total <= whole
        assert all(p.mixed == cost.mixed for p in parts)


@pytest.mark.parametrize(("whole", "part"), [(Cost(rho=0.3), Cost(rho=0.1)), (Cost(epsilon=0.7), Cost(epsilon=0.69))])
def test_a_part_and_what_is_left_add_up_to_no_more_than_the_whole(whole, part):
    rest = whole.less(part)
    total, most = rest.rho + part.rho + rest.epsilon + part.epsilon, whole.rho + whole.epsilon
    assert most * (1 - 1e-12) < total <= most
    for wrong in (whole, Cost(rho=1) if whole.pure else Cost(epsilon=1e-3)):
        with pytest.raises(BudgetError, match="smaller and in the same currency"):
            whole.less(wrong)


@pytest.mark.parametrize("sensitivity", [1.0, math.sqrt(2), 7.0, 1e-3])
def test_calibrated_noise_is_rounded_up(sensitivity):
    for i in range(1, 200):
        rho, epsilon = i * 0.0137, i * 0.0219
        assert sensitivity**2 / (2 * Cost(rho=rho).sigma(sensitivity) ** 2) <= rho
        assert sensitivity / Cost(epsilon=epsilon).scale(sensitivity) <= epsilon
        assert (sensitivity / Cost(rho=rho, mixed=True).scale(sensitivity)) ** 2 / 2 <= rho
        assert Cost(rho=rho, mixed=True).selection() ** 2 / 8 <= rho


@pytest.mark.parametrize("given", [{}, {"rho": 1, "epsilon": 1}, {"rho": -1}, {"rho": math.inf}, {"rho": math.nan}])
def test_a_cost_has_one_positive_finite_currency(given):
    with pytest.raises(BudgetError):
        Cost(**given)
    with pytest.raises(BudgetError, match="mixed"):
        Cost(epsilon=1, mixed=True)


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
