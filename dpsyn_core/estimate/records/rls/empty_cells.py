"""Which cells of noisy pair tables hold no records although independence expects some. Blind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
STEP = 0.25  # standard deviations: counts as near as this are judged together
BELOW, FEWEST = -0.5, 3  # standard deviations, below which hardly any rare record is counted; counts that are needed


def empty_cells(
    counts: Sequence[Floats], expected: Sequence[Floats], *, tuning: Shrinkage = RECORDS.shrinkage
) -> list[NDArray[np.bool_]]:
    """For each table the cells that are empty: independence expects records there, and their counts look like noise.

    Combinations that cannot be, such as a child with a pension, are many cells with a count of noise alone. Hardly any
    others have clearly negative counts, whose number therefore says how many empty cells there are, and how many of
    them have a small positive count. Counts up to the first that rather stem from rare records are taken for noise.

    Args:
        counts: noisy counts of each table, in standard deviations of their noise.
        expected: what independence expects, of the same shapes and in the same unit.
        tuning: constants.
    """
    from scipy.special import ndtr  # scipy is heavy, and systems are imported by every page

    asked = [e > tuning.empty_expected for e in expected]
    seen = np.concatenate([np.zeros(0), *(c[a] for c, a in zip(counts, asked, strict=True))])
    negative, limit = np.count_nonzero(seen < BELOW), 0.0
    if negative < FEWEST:
        return [np.zeros(a.shape, dtype=bool) for a in asked]
    empty = negative / float(ndtr(BELOW))
    while limit < tuning.empty_count:
        count = np.count_nonzero((seen >= limit) & (seen < limit + STEP))
        if empty * float(ndtr(limit + STEP) - ndtr(limit)) < tuning.empty_sure * count:
            break
        limit += STEP
    return [a & (c < limit) for c, a in zip(counts, asked, strict=True)]
