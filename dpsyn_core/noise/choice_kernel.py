"""The loop over proposals of the exponential mechanism, compiled; as exact as its table says (`noise/choice.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.loading import compiled
from dpsyn_core.noise.kernel import _FLOOR, _MAGNITUDE, _ONE, _PART, _REST, _SIGN, _THREE, _TOP
from dpsyn_core.noise.table import PARTS


@compiled(nogil=True)
def first_kept(
    start: int,
    words: NDArray[np.uint64],
    gaps: NDArray[np.int64],
    rate: float,
    shift: float,
    coefficients: NDArray[np.float64],
    errors: NDArray[np.float64],
    leading: NDArray[np.uint64],
) -> tuple[int, bool]:
    """First position from `start` that may be kept, and whether that is certain; words.size when there is none.

    A position is kept when -ln p > rate * gap + ln 2, p the low 63 bits of its word over 2^64.
    """
    degree = coefficients.shape[1] - 1
    for i in range(start, words.size):
        if gaps[i] == 0:
            return i, True
        v = words[i] & _MAGNITUDE
        if v < _FLOOR:
            return i, False
        octave = leading[v >> _TOP]
        w = v << (octave + _ONE)
        while (w >> _SIGN) == 0:
            octave += _ONE
            w = w << _ONE
        piece = np.int64(octave) * PARTS + np.int64((w >> _PART) & _THREE)
        t = np.float64(np.int64(w & _REST)) * 2.0**-60 - 1.0
        x = coefficients[piece, degree]
        for j in range(degree - 1, -1, -1):
            x = x * t + coefficients[piece, j]
        bound = rate * np.float64(gaps[i]) + shift
        margin = errors[piece] + (abs(bound) + abs(x) + 1.0) * 2.0**-50
        if x > bound + margin:
            return i, True
        if x >= bound - margin:
            return i, False
    return words.size, True
