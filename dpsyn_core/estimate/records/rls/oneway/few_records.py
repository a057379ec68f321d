"""One-ways whose noise is large against the number of records, as small tables and wide ones have. Blind."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.denoise import shrink_one_way, with_total
from dpsyn_core.estimate.records.rls.oneway.heaps import heaped_counts
from dpsyn_core.estimate.records.rls.oneway.shape import Sums, smooth_counts
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
TINY = 1e-12  # of a share or a probability: nothing
FAR = 20.0  # standard deviations
HALVINGS = 60  # of the interval that holds the common shift: to the last digits of a count


def truncated_normal_mean(values: Floats, sigma: float) -> Floats:
    """Posterior means of counts under a flat prior on what is not negative, given them with Gaussian noise.

    A count far above its noise stays as it is; one far below 0 becomes sigma squared over its size.

    Args:
        values: float64, noisy counts.
        sigma: standard deviation of their noise, above 0.
    """
    from scipy.special import log_ndtr  # scipy is heavy, and systems are imported by every page

    z = values / sigma
    low = np.minimum(z, -FAR)  # far below 0 both terms cancel, and the tail's expansion is exact to five digits
    near = np.maximum(z, -FAR)
    exact = near + np.exp(-0.5 * near**2 - 0.5 * math.log(2 * math.pi) - log_ndtr(near))
    mean: Floats = sigma * np.where(z > -FAR, exact, (2 / low**2 - 1) / low)
    return mean


def simplex_posterior_mean(values: Floats, sigma: float, total: float) -> Floats:
    """Positive counts with this total, nearer to equal counts the larger the noise is against them.

    The posterior mean where all divisions of the total are equally likely beforehand, up to a saddle-point
    approximation: each count is `truncated_normal_mean` of its noisy value plus a shift that all share. Projection to
    the simplex (`denoise.simplex`) gives the likeliest division instead, which has all records at one value where
    noise is large.

    Args:
        values: float64 (size,), noisy counts.
        sigma: standard deviation of their noise, above 0.
        total: their sum, above 0.
    """
    size = len(values)
    low, high = -float(values.max()) - size * sigma**2 / total - sigma, total - float(values.min())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        mass = float(truncated_normal_mean(values + middle, sigma).sum())
        low, high = (middle, high) if mass < total else (low, middle)
    counts = truncated_normal_mean(values + high, sigma)
    out: Floats = counts * (total / float(counts.sum()))
    return out


def spike_slab_mean(value: float, sigma: float, total: float) -> float:
    """The posterior mean of a count under a spike-and-slab prior: 0, or uniform up to the total, equally likely.

    Args:
        value: the noisy count, of a missing cell for example, which most columns do not use.
        sigma: standard deviation of its noise, above 0.
        total: the most that it can be, above 0.
    """
    from scipy.special import ndtr

    low, high = -value / sigma, (total - value) / sigma
    inside = float(ndtr(high) - ndtr(low))
    density = [math.exp(-0.5 * z**2) / math.sqrt(2 * math.pi) for z in (low, high)]
    some = inside / total
    none = density[0] / sigma
    if inside < TINY:  # far outside of what is possible
        return 0.0 if value < 0 else total
    mean = value + sigma * (density[0] - density[1]) / inside
    return float(np.clip(mean * some / (some + none), 0.0, total))


def shrink_few(
    values: Floats,
    sigma: float,
    *,
    ordered: bool,
    special: int,
    total: float,
    heaped: Floats | None = None,
    lengths: Floats | None = None,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """As `shrink_one_way` where noise is large against the records.

    Special values first: they hold records only where their single counts show it. Few values without order follow
    `simplex_posterior_mean`, values in order a smooth shape with heaps on it; others lose noise as usual. Arguments as
    there; heaped: float64 (values in order,), the chance of each to be heaped (`heaps.py`); lengths: see
    `smooth_counts`.
    """
    if total <= 0 or sigma <= 0:
        return shrink_one_way(values, sigma, ordered=ordered, special=special, total=total, tuning=tuning)
    size = len(values)
    listed = size - special
    clean = values + (total - float(values.sum())) / size
    beside = np.array([spike_slab_mean(float(v), sigma, total) for v in clean[listed:]])
    if not listed:
        return with_total(beside, total)
    beside *= min(1.0, total / max(float(beside.sum()), TINY))
    rest = total - float(beside.sum())
    if rest <= TINY * total:
        return np.append(np.zeros(listed), beside)
    if ordered and listed >= tuning.smoothed_from:
        alone = Sums(np.arange(listed), values[:listed], sigma)
        return np.append(_smooth_and_heaped(listed, [alone], rest, heaped, lengths, tuning), beside)
    if listed <= tuning.listed_evenly:
        return np.append(simplex_posterior_mean(clean[:listed], sigma, rest), beside)
    counts = shrink_one_way(clean[:listed], sigma, ordered=ordered, special=0, total=rest, tuning=tuning)
    return np.append(counts, beside)


def shrink_blocks(
    tables: Sequence[Sums],
    size: int,
    *,
    special: int,
    total: float,
    heaped: Floats | None = None,
    lengths: Floats | None = None,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """The counts of an ordered attribute of which only runs of values were counted, from all these counts.

    Special values hold records only where their counts say so; the others follow a smooth shape with heaps on it.

    Args:
        tables: counts of runs of values; each special value has a separate cell, or all have one.
        size: values of the attribute.
        special: values at the end without order.
        total: the sum to give.
        heaped: float64 (values in order,), the chance of each to be heaped (`heaps.py`); None: none is.
        lengths: float64 (values in order,), see `smooth_counts`.
        tuning: constants.
    """
    if total <= 0:
        return np.zeros(size)
    ranked = size - special
    beside = np.array([_beside(tables, place, total) for place in range(ranked, size)])
    beside *= min(1.0, total / max(float(beside.sum()), TINY))
    rest = total - float(beside.sum())
    if rest <= TINY * total:
        return np.append(np.zeros(ranked), beside)
    runs = []
    for t in tables:
        recode = t.recode[:ranked]
        runs.append(Sums(recode, t.values[: int(recode.max()) + 1], t.sigma))
    return np.append(_smooth_and_heaped(ranked, runs, rest, heaped, lengths, tuning), beside)


def _smooth_and_heaped(
    size: int,
    runs: list[Sums],
    total: float,
    heaped: Floats | None,
    lengths: Floats | None,
    tuning: Shrinkage,
) -> Floats:
    """Single values that stand out of their neighbours, and the smooth shape of what they leave."""
    if heaped is None:
        return smooth_counts(size, runs, total, lengths=lengths, tuning=tuning)
    above = heaped_counts(runs, heaped, total, tuning=tuning)
    left = total - float(above.sum())
    if left <= TINY * total:
        return above
    rest = [
        Sums(t.recode, t.values - np.bincount(t.recode, weights=above, minlength=len(t.values)), t.sigma) for t in runs
    ]
    return above + smooth_counts(size, rest, left, lengths=lengths, tuning=tuning)


def _beside(tables: Sequence[Sums], place: int, total: float) -> float:
    """Records of a special value, from the tables that count it alone."""
    alone = [t for t in tables if np.count_nonzero(t.recode == t.recode[place]) == 1]
    precision = sum(1 / t.sigma**2 for t in alone)
    mean = sum(float(t.values[t.recode[place]]) / t.sigma**2 for t in alone) / precision
    return spike_slab_mean(mean, precision**-0.5, total)
