"""What both samplers share: batches through the kernel, undecided draws through exact arithmetic, checked arguments."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.privacy.noise.kernel import LEADING, draw
from dpsyn_core.privacy.noise.settle import Fraction01, TailAt, magnitude
from dpsyn_core.privacy.noise.stream import Bits
from dpsyn_core.privacy.noise.table import Tail, table_of

LARGEST = 2.0**50
BATCH = 1 << 20


def check_scale(what: str, scale: float) -> float:
    """The scale as a float. Raises BudgetError unless 0 < scale <= 2^50."""
    value = float(scale)
    if not (math.isfinite(value) and 0 < value <= LARGEST):
        msg = f"{what} is {value}; it must be a number above 0 and at most 2^50; choose a larger epsilon"
        raise BudgetError(msg)
    return value


def check_size(size: int) -> int:
    """The number of draws. Raises EngineError unless it is a whole number of at least 0."""
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
        msg = f"the number of draws is {size!r}; it must be a whole number of at least 0"
        raise EngineError(msg)
    return int(size)


def symmetric_draws(
    size: int, bits: Bits, tail: Tail, *, scale: float, offset: float, blur: float, exact: TailAt
) -> NDArray[np.int64]:
    """Integers Z = +-floor(scale T^-1(p) + offset), shape (size,), distributed exactly as `exact` says.

    exact: encloses P(Z >= k) for k >= 1. scale, offset, blur: how the kernel finds most of them (blur bounds
    the error of offset).
    """
    table = table_of(tail)
    out = np.zeros(size, dtype=np.int64)
    for start in range(0, size, BATCH):
        words = bits.words(min(BATCH, size - start))
        part = out[start : start + BATCH]
        unsure = np.empty(words.size, dtype=np.int64)
        marked = draw(words, table.coefficients, table.errors, LEADING, scale, offset, blur, part, unsure)
        for i in unsure[:marked].tolist():
            part[i] = settled(int(words[i]), bits, tail, scale, offset, exact)
    return out


def settled(
    word: int, bits: Bits, tail: Tail, scale: float, offset: float, exact: Callable[[int, int], tuple[int, int]]
) -> int:
    """One draw in exact arithmetic from its first 64 bits; the float guess only shortens the search."""
    known = word & ((1 << 63) - 1)
    guess = math.floor(scale * max(tail.inverse((known + 0.5) / 2.0**64), 0.0) + offset)
    size = magnitude(Fraction01(known, 64, bits), exact, guess)
    return -size if word >> 63 else size
