"""Accounting: from a budget to noise and back. First version; see docs/proofs/accounting.md."""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import log_ndtr


def gdp_delta(epsilon: float, mu: float) -> float:
    """Delta of mu-GDP at epsilon. Source: Dong, Roth, Su 2022, Corollary 2.13."""
    return math.exp(log_ndtr(mu / 2 - epsilon / mu)) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


def gdp_mu(epsilon: float, delta: float) -> float:
    """Largest mu whose mu-GDP implies (epsilon, delta)-DP, rounded down."""
    root = brentq(lambda m: math.log(max(gdp_delta(epsilon, m), 1e-320)) - math.log(delta), 1e-6, 100, xtol=1e-15)
    return float(root) * (1 - 1e-12)
