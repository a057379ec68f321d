"""The smooth shape of an ordered column, from noisy counts of a few runs of its values. Blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.oneway.empty_runs import supported
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
ORDER = 3  # differences of the logarithm that cost: without evidence the shape is a normal curve (Silverman 1982)
STEPS = 8  # of Gauss and Newton for each penalty, each started from the one before
GROWTH = 1.3  # of the length of a unit far from what is shown
LONGEST = 3.0  # change of a logarithm in one step
MOST_LEFT_OUT = 0.125  # of the records at each end, however large the noise is
NEXT = 1e-9  # of a run, by which a value may seem to begin before it
FLAT = 1e-6  # added to the curvature, so that it can be inverted


@dataclass(frozen=True, slots=True)
class Sums:
    """Noisy counts of the coarse values of an attribute.

    recode: (size,), from value to coarse value. values: float64, one a coarse value. sigma: of their noise.
    """

    recode: NDArray[np.intp]
    values: Floats
    sigma: float


def smooth_counts(
    size: int,
    tables: Sequence[Sums],
    total: float,
    *,
    lengths: Floats | None = None,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """Positive counts of an ordered column whose logarithm is smooth, near to noisy counts of runs of values.

    The logarithm of the density is penalised by its third differences, and fitted by least squares weighted by the
    noise. Where bins of 10 follow bins of 1, counts jump and the density does not.
    How strong the penalty is follows from the counts: of a falling row of penalties the one is taken under which they
    are likeliest (evidence, by Laplace's approximation). Where the noise is large, that is nearly a normal curve on the
    grid of the values; where it is small, any shape. What counts cannot tell from nothing is left out at both ends, for
    far away it would weigh much. Source: Good and Gaskins 1971; Silverman 1982; MacKay 1992.

    Args:
        size: values of the column, in order.
        tables: noisy counts of runs of values; recode: (size,).
        total: of the counts, above 0.
        lengths: float64 (size,), of the values, above 0; None: all are equally long.
        tuning: constants.

    Returns:
        float64 (size,), with this total.
    """
    length = np.ones(size) if lengths is None else lengths
    unit = _runs(length, [t.recode for t in tables[1:]], tuning)
    width = np.bincount(unit, weights=length).astype(np.float64)
    rows, values = [], []
    for t in tables:
        design = np.zeros((len(t.values), len(width)))
        np.add.at(design, (t.recode, unit), length / width[unit])
        rows.append(design / t.sigma * total)
        values.append(t.values / t.sigma)
    p = _likeliest(np.concatenate(rows), np.concatenate(values), width, _roughness(len(width)), tuning)
    counts = _falling_ends((p / width)[unit] * total, length, tables, tuning)
    least, most = (ends * min(t.sigma for t in tables) for ends in tuning.shape_ends)
    left_out = min(max(least, min(most, tuning.shape_share * total)), MOST_LEFT_OUT * total)
    upto = np.clip(np.cumsum(counts), left_out, total - left_out)
    out: Floats = np.diff(np.append(left_out, upto)) * (total / (total - 2 * left_out))
    return out


def smooth_part(
    values: Floats,
    sigma: float,
    blocks: Sums,
    rest: tuple[float, float],
    total: float,
    fine: int,
    *,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """Positive counts of neighbouring values that are a part of a column, as smooth as their noisy counts allow.

    As in `smooth_counts`, the logarithm of the density is penalised, here by its second derivative, and the penalty
    follows from the evidence. All other values of the column count as one, whose density has no neighbour.

    Args:
        values: float64 (size,), noisy counts.
        sigma: standard deviation of their noise.
        blocks: noisy counts of runs of these values.
        rest: noisy count of all other values of the column, and its standard deviation.
        total: of the column, above 0.
        fine: values at the beginning with the finest runs: about `tail_units` of equal length.
        tuning: constants.

    Returns:
        float64 (size,).
    """
    size = len(values)
    unit = _units(size, fine, tuning)
    width = np.bincount(unit).astype(np.float64)
    units = len(width)
    design = np.zeros((len(blocks.values), units))
    np.add.at(design, (blocks.recode, unit), 1 / width[unit])
    count = units + len(blocks.values) + 1
    seen, target = np.zeros((count, units + 1)), np.zeros(count)
    single = sigma * np.sqrt(width)
    seen[:units, :units] = np.diag(1 / single)
    target[:units] = np.bincount(unit, weights=values) / single
    seen[units:-1, :units] = design / blocks.sigma
    target[units:-1] = blocks.values / blocks.sigma
    seen[-1, -1] = 1 / rest[1]
    target[-1] = rest[0] / rest[1]
    middle = (np.cumsum(width) - width / 2) / width[0]
    rough = np.pad(_bends(middle), ((0, 0), (0, 1)))  # the rest has no neighbour
    share = float(np.clip(1 - rest[0] / total, single.min() / total, 0.5))
    start = np.append(np.full(units, np.log(share / size)), np.log(1 - share))
    p = _likeliest(seen * total, target, np.append(width, 1.0), rough, tuning, start)
    out: Floats = (p[:-1] / width)[unit] * total
    return out


def _runs(length: Floats, recodes: Sequence[NDArray[np.intp]], tuning: Shrinkage) -> NDArray[np.intp]:
    """Runs of values of about equal length, which also end where the coarse values of any table do."""
    place = (np.cumsum(length) - length) * (min(len(length), tuning.shape_units) / length.sum())
    cut = np.diff(np.floor(place + NEXT), prepend=-1) != 0
    for recode in recodes:
        cut |= np.diff(recode, prepend=-1) != 0
    return np.cumsum(cut) - 1


def _falling_ends(density: Floats, length: Floats, tables: Sequence[Sums], tuning: Shrinkage) -> Floats:
    """Counts of the same total whose density only falls towards both ends beyond all coarse values with records.

    A hump out there is noise, which a shape that is loose enough for the middle of a column follows.
    """
    out = _falling_end(density, length, tables, tuning)
    turned = [Sums(t.recode[::-1], t.values, t.sigma) for t in tables]
    out = _falling_end(out[::-1], length[::-1], turned, tuning)[::-1] * length
    return np.asarray(out * (float(density @ length) / out.sum()))


def _falling_end(density: Floats, length: Floats, tables: Sequence[Sums], tuning: Shrinkage) -> Floats:
    """Of the upper end. Where a table clearly denies a fall, there are records: it begins at the top of the hump."""
    last = max(_shown_upto(density, t.recode, t, tuning) for t in tables)
    if last < 0:
        return density
    while True:
        out = np.append(density[:last], np.minimum.accumulate(density[last:]))
        denied = max(_misfit(out * length, t) - _misfit(density * length, t) for t in tables)
        if last + 1 >= len(density) or denied <= tuning.heap_sure**2:
            return out
        last += 1 + int(density[last + 1 :].argmax())


def _misfit(counts: Floats, table: Sums) -> float:
    """Sum of the squared differences of a table from what counts say, in standard deviations."""
    off = np.bincount(table.recode, counts, len(table.values)) - table.values
    return float(off @ off) / table.sigma**2


def _shown_upto(density: Floats, recode: NDArray[np.intp], table: Sums, tuning: Shrinkage) -> int:
    """The last place, read outwards, of a value that shows records, or the fullest of a coarse value that does.

    A coarse value does together with all beyond it; it may reach to the end of the range. -1: none shows any.
    """
    cells = recode[np.sort(np.unique(recode, return_index=True)[1])]
    if len(cells) == len(recode):
        shown = supported(table.values[cells], table.sigma, strict_ends=True, tuning=tuning)
    else:
        left = np.cumsum(table.values[cells[::-1]])[::-1]
        shown = left > tuning.tail_far * table.sigma * np.sqrt(np.arange(len(cells), 0, -1))
    if not shown.any():
        return -1
    places = np.flatnonzero(recode == cells[np.flatnonzero(shown)[-1]])
    return int(places[density[places].argmax()])


def _units(size: int, fine: int, tuning: Shrinkage) -> NDArray[np.intp]:
    """Runs of values: of equal length for twice `fine` values, and then each longer than the one before."""
    step = max(1, -(-fine // tuning.tail_units))
    place = np.arange(size) / step
    last = 2.0 * fine / step
    grown = last + np.log(np.maximum(place - last, 0.0) * (GROWTH - 1) + 1) / np.log(GROWTH)
    unit = np.floor(np.where(place < last, place, grown) + 1e-9).astype(np.intp)
    out: NDArray[np.intp] = np.unique(unit, return_inverse=True)[1]
    return out


def _bends(middle: Floats) -> Floats:
    """Second derivatives at every three neighbours, times the root of their distance, (differences, units).

    Two, not three as elsewhere: without evidence a tail falls by the same part from one value to the next.
    """
    first = np.diff(np.eye(len(middle)), axis=0) / np.diff(middle)[:, None]
    reach = (middle[2:] - middle[:-2]) / 2
    out: Floats = np.diff(first, axis=0) / np.sqrt(reach)[:, None]
    return out


def _roughness(units: int) -> Floats:
    """The differences of the logarithm that cost, (differences, units)."""
    return np.diff(np.eye(units), min(ORDER, units - 1), axis=0)


def _likeliest(
    seen: Floats, wanted: Floats, width: Floats, rough: Floats, tuning: Shrinkage, start: Floats | None = None
) -> Floats:
    """Shares of the units under the penalty with most evidence.

    Args:
        seen: float64 (counts, units), what a count sees of the shares, in standard deviations of its noise.
        wanted: float64 (counts,), noisy counts in standard deviations.
        width: float64 (units,), values of each unit.
        rough: float64 (differences, units), what costs.
        tuning: constants.
        start: logarithms to begin with, float64 (units,); equal ones if there are none.
    """
    penalty = rough.T @ rough
    free = np.maximum(np.linalg.lstsq(seen, wanted)[0], FLAT)  # shares that nothing smooths
    row = np.geomspace(tuning.shape_stiff, tuning.shape_loose, tuning.shape_penalties)
    best: Floats = width / width.sum()
    top = -np.inf
    # a peak far from all others may get no share while the penalty is stiff, and none has no slope back
    for begin, strengths in (
        (np.zeros(len(width)) if start is None else start, row),
        (np.log(free / width), row[::-1]),
    ):
        log, before, falls = begin, -np.inf, 0
        for strength in strengths:
            log, curvature, misfit = _fit(log, seen, wanted, width, strength * penalty)
            determinant = float(np.linalg.slogdet(curvature + FLAT * np.eye(len(width)))[1])
            evidence = 0.5 * len(rough) * np.log(strength) - 0.5 * determinant - misfit
            best, top = (_shares(log, width), evidence) if evidence > top else (best, top)
            falls, before = (0, evidence) if evidence > before else (falls + 1, before)
            if falls > 1:
                break
    return best


def _fit(log: Floats, seen: Floats, wanted: Floats, width: Floats, penalty: Floats) -> tuple[Floats, Floats, float]:
    """The logarithm of least penalised misfit, from a start; its curvature and its misfit."""
    units, damping = len(width), 1e-3
    p = _shares(log, width)
    z = seen @ p - wanted
    misfit = 0.5 * float(z @ z + log @ penalty @ log)
    curvature = penalty
    for _ in range(STEPS):
        slope = seen * p - np.outer(seen @ p, p)
        curvature = slope.T @ slope + penalty
        step = np.linalg.solve(curvature + damping * np.eye(units), slope.T @ z + penalty @ log)
        tried = log - np.clip(step, -LONGEST, LONGEST)
        tried -= tried.max()
        q = _shares(tried, width)
        y = seen @ q - wanted
        loss = 0.5 * float(y @ y + tried @ penalty @ tried)
        if loss >= misfit:
            damping *= 10
            continue
        gained = misfit - loss
        log, p, z, misfit, damping = tried, q, y, loss, max(damping / 5, FLAT)
        if gained < 0.01:
            break
    return log, curvature, misfit


def _shares(log: Floats, width: Floats) -> Floats:
    """Shares of the units from the logarithms of their densities."""
    weights = width * np.exp(log - log.max())
    out: Floats = weights / weights.sum()
    return out
