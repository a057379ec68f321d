"""Compiled kernels of the metrics; callers have checked shapes and codes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def distances(
    real: NDArray[np.int64], synthetic: NDArray[np.int64], n: int, m: int, deviations: NDArray[np.float64]
) -> tuple[float, float, int, float]:
    """Compares two flat count tables in one pass.

    Args:
        real: int64 (cells,), sums to n.
        synthetic: int64 (cells,), sums to m.
        n: real records.
        m: synthetic records.
        deviations: float64 (n + 1,), mean absolute deviation of a cell of a fresh sample by its real count.

    Returns:
        L1 distance of the frequencies, two-sample chi-square, cells that hold a record in either, noise floor
        of the L1 distance.
    """
    l1, chi2, floor, support = 0.0, 0.0, 0.0, 0
    up, down = np.sqrt(m / n), np.sqrt(n / m)
    for i in range(real.size):
        r, s = real[i], synthetic[i]
        if r + s > 0:
            support += 1
            l1 += abs(r / n - s / m)
            chi2 += (up * r - down * s) ** 2 / (r + s)
            floor += deviations[r]
    return l1, chi2, support, floor / m
