"""Trade-off curves of a guarantee, and the odds that an adversary can win.

Odds: what epsilon and delta mean for somebody who tries to find out whether you are in the table.

Noise curves: the standard deviation of one cell when k marginals share a budget, for eight ways of accounting.

These numbers are public: they depend on epsilon, delta, k and the unit of privacy, and on no data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit

Floats = NDArray[np.float64]


def best_guess(epsilon: float, delta: float = 0.0) -> float:
    """Largest chance to guess right, for the best attack and a coin's prior: (e^epsilon + delta) / (e^epsilon + 1).

    Half of one plus the total variation that (epsilon, delta)-DP allows. Source: Kairouz, Oh, Viswanath 2017,
    Theorem 2.1 (the region of errors).
    """
    Budget(epsilon=epsilon, delta=delta)
    shrink = math.exp(-epsilon)
    return (1 + delta * shrink) / (1 + shrink)


def best_guess_of_mu(mu: float) -> float:
    """The same for mu-GDP, exactly: Phi(mu / 2). For the noise a run added; lower than the bound of its budget."""
    return (1 + math.erf(mu / 2 / math.sqrt(2))) / 2


def posterior(prior: Floats | float, epsilon: float) -> tuple[Floats, Floats]:
    """Lowest and highest belief that you are in the table, after seeing the output, from each prior belief.

    The likelihood ratio lies between e^-epsilon and e^epsilon, up to an event of probability delta.
    Source: Wasserman, Zhou 2010, section 2; Bayes.

    Args:
        prior: beliefs in [0, 1], any shape.
        epsilon: above 0.
    """
    Budget(epsilon=epsilon, delta=0)
    p = _shares(prior, "prior")
    shrink = math.exp(-epsilon)
    return p * shrink / (p * shrink + (1 - p)), p / (p + (1 - p) * shrink)


def trade_off(false_alarm: Floats | float, epsilon: float, delta: float = 0.0) -> Floats:
    """Smallest share of misses that an attack with this share of false alarms can have under (epsilon, delta)-DP.

    Source: Kairouz, Oh, Viswanath 2017, Theorem 2.1; Wasserman, Zhou 2010, Theorem 2.4.
    """
    Budget(epsilon=epsilon, delta=delta)
    a = _shares(false_alarm, "share of false alarms")
    # e^epsilon overflows above 700; where it does, the first edge only matters at no false alarm at all
    steep = math.exp(min(epsilon, 700.0))
    edges = [np.zeros_like(a), 1 - delta - steep * a, math.exp(-epsilon) * (1 - delta - a)]
    smallest: Floats = np.maximum.reduce(edges)
    return smallest


def _shares(values: Floats | float, what: str) -> Floats:
    shares = np.asarray(values, dtype=np.float64)
    if not bool(np.all((shares >= 0) & (shares <= 1))):
        msg = f"a {what} must lie between 0 and 1"
        raise BudgetError(msg)
    return shares


# name -> (label on the plot, how it is computed)
CURVES: Mapping[str, tuple[str, str]] = {
    "laplace_basic": ("Laplace, basic", "epsilon / k each; pure DP"),
    "laplace_advanced": ("Laplace, advanced", "advanced composition of Dwork, Rothblum, Vadhan 2010"),
    "laplace_zcdp": ("Laplace, zCDP", "rho = e^2 / 2 a marginal, standard conversion"),
    "gaussian_naive": ("Gaussian, naive", "epsilon / k and delta / k each; valid only while epsilon / k < 1"),
    "gaussian_advanced": (
        "Gaussian, advanced",
        "advanced composition of (epsilon, delta) parts; valid below epsilon 1 each",
    ),
    "gaussian_zcdp": ("Gaussian, zCDP", "standard conversion epsilon = rho + 2 sqrt(rho ln(1/delta))"),
    "gaussian_zcdp_tight": ("Gaussian, zCDP tight", "the best conversion that knows rho alone"),
    "gaussian_exact": ("Gaussian, exact", "exact trade-off of the Gaussian mechanism; what the engine uses"),
}
# Laplace-basic grows like k, these like sqrt k (the first only nearly): each crosses it once.
_CROSS_LAPLACE_BASIC = (
    "laplace_advanced",
    "laplace_zcdp",
    "gaussian_advanced",
    "gaussian_zcdp",
    "gaussian_zcdp_tight",
    "gaussian_exact",
)


def _advanced_share(epsilon: float, delta: float, k: Floats) -> Floats:
    """Epsilon of each of k parts: solves sqrt(2 k L) e + k e (exp(e) - 1) = epsilon by Newton from above.

    The left side is convex and increasing, so that Newton's steps fall to the root and never pass it.
    Source: Dwork, Rothblum, Vadhan 2010, Theorem III.3, with delta' = delta (pure parts).
    """
    root = np.sqrt(2 * k * -math.log(delta))
    e = np.minimum(epsilon / root, np.minimum(np.sqrt(epsilon / k), np.maximum(1, np.log1p(epsilon / k))))
    for _ in range(60):
        grown = np.expm1(e)
        step = (root * e + k * e * grown - epsilon) / (root + k * (grown + e * (grown + 1)))
        e -= step
        if np.all(np.abs(step) <= 1e-15 * e):
            break
    return e


def _advanced_gaussian(epsilon: float, delta: float, k: Floats) -> Floats:
    """Noise of k Gaussian parts (e, delta / 2k) at sensitivity 1; the other half of delta pays for composing them."""
    return np.asarray(np.sqrt(2 * (np.log(2.5 * k) - math.log(delta))) / _advanced_share(epsilon, delta / 2, k))


def _columns(epsilon: float, delta: float, k: Floats, unit: Unit) -> dict[str, Floats]:
    """The curves as arrays of shape (k.size,), in counts."""
    from dpsyn_core.privacy.conversions import gdp_mu, zcdp_rho, zcdp_rho_standard  # scipy is heavy

    l1, l2, root2 = float(unit.l1()), unit.l2(), math.sqrt(2)
    basic = root2 * l1 * k / epsilon
    if delta == 0:
        return {"laplace_basic": basic}
    standard = zcdp_rho_standard(epsilon, delta)
    return {
        "laplace_basic": basic,
        "laplace_advanced": root2 * l1 / _advanced_share(epsilon, delta, k),
        "laplace_zcdp": root2 * l1 / np.sqrt(2 * standard / k),
        "gaussian_naive": l2 * np.sqrt(2 * (np.log(1.25 * k) - math.log(delta))) * k / epsilon,
        "gaussian_advanced": l2 * _advanced_gaussian(epsilon, delta, k),
        "gaussian_zcdp": l2 * np.sqrt(k / (2 * standard)),
        "gaussian_zcdp_tight": l2 * np.sqrt(k / (2 * zcdp_rho(epsilon, delta))),
        "gaussian_exact": l2 * np.sqrt(k) / gdp_mu(epsilon, delta),
    }


def _crossing(epsilon: float, delta: float, other: str, unit: Unit) -> float:
    """The real k at which a curve meets laplace_basic: above it, the other curve has less noise.

    For the curves in sqrt k the ratio at k = 1 gives it, k* = ratio^2; for gaussian_zcdp under add/remove that is
    ((sqrt L + sqrt(L + epsilon)) / 2)^2, and half of it under replace. The advanced curve meets it where
    e = epsilon / k solves its equation, sqrt(2 L / k) + exp(epsilon / k) - 1 = 1: solved by bisection.
    """
    if other == "gaussian_advanced":
        return _crossing_advanced(epsilon, delta, unit)
    if other == "laplace_advanced":
        big = -math.log(delta)
        low, high = 1e-12, 2 * big + epsilon / math.log(2) + 1
        while math.sqrt(2 * big / high) + math.expm1(epsilon / high) > 1:
            high *= 2
        for _ in range(200):
            middle = (low + high) / 2
            # exponents above 700 would overflow; the sum is far above 1 there
            above = epsilon / middle > 700 or math.sqrt(2 * big / middle) + math.expm1(epsilon / middle) > 1
            low, high = (middle, high) if above else (low, middle)
        return high
    at_one = _columns(epsilon, delta, np.ones(1), unit)
    return float(at_one[other][0] / at_one["laplace_basic"][0]) ** 2


def _crossing_advanced(epsilon: float, delta: float, unit: Unit) -> float:
    """Where Gaussian parts under advanced composition meet laplace_basic, solved by bisection on log k.

    Their ratio to it falls like sqrt(log k / k), so that it passes 1 once; 0 where it is below 1 at k = 1 already.
    """

    def worse(log_k: float) -> bool:
        k = np.exp(np.array([log_k]))
        basic = math.sqrt(2) * unit.l1() * k / epsilon
        return bool((unit.l2() * _advanced_gaussian(epsilon, delta, k) >= basic)[0])

    if not worse(0.0):
        return 0.0
    low, high = 0.0, 5.0
    while worse(high):
        high += 5
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if worse(middle) else (low, middle)
    return math.exp(high)


def crossings(epsilon: float, delta: float, unit: Unit) -> dict[str, float]:
    """Real k at which each pair "first:second" of curves meets; the second has less noise for larger k.

    Empty when delta is 0. A value below 1 means that the second curve wins from the first marginal on.
    """
    Budget(epsilon=epsilon, delta=delta)
    if delta == 0:
        return {}
    return {f"laplace_basic:{other}": _crossing(epsilon, delta, other, unit) for other in _CROSS_LAPLACE_BASIC}


def check_ks(ks: Sequence[int]) -> None:
    """Raises BudgetError unless every k is a whole number of marginals from 1 to 2^53."""
    for k in ks:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= 2**53:
            msg = f"k is {k!r}; it counts marginals and must be a whole number of at least 1, for example 1,10,100"
            raise BudgetError(msg)


def noise_curves(epsilon: float, delta: float, ks: Sequence[int], unit: Unit | None = None) -> dict[str, Any]:
    """Standard deviation of one cell, in counts, on every curve at every k.

    Args:
        epsilon: of the whole run, above 0.
        delta: of the whole run, in [0, 1); 0 gives pure DP, hence laplace_basic alone.
        ks: numbers of marginals that share the budget.
        unit: unit of privacy; default add/remove with one record an individual.

    Returns:
        A JSON-ready document: epsilon, delta, neighbours, max_records, curves {name: {"k": std}}, crossings
        {"first:second": real k}, and invalid {name: ["k", ...]}: points whose value is the formula's but proves
        nothing there (gaussian_naive and gaussian_advanced need parts below epsilon 1).

    Raises:
        BudgetError: epsilon, delta or a k is outside what is allowed.
    """
    unit = unit or Unit()
    Budget(epsilon=epsilon, delta=delta)
    check_ks(ks)
    k = np.asarray(ks, dtype=np.float64)
    names = [str(int(one)) for one in ks]
    columns = _columns(epsilon, delta, k, unit)
    bad = {}
    if delta > 0:
        parts = {"gaussian_naive": epsilon / k, "gaussian_advanced": _advanced_share(epsilon, delta / 2, k)}
        bad = {curve: [n for n, e in zip(names, share, strict=True) if e >= 1] for curve, share in parts.items()}
    return {
        "epsilon": epsilon,
        "delta": delta,
        "neighbours": unit.neighbours,
        "max_records": unit.max_records,
        "curves": {name: dict(zip(names, values.tolist(), strict=True)) for name, values in columns.items()},
        "crossings": crossings(epsilon, delta, unit),
        "invalid": {curve: points for curve, points in bad.items() if points},
    }
