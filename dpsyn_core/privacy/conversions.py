"""Exact conversions between (epsilon, delta), mu (GDP) and rho (zCDP), rounded to the safe side.

Everything is computed in logarithms, so that epsilon from 1e-6 to 1e4 and delta from 1e-300 to nearly 1 work
without overflow or warning. The theorems, their sources and the error argument are in docs/proofs/accounting.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import scipy  # loads `special` where it is used: pages state costs, and compute few
from numpy.typing import NDArray

# Calibrated costs are made smaller by this share: far above the error of the root (below 1e-13, tested with
# mpmath), and twice what an Account tolerates in rounding, so that the promised budget is never exceeded.
MARGIN = 2e-12
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
_LOG_ROOT_2PI = math.log(2 * math.pi) / 2
_ASYMPTOTIC_FROM = 20.0


@cache
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    nodes, weights = np.polynomial.legendre.leggauss(32)
    return nodes, weights


def _mills(z: float) -> float:
    """Mills ratio Q(z) / phi(z), for z above -30."""
    return _ROOT_HALF_PI * float(scipy.special.erfcx(z / math.sqrt(2)))


def _mills_slope(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minus the derivative of the Mills ratio, 1 - t R(t), without cancellation for large t."""
    far = t > _ASYMPTOTIC_FROM
    near = 1 - t * _ROOT_HALF_PI * scipy.special.erfcx(np.where(far, 0.0, t) / math.sqrt(2))
    square = np.where(far, t, _ASYMPTOTIC_FROM) ** -2.0
    series = np.zeros_like(t)
    for k in range(10, 0, -1):  # 1/t^2 - 3/t^4 + 15/t^6 ..., by Horner; the first term left out is below 1e-16
        series = -(2 * k + 1) * square * (1 + series)
    return np.where(far, square * (1 + series), near)


def gdp_log_delta(epsilon: float, mu: float) -> float:
    """Logarithm of the delta of mu-GDP at epsilon.

    With x = epsilon / mu, h = mu / 2 and R the Mills ratio, Phi(h - x) - e^epsilon Phi(-h - x) equals
    phi(x - h) (R(x - h) - R(x + h)), for e^epsilon phi(x + h) = phi(x - h); the difference is integrated
    where it would cancel. Source: Dong, Roth, Su 2022, Corollary 2.13; Balle, Wang 2018, Theorem 8.
    """
    x, h = epsilon / mu, mu / 2
    z = x - h
    log_phi = -z * z / 2 - _LOG_ROOT_2PI
    if h < 1:
        nodes, weights = _nodes()
        return log_phi + math.log(h * float(weights @ _mills_slope(x + h * nodes)))
    if z < 0:
        first = float(scipy.special.log_ndtr(-z))
        return first + math.log1p(-math.exp(log_phi + math.log(_mills(x + h)) - first))
    return log_phi + math.log(_mills(z) - _mills(x + h))


def gdp_delta(epsilon: float, mu: float) -> float:
    """Delta of mu-GDP at epsilon (at least 0)."""
    return math.exp(gdp_log_delta(epsilon, mu))


def _largest(holds: Callable[[float], bool], start: float) -> float:
    """Largest x > 0 for which a monotone property (true, then false) holds, from below; inf when it always does."""
    low = high = start
    while not holds(low):
        low /= 2
        if low < 1e-300:
            return 0.0
    while holds(high):
        high *= 2
        if high > 1e300:
            return math.inf
    low = max(low, high / 2) if holds(high / 2) else low
    while (middle := low + (high - low) / 2) not in (low, high):
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@lru_cache(maxsize=4096)
def gdp_mu(epsilon: float, delta: float) -> float:
    """Largest mu whose mu-GDP implies (epsilon, delta)-DP, rounded down."""
    target = math.log(delta)
    return _largest(lambda mu: gdp_log_delta(epsilon, mu) <= target, math.sqrt(2 * epsilon)) * (1 - MARGIN)


def gdp_epsilon(mu: float, delta: float) -> float:
    """Smallest epsilon with (epsilon, delta)-DP for mu-GDP, rounded up; 0 when delta alone covers it."""
    target = math.log(delta)
    if (
        math.log(-math.expm1(math.log(2) + float(scipy.special.log_ndtr(-mu / 2)))) <= target
    ):  # delta at 0: 1 - 2 Phi(-mu/2)
        return 0.0
    below = _largest(lambda epsilon: gdp_log_delta(epsilon, mu) > target, max(mu, 1e-12))
    return below * (1 + MARGIN)


def zcdp_rho_standard(epsilon: float, delta: float) -> float:
    """Largest rho by epsilon = rho + 2 sqrt(rho L), L = ln(1/delta). Source: Bun, Steinke 2016, Proposition 1.3."""
    big = math.log(1 / delta) if delta > 1e-300 else -math.log(delta)
    return (epsilon / (math.sqrt(big + epsilon) + math.sqrt(big))) ** 2


def _best_order(value: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """Largest value over orders alpha = 1 + s, by a grid in log s that closes in on its best point."""
    low, high = -40.0, 80.0
    best = -math.inf
    for _ in range(8):
        grid = np.linspace(low, high, 129)
        values = value(np.exp(grid))
        i = int(np.argmax(values))
        best = max(best, float(values[i]))
        low, high = float(grid[max(i - 1, 0)]), float(grid[min(i + 1, 128)])
    return best


@lru_cache(maxsize=4096)
def zcdp_rho(epsilon: float, delta: float) -> float:
    """Largest rho whose rho-zCDP implies (epsilon, delta)-DP by the tight conversion, rounded down.

    delta = inf over alpha > 1 of exp((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1), solved
    for rho at each alpha: every alpha gives a valid rho, so the search cannot err to the unsafe side.
    Source: Canonne, Kamath, Steinke 2020 (conversion from Renyi to approximate DP).
    """
    log_delta = math.log(delta)

    def rho(s: NDArray[np.float64]) -> NDArray[np.float64]:
        # log(alpha-1) - alpha log(1-1/alpha), divided by s, is log1p(s)/s + log1p(1/s): no cancellation
        return (epsilon + (log_delta + np.log1p(s)) / s + np.log1p(1 / s)) / (1 + s)

    return _best_order(rho) * (1 - MARGIN)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Smallest epsilon of rho-zCDP at delta by the tight conversion, rounded up; never below 0."""
    log_delta = math.log(delta)

    def negative(s: NDArray[np.float64]) -> NDArray[np.float64]:
        return (log_delta + np.log1p(s)) / s + np.log1p(1 / s) - (1 + s) * rho

    return max(0.0, -_best_order(negative) * (1 + MARGIN))
