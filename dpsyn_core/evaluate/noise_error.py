"""The error that noise alone gives a marginal, from its size and its noise: public, before any of it is spent."""

from __future__ import annotations

import math

from scipy.special import ndtri

from dpsyn_core.errors import MetricError


def expected_tvd(cells: int, sigma: float, n: float) -> float:
    """Mean TVD of a noisy marginal of n records, at most 1.

    Half the sum over the cells of E|N(0, sigma^2)| = sigma sqrt(2/pi), over n. It holds for the noisy table as it
    is; consistency and a fit to several tables make the synthetic table better than this.
    """
    _check(cells, sigma, n)
    return min(1.0, cells * sigma * math.sqrt(2 / math.pi) / (2 * n))


def interval(sigma: float, *, level: float = 0.95) -> float:
    """Half the width of the interval that holds the Gaussian noise of one cell with probability `level`."""
    if not 0 < level < 1:
        msg = f"the level is {level}; it must lie between 0 and 1, for example 0.95"
        raise MetricError(msg)
    return float(sigma * ndtri(0.5 + level / 2))


def _check(cells: int, sigma: float, n: float) -> None:
    if cells < 1 or not sigma >= 0 or not n > 0 or not math.isfinite(sigma + n):
        msg = f"expected error needs cells >= 1, sigma >= 0 and n > 0; got cells {cells}, sigma {sigma}, n {n}"
        raise MetricError(msg)
