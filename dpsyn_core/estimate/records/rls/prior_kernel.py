"""Compiled: the prior on a grid under which values are most likely, by expectation-maximisation, and what it leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.loading import compiled


@compiled(nogil=True, fastmath={"reassoc", "contract"})
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
    total = 0.0
    for i in range(values):
        total += times[i]
    out = np.empty(points)
    for _ in range(sweeps):
        out[:] = 0.0
        for i in range(values):
            seen = 0.0
            for j in range(points):
                seen += likelihood[i, j] * prior[j]
            weight = times[i] / (seen * total)
            for j in range(points):
                out[j] += weight * likelihood[i, j]
        for j in range(points):
            prior[j] *= out[j]


@compiled(nogil=True)
def shrink_rows(
    values: NDArray[np.float64], near_zero: float, fewest: int, bins: int, grid: NDArray[np.float64], sweeps: int
) -> None:
    """Replaces the values near 0 of every row by their posterior means; see `denoise.shrink_unordered`.

    Args:
        values: (rows, n), with noise of standard deviation 1; changed in place.
        near_zero: values up to it are shrunk.
        fewest: rows with fewer such values stay.
        bins: rows with more such values are counted on a grid of so many points.
        grid: (points,), where the prior lives.
        sweeps: rounds of expectation-maximisation.
    """
    step = 2 * near_zero / bins
    for row in range(values.shape[0]):
        values_here = values[row]
        near, count = np.empty(values_here.size, np.int64), 0
        for i in range(values_here.size):
            if values_here[i] <= near_zero:
                near[count] = i
                count += 1
        if count < fewest:
            continue
        z = values_here[near[:count]]
        points, times, place = z, np.ones(z.size), np.arange(z.size)
        if z.size > bins:
            points, times = (np.arange(bins) + 0.5) * step - near_zero, np.zeros(bins)
            for i in range(z.size):
                place[i] = min(max(int((z[i] + near_zero) / step), 0), bins - 1)
                times[place[i]] += 1
        likelihood = np.empty((points.size, grid.size))
        for i in range(points.size):
            closest = np.inf
            for j in range(grid.size):
                closest = min(closest, (points[i] - grid[j]) ** 2)
            for j in range(grid.size):
                likelihood[i, j] = np.exp(-0.5 * ((points[i] - grid[j]) ** 2 - closest))
        prior = np.full(grid.size, 1 / grid.size)
        most_likely(likelihood, times, prior, sweeps)
        means = np.empty(points.size)
        for i in range(points.size):
            seen, moved = 0.0, 0.0
            for j in range(grid.size):
                seen += likelihood[i, j] * prior[j]
                moved += likelihood[i, j] * prior[j] * grid[j]
            means[i] = moved / seen
        for i in range(count):
            values_here[near[i]] = means[place[i]]
