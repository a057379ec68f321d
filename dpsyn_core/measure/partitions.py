"""Partition selection: which keys enough individuals share, decided with noise on the number of them.

Truncated geometric noise for a pure cost: X on -k..k has P(x) = c a^|x|, c = (1 - a) / (1 + a - 2 a^(k+1)); a key is
kept when count + X > k, so that an absent key is never kept. Moving a count by m shifts the law: all but the m
outermost points of either side keep the ratio a^(+-m), and these have probability f(m) = c a^k (a^-m - 1) / (a^-1 - 1).
Source of the optimal m = 1: Desfontaines, Voss, Gipson, Mandayam 2022, section 3.

Rounded Gaussian noise for a rho: a key that somebody has is kept when count + X > k, with k so large that the keys of
one individual alone come out with probability delta at most. Proofs: docs/proofs/noise.md, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy import Charge, NoiseSource

_PATIENCE = 200
_SEEN = 0.99  # probability with which a key of as many individuals as `count_for` says is listed
_SEEN_SIGMAS = 2.33  # of a Gaussian, the same


def threshold(charge: Charge, per_key: int) -> int:
    """The k of a charge: keys are kept whose noisy count is above it. per_key: most that one adds to one key."""
    moved = round(charge.sensitivity**2 / per_key) if charge.epsilon == 0 else round(charge.sensitivity)
    if charge.epsilon == 0:
        return least(lambda k: gaussian_failure(charge.scale, per_key, moved, k), per_key, charge.delta)
    return reach_for(charge.scale, per_key, charge.delta * per_key / charge.sensitivity)


def count_for(charge: Charge, per_key: int) -> int:
    """How many individuals (or records) a key needs to be listed with a probability of 99 %."""
    beyond = _SEEN_SIGMAS if charge.epsilon == 0 else math.log(0.5 / (1 - _SEEN))
    return math.ceil(threshold(charge, per_key) + charge.scale * beyond)


def gaussian_failure(sigma: float, per_key: int, moved: int, k: int) -> float:
    """The most probable that any key comes out which one individual alone has, of counts that add up to `moved`.

    The tail is convex above its middle, so that the worst are counts of 1 in many keys or of `per_key` in few.
    """

    def tail(count: int) -> float:
        return math.erfc((k - count + 0.5) / (sigma * math.sqrt(2))) / 2  # P(X > k - count)

    return max(moved * tail(1), moved / per_key * tail(per_key))


def failure(scale: float, per_key: int, reach: int) -> float:
    """f(m): probability of the points that a shift by m pushes out of the support; 1 when the support is too short."""
    if reach < per_key:
        return 1.0
    c = -math.expm1(-1 / scale) / (1 + math.exp(-1 / scale) - 2 * math.exp(-(reach + 1) / scale))
    return c * math.fsum(math.exp(-(reach - i) / scale) for i in range(per_key))


def reach_for(scale: float, per_key: int, delta: float) -> int:
    """Least k whose f(m) is at most delta."""
    return least(lambda k: failure(scale, per_key, k), per_key, delta)


def least(lost: Callable[[int], float], per_key: int, delta: float) -> int:
    """Least k of at least `per_key` whose failure is at most delta, with a margin for rounding.

    lost: the failure by k, which falls as k grows, so that bisection finds it.
    """
    bound = delta * (1 - 1e-9)
    high = per_key + 1
    while lost(high) > bound:
        high *= 2
    low = per_key - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lost(middle) <= bound else (middle, high)
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
