"""SystemNoise: the production source of noise. It has no seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy.noise.stream import SystemBits


class SystemNoise:
    """Noise from the operating system's randomness through ChaCha20; implements NoiseSource."""

    def __init__(self) -> None:
        """Keys a new stream."""
        self._bits = SystemBits()

    def gaussian(self, sigma: float, size: int) -> NDArray[np.int64]:
        """Independent draws of N(0, sigma^2) rounded to the nearest integer, shape (size,)."""
        from dpsyn_core.privacy.noise.gaussian import rounded_gaussian  # numba is heavy

        return rounded_gaussian(sigma, size, self._bits)

    def geometric(self, scale: float, size: int) -> NDArray[np.int64]:
        """Two-sided geometric draws, P(z) proportional to exp(-|z|/scale), shape (size,)."""
        from dpsyn_core.privacy.noise.laplace import two_sided_geometric

        return two_sided_geometric(scale, size, self._bits)

    def chance(self, rate: float, size: int) -> NDArray[np.bool_]:
        """Independent events, shape (size,), each with probability `rate`, a multiple of 2^-32."""
        from dpsyn_core.privacy.noise.chance import events

        return events(rate, size, self._bits)

    def choose(self, gaps: NDArray[np.int64], rate: float) -> int:
        """One index i with probability proportional to exp(-rate * gaps[i]); gaps: whole, the smallest 0."""
        from dpsyn_core.privacy.noise.choice import choose

        return choose(gaps, rate, self._bits)
