"""The smooth shape of an ordered column, from noisy counts of a few runs of its values. Blind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.records.rls.sums import Sums
from dpsyn_core.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
ORDER = 3  # differences of the logarithm that cost: without evidence the shape is a normal curve (Silverman 1982)
STEPS = 8  # of Gauss and Newton for each penalty, each started from the one before
LONGEST = 3.0  # change of a logarithm in one step
MOST_LEFT_OUT = 0.125  # of the records at each end, however large the noise is
FLAT = 1e-6  # added to the curvature, so that it can be inverted


def smooth_counts(size: int, tables: Sequence[Sums], total: float, *, tuning: Shrinkage = RECORDS.shrinkage) -> Floats:
    """Positive counts of an ordered column whose logarithm is smooth, near to noisy counts of runs of values.

    The logarithm is penalised by its third differences, and fitted by least squares weighted by the noise.
    How strong the penalty is follows from the counts: of a falling row of penalties the one is taken under which they
    are likeliest (evidence, by Laplace's approximation). Where the noise is large, that is nearly a normal curve on the
    grid of the values; where it is small, any shape. What counts cannot tell from nothing is left out at both ends, for
    far away it would weigh much. Source: Good and Gaskins 1971; Silverman 1982; MacKay 1992.

    Args:
        size: values of the column, in order.
        tables: noisy counts of runs of values; recode: (size,).
        total: of the counts, above 0.
        tuning: constants.

    Returns:
        float64 (size,), with this total.
    """
    units = min(size, tuning.shape_units)
    unit = np.arange(size) * units // size
    width = np.bincount(unit, minlength=units).astype(np.float64)
    rows, values, sigmas = [], [], []
    for t in tables:
        held = np.zeros((len(t.values), units))
        np.add.at(held, (t.recode, unit), 1 / width[unit])
        rows.append(held / t.sigma * total)
        values.append(t.values / t.sigma)
        sigmas.append(t.sigma)
    p = _likeliest(np.concatenate(rows), np.concatenate(values), width, tuning)
    counts = (p / width)[unit] * total
    least, most = (ends * min(sigmas) for ends in tuning.shape_ends)
    left_out = min(max(least, min(most, tuning.shape_share * total)), MOST_LEFT_OUT * total)
    upto = np.clip(np.cumsum(counts), left_out, total - left_out)
    out: Floats = np.diff(np.append(left_out, upto)) * (total / (total - 2 * left_out))
    return out


def _likeliest(seen: Floats, wanted: Floats, width: Floats, tuning: Shrinkage) -> Floats:
    """Shares of the units under the penalty with most evidence.

    Args:
        seen: float64 (counts, units), what a count sees of the shares, in standard deviations of its noise.
        wanted: float64 (counts,), noisy counts in standard deviations.
        width: float64 (units,), values of each unit.
        tuning: constants.
    """
    units = len(width)
    order = min(ORDER, units - 1)
    rough = np.diff(np.eye(units), order, axis=0)
    penalty = rough.T @ rough
    log = np.zeros(units)
    best: Floats = width / width.sum()
    top, falls = -np.inf, 0
    for strength in np.geomspace(tuning.shape_stiff, tuning.shape_loose, tuning.shape_penalties):
        log, curvature, misfit = _fit(log, seen, wanted, width, strength * penalty)
        determinant = float(np.linalg.slogdet(curvature + FLAT * np.eye(units))[1])
        evidence = 0.5 * (units - order) * np.log(strength) - 0.5 * determinant - misfit
        falls = 0 if evidence > top else falls + 1
        if evidence > top:
            best, top = _shares(log, width), evidence
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
        found = 0.5 * float(y @ y + tried @ penalty @ tried)
        if found >= misfit:
            damping *= 10
            continue
        gained = misfit - found
        log, p, z, misfit, damping = tried, q, y, found, max(damping / 5, FLAT)
        if gained < 0.01:
            break
    return log, curvature, misfit


def _shares(log: Floats, width: Floats) -> Floats:
    """Shares of the units from the logarithms of their densities."""
    held = width * np.exp(log - log.max())
    out: Floats = held / held.sum()
    return out
