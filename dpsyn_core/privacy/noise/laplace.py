"""Laplace noise on integers: the two-sided geometric distribution, drawn exactly.

P(z) = (1 - a) / (1 + a) a^|z| with a = exp(-1/b): exactly (L1 sensitivity / b)-DP on integers.
Source: Ghosh, Roughgarden, Sundararajan 2009. Proof: docs/proofs/noise.md.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.noise.draws import check_scale, check_size, symmetric_draws
from dpsyn_core.privacy.noise.exact import exp_bounds
from dpsyn_core.privacy.noise.settle import TailAt
from dpsyn_core.privacy.noise.stream import Bits
from dpsyn_core.privacy.noise.table import EXPONENTIAL


def two_sided_geometric(scale: float, size: int, bits: Bits) -> NDArray[np.int64]:
    """Independent draws, shape (size,). Raises BudgetError unless 0 < scale <= 2^50."""
    b = check_scale("the Laplace scale", scale)
    shift, error = shift_of(b)
    return symmetric_draws(
        check_size(size), bits, EXPONENTIAL, scale=b, offset=-b * shift, blur=b * error, exact=geometric_tail(b)
    )


def geometric_tail(scale: float) -> TailAt:
    """Encloses P(Z >= k) = a^k / (1 + a) for k >= 1."""
    p, q = scale.as_integer_ratio()

    @lru_cache(maxsize=256)
    def tail(k: int, bits: int) -> tuple[int, int]:
        work = bits + 8
        low, high = exp_bounds(k * q, p, work)
        a_low, a_high = exp_bounds(q, p, work)
        one = 1 << work
        return (low << bits) // (one + a_high), -((-high << bits) // (one + a_low))

    return tail


def shift_of(b: float) -> tuple[float, float]:
    """ln(1 + a) as a float and a bound on its error, checked in exact arithmetic."""
    shift = math.log1p(math.exp(-1 / b))
    n, d = shift.as_integer_ratio()
    p, q = b.as_integer_ratio()
    low, high = exp_bounds(n, d, 100)
    a_low, a_high = exp_bounds(q, p, 100)
    one = 1 << 100
    # exp(-shift) (1 + a) = exp(error)
    away = max(abs(low * (one + a_low) - (one << 100)), abs(high * (one + a_high) - (one << 100))) / 2.0**200
    if not away < 2.0**-44:
        msg = "the floating-point library of this machine computes logarithms wrongly; noise cannot be drawn safely"
        raise EngineError(msg)
    return shift, 1.01 * away
