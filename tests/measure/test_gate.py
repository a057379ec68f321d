"""The gate charges before it counts, adds the noise it charged for, and refuses what is no count."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit

pytestmark = pytest.mark.chance("samplers")

COUNTS = np.array([5, 0, 9], dtype=np.int64)
MIXED = Cost(rho=0.5, mixed=True)


class Recorder:
    """Gives no noise and writes down what was asked of it."""

    def __init__(self):
        self.asked = []

    def gaussian(self, sigma, size):
        self.asked.append(("gaussian", sigma, size))
        return np.zeros(size, dtype=np.int64)

    def geometric(self, scale, size):
        self.asked.append(("geometric", scale, size))
        return np.zeros(size, dtype=np.int64)

    def choose(self, gaps, rate):
        self.asked.append(("choose", gaps.tolist(), rate))
        return int(np.argmin(gaps))


def gate_of(cap, *, unit=None, noise=None, delta=0.0):
    return Gate(account=Account(cap, delta=delta), noise=noise or Recorder(), unit=unit or Unit())


def test_a_charge_has_the_kind_that_the_system_names_and_unknown_kinds_are_refused_before_counting():
    gate = gate_of(Cost(rho=1.0))
    assert gate.release("x", lambda: COUNTS, kind="12-way", cells=3, cost=Cost(rho=0.1)).charge.kind == "12-way"
    for wrong in ("pairs", "0-way", "2-way table", "-way"):
        with pytest.raises(EngineError, match="known are 1-way"):
            gate.release("x", lambda: pytest.fail("counted"), kind=wrong, cells=3, cost=Cost(rho=0.1))
    assert len(gate.account.charges) == 1


@pytest.mark.parametrize(
    ("neighbours", "theta", "l1", "l2"),
    [("add-remove", 1, 1, 1.0), ("add-remove", 4, 4, 4.0), ("replace", 1, 2, 2**0.5), ("replace", 4, 8, 4 * 2**0.5)],
)
def test_noise_is_scaled_to_the_unit_of_privacy(neighbours, theta, l1, l2):
    unit = Unit(neighbours=neighbours, max_records=theta)
    noise = Recorder()
    gate_of(Cost(rho=0.5), unit=unit, noise=noise).release(
        "x", lambda: COUNTS, kind="1-way", cells=3, cost=Cost(rho=0.5)
    )
    gate_of(Cost(epsilon=0.5), unit=unit, noise=noise).release(
        "x", lambda: COUNTS, kind="1-way", cells=3, cost=Cost(epsilon=0.5)
    )
    (_, sigma, _), (_, b, _) = noise.asked
    assert sigma == pytest.approx(l2, rel=1e-14)  # rho = l2^2 / 2 sigma^2
    assert sigma >= l2
    assert b == pytest.approx(l1 / 0.5, rel=1e-14)
    assert b >= l1 / 0.5


def test_the_charge_is_booked_before_the_count_is_asked_for():
    gate = gate_of(Cost(rho=1.0))
    seen = []

    def count():
        seen.append(gate.account.spent)
        raise KeyError("disk gone")

    with pytest.raises(KeyError):
        gate.release("x", count, kind="1-way", cells=3, cost=Cost(rho=0.25))
    assert seen == [pytest.approx(0.25)]
    assert gate.account.spent == pytest.approx(0.25)


def test_what_is_above_the_budget_is_never_counted():
    gate = gate_of(Cost(rho=1.0))
    gate.release("x", lambda: COUNTS, kind="1-way", cells=3, cost=Cost(rho=0.9))
    with pytest.raises(BudgetError, match="nothing was counted"):
        gate.release("y", lambda: pytest.fail("counted"), kind="1-way", cells=3, cost=Cost(rho=0.2))


@pytest.mark.parametrize(
    "bad", [COUNTS.astype(float), COUNTS[:2], np.array([1.5, math.nan, 0]), np.array([True, False, True])]
)
def test_what_is_no_list_of_integers_of_the_stated_size_is_refused(bad):
    with pytest.raises(EngineError, match="must be counted as 3 integers"):
        gate_of(Cost(rho=1.0)).release("x", lambda: bad, kind="1-way", cells=3, cost=Cost(rho=0.5))


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.nan, math.inf])
def test_sensitivities_that_mean_nothing_are_refused(sensitivity):
    with pytest.raises(BudgetError):
        gate_of(Cost(rho=1.0), noise=SystemNoise()).release(
            "x", lambda: COUNTS, kind="1-way", cells=3, cost=Cost(rho=0.5), l2=sensitivity
        )
    with pytest.raises(BudgetError):
        gate_of(MIXED).select("x", lambda: COUNTS, sensitivity=sensitivity, cost=MIXED)


def test_noise_too_wide_for_the_sampler_is_refused():
    with pytest.raises(BudgetError, match="choose a larger epsilon"):
        gate_of(Cost(rho=1e-40), noise=SystemNoise()).release(
            "x", lambda: COUNTS, kind="1-way", cells=3, cost=Cost(rho=1e-40)
        )


def test_released_noise_has_the_charged_standard_deviation():
    gate = gate_of(Cost(rho=1.0), noise=SystemNoise())
    cells = 400_000
    got = gate.release("x", lambda: np.zeros(cells, dtype=np.int64), kind="1-way", cells=cells, cost=Cost(rho=0.02))
    assert got.sigma == pytest.approx(5.0)
    assert got.values.std() == pytest.approx(math.sqrt(25 + 1 / 12), rel=5.33 / math.sqrt(2 * cells))


@pytest.mark.parametrize(
    ("cost", "epsilon", "rho"), [(Cost(epsilon=0.8), 0.8, 0.08), (MIXED, 2.0, 0.5)], ids=["pure", "zcdp"]
)
def test_a_selection_spends_its_cost_and_uses_half_its_epsilon_for_a_step(cost, epsilon, rho):
    gate = gate_of(cost)
    assert gate.select("pair", lambda: np.array([3, 7, 5]), sensitivity=2.0, cost=cost) == 1
    (charge,) = gate.account.charges
    assert charge.mechanism == "exponential"
    assert charge.epsilon == pytest.approx(epsilon, rel=1e-13)
    assert charge.rho == pytest.approx(rho, rel=1e-13)
    ((_, gaps, rate),) = gate._noise.asked
    assert gaps == [4, 0, 2]
    assert rate == pytest.approx(epsilon / 4, rel=1e-12)
    assert rate <= epsilon / 4


def test_one_sided_scores_save_the_factor_two_for_add_remove_alone():
    rates = []
    for unit in (Unit(), Unit(neighbours="replace")):
        gate = gate_of(Cost(epsilon=1.0), unit=unit)
        gate.select("pair", lambda: COUNTS, sensitivity=1.0, cost=Cost(epsilon=1.0), monotone=True)
        rates.append(gate._noise.asked[0][2])
    assert rates == [pytest.approx(1.0), pytest.approx(0.5)]


def test_float_scores_become_steps_and_their_rounding_is_paid_for():
    gate = gate_of(Cost(epsilon=1.0))
    gate.select("pair", lambda: np.array([0.5, 2.0 + 1e-9]), sensitivity=0.5, cost=Cost(epsilon=1.0))
    ((_, gaps, rate),) = gate._noise.asked
    assert gaps == [3 * 2**20, 0]
    assert rate <= 1 / (2 * (2**20 + 2))
    assert rate == pytest.approx(1 / (2 * (2**20 + 2)), rel=1e-12, abs=0)


@pytest.mark.parametrize("scores", [[], [[1.0]], [math.nan, 1.0], [math.inf, 1.0], [1e12, 0.0], ["a"]])
def test_scores_that_are_no_list_of_bounded_numbers_are_refused(scores):
    with pytest.raises(EngineError, match="scores of 'pair'"):
        gate_of(MIXED).select("pair", lambda: np.array(scores), sensitivity=1.0, cost=MIXED)


def test_selection_probabilities_of_neighbours_stay_within_epsilon():
    """The law that the source is asked for, over two neighbouring score lists that move by the sensitivity."""
    a, b = np.array([4, 9, 7, 0]), np.array([5, 8, 8, 1])
    laws = []
    for scores in (a, b):
        gate = gate_of(Cost(epsilon=1.3))
        gate.select("pair", lambda scores=scores: scores, sensitivity=1.0, cost=Cost(epsilon=1.3))
        ((_, gaps, rate),) = gate._noise.asked
        w = np.exp(-rate * np.array(gaps))
        laws.append(w / w.sum())
    assert np.abs(np.log(laws[0] / laws[1])).max() <= 1.3
    assert np.abs(np.log(laws[0] / laws[1])).max() > 0.8


def test_a_gaussian_budget_pays_for_no_selection_and_no_geometric_noise():
    for cap in (Cost(rho=1.0), MIXED):
        with pytest.raises(BudgetError):
            gate_of(cap).select("pair", lambda: pytest.fail("scored"), sensitivity=1.0, cost=Cost(rho=0.1))


@pytest.mark.slow
def test_selection_draws_follow_the_exponential_law():
    draws = 20_000
    scores, cost, noise = np.array([0, 1, 3]), Cost(epsilon=1.0), SystemNoise()
    picked = [gate_of(cost, noise=noise).select("p", lambda: scores, sensitivity=1.0, cost=cost) for _ in range(draws)]
    w = np.exp(scores / 2)
    expected = draws * w / w.sum()
    assert chi2.sf(((np.bincount(picked, minlength=3) - expected) ** 2 / expected).sum(), 2) > 1e-7


def test_mixed_charges_compose_to_no_more_than_the_budget():
    budget = Budget(epsilon=1.0, delta=1e-6)
    cost = budget.zcdp(spare_delta=1e-7)
    gate = gate_of(cost, delta=1e-7, noise=SystemNoise())
    parts = cost.split([1, 1, 1])
    gate.release("x", lambda: COUNTS, kind="1-way", cells=3, cost=parts[0])
    gate.select("pair", lambda: COUNTS, sensitivity=1.0, cost=parts[1])
    gate.partitions("keys", lambda: (["a"], np.array([400])), cost=parts[2], delta=1e-7, distinct=True)
    assert compose(gate.account.charges).epsilon(budget.delta) <= budget.epsilon
    assert len(gate.account.charges) == 3
