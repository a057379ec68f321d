"""How round the numbers are that bins hold, by public boundaries alone: people round, so round values are heaped.

Nothing here looks at a record: 0, 10 and 40 are round in every column whose range and step are public.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDEST = 255  # of the bin that holds 0
LEVELS = 8  # units that are tried: four powers of ten, and the half of each
CLOSE = 1e-9  # of a unit, by which a boundary may miss its multiple, as computed numbers do


def roundness(low: NDArray[Any], end: NDArray[Any]) -> bytes:
    """One number a bin: larger where it holds a rounder number, 0 where it holds none; 255 for 0 itself.

    Round are the multiples of the largest power of ten that is not above the width of the range, then of its half,
    then of the next smaller power, and so on.

    Args:
        low: smallest number of each bin, rising.
        end: where each bin ends; this number is in the next bin.
    """
    first, last = np.asarray(low, dtype=np.float64), np.asarray(end, dtype=np.float64)
    found = np.zeros(len(first), dtype=np.uint8)
    width = float(last[-1] - first[0])
    if not np.isfinite(width) or width <= 0:
        return found.tobytes()
    power = int(np.floor(np.log10(width)))
    for level in range(LEVELS):
        unit = 10.0 ** (power - level // 2) / (2 if level % 2 else 1)
        multiple = np.ceil(first / unit - CLOSE) * unit
        new = (multiple < last - CLOSE * unit) & (found == 0)
        found[new] = LEVELS - level
    found[(first <= 0) & (last > 0)] = ROUNDEST
    return found.tobytes()
