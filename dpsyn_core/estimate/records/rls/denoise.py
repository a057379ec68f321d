"""Empirical-Bayes shrinkage of noisy one-ways and pair tables with given noise. Blind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.oneway.empty_runs import supported
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
ROUNDED = 1 + 1e-9  # a sum that is larger than another one by no more is the same


def simplex(values: Floats, total: float) -> Floats:
    """The nearest non-negative values with this sum (Euclidean projection; Duchi et al. 2008, Figure 1)."""
    if total <= 0:
        return np.zeros_like(values)
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    keep = int(np.nonzero(falling >= excess)[0][-1])  # not >: a total below the rounding of the first is taken for 0
    projected: Floats = np.clip(values - excess[keep], 0, None)
    return projected


def shrink_unordered(values: Floats, sigma: float, *, tuning: Shrinkage = RECORDS.shrinkage) -> Floats:
    """Posterior means of the values near 0, under the prior that makes them most likely; large values stay.

    The prior lives on a grid from 0 to some 6 sigma and is fitted by expectation-maximisation. Rare values lose their
    noise, frequent ones keep their counts. Source: Kiefer and Wolfowitz 1956; Jiang and Zhang 2009.
    """
    shrunk: Floats = _shrink_rows(values[None, :], np.array([sigma]), tuning)[0]
    return shrunk


def _shrink_rows(values: Floats, sigmas: Floats, tuning: Shrinkage) -> Floats:
    """Every row (rows, n) as by `shrink_unordered`, with one sigma per row (rows,)."""
    from dpsyn_core.estimate.records.rls.prior_kernel import shrink_rows  # numba is heavy

    z = values / sigmas[:, None]
    near = z <= tuning.near_zero
    shrink_rows(
        z,
        tuning.near_zero,
        tuning.fewest_values,
        tuning.counted_on_grid,
        np.linspace(0, tuning.grid_end, tuning.grid_points),
        tuning.sweeps_unordered,
    )
    few = np.count_nonzero(near, axis=1) < tuning.fewest_values
    means: Floats = np.where(near & ~few[:, None], sigmas[:, None] * z, values)
    return means


def shrink_ordered(values: Floats, sigma: float, *, tuning: Shrinkage = RECORDS.shrinkage) -> Floats:
    """Smooths counts of neighbouring bins: dyadic differences shrunk level by level, averaged over shifts of the grid.

    At every node of a binary tree over the bins the left part is its proportional share of the node plus a
    difference; the differences of a level share a mixture prior that is fitted to them. Flat stretches become flat,
    spikes stay. Source: Haar shrinkage with cycle spinning, Coifman and Donoho 1995; Johnstone and Silverman 2005.
    """
    size = 1 << max(len(values) - 1, 1).bit_length()
    shifts = np.arange(0, size, max(1, size // tuning.shifts))
    smooth = np.zeros(len(values))
    for part in np.array_split(shifts, -(-len(shifts) * size // tuning.values_at_once)):
        place = (np.arange(len(values)) + part[:, None]) % size
        sums, widths = np.zeros((len(part), size)), np.zeros((len(part), size))
        np.put_along_axis(sums, place, values[None, :], axis=1)
        np.put_along_axis(widths, place, 1.0, axis=1)
        levels = [(sums, widths)]
        while levels[-1][0].shape[1] > 1:
            s, w = levels[-1]
            levels.append((s[:, 0::2] + s[:, 1::2], w[:, 0::2] + w[:, 1::2]))
        estimate = levels[-1][0]
        for (s, w), (parent, width) in zip(levels[-2::-1], levels[:0:-1], strict=True):
            estimate = _split(estimate, s[:, 0::2], parent, w[:, 0::2], width, sigma, tuning)
        smooth += np.take_along_axis(estimate, place, axis=1).sum(axis=0)
    return smooth / len(shifts)


def _split(
    estimate: Floats, left: Floats, parent: Floats, left_width: Floats, width: Floats, sigma: float, tuning: Shrinkage
) -> Floats:
    """Estimates of the two halves of every node, interleaved; all arrays are (shifts, nodes)."""
    share = np.divide(left_width, width, out=np.zeros_like(width), where=width > 0)
    noise = sigma * np.sqrt(share * (1 - share) * width)
    two = noise > 0
    z = np.divide(left - share * parent, noise, out=np.zeros_like(width), where=two)
    halves = np.empty((len(estimate), 2 * estimate.shape[1]))
    halves[:, 0::2] = share * estimate + noise * _shrink(z, two, tuning)
    halves[:, 1::2] = estimate - halves[:, 0::2]
    return halves


def _shrink(z: Floats, real: NDArray[np.bool_], tuning: Shrinkage, directions: int = 1) -> Floats:
    """Posterior means of unit-noise values under a zero-centred mixture of normals, fitted to the real ones of a row.

    Args:
        z: float64 (rows, values), 0 where there is no value; lengths of vectors where they have more directions.
        real: bool, where there is one.
        tuning: prior spreads, and rounds of expectation-maximisation.
        directions: of each value, with noise and spread in all of them.
    """
    if not z.any():  # the answer is 0, as in every dry run, which pages wait for
        return z
    spreads = np.array([0.0, *np.geomspace(0.5, tuning.widest_spread, tuning.spreads)])  # in units of the noise
    variance = 1 + spreads**2
    score = -0.5 * z[..., None] ** 2 / variance  # its largest is taken off: a spike of a million is 0 under every part
    likelihood = np.exp(score - score.max(axis=-1, keepdims=True)) / variance ** (directions / 2)
    pull = np.append(2.0 * tuning.no_difference, np.full(len(spreads) - 1, 1 / len(spreads))) / 2
    prior = np.full((len(z), len(spreads)), 1 / len(spreads))
    for _ in range(tuning.sweeps_ordered):
        seen = real / _mix(likelihood, prior)
        prior = prior * np.matmul(seen[:, None, :], likelihood)[:, 0] + pull
        prior /= prior.sum(axis=1, keepdims=True)
    factor: Floats = _mix(likelihood, prior * (spreads**2 / variance)) / _mix(likelihood, prior)
    return factor * z


def shrink_differences(z: Floats, *, directions: int = 1, tuning: Shrinkage = RECORDS.shrinkage) -> Floats:
    """Posterior means of values with unit noise, under a zero-centred mixture of normals that is fitted to them.

    Args:
        z: float64 (values,).
        directions: of each value, which is then the length of a vector.
        tuning: constants.
    """
    shrunk: Floats = _shrink(z[None, :], np.ones((1, len(z)), dtype=bool), tuning, directions)[0]
    return shrunk


def _mix(likelihood: Floats, prior: Floats) -> Floats:
    """Sums over the mixture: (rows, values, parts) with (rows, parts) gives (rows, values)."""
    mixed: Floats = np.matmul(likelihood, prior[:, :, None])[..., 0]
    return mixed


def shrink_one_way(
    values: Floats,
    sigma: float,
    *,
    ordered: bool,
    special: int,
    total: float,
    number: bool = False,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """A noisy one-way without most of its noise: non-negative, with the given total.

    Args:
        values: float64 (size,), noisy counts.
        sigma: standard deviation of their noise.
        ordered: whether the first size - special values are neighbours of each other.
        special: values at the end without order.
        total: the sum to give.
        number: whether the values have a mean.
        tuning: constants.
    """
    if total <= 0:
        return np.zeros(len(values))
    # least squares given the total, which is known far better than the sum of many noisy counts
    clean = values + (total - float(values.sum())) / len(values)
    ranked = len(values) - special if ordered else 0
    if ranked >= tuning.fewest_values:
        noisy = clean[:ranked].copy()
        smooth = shrink_ordered(noisy, sigma, tuning=tuning)
        sparse = shrink_unordered(noisy, sigma, tuning=tuning)
        shown = supported(noisy, sigma, tuning=tuning)
        kept = tuning.smooth_part * smooth + (1 - tuning.smooth_part) * sparse
        if ranked < tuning.emptied_from:
            kept[~shown] *= tuning.listed_part
            kept = _drawn_in(kept, shown) if number else kept
            shown[:] = True
        # records that no special count accounts for have a number: else, where all bins are clipped, they would be
        # given to the missing cell
        unranked = np.clip(clean[ranked:], 0, None)
        rest = total - float(unranked.sum())
        if rest > 0:
            return np.concatenate([_elsewhere(kept, noisy, smooth, shown, rest, sigma, tuning), unranked])
        clean[:ranked] = 0.0
    elif not ordered and len(values) >= tuning.fewest_values:
        own, clean = clean[len(values) - special :], shrink_unordered(clean, sigma, tuning=tuning)
        # a list of values that are about as frequent says nothing of blanks, or of what is not listed, which is mostly
        # nothing: these have no more records than their own counts say
        clean[len(values) - special :] = np.minimum(clean[len(values) - special :], np.clip(own, 0, None))
    return with_total(clean, total)


def _drawn_in(kept: Floats, shown: NDArray[np.bool_]) -> Floats:
    """Counts of a number whose ends without evidence are no longer than what lies between them.

    A few records far away from all others would move the mean. They are spread evenly over the nearer part of an end.
    """
    occupied = np.flatnonzero(shown)
    if not len(occupied):
        return kept
    first, last = int(occupied[0]), int(occupied[-1])
    width, out = last - first + 1, kept.copy()
    for end in (out[:first][::-1], out[last + 1 :]):  # outwards
        end[:width] += np.maximum(end[width:], 0.0).sum() / width
        end[width:] = 0.0
    return out


def _elsewhere(
    kept: Floats, noisy: Floats, smooth: Floats, shown: NDArray[np.bool_], total: float, sigma: float, tuning: Shrinkage
) -> Floats:
    """The counts of a column with this total, where some stretches show no records by themselves.

    The total less the counts of the other stretches estimates their records far better than their noisy sum. Within
    the noise of that difference they are empty; beyond it there are records, a long tail for example, and scaling up
    the other stretches would move it into the middle. They follow the smooth estimate, and are fewer with the distance
    from the other stretches, by its square root, as tails are.
    """
    if not shown.any():
        return with_total(kept, total)
    left = total - float(noisy[shown].sum())
    if shown.all() or left <= tuning.elsewhere * sigma * np.sqrt(np.count_nonzero(shown)):
        return with_total(np.where(shown, kept, 0.0), total)
    out = np.empty(len(kept))
    out[shown] = with_total(kept[shown], max(total - left, 0.0))
    places = np.arange(len(kept))
    occupied = np.flatnonzero(shown)
    after = np.clip(np.searchsorted(occupied, places[~shown]), 1, len(occupied) - 1)
    away = np.minimum(np.abs(places[~shown] - occupied[after - 1]), np.abs(occupied[after] - places[~shown]))
    out[~shown] = with_total(np.clip(smooth[~shown], 0, None) / np.sqrt(away), min(left, total))
    return out


def with_total(values: Floats, total: float) -> Floats:
    """Non-negative values with this sum. A surplus is taken off as by `simplex`; a deficit is filled in proportion.

    A deficit that is spread evenly would put records where shrinkage has just removed all. So would one by rounding: a
    value of 1e-12 counts as one that can be proposed to a record.
    """
    positive = np.clip(values, 0, None)
    total_now = float(positive.sum())
    return positive * (total / total_now) if 0 < total_now < total * ROUNDED else simplex(values, total)


def shrink_pair(values: Floats, expected: Floats, sigma: float, *, tuning: Shrinkage = RECORDS.shrinkage) -> Floats:
    """A noisy pair table without most of its noise: the mean of two estimators with different strengths.

    Shrinking singular values suits weak, smooth dependence. A narrow band of cells, as numbers that nearly determine
    each other have, has full rank; there, shrinking the cells near 0 does better. Where one attribute nearly decides
    the other, most cells are empty, and the fit takes away more noise than the first estimator would, since no count of
    records is negative: there, the noisy cells take its place. Tables of few directions have no cells to tell a prior
    from, and go by their interaction alone: a mean with noisy cells would keep half of the noise.
    """
    shrunk: Floats = shrink_pairs(values[None], expected[None], np.array([sigma]), tuning=tuning)[0]
    return shrunk


def shrink_pairs(values: Floats, expected: Floats, sigmas: Floats, *, tuning: Shrinkage = RECORDS.shrinkage) -> Floats:
    """Many pair tables of one shape, (tables, rows, columns), each as by `shrink_pair`; sigmas: (tables,)."""
    if min(values.shape[1:]) < 2:
        return values
    if _directions(values) <= tuning.few_directions:
        return shrink_interactions(values, expected, sigmas, tuning)
    cells = _shrink_rows(values.reshape(len(values), -1), sigmas, tuning).reshape(values.shape)
    part, smooth = tuning.interaction_part, shrink_interactions(values, expected, sigmas, tuning)
    strong = _strong(values, expected, sigmas, tuning)[:, None, None]
    mean: Floats = part * (smooth + strong * (values - smooth)) + (1 - part) * cells
    return mean


def _strong(values: Floats, expected: Floats, sigmas: Floats, tuning: Shrinkage) -> Floats:
    """From 0 to 1, how nearly one attribute decides the other in each of these tables.

    The length of the interaction, less what noise explains of it, over the length that it has where one attribute
    follows from the other: the smaller one of both ways.
    """
    _, inner = _interaction(values, expected)
    margins = [expected.sum(axis=axis) for axis in (1, 2)]
    most = np.min([np.square(m).sum(axis=1) for m in margins], axis=0) - np.square(expected).sum(axis=(1, 2))
    noise = _directions(values) + tuning.strong_sure * np.sqrt(2 * _directions(values))
    left = np.maximum(np.square(inner).sum(axis=(1, 2)) - noise * sigmas**2, 0.0)
    strength = np.sqrt(np.divide(left, most, out=np.zeros_like(left), where=most > 0))
    low, high = tuning.strong
    return np.asarray(np.clip((strength - low) / (high - low), 0.0, 1.0))


def _interaction(values: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """What tables of one shape differ by from those expected, and that without its row and column means."""
    difference = values - expected
    rows, columns = difference.mean(axis=2, keepdims=True), difference.mean(axis=1, keepdims=True)
    return difference, difference - rows - columns + difference.mean(axis=(1, 2), keepdims=True)


def _directions(tables: Floats) -> int:
    """Degrees of freedom of the interaction in tables of one shape, (tables, rows, columns)."""
    return int((tables.shape[1] - 1) * (tables.shape[2] - 1))


def shrink_interactions(values: Floats, expected: Floats, sigmas: Floats, tuning: Shrinkage) -> Floats:
    """Noisy pair tables of one shape, (tables, rows, columns), with shrunk interactions; margins stay as measured.

    The interaction (row and column means of the difference from `expected` taken out) of real tables has few
    strong components; the optimal shrinker for squared error removes those below the edge of the noise. Source:
    Gavish and Donoho 2017, equation (7) (Frobenius loss). That holds for large tables: of yes/no attributes, it would
    take away every dependence below twice its noise. In those with few directions the whole interaction is shrunk, by
    a prior that all tables of the shape share: where most of them show nothing beyond their noise, little is left.
    """
    difference, inner = _interaction(values, expected)
    if _directions(values) <= tuning.few_directions:
        length = np.sqrt((inner**2).sum(axis=(1, 2))) / sigmas
        left = shrink_differences(length, directions=_directions(values), tuning=tuning)
        part = np.divide(left, length, out=np.zeros_like(length), where=length > 0)
        return np.asarray(expected + (difference - inner) + part[:, None, None] * inner)
    short, long = (side(values.shape[1:]) - 1 for side in (min, max))  # degrees of freedom after centring
    u, d, v = np.linalg.svd(inner, full_matrices=False)
    beta = short / long
    y = d / (sigmas[:, None] * np.sqrt(long))
    above = y > 1 + np.sqrt(beta)
    kept = np.where(above, np.sqrt(np.maximum((y**2 - beta - 1) ** 2 - 4 * beta, 0)) / np.maximum(y, 1e-9), 0.0)
    shrunk: Floats = expected + (difference - inner) + (u * (kept * sigmas[:, None] * np.sqrt(long))[:, None, :]) @ v
    return shrunk
