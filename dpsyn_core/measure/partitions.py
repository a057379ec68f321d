"""Partition selection: which keys enough individuals share, decided with truncated geometric noise.

Noise X on -k..k has P(x) = c a^|x|, c = (1 - a) / (1 + a - 2 a^(k+1)); a key is kept when count + X > k, so that an
absent key is never kept. Moving a count by m shifts the law: all but the m outermost points of either side keep the
ratio a^(+-m), and these have probability f(m) = c a^k (a^-m - 1) / (a^-1 - 1). Source of the optimal m = 1:
Desfontaines, Voss, Gipson, Mandayam 2022, section 3.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy import NoiseSource

_PATIENCE = 200


def failure(scale: float, per_key: int, reach: int) -> float:
    """f(m): probability of the points that a shift by m pushes out of the support; 1 when the support is too short."""
    if reach < per_key:
        return 1.0
    c = -math.expm1(-1 / scale) / (1 + math.exp(-1 / scale) - 2 * math.exp(-(reach + 1) / scale))
    return c * math.fsum(math.exp(-(reach - i) / scale) for i in range(per_key))


def reach_for(scale: float, per_key: int, delta: float) -> int:
    """Least k whose f(m) is at most delta, with a margin for rounding; f falls as k grows, so bisection finds it."""
    bound = delta * (1 - 1e-9)
    high = per_key + 1
    while failure(scale, per_key, high) > bound:
        high *= 2
    low = per_key - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if failure(scale, per_key, middle) <= bound else (middle, high)
    return high


def truncated(noise: NoiseSource, scale: float, reach: int, size: int) -> NDArray[np.int64]:
    """Two-sided geometric draws given that they lie in -reach..reach, by rejection."""
    out = noise.geometric(scale, size)
    for _ in range(_PATIENCE):
        wild = np.flatnonzero(np.abs(out) > reach)
        if wild.size == 0:
            return out
        out[wild] = noise.geometric(scale, wild.size)
    msg = "the noise source gives no draw in reach"
    raise EngineError(msg)
