"""Empty stretches of noisy ordered counts: where nothing released speaks for a record, the count is 0. Blind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]


def supported(
    values: Floats, sigma: float, *, strict_ends: bool = False, tuning: Shrinkage = RECORDS.shrinkage
) -> NDArray[np.bool_]:
    """Which values of an ordered attribute lie where the released counts show that there are records.

    Windows of 1, 2, 4, ... neighbouring values slide over the counts that no shorter window has shown. A window shows
    records when the sum of its counts stands out of the noise of that sum, by a one-sided test whose level is divided
    by the number of windows (Bonferroni). A run that no window shows is called empty when it is longer than the
    windows that showed its two neighbours, holds at least `shortest_empty` values, and its counts do not add up to more
    than `empty_sum` deviations of that sum's noise, as records do that are spread thinly over many values. A few
    records far from all others cannot be distinguished from noise and are lost with it.

    Args:
        values: float64 (size,), noisy counts in their order.
        sigma: standard deviation of the noise of one count.
        strict_ends: whether runs at either end are empty whatever their counts add up to, as they are counted again
            (`tails.py`).
        tuning: constants.

    Returns:
        bool (size,).
    """
    size = len(values)
    if size < tuning.shortest_empty or sigma <= 0:
        return np.ones(size, dtype=bool)
    from scipy.special import ndtri  # scipy is heavy, and systems are imported by every page

    scales = int(np.log2(size)) + 1
    cut = -float(ndtri(tuning.empty_chance / (size * scales)))
    reach = np.zeros(size, dtype=np.int64)  # width of the window that found a value; 0: none did
    for width in 2 ** np.arange(scales):
        left = np.concatenate([[0.0], np.cumsum(np.where(reach > 0, 0.0, values))])
        free = np.concatenate([[0], np.cumsum(reach == 0)])
        total, count = left[width:] - left[:-width], free[width:] - free[:-width]
        hits = np.flatnonzero(total > cut * sigma * np.sqrt(np.maximum(count, 1)))
        starts = np.zeros(size + 1, dtype=np.int64)
        np.add.at(starts, hits, 1)
        np.add.at(starts, hits + width, -1)
        reach[(np.cumsum(starts)[:size] > 0) & (reach == 0)] = width
    shown = reach > 0
    edges = np.flatnonzero(np.diff(np.concatenate([[True], shown, [True]]).astype(np.int8)))
    for first, last in zip(edges[0::2], edges[1::2], strict=True):
        beside = [reach[i] for i in (first - 1, last) if 0 <= i < size]
        width = last - first
        together = values[first:last].sum() > tuning.empty_sum * sigma * np.sqrt(width)
        if strict_ends and (first == 0 or last == size):
            together = False
        if together or width < max(tuning.shortest_empty, min(beside, default=0)):
            shown[first:last] = True
    return shown
