"""Single values that hold many more records than their neighbours: 0, the ends of a range, round numbers. Blind.

Days without rain, people without income and weeks of 40 hours are one value each, and many records. Where a column is
counted in runs of values, such a value is lost among its neighbours unless it is counted alone. Which values are, is
public: how round a value is follows from the range and the step alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.oneway.shape import Sums
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
ZERO = 255  # how round the value 0 is; see `schema/attributes/numeric.py`
NONE = 1e-300  # a density below which there is none
HALF = 0.5  # a chance that is not above this is not believed


def expected_heaps(
    ranked: int, roundness: bytes, runs: Places | None = None, *, tuning: Shrinkage = RECORDS.shrinkage
) -> Floats:
    """For each value in order the chance, before anything is counted, that it is heaped; mostly 0.

    0 and both ends of the range may be; so may, of each run, the values that hold its roundest number, as far as they
    are among the roundest of the whole column.

    Args:
        ranked: how many values there are.
        roundness: of each value; empty where unknown.
        runs: (ranked,), the run that each value lies in; None: each value is a run.
        tuning: constants.
    """
    chance = np.zeros(ranked)
    if not ranked:
        return chance
    if roundness:
        level = np.frombuffer(roundness, dtype=np.uint8).astype(np.int64)
        among = np.sort(level)[::-1][int(ranked * tuning.heap_round)]  # as round as this are too many
        round_one = level > among
        if runs is not None:
            best = np.zeros(int(runs.max()) + 1, dtype=np.int64)
            np.maximum.at(best, runs, level)
            round_one &= level == best[runs]
        chance[round_one] = tuning.heap_chance / max(int(np.count_nonzero(round_one)), 1)
    chance[[0, -1]] = tuning.heap_end
    if roundness:
        chance[level == ZERO] = tuning.heap_zero
    return chance


def set_apart(recode: Places, alone: NDArray[np.bool_]) -> Places:
    """A map to runs of values in which some of the first values have separate cells, in the order of first values.

    Args:
        recode: (size,), from value to run; special values have separate cells at the end.
        alone: (ranked,), which values in order get one.
    """
    cells = recode.astype(np.intp).copy()
    cells[: len(alone)][alone] = int(recode.max()) + 1 + np.arange(np.count_nonzero(alone))
    _, first, cells = np.unique(cells, return_index=True, return_inverse=True)
    out: Places = np.argsort(np.argsort(first))[cells].astype(np.intp)
    return out


def heaps(
    tables: list[Sums], chance: Floats, total: float, *, tuning: Shrinkage = RECORDS.shrinkage
) -> tuple[Floats, Floats]:
    """How likely values are heaped after all, and by how many records beyond their neighbours then.

    What a value holds more than its neighbours do on average is nothing, or anything up to the total; its noise is
    given. Considered are values that the first table counts alone and that may be heaped, and all that a later one
    counts alone, whose run in the first table says what is usual beside them. A heap stands out of its noise by
    `heap_sure` deviations, 0 by less: a heap that is none lies far from all records more often than 0 does.

    Args:
        tables: noisy counts of runs of values in order.
        chance: float64 (ranked,), before; see `expected_heaps`.
        total: of the column, above 0.
        tuning: constants.

    Returns:
        Chances and records, float64 (ranked,) each; 0 where nothing was looked at.
    """
    from scipy.special import ndtr  # scipy is heavy, and systems are imported by every page

    ranked, first = len(chance), tables[0]
    after, records = np.zeros(ranked), np.zeros(ranked)
    alone_counts, sure = np.zeros(ranked), np.zeros(ranked)
    for t in tables:
        alone = (np.bincount(t.recode)[t.recode] == 1) / t.sigma**2
        alone_counts, sure = alone_counts + alone * t.values[t.recode], sure + alone
    width = np.bincount(first.recode)
    single = width[first.recode] == 1
    looked = (sure > 0) & (~single | (chance > 0))
    others = np.flatnonzero(~single | (chance == 0))
    if not looked.any() or not len(others):
        return after, records
    places = np.flatnonzero(looked)
    count, noise = alone_counts[places] / sure[places], np.sqrt(1 / sure[places])
    level, of_level = _beside(places, others, first, width)
    inside_run = ~single[places]  # the run holds the value itself
    rest = np.maximum(width[first.recode[places]] - 1, 1)
    level = np.where(inside_run, (first.values[first.recode[places]] - count) / rest, level)
    more = count - np.maximum(level, 0.0)
    noise = np.sqrt(
        np.where(inside_run, (noise * (1 + 1 / rest)) ** 2 + (first.sigma / rest) ** 2, noise**2 + of_level**2)
    )
    before = np.where(chance[places] > 0, chance[places], tuning.heap_any / ranked)
    z, top = more / noise, (total - more) / noise
    inside = np.maximum(ndtr(top) - ndtr(-z), NONE)
    density = [np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) for x in (z, top)]
    odds = before / (1 - before) * (inside / total) / np.maximum(density[0] / noise, NONE)
    enough = np.where(chance[places] >= tuning.heap_zero, tuning.heap_zero_sure, tuning.heap_sure)
    after[places] = np.where(z > enough, odds / (1 + odds), np.minimum(odds / (1 + odds), HALF))
    records[places] = np.clip(more + noise * (density[0] - density[1]) / inside, 0.0, total)
    return after, records


def in_heavy_runs(first: Sums, *, tuning: Shrinkage = RECORDS.shrinkage) -> NDArray[np.bool_]:
    """Which values lie in a short run that holds many records, one of which may be heaped although it is not round."""
    heavy = first.values[: int(first.recode.max()) + 1] > tuning.heap_heavy * first.sigma
    mask: NDArray[np.bool_] = (heavy & (np.bincount(first.recode) <= tuning.heap_run))[first.recode]
    return mask


def _beside(places: Places, others: Places, first: Sums, width: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """The mean count of a value in the cells to both sides of some places, and its noise."""
    at = np.searchsorted(others, places, side="right")
    below = np.clip(np.searchsorted(others, places) - 1, 0, len(others) - 1)
    low, high = first.recode[others[below]], first.recode[others[np.clip(at, 0, len(others) - 1)]]
    both = (low != high).astype(np.float64)
    values = width[low] + both * width[high]
    return (first.values[low] + both * first.values[high]) / values, np.sqrt(1 + both) * first.sigma / values


def heaped_counts(tables: list[Sums], chance: Floats, total: float, *, tuning: Shrinkage = RECORDS.shrinkage) -> Floats:
    """Records of values beyond what their neighbours let expect, where that is likelier than not; else 0."""
    after, records = heaps(tables, chance, total, tuning=tuning)
    heaped = np.where(after > HALF, records, 0.0)
    out: Floats = heaped * min(1.0, total / max(float(heaped.sum()), NONE))
    return out
