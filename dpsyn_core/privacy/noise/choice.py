"""Exact draws for the exponential mechanism: index i with probability proportional to exp(-rate * gap_i).

Rejection: propose an index uniformly, keep it with probability exp(-rate * gap). Both steps are exact: the proposal
by rejection of words, the decision to keep by the table of -ln p with its proven error, or in exact arithmetic where
that error leaves it undecided. At most as many proposals as candidates are expected, since the best one is always kept.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.noise.exact import exp_bounds
from dpsyn_core.privacy.noise.kernel import LEADING, first_kept
from dpsyn_core.privacy.noise.settle import Fraction01
from dpsyn_core.privacy.noise.stream import Bits
from dpsyn_core.privacy.noise.table import EXPONENTIAL, table_of

_LARGEST_BATCH = 1 << 16


def choose(gaps: NDArray[np.int64], rate: float, bits: Bits) -> int:
    """One index, drawn exactly.

    Args:
        gaps: int64 (m,), at least 0, the smallest 0.
        rate: positive float, taken as the binary fraction it is.
        bits: where randomness comes from.
    """
    if gaps.ndim != 1 or gaps.size == 0 or int(gaps.min()) != 0 or not (0 < rate < 2.0**60):
        msg = "a choice needs a list of whole gaps of which the smallest is 0, and a rate above 0"
        raise EngineError(msg)
    table = table_of(EXPONENTIAL)
    batch = 64
    while True:
        index = uniform_indices(gaps.size, batch, bits)
        words = bits.words(batch)
        position = 0
        while position < batch:
            position, certain = first_kept(
                position, words, gaps[index], rate, log(2), table.coefficients, table.errors, LEADING
            )
            if position == batch:
                break
            chosen = int(index[position])
            if certain or keeps(int(words[position]), int(gaps[chosen]), rate, bits):
                return chosen
            position += 1
        batch = min(2 * batch, _LARGEST_BATCH)


def uniform_indices(size: int, count: int, bits: Bits) -> NDArray[np.int64]:
    """Independent uniform integers in [0, size), shape (count,), by rejection of masked words."""
    mask = np.uint64((1 << (size - 1).bit_length()) - 1)
    out = np.empty(0, dtype=np.int64)
    while out.size < count:
        words = bits.words(2 * (count - out.size) + 16) & mask
        out = np.concatenate([out, words[words < size].astype(np.int64)])
    return out[:count]


def keeps(word: int, gap: int, rate: float, bits: Bits) -> bool:
    """Whether a uniform number on (0, 1/2) that begins with this word lies below exp(-rate gap) / 2, exactly."""
    if gap == 0:
        return True
    p, q = rate.as_integer_ratio()
    number = Fraction01(word & ((1 << 63) - 1), 64, bits)
    return number.below(gap, lambda k, precision: exp_bounds(k * p, q, precision - 1))
