"""Rounded Gaussian: draws of N(0, sigma^2) rounded to the nearest integer, without floating-point leaks.

Adding it to an integer count equals rounding the count plus a Gaussian, so every theorem about the Gaussian
mechanism holds, exact Gaussian accounting included. Proof: docs/proofs/noise.md.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy.noise.draws import check_scale, check_size, symmetric_draws
from dpsyn_core.privacy.noise.exact import normal_tail_bounds
from dpsyn_core.privacy.noise.settle import TailAt
from dpsyn_core.privacy.noise.stream import Bits
from dpsyn_core.privacy.noise.table import NORMAL


def rounded_gaussian(sigma: float, size: int, bits: Bits) -> NDArray[np.int64]:
    """Independent draws, shape (size,). Raises BudgetError unless 0 < sigma <= 2^50."""
    sigma = check_scale("sigma", sigma)
    return symmetric_draws(
        check_size(size), bits, NORMAL, scale=sigma, offset=0.5, blur=0.0, exact=gaussian_tail(sigma)
    )


def gaussian_tail(sigma: float) -> TailAt:
    """Encloses P(Z >= k) = Q((k - 1/2) / sigma) for k >= 1; sigma is taken as the binary fraction it is."""
    p, q = sigma.as_integer_ratio()

    @lru_cache(maxsize=256)
    def tail(k: int, bits: int) -> tuple[int, int]:
        return normal_tail_bounds((2 * k - 1) * q, 2 * p, bits)

    return tail
