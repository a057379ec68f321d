"""Exact events: independent, each with the probability that is stated, from 32 random bits each."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.privacy.noise.draws import check_size
from dpsyn_core.privacy.noise.stream import Bits

_ALL = 1 << 32


def on_grid(rate: float) -> float:
    """A probability rounded up to a multiple of 2^-32, which can be drawn exactly.

    Raises:
        BudgetError: it is not above 0 and at most 1.
    """
    if not 0 < rate <= 1:
        msg = f"the sampling rate is {rate}; it must be above 0 and at most 1, for example 0.05"
        raise BudgetError(msg)
    return math.ceil(rate * _ALL) / _ALL


def events(rate: float, size: int, bits: Bits) -> NDArray[np.bool_]:
    """Which of `size` independent events happen: 32 fair bits, read as a number, are below rate * 2^32."""
    if not (0 < rate <= 1 and (rate * _ALL).is_integer()):
        msg = f"the probability {rate} is no multiple of 2^-32"
        raise EngineError(msg)
    halves = bits.words(-(-check_size(size) // 2)).view(np.uint32)[:size]
    if rate == 1:
        return np.ones(size, dtype=np.bool_)
    return np.asarray(halves < np.uint32(rate * _ALL))
