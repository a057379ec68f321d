"""Equivalent subsample and k-marginal, the scores of SDNist: how large a random part of the real records is as good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.metrics.base import Metric, Score, register
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.distances import Distances, marginal_distances, sampled_sets

FULL = 1000.0  # of the k-marginal score
SHARES = np.geomspace(0.001, 1.0, 121)  # subsamples that are tried; what lies between them is interpolated
EVERY_PAIR = 1_000_000  # pairs up to which all are compared: those of `tvd-2way`, which are counted once


def subsample_distance(held: NDArray[np.int64], cells: NDArray[np.int64], n: int, m: int) -> float:
    """The expected L1 distance, summed over all cells, of a random subsample from the whole table, as frequencies.

    A cell that holds r of n records holds a hypergeometric number of m records drawn without replacement, whose mean
    absolute deviation has a closed form (Diaconis and Zabell 1991, Statistical Science 6(3), for other laws too).

    Args:
        held: numbers of records that cells hold, above 0.
        cells: for each of them, how many cells hold it.
        n: records of the table.
        m: records of the subsample.
    """
    from scipy.special import gammaln

    if m >= n:
        return 0.0
    inside = held < n
    r, count = held[inside].astype(np.float64), cells[inside]
    v = (held[inside] * m) // n + 1.0
    possible = (v <= np.minimum(r, m)) & (m - v <= n - r)
    r, v, count = r[possible], v[possible], count[possible]

    chance = np.exp(
        gammaln(r + 1) - gammaln(v + 1) - gammaln(r - v + 1)
        + gammaln(n - r + 1) - gammaln(m - v + 1) - gammaln(n - r - m + v + 1)
        - gammaln(n + 1) + gammaln(m + 1) + gammaln(n - m + 1)
    )  # fmt: skip
    deviation = 2 * v * (n - r - m + v) / n * chance
    return float((deviation * count).sum() / m)


def equivalent_subsample(found: Distances, n: int) -> float:
    """The share of the real records a random subsample of which is, on average, as far from them as the table is.

    Between 0.001, which stands for that and less, and 1. Reads the real table's counts.
    """
    sizes = np.unique(np.maximum(np.round(SHARES * n), 1).astype(np.int64))
    l1 = [subsample_distance(found.held, found.cells, n, int(m)) for m in sizes]
    tvd = np.array(l1) / (2 * max(len(found.sets), 1))
    mean = float(found.tvd.mean())
    # the distance falls as the subsample grows; interpolation wants rising values
    return float(np.exp(np.interp(-mean, -tvd, np.log(sizes / n))))


def in_words(share: float) -> str:
    """The equivalent subsample, for a sentence."""
    if share <= SHARES[0] * 1.001:
        return "less than a 0.1 % sample of the real records"
    percent = 100 * share
    return f"a {percent:{'.2g' if percent < 10 else '.0f'}} % sample of the real records"


@register(13)
@dataclass(frozen=True, kw_only=True)
class KMarginal(Metric):
    """As SDNist's report: pairs of columns, at the resolution of the schema in place of its own bins."""

    name = "k-marginal"
    title = "k-marginal (SDNist)"
    question = "How many points of 1,000 do pairs of columns have, and how large a sample of real records has as many?"
    goal = "high"
    minimum = 0.0
    maximum = FULL
    unit = "points of 1,000"

    def compute(self, comparison: Comparison) -> Score:
        """1000 (1 - mean TVD) over pairs, and the subsample of the real records that has as many points."""
        k = min(2, len(comparison.domain))
        sets = sampled_sets(comparison.domain, k, EVERY_PAIR, all_up_to=EVERY_PAIR, seed=0)
        found = marginal_distances(comparison, sets)
        value = FULL * (1 - float(found.tvd.mean()))
        share = equivalent_subsample(found, comparison.n)
        return Score(
            metric=self.name,
            value=value,
            floor=FULL * (1 - float(found.floor.mean())),
            sentence=f"{value:,.0f} of 1,000 points for pairs of columns: as good as {in_words(share)}.",
            details={"equivalent_subsample": share, "pairs": len(found.sets)},
        )
