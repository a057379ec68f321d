"""The prior of the Gamma-Poisson model: its known special case, and every ratio of small tables."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.gamma_poisson import least_shapes


def tables(total, cells):
    return [c for c in itertools.product(range(total + 1), repeat=cells) if sum(c) == total]


def law(y, m, shapes, w):
    """Probability of every table of m draws, by the integral of the proof."""
    out = []
    s = np.array(y) + shapes
    for k in map(np.array, tables(m, len(y))):

        def inner(x, t=s + k):  # u = x / (1 - x), to have an interval of length 1
            u = x / (1 - x)
            return math.exp((m - 1) * math.log(u) - (t * np.log1p(u * w)).sum() - 2 * math.log(1 - x)) if x > 0 else 0.0

        whole = quad(inner, 0, 1, epsabs=0, epsrel=1e-11, limit=200)[0] / math.gamma(m)
        ways = math.exp(gammaln(m + 1) - gammaln(k + 1).sum())
        out.append(ways * np.prod(w**k) * math.exp((gammaln(s + k) - gammaln(s)).sum()) * whole)
    return np.array(out)


def test_rates_in_proportion_to_exposures_give_the_dirichlet_multinomial():
    """m = 994 at epsilon 5: alpha = 6.742953 in every cell, whatever the exposures."""
    exposures = np.array([816.0, 109, 7, 39, 6, 17])
    assert least_shapes(994, 5.0, exposures, 0.3 * exposures) == pytest.approx(np.full(6, 6.742953), abs=5e-7)


@pytest.mark.parametrize(
    ("n", "m", "epsilon", "exposures", "rates"),
    [
        (1, 1, 2.0, [1.0, 3.0], [1.0, 1.0]),
        (3, 2, 1.0, [2.0, 5.0], [1.0, 2.0]),
        (4, 3, 2.0, [1.0, 4.0], [2.0, 1.0]),
        (3, 2, 1.5, [1.0, 2.0, 6.0], [1.0, 1.0, 1.0]),
        (3, 3, 1.0, [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]),
    ],
)
def test_no_ratio_of_neighbours_goes_beyond_epsilon(n, m, epsilon, exposures, rates):
    exposures, rates = np.array(exposures), np.array(rates)
    shapes = least_shapes(m, epsilon, exposures, rates)
    w = exposures / (exposures + rates)
    laws = {y: law(y, m, shapes, w) for y in tables(n, len(w))}
    assert all(p.sum() == pytest.approx(1, rel=1e-7) for p in laws.values())
    worst = 0.0
    for y, p in laws.items():
        for i, j in itertools.permutations(range(len(w)), 2):
            if y[i]:
                other = tuple(c - (a == i) + (a == j) for a, c in enumerate(y))
                worst = max(worst, float(np.abs(np.log(p / laws[other])).max()))
    assert worst <= epsilon * (1 + 1e-7)
    if np.ptp(w) == 0:
        assert worst == pytest.approx(epsilon)  # attained, as for the Dirichlet-multinomial
    else:
        assert worst > 0.4 * epsilon


def test_an_epsilon_below_what_exposures_tell_is_refused():
    with pytest.raises(BudgetError, match="exposures"):
        least_shapes(5, 0.5, np.array([1.0, 10.0]), np.array([5.0, 5.0]))
