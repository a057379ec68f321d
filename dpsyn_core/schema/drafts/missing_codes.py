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
# times the range of all other numbers, from which on codes stand apart: of many records, of few
FAR, ALONE = 1.0, 5.0


def standing_apart(numbers: NDArray[np.float64], counts: NDArray[np.int64], common: int) -> list[float]:
    """Numbers of a column that are written like codes and stand apart from all others, in order; often none.

    A code below 0 stands apart also where nothing else is below 0, in however few records: as an end of the range it
    would stretch it. Others that few have may be their numbers, unless they are very far.

    Args:
        numbers: distinct, in ascending order.
        counts: records of each.
        common: records from which on a code is one of many.
    """
    ends = [*range(len(numbers))[:MOST], *range(len(numbers))[MOST:][-MOST:]]
    coded = np.zeros(len(numbers), dtype=bool)
    coded[[i for i in ends if CODE.fullmatch(f"{numbers[i]:.10g}")]] = True
    if coded.all():
        return []
    least, most = numbers[~coded][[0, -1]]
    below, above, far = coded & (numbers < 0), coded & (numbers > 0), np.where(counts < common, ALONE, FAR)
    first = next(
        (i for i in _run(below) if least >= 0 or numbers[i] - numbers[i - 1] >= far[:i].max() * (most - numbers[i])), 0
    )
    last = next(
        (i for i in _run(above[::-1]) if numbers[-i] - numbers[-i - 1] >= far[-i:].max() * (numbers[-i - 1] - least)), 0
    )
    return [*numbers[:first].tolist(), *numbers[len(numbers) - last :].tolist()]


def _run(coded: NDArray[np.bool_]) -> range:
    """How many of the first numbers are codes, and all smaller numbers above 0."""
    return range(int(np.argmin(coded)), 0, -1)
