"""NoiseSource: the interface between the gate and the samplers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class NoiseSource(Protocol):
    """Draws integer noise. The production source (`noise.system.SystemNoise`) takes no seed."""

    def gaussian(self, sigma: float, size: int) -> NDArray[np.int64]:
        """Independent draws of N(0, sigma^2) rounded to the nearest integer, shape (size,)."""

    def geometric(self, scale: float, size: int) -> NDArray[np.int64]:
        """Two-sided geometric draws, P(z) proportional to exp(-|z|/scale), shape (size,)."""

    def chance(self, rate: float, size: int) -> NDArray[np.bool_]:
        """Independent events, shape (size,), each with probability `rate`, a multiple of 2^-32."""

    def choose(self, gaps: NDArray[np.int64], rate: float) -> int:
        """One index i with probability proportional to exp(-rate * gaps[i]); gaps: whole, the smallest 0."""
