"""Runs of values by which sums of their numbers, by group, are known best from noisy counts. Blind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals.coarsening import Coarsening

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MOST_STARTS = 400  # values that merging by mean starts from; more are first joined where the least is lost


def by_mean(counts: Floats, numbers: Floats, *, most: int = 64, noise: float = 0.0) -> Coarsening:
    """Merges runs of values so that sums of the numbers, by group, are known best from noisy counts of the runs.

    What a coarse value adds to the error of a sum has two parts. It hides the spread of its numbers: a group whose
    records lie differently inside it has another sum, by a share of its count times that spread. And its count is
    noisy, which moves the sum by the noise times the distance of its mean from the mean of all. Both are squared
    and added up, and dynamic programming finds the runs that make the whole least. A long upper tail holds few
    records and much of a sum; it gets narrow runs where equal counts would merge it. Reads released or public
    counts only.

    Args:
        counts: float64 (values,), estimates; negative ones count as 0.
        numbers: what each value stands for, (values,); NaN for values without a number, which share the last code.
        most: coarse values of those with numbers, at least 1.
        noise: standard deviation of the noise of one count, in records, over the share of a spread that is hidden.
    """
    known = np.flatnonzero(~np.isnan(numbers))
    order = known[np.argsort(numbers[known], kind="stable")]
    codes = np.zeros(len(numbers), dtype=np.intp)
    made = 0
    if len(order):
        held = np.maximum(counts[order], 0.0)
        held = held + max(float(held.sum()), 1.0) * 1e-6 / len(held)  # empty values still have a place in between
        starts = _best_starts(held, numbers[order], min(most, len(order)), noise)
        run = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
        codes[order] = run
        made = int(run[-1]) + 1
    codes[np.isnan(numbers)] = made
    return Coarsening.of(codes)


def _best_starts(counts: Floats, numbers: Floats, most: int, noise: float) -> Codes:
    """First positions of the best runs, at most so many, by dynamic programming over their ends."""
    first = _joined(counts, numbers, MOST_STARTS) if len(counts) > MOST_STARTS else np.arange(len(counts))
    w, x, x2 = (np.add.reduceat(v, first) for v in (counts, counts * numbers, counts * numbers**2))
    cost = _costs(w, x, x2, noise)
    n = len(first)
    rows = np.arange(n)
    best, cuts, ends = cost[0], [np.zeros(n, dtype=np.intp)], [float(cost[0, -1])]
    for _ in range(1, min(most, n)):
        # the last run starts at j and ends at i: what is best up to j - 1, and the cost of j .. i
        tried = np.append(np.inf, best[:-1])[:, None] + cost
        cuts.append(np.argmin(tried, axis=0))
        best = tried[cuts[-1], rows]
        ends.append(float(best[-1]))
    starts, end = [0], n - 1
    for k in range(int(np.argmin(ends)), 0, -1):
        starts.append(int(cuts[k][end]))
        end = starts[-1] - 1
    return np.unique(first[starts])


def _costs(w: Floats, x: Floats, x2: Floats, noise: float) -> Floats:
    """What a run from j to i adds to the squared error of a sum, shape (n, n); infinite where i is before j."""
    sums = [np.concatenate([[0.0], np.cumsum(v)]) for v in (w, x, x2)]
    count, first, second = (s[None, 1:] - s[:-1, None] for s in sums)
    after = np.arange(len(w))[None, :] >= np.arange(len(w))[:, None]
    spread = np.maximum(count * second - first**2, 0.0)
    mean = np.divide(first, count, out=np.zeros_like(first), where=after)
    middle = float(x.sum() / w.sum())
    return np.where(after, spread + (noise * (mean - middle)) ** 2, np.inf)


def _joined(counts: Floats, numbers: Floats, most: int) -> Codes:
    """Starts of at most `most` runs of values, of about equal counts times distances."""
    step = np.diff(numbers, append=numbers[-1])
    mass = np.cumsum(np.sqrt(counts) * (step + step.mean() + 1e-300))
    key = np.floor(mass / mass[-1] * (most - 1)).astype(np.int64)
    return np.unique(key, return_index=True)[1]
