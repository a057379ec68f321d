"""Measures of SDNist: how large a random part of the records is as good, unique records met again, principal axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison
from dpsyn_core.evaluate.distances import Distances, marginal_distances, sampled_sets

FULL = 1000.0  # of the k-marginal score
SHARES = np.geomspace(0.001, 1.0, 121)  # subsamples that are tried; what lies between them is interpolated
EVERY_PAIR = 1_000_000  # pairs up to which all are compared: those of `tvd-2way`, which are counted once
COMPONENTS = 5  # as SDNist's report shows


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
        gammaln(r + 1)
        - gammaln(v + 1)
        - gammaln(r - v + 1)
        + gammaln(n - r + 1)
        - gammaln(m - v + 1)
        - gammaln(n - r - m + v + 1)
        - gammaln(n + 1)
        + gammaln(m + 1)
        + gammaln(n - m + 1)
    )
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
        return "less than a 0.1% sample of the real records"
    percent = 100 * share
    return f"a {percent:{'.2g' if percent < 10 else '.0f'}}% sample of the real records"


@register(13)
@dataclass(frozen=True, kw_only=True)
class KMarginal(Metric):
    """As SDNist's report: pairs of columns, at the resolution of the schema in place of SDNist's bins."""

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
        apart = marginal_distances(comparison, sets)
        value = FULL * (1 - float(apart.tvd.mean()))
        share = equivalent_subsample(apart, comparison.n)
        return Score(
            metric=self.name,
            value=value,
            floor=FULL * (1 - float(apart.floor.mean())),
            sentence=f"{value:,.0f} of 1,000 points for pairs of columns: as good as {in_words(share)}.",
            details={"equivalent_subsample": share, "pairs": len(apart.sets)},
        )


def unique_met(real: Codes, synthetic: Codes) -> tuple[int, int]:
    """Numbers of real records that are unlike all other real ones, and of those that also occur among the synthetic."""
    both = np.concatenate([real, synthetic], axis=1).astype(np.uint32)
    which = np.unique(both, axis=1, return_inverse=True)[1].ravel()
    n, kinds = real.shape[1], int(which.max(initial=-1)) + 1
    alone = np.bincount(which[:n], minlength=kinds) == 1
    met = np.bincount(which[n:], minlength=kinds) > 0
    return int(alone.sum()), int((alone & met).sum())


@register(57)
@dataclass(frozen=True, kw_only=True)
class UniqueMatches(Metric):
    """At the resolution of the schema. A fresh sample of the same people has some too: it is no proof of a leak."""

    name = "unique-matches"
    title = "Unique records met again (SDNist)"
    question = "How many of the records that occur once in the real table occur in the synthetic one?"
    goal = "low"
    minimum = 0.0
    maximum = 1.0
    unit = "share of unique records"
    on = "records"
    quick = False

    def compute(self, comparison: Comparison) -> Score:
        """Share of the real records that occur once which the synthetic table has; 0 where none occurs once."""
        alone, met = unique_met(comparison.truth, comparison.synthetic)
        return Score(
            metric=self.name,
            value=met / max(alone, 1),
            sentence=f"{met:,} of {alone:,} records that occur once in the real table also occur in the synthetic one.",
            details={"unique": alone, "met": met},
        )


def component_distances(real: Codes, synthetic: Codes, most: int = COMPONENTS) -> NDArray[np.float64]:
    """Wasserstein distances of both tables along the first components of the real one, in standard deviations there.

    As SDNist: codes are numbers, standardised by the real table. Columns with one value say nothing.
    """
    from scipy.stats import wasserstein_distance

    kept = np.ptp(real, axis=1) > 0
    x, y = real[kept].astype(np.float64), synthetic[kept].astype(np.float64)
    centre, width = x.mean(axis=1, keepdims=True), x.std(axis=1, keepdims=True)
    x, y = (x - centre) / width, (y - centre) / width
    if not len(x) or not y.shape[1]:
        return np.zeros(0)
    values, vectors = np.linalg.eigh(x @ x.T / x.shape[1])
    chosen = [i for i in np.argsort(values)[::-1][:most] if values[i] > 1e-9]
    return np.array([wasserstein_distance(vectors[:, i] @ x, vectors[:, i] @ y) / values[i] ** 0.5 for i in chosen])


@register(58)
@dataclass(frozen=True, kw_only=True)
class PrincipalComponents(Metric):
    """SDNist draws the two tables along these components; here their distance is one number."""

    name = "components"
    title = "Principal components (SDNist)"
    question = "Do the records lie alike along the five directions in which the real ones differ most?"
    goal = "low"
    minimum = 0.0
    maximum = None
    unit = "standard deviations"
    on = "records"
    quick = False

    def compute(self, comparison: Comparison) -> Score:
        """Mean Wasserstein distance along at most five components of the real codes."""
        apart = component_distances(comparison.truth, comparison.synthetic)
        value = float(apart.mean()) if len(apart) else 0.0
        return Score(
            metric=self.name,
            value=value,
            sentence=f"Along the {len(apart)} directions in which real records differ most, synthetic ones lie "
            f"{value:.2f} standard deviations from where they should.",
            details={"by_component": apart.tolist()},
        )
