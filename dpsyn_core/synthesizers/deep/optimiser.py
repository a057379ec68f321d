"""Adam with a falling rate for gradients whose noise is known, and the running mean of the weights that it visits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError

Floats = NDArray[np.float64]
FIRST, SECOND = 0.9, 0.999  # what stays of the running moments at a step


class Optimiser:
    """Takes noisy mean gradients and moves the weights of several networks, (members, size). Post-processing.

    A layer moves in proportion to the share of its running gradient that is more than noise: where a budget buys
    noise alone, the weights stay where they were instead of wandering. Source: Kingma, Ba 2015, Algorithm 1; Polyak,
    Juditsky 1992; the rate falls as half a cosine.
    """

    def __init__(
        self, weights: Floats, *, rate: float, steps: int, averaging: float, groups: Sequence[int] | None = None
    ) -> None:
        """rate: of the first step. averaging: how much of the running mean stays at a step, in [0, 1).

        groups: lengths of the layers in the order of the weights; None takes all weights as one layer.
        """
        self.weights = weights.copy()
        self._rate, self._steps, self._averaging = rate, steps, averaging
        self._ends = np.cumsum([weights.shape[-1]] if groups is None else [g for g in groups if g])
        self._first, self._second = np.zeros_like(weights), np.zeros_like(weights)
        self._mean = np.zeros_like(weights)
        self._noise = 0.0  # of the running gradient's variance, as a share of one step's
        self._done = 0

    def step(self, gradient: Floats, sigma: Floats | float = 0.0) -> None:
        """One step. sigma: standard deviation of the noise in each number, one a network.

        Raises EngineError for a gradient that is not finite: no table may follow from it.
        """
        if not np.isfinite(gradient).all():
            msg = "a training step gave numbers that are not finite; the run is given up"
            raise EngineError(msg)
        self._done += 1
        rate = self._rate * (1 + math.cos(math.pi * (self._done - 1) / self._steps)) / 2
        self._first += (1 - FIRST) * (gradient - self._first)
        self._second += (1 - SECOND) * (gradient**2 - self._second)
        self._noise = FIRST**2 * self._noise + (1 - FIRST) ** 2
        first = self._first / (1 - FIRST**self._done)
        second = self._second / (1 - SECOND**self._done)
        noise = self._noise / (1 - FIRST**self._done) ** 2 * np.broadcast_to(np.square(sigma), len(gradient))
        move = rate * first / (np.sqrt(second) + 1e-8)
        start = 0
        for end in self._ends:
            power = (first[:, start:end] ** 2).mean(axis=1)
            spread = math.sqrt(2 / max(end - start, 1))  # of the mean square of so many draws
            share = 1 - noise * (1 + 2 * spread) / np.maximum(power, 1e-300)
            self.weights[:, start:end] -= np.clip(share, 0, 1)[:, None] * move[:, start:end]
            start = int(end)
        self._mean = self._averaging * self._mean + (1 - self._averaging) * self.weights

    @property
    def averaged(self) -> Floats:
        """The running mean of the weights; the first weights when no step was taken."""
        if not self._done:
            return self.weights
        mean: Floats = self._mean / (1 - self._averaging**self._done)
        return mean
