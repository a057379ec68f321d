"""Exact conversions against mpmath at 80 digits, inverse tests, and published values."""

import math

import mpmath
import pytest

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.conversions import (
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    zcdp_epsilon,
    zcdp_rho,
    zcdp_rho_standard,
)
from tests.privacy.noise_table import ROWS

EPSILONS = (1e-4, 1e-2, 0.1, 1, 8, 100, 1000)
DELTAS = (1e-300, 1e-100, 1e-12, 1e-6, 0.01, 0.5)
GRID = [(e, d) for e in EPSILONS for d in DELTAS]


def true_delta(epsilon, mu):
    """Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) with enough digits for any cancellation."""
    with mpmath.workdps(80 + int(epsilon * 0.45)):
        e, m, root2 = mpmath.mpf(epsilon), mpmath.mpf(mu), mpmath.sqrt(2)

        def upper(z):
            return mpmath.erfc(z / root2) / 2

        return upper(e / m - m / 2) - mpmath.exp(e) * upper(e / m + m / 2)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_gdp_mu_is_exact_to_1e11_and_never_too_large(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert true_delta(epsilon, mu) <= delta
    assert true_delta(epsilon, mu * (1 + 1e-11)) > delta


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_epsilon_comes_back_through_mu_and_never_smaller_than_the_truth(epsilon, delta):
    back = gdp_epsilon(gdp_mu(epsilon, delta), delta)
    # where delta is large, epsilon hardly moves mu: the slope d ln(epsilon) / d ln(mu) bounds what comes back
    slope = 2e-11 * max(1.0, math.log(2 / delta) / epsilon, 1 / epsilon**2)
    assert back == pytest.approx(epsilon, rel=slope)
    if back > 0:
        assert true_delta(back, gdp_mu(epsilon, delta)) <= delta


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r[0]}-{r[1]}-{r[2]}")
def test_the_costs_match_the_reference_rows(row):
    epsilon, delta, _, *_, standard, tight, mu = row
    assert zcdp_rho_standard(epsilon, delta) == pytest.approx(standard, rel=1e-12)
    assert zcdp_rho(epsilon, delta) == pytest.approx(tight, rel=1e-11)
    assert gdp_mu(epsilon, delta) == pytest.approx(mu, rel=1e-11)


@pytest.mark.parametrize(
    ("epsilon", "delta", "standard", "tight", "mu", "sigmas"),
    [
        (1, 1e-9, 0.01178116, 0.01497306, 0.1819748, (6.514648, 5.778695, 5.495266)),
        (1, 1e-5, 0.02081994, 0.03055660, 0.2680511, (4.900555, 4.045130, 3.730632)),
        (8, 2.2820544e-12, 0.52158807, 0.57724577, 1.1127311, (0.979087, 0.930689, 0.898690)),
    ],
)
def test_one_query_costs_what_the_table_of_three_conversions_says(epsilon, delta, standard, tight, mu, sigmas):
    assert zcdp_rho_standard(epsilon, delta) == pytest.approx(standard, abs=5e-9)
    assert zcdp_rho(epsilon, delta) == pytest.approx(tight, abs=5e-9)
    assert gdp_mu(epsilon, delta) == pytest.approx(mu, abs=5e-8)
    rhos = (zcdp_rho_standard(epsilon, delta), zcdp_rho(epsilon, delta), gdp_mu(epsilon, delta) ** 2 / 2)
    assert [1 / math.sqrt(2 * r) for r in rhos] == pytest.approx(sigmas, abs=5e-7)


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.3, 34.6126), (1, 10.4506), (8, 1.3846)])
def test_two_gaussian_rounds_cost_what_the_2018_winner_paid(epsilon, sigma):
    # two vector queries of L2 norm 1 at one sigma: rho = 2 / (2 sigma^2), by the standard conversion
    rho = zcdp_rho_standard(epsilon, 2.2820544e-12)
    assert 1 / math.sqrt(rho) == pytest.approx(sigma, abs=5e-5)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_the_tight_conversion_is_the_infimum_over_orders(epsilon, delta):
    """The stated delta at the found rho, minimised by mpmath over alpha, is at most delta and close to it."""
    rho = zcdp_rho(epsilon, delta)
    with mpmath.workdps(40):

        def log_delta(u, r):
            s = mpmath.exp(u)
            a = 1 + s
            return s * (a * r - epsilon) + a * mpmath.log(s / a) - mpmath.log(s)

        def smallest(r):
            low, high = mpmath.mpf(-60), mpmath.mpf(90)
            for _ in range(120):
                third = (high - low) / 3
                if log_delta(low + third, r) < log_delta(high - third, r):
                    high -= third
                else:
                    low += third
            return log_delta((low + high) / 2, r)

        assert smallest(mpmath.mpf(rho)) <= mpmath.log(mpmath.mpf(delta))
        assert smallest(mpmath.mpf(rho) * (1 + mpmath.mpf("1e-9"))) > mpmath.log(mpmath.mpf(delta))


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_epsilon_comes_back_through_rho(epsilon, delta):
    assert zcdp_epsilon(zcdp_rho(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_exact_beats_tight_beats_standard(epsilon, delta):
    assert gdp_mu(epsilon, delta) ** 2 / 2 >= zcdp_rho(epsilon, delta) * (1 - 1e-11)
    assert zcdp_rho(epsilon, delta) >= zcdp_rho_standard(epsilon, delta) * (1 - 1e-11)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_a_calibrated_sigma_never_spends_more_than_the_budget(epsilon, delta):
    """epsilon -> sigma -> epsilon: the noise that a split budget buys, composed again with 80 digits."""
    cost = Budget(epsilon=epsilon, delta=delta).gaussian()
    sigmas = [part.sigma(2.0) for part in cost.split([0.25, 0.02, 0.73])]
    with mpmath.workdps(80):
        mu = mpmath.sqrt(mpmath.fsum((2 / mpmath.mpf(s)) ** 2 for s in sigmas))
    assert true_delta(epsilon, mu) <= delta
    assert true_delta(epsilon, mu * (1 + mpmath.mpf("1e-11"))) > delta


def test_delta_is_one_minus_two_tails_at_epsilon_zero():
    assert gdp_delta(0.0, 1.0) == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-14)
    assert gdp_epsilon(0.1, 0.1) == 0.0
