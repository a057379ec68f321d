"""Decides in exact arithmetic the few draws that 64 bits and floating point leave undecided."""

from __future__ import annotations

from collections.abc import Callable

from dpsyn_core.privacy.noise.stream import Bits

# (k, bits) -> enclosure of P(Z >= k), k >= 1, in units of 2^-bits
TailAt = Callable[[int, int], tuple[int, int]]
_GUARD = 16


class Fraction01:
    """A uniform number of which the first bits are drawn; more are drawn when a comparison asks for them."""

    def __init__(self, known: int, bits: int, source: Bits) -> None:
        """The number lies in [known, known + 1) / 2^bits."""
        self.known, self.bits, self._source = known, bits, source

    def below(self, k: int, tail: TailAt) -> bool:
        """Whether the number is below the tail at k; equality has probability 0."""
        while True:
            low, high = tail(k, self.bits + _GUARD)
            if (self.known + 1) << _GUARD <= low:
                return True
            if self.known << _GUARD >= high:
                return False
            self.known = (self.known << 64) | int(self._source.words(1)[0])
            self.bits += 64


def magnitude(number: Fraction01, tail: TailAt, guess: int) -> int:
    """The largest k >= 0 whose tail is above the number (the tail at 0 counts as above).

    The guess only decides the number of comparisons, never the result.
    """
    low, step = max(guess, 0), 1
    while low > 0 and not number.below(low, tail):
        low, step = max(low - step, 0), step * 2
    high, step = low + 1, 1
    while number.below(high, tail):
        low, high, step = high, high + step, step * 2
    while high - low > 1:
        middle = (low + high) // 2
        if number.below(middle, tail):
            low = middle
        else:
            high = middle
    return low
