"""Renyi accounting of Gaussian noise and samples: a second bound, by other arithmetic than the one that is booked.

It shares only the dominating pairs of docs/proofs/sampling.md with `privacy.subsampling`: divergences come from a
quadrature, composition is a sum, and nothing is transformed. Coarser, so that it lies above by some 10 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.subsampling import Sampling, sampling_of

_ORDERS = tuple(1 + x for x in (*np.geomspace(0.1, 10, 25).tolist(), *np.geomspace(11, 400, 20).tolist()))
_STEP = 0.02  # of the quadrature, in standard deviations of the noise: its error is below 1e-12
_MOST_REACH = 4000.0  # in standard deviations; orders that reach beyond are left out


def renyi_epsilon(charges: Iterable[Charge], delta: float) -> float | None:
    """Epsilon at delta by Renyi divergences; None when a charge is neither Gaussian noise nor noise on samples.

    Source: Canonne, Kamath, Steinke 2020 (conversion).
    """
    spent = np.zeros(len(_ORDERS))
    for charge in charges:
        if charge.mechanism == "gaussian":
            spent += np.array(_ORDERS) * (charge.sensitivity / charge.scale) ** 2 / 2
        elif charge.mechanism == "sampled-gaussian":
            sampling = sampling_of(charge)
            spent += sampling.steps * _divergences(replace(sampling, steps=1))
        else:
            return None
    orders = np.array(_ORDERS)
    epsilons = spent + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
    return max(0.0, float(epsilons.min()))


@lru_cache(maxsize=64)
def _divergences(step: Sampling) -> NDArray[np.float64]:
    """Renyi divergence of one step at each order, the larger of both directions; infinite where it reaches too far."""
    n, q = step.records, step.rate
    weights = [math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(n + 1)]
    shifts = np.arange(n + 1) / step.multiplier
    out = np.full(len(_ORDERS), np.inf)
    for i, order in enumerate(_ORDERS):
        reach = 12 + 2 * order * float(shifts[-1])
        if reach > _MOST_REACH:
            break
        x = np.arange(-reach, reach, _STEP)
        upper = _log_density(x, weights, shifts)
        lower = _log_density(x, weights, -shifts) if step.exchanged else -(x**2) / 2
        pairs = ((upper, lower), (lower, upper))
        scale = math.log(_STEP / math.sqrt(2 * math.pi))
        sums = [np.logaddexp.reduce(order * a + (1 - order) * b) + scale for a, b in pairs]
        out[i] = max(0.0, *sums) / (order - 1)
    return out


def _log_density(x: NDArray[np.float64], weights: list[float], shifts: NDArray[np.float64]) -> NDArray[np.float64]:
    terms = [math.log(w) - (x - m) ** 2 / 2 for w, m in zip(weights, shifts, strict=True) if w > 0]
    return np.asarray(np.logaddexp.reduce(terms))
