"""Noise from a seed, for tests and benchmarks alone: the engine, the app and the tools never import it.

Noise that repeats protects nobody. `tests/test_architecture.py` proves that nothing outside tests and benchmarks can
reach this module.
"""

import numpy as np
from numpy.typing import NDArray


class SeededNoise:
    """Floating-point draws of every law that the gate asks for; `scale=0` gives none, `shift` moves every draw."""

    def __init__(self, seed: int = 0, *, scale: float = 1.0, shift: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.factor, self.shift = scale, shift

    def gaussian(self, sigma: float, size: int) -> NDArray[np.int64]:
        return np.rint(self.rng.normal(0, 1, size) * sigma * self.factor).astype(np.int64) + self.shift

    def geometric(self, scale: float, size: int) -> NDArray[np.int64]:
        p = -np.expm1(-1 / scale)
        draws = self.rng.geometric(p, size) - self.rng.geometric(p, size)
        return np.rint(draws * self.factor).astype(np.int64) + self.shift

    def chance(self, rate: float, size: int) -> NDArray[np.bool_]:
        return self.rng.random(size) < rate

    def choose(self, gaps: NDArray[np.int64], rate: float) -> int:
        return int(np.argmax(self.rng.gumbel(size=gaps.size) * self.factor - rate * gaps))
