"""How far the order of groups by pay gap rests on chance: ranks that fresh samples of the same people would give.

Groups of few records change places from sample to sample, so that a rank means little without its interval. Private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals import figures
from dpsyn_core.metrics.comparison import Floats
from dpsyn_core.metrics.income import Incomes, by_group

DRAWS = 1000  # fresh samples; ends of intervals are then off by less than a rank among ten groups
COVERED = (0.05, 0.95)  # quantiles of the draws: nine in ten fresh samples lie between


@dataclass(frozen=True, kw_only=True, slots=True)
class RankIntervals:
    """One entry a group with both sides, in ascending code; rank 1 has the widest gap.

    group, records (of both sides), rank, low, high: shape (k,). agreement: rank correlation of fresh samples with the
    real order, 5 and 95 % quantiles.
    """

    group: NDArray[np.int64]
    records: NDArray[np.int64]
    rank: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    agreement: tuple[float, float]


def rank_intervals(t: Incomes, group: NDArray[np.int64]) -> RankIntervals | None:
    """Draws each group's gap from a normal around the real one, with the standard error of a difference of two means.

    A side of one record has no deviation of its own; it takes that of the whole side. None with fewer than two groups.

    Args:
        t: the real incomes.
        group: codes that occur, ascending, shape (g,).
    """
    gap, error, records = _gaps(t, group)
    known = ~np.isnan(gap)
    if known.sum() < 2:
        return None
    gap, error = gap[known], error[known]
    drawn = gap + error * np.random.default_rng(0).standard_normal((DRAWS, len(gap)))
    ranks = np.argsort(np.argsort(-drawn, axis=1), axis=1) + 1
    real = np.argsort(np.argsort(-gap, kind="stable"), kind="stable") + 1
    low, high = np.quantile(ranks, COVERED, axis=0)
    mean = (len(gap) + 1) / 2
    agreement = ((ranks - mean) @ (real - mean)) / ((real - mean) ** 2).sum()
    least, most = np.quantile(agreement, COVERED)
    return RankIntervals(
        group=group[known], records=records[known], rank=real.astype(np.int64),
        low=np.floor(low).astype(np.int64), high=np.ceil(high).astype(np.int64),
        agreement=(float(least), float(most)),
    )  # fmt: skip


def _gaps(t: Incomes, group: NDArray[np.int64]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Gap of means, its standard error, and records, by group."""
    means, variances, counts = [], [], []
    for side in (0, 1):
        on = t.side == side
        part = by_group(t, group).where(on)
        n, mean = part.totals, figures.means(part)
        with np.errstate(invalid="ignore", divide="ignore"):
            whole = float(t.income[on].var()) if on.any() else np.nan
            apart = (t.income[on] - mean[part.group[on]]) ** 2
            within = np.bincount(part.group[on], apart, len(group)) / (n - 1)
            variances.append(np.where(n > 1, within, whole) / n)
        means.append(mean)
        counts.append(n)
    return means[0] - means[1], np.sqrt(variances[0] + variances[1]), (counts[0] + counts[1]).astype(np.int64)
