"""Scores of a selection on an integer grid, so that no float of the data decides a probability."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError

GRID = 1 << 20  # steps of one sensitivity
_LARGEST = 2.0**31  # in sensitivities: above it, a float score is coarser than half a step


def gaps_and_rate(
    scores: NDArray[Any], name: str, *, sensitivity: float, epsilon: float, one_sided: bool
) -> tuple[NDArray[np.int64], float]:
    """Distances to the best score in whole steps, and the rate of the exponential mechanism for a step.

    Integer scores are used unrounded. Float scores are rounded to multiples of sensitivity / 2^20, which adds at
    most two steps to the sensitivity. one_sided: scores of neighbours all move in the same direction.
    """
    if scores.ndim != 1 or scores.size == 0 or scores.dtype.kind not in "iuf":
        msg = f"the scores of '{name}' must be a list of at least one number"
        raise EngineError(msg)
    if scores.dtype.kind == "f":
        units = scores.astype(np.float64) / sensitivity
        if not (np.abs(units) < _LARGEST).all():
            msg = f"the scores of '{name}' must be finite and below 2^31 sensitivities"
            raise EngineError(msg)
        whole, steps = np.rint(units * GRID).astype(np.int64), float(GRID + 2)
    else:
        whole, steps = scores.astype(np.int64), sensitivity
    rate = math.nextafter(epsilon / steps * (1.0 if one_sided else 0.5) * (1 - 4e-16), 0.0)
    return whole.max() - whole, rate
