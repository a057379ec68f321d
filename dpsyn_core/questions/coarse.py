"""Coarse values that keep means: neighbouring cells are merged where that hides little of what a mean is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.questions.meaning import Floats, Map

MOST_STARTS = 400  # cells that merging starts from; more are first joined where the least is lost


def mean_map(counts: Floats, numbers: Floats, bins: int) -> Map:
    """Merges runs of cells into at most `bins` coarse values, so that what merging hides of sums is least.

    A coarse value hides the spread of its numbers times its count: by so much can the sum of a group differ from what
    the coarse counts say of it. Long upper tails hold few records and much of the sum, and get narrow bins where
    equal counts would merge them all. The sum of the hidden parts is made least by dynamic programming. Reads released
    or public counts only.

    Args:
        counts: float64 (size,), estimates; negative ones count as 0.
        numbers: what each cell stands for, shape (size,); NaN for cells without a number, which share one code at the
            end.
        bins: coarse values of the cells with numbers, at least 1.

    Returns:
        Coarse code of every cell, in the order of their numbers, shape (size,).
    """
    known = np.flatnonzero(~np.isnan(numbers))
    order = known[np.argsort(numbers[known], kind="stable")]
    out = np.zeros(len(numbers), dtype=np.intp)
    made = 0
    if len(order):
        held = np.maximum(counts[order], 0.0)
        held = held + max(float(held.sum()), 1.0) * 1e-6 / len(held)  # empty cells still have a place in between
        starts = _starts(held, numbers[order], min(bins, len(order)))
        code = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
        out[order] = code
        made = int(code[-1]) + 1
    rest = np.flatnonzero(np.isnan(numbers))
    out[rest] = made
    return out


def hidden(counts: Floats, numbers: Floats, recode: Map) -> Floats:
    """Count times the standard deviation of the numbers of each coarse value: what a coarse table hides, by value."""
    held = np.where(np.isnan(numbers), 0.0, np.maximum(counts, 0.0))
    x = np.where(np.isnan(numbers), 0.0, numbers)
    size = int(recode.max()) + 1
    w = np.bincount(recode, weights=held, minlength=size)
    mean = np.divide(np.bincount(recode, weights=held * x, minlength=size), w, out=np.zeros(size), where=w > 0)
    spread = np.bincount(recode, weights=held * (x - mean[recode]) ** 2, minlength=size)
    out: Floats = np.sqrt(np.maximum(spread * w, 0.0))
    return out


def _starts(counts: Floats, numbers: Floats, bins: int) -> NDArray[np.intp]:
    """First positions of the best `bins` runs, by dynamic programming over the ends of runs."""
    first = _joined(counts, numbers, MOST_STARTS) if len(counts) > MOST_STARTS else np.arange(len(counts))
    w, x, x2 = (np.add.reduceat(v, first) for v in (counts, counts * numbers, counts * numbers**2))
    n = len(first)
    cost = _costs(w, x, x2)
    best = cost[0].copy()  # of one run up to and including each position
    cut = np.zeros((bins, n), dtype=np.intp)
    for k in range(1, bins):
        # the last run starts at j and ends at i: what is best up to j - 1 and the cost of j .. i
        tried = np.where(np.arange(n)[:, None] >= 1, np.concatenate([[np.inf], best[:-1]])[:, None] + cost, np.inf)
        cut[k] = np.argmin(tried, axis=0)
        best = np.minimum(tried[cut[k], np.arange(n)], best) if k else best
    starts, end = [], n - 1
    for k in range(bins - 1, 0, -1):
        if end <= 0:
            break
        start = int(cut[k, end])
        starts.append(start)
        end = start - 1
    return np.unique(first[[0, *starts]])


def _costs(w: Floats, x: Floats, x2: Floats) -> Floats:
    """What a run from j to i hides, shape (n, n); infinite where i is before j."""
    sums = [np.concatenate([[0.0], np.cumsum(v)]) for v in (w, x, x2)]
    count, first, second = (s[None, 1:] - s[:-1, None] for s in sums)
    spread = np.maximum(count * second - first**2, 0.0)
    return np.where(np.arange(len(w))[None, :] >= np.arange(len(w))[:, None], np.sqrt(spread), np.inf)


def _joined(counts: Floats, numbers: Floats, most: int) -> NDArray[np.intp]:
    """Starts of at most `most` runs of cells, of about equal counts times distances."""
    step = np.diff(numbers, append=numbers[-1])
    mass = np.cumsum(np.sqrt(counts) * (step + step.mean() + 1e-300))
    key = np.floor(mass / mass[-1] * (most - 1)).astype(np.int64)
    return np.unique(key, return_index=True)[1]
