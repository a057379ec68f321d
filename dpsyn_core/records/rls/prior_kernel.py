"""Compiled: the prior on a grid under which values are most likely, by expectation-maximisation."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def most_likely(
    likelihood: NDArray[np.float64], times: NDArray[np.float64], prior: NDArray[np.float64], sweeps: int
) -> None:
    """Improves a prior in place. Tables of a few cells make NumPy spend most of its time between its calls.

    Args:
        likelihood: (values, points), of each value at each point of the grid, up to a factor of the value.
        times: (values,), how often each value stands.
        prior: (points,), adds up to 1.
        sweeps: rounds of expectation-maximisation.
    """
    values, points = likelihood.shape
    total = times.sum()
    found = np.empty(points)
    for _ in range(sweeps):
        found[:] = 0.0
        for i in range(values):
            seen = 0.0
            for j in range(points):
                seen += likelihood[i, j] * prior[j]
            weight = times[i] / (seen * total)
            for j in range(points):
                found[j] += weight * likelihood[i, j]
        for j in range(points):
            prior[j] *= found[j]
