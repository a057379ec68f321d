"""Compiled kernels of the metrics; callers have checked shapes and codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.loading import compiled


@compiled(nogil=True)
def distances(
    real: NDArray[np.int64], synthetic: NDArray[np.int64], n: int, m: int, deviations: NDArray[np.float64]
) -> tuple[float, float, int, float, float]:
    """Compares two flat count tables in one pass.

    Args:
        real: int64 (cells,), sums to n.
        synthetic: int64 (cells,), sums to m.
        n: real records.
        m: synthetic records.
        deviations: float64 (2, n + 1), two figures of a cell by its real count; see `FreshSample`.

    Returns:
        L1 distance of the frequencies, two-sample chi-square, cells that hold a record in either, sums of both figures.
    """
    l1, chi2, first, second, support = 0.0, 0.0, 0.0, 0.0, 0
    up, down = np.sqrt(m / n), np.sqrt(n / m)
    for i in range(real.size):
        r, s = real[i], synthetic[i]
        if r + s > 0:
            support += 1
            l1 += abs(r / n - s / m)
            chi2 += (up * r - down * s) ** 2 / (r + s)
            first += deviations[0, r]
            second += deviations[1, r]
    return l1, chi2, support, first, second


@compiled(nogil=True)
def _subset_ranks(
    values: NDArray[np.float64], order: NDArray[np.int32], both: NDArray[np.bool_], out: NDArray[np.float64]
) -> None:
    """Ranks of the values among the records of `both`, ties at their middle; `order` sorts all records."""
    seen, start, group = 0, 0, np.empty(order.size, np.int32)
    last = np.nan
    for k in range(order.size):
        i = order[k]
        if not both[i]:
            continue
        if seen > start and values[i] != last:
            for g in range(start, seen):
                out[group[g]] = (start + seen - 1) / 2
            start = seen
        group[seen] = i
        last = values[i]
        seen += 1
    for g in range(start, seen):
        out[group[g]] = (start + seen - 1) / 2


@compiled(nogil=True)
def rank_correlation(
    x: NDArray[np.float64], y: NDArray[np.float64], by_x: NDArray[np.int32], by_y: NDArray[np.int32]
) -> float:
    """Spearman's correlation over the records that have both values, ranked among themselves; 0 for a constant.

    Args:
        x: (n,), NaN where missing.
        y: the same.
        by_x: the records in rising order of x, without those that lack it.
        by_y: the same of y.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    n = both.sum()
    if n < 2:
        return 0.0
    a, b = np.zeros(x.size), np.zeros(x.size)
    _subset_ranks(x, by_x, both, a)
    _subset_ranks(y, by_y, both, b)
    middle, xx, yy, xy = (n - 1) / 2, 0.0, 0.0, 0.0
    for i in range(x.size):
        if both[i]:
            xx += (a[i] - middle) ** 2
            yy += (b[i] - middle) ** 2
            xy += (a[i] - middle) * (b[i] - middle)
    return 0.0 if xx == 0 or yy == 0 else xy / np.sqrt(xx * yy)
