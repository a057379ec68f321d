"""SplitMix64 for compiled kernels: post-processing randomness whose state the caller owns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(11)
_UNIT = 2.0**-53


def seed_state(rng: Generator) -> NDArray[np.uint64]:
    """A fresh state, uint64 (1,), drawn from the generator."""
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def next_u64(state: NDArray[np.uint64]) -> Any:
    """The next 64 random bits. Source: Steele, Lea, Flood 2014 (SplitMix)."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def below(state: NDArray[np.uint64], n: int) -> Any:
    """An integer in 0..n-1 for 1 <= n < 2^32; the bias is below n / 2^32."""
    return np.int64(((next_u64(state) >> _S32) * np.uint64(n)) >> _S32)


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def unit(state: NDArray[np.uint64]) -> float:
    """A float in [0, 1)."""
    return np.float64(next_u64(state) >> _S11) * _UNIT


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def rounded(state: NDArray[np.uint64], x: float) -> Any:
    """Rounds up with the probability of the fraction, so that small rates still move cells now and then."""
    whole = np.int64(np.floor(x))
    if unit(state) < x - whole:
        whole += 1
    return whole
