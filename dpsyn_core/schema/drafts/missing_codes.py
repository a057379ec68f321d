"""Codes such as -9999 and 999.9, which stand for no answer among numbers that end far from them."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

# how tables write no answer where a number is due, in the customs of surveys and of weather services: nines, which may
# end in 7 or 8 for other reasons, and eights and sevens; and the ends of what sensors and programs keep in one or two
# bytes. Others are declared by a person
CODE = re.compile(r"-?(9+[78]?|8{2,}|7{2,}|9+\.9+)|-[78]|-12[78]|-?3276[78]|65535|-2147483648|2147483647")
MOST = 6  # codes at either end, such as -9 to -7 and their doubles: no survey has more
FAR = 1.0  # times the range of all other numbers, from which on a code stands apart


def standing_apart(numbers: NDArray[np.float64], counts: NDArray[np.int64], common: int) -> list[float]:
    """Numbers of a column that are written like codes and stand apart from all others, in order; often none.

    A code below 0 stands apart also where nothing else is below 0.

    Args:
        numbers: distinct, in ascending order.
        counts: records of each.
        common: records that each code must have: what fewer have may be their number.
    """
    ends = [*range(len(numbers))[:MOST], *range(len(numbers))[MOST:][-MOST:]]
    coded = np.zeros(len(numbers), dtype=bool)
    coded[[i for i in ends if counts[i] >= common and CODE.fullmatch(f"{numbers[i]:.10g}")]] = True
    if coded.all():
        return []
    least, most = numbers[~coded][[0, -1]]
    below, above = coded & (numbers < 0), coded & (numbers > 0)
    first = next((i for i in _run(below) if least >= 0 or _far(numbers[i] - numbers[i - 1], most - numbers[i])), 0)
    last = next((i for i in _run(above[::-1]) if _far(numbers[-i] - numbers[-i - 1], numbers[-i - 1] - least)), 0)
    return [*numbers[:first].tolist(), *numbers[len(numbers) - last :].tolist()]


def _run(coded: NDArray[np.bool_]) -> range:
    """How many of the first numbers are codes, and all smaller numbers above 0."""
    return range(int(np.argmin(coded)), 0, -1)


def _far(gap: float, spread: float) -> bool:
    return bool(gap >= FAR * spread)
