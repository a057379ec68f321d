"""The fused kernel: words to integer draws, marking those that floating point cannot decide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.loading import compiled
from dpsyn_core.privacy.noise.table import OCTAVES, PARTS

_MAGNITUDE = np.uint64((1 << 63) - 1)
_FLOOR = np.uint64(1 << (63 - OCTAVES))  # below it a word lies under the table
_ONE = np.uint64(1)
_TOP = np.uint64(55)
_PART = np.uint64(61)
_REST = np.uint64((1 << 61) - 1)
_SIGN = np.uint64(63)
_THREE = np.uint64(PARTS - 1)

# leading zeros of the top 8 of 63 bits
LEADING = np.array([8 - int(i).bit_length() for i in range(256)], dtype=np.uint64)


@compiled(nogil=True)
def draw(
    words: NDArray[np.uint64],
    coefficients: NDArray[np.float64],
    errors: NDArray[np.float64],
    leading: NDArray[np.uint64],
    scale: float,
    offset: float,
    blur: float,
    out: NDArray[np.int64],
    unsure: NDArray[np.int64],
) -> int:
    """Writes sign * max(0, floor(scale * x + offset)) for x = T^-1(p), p the low 63 bits of a word over 2^64.

    Positions whose floor is not certain go to `unsure`; their number is returned. blur: error of offset.
    """
    marked = 0
    degree = coefficients.shape[1] - 1
    for i in range(words.size):
        word = words[i]
        v = word & _MAGNITUDE
        if v < _FLOOR:
            unsure[marked] = i
            marked += 1
            continue
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
        f = scale * x + offset
        k = np.floor(f)
        margin = scale * errors[piece] + blur + (abs(scale * x) + abs(offset) + 1.0) * 2.0**-50
        if f - k <= margin or k + 1.0 - f <= margin:
            unsure[marked] = i
            marked += 1
            continue
        m = np.int64(k) if k > 0 else np.int64(0)
        out[i] = -m if (word >> _SIGN) else m
    return marked


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
