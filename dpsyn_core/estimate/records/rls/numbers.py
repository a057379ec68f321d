"""Noisy tables of two numbers, without most of their noise: values of numbers have distances. Blind."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.denoise import shrink_differences, shrink_unordered
from dpsyn_core.estimate.records.rls.placement import Copula
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]


def shrink_numbers(
    values: Floats,
    rows: Floats,
    columns: Floats,
    sigma: float,
    *,
    towards: float = 0.0,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> tuple[Floats, float]:
    """A noisy table of two numbers, shrunk towards the Gaussian copula that is nearest to it.

    Positive noise in the many cells far from a narrow band of records puts records there that weaken every correlation.
    The copula says which cells those are. Its differences from the noisy counts are shrunk by a mixture prior that is
    fitted to them, apart for cells where it expects next to nothing, some, and many records: where it is wrong, the
    differences of a group stand out of their noise and stay.

    Args:
        values: float64 (r, c), noisy counts, at least 2 each way; rows and columns in order.
        rows: float64 (r,), counts of the rows alone.
        columns: float64 (c,), those of the columns, with the same sum.
        sigma: standard deviation of the noise of a cell.
        towards: the correlation that is taken to hold where the table shows no other; see `correlation_beyond`.
        tuning: constants.

    Returns:
        Counts, and the part of the noise that is left in them: the mean factor by which differences were shrunk.
    """
    total = float(rows.sum())
    if total <= 0 or min(values.shape) < 2:
        return values, 1.0
    expected = copula_counts(
        correlation_beyond(values, rows, columns, sigma, towards=towards, tuning=tuning), rows, columns
    )
    return shrink_towards(values, expected, sigma, tuning=tuning)


def shrink_towards(
    values: Floats, expected: Floats, sigma: float, *, tuning: Shrinkage = RECORDS.shrinkage
) -> tuple[Floats, float]:
    """Noisy counts, shrunk towards expected ones; and the part of the noise that is left. See `shrink_numbers`."""
    z = (values - expected) / sigma
    shrunk = z.copy()
    group = np.digitize(expected / sigma, tuning.expected_cuts)
    for g in np.unique(group):
        inside = group == g
        if np.count_nonzero(inside) >= tuning.fewest_values:
            shrunk[inside] = shrink_differences(z[inside], tuning=tuning)
    left = float(np.divide(shrunk, z, out=np.ones_like(z), where=z != 0).mean())
    out: Floats = np.maximum(expected + sigma * shrunk, 0.0)
    return out, left


def copula_counts(correlation: float, rows: Floats, columns: Floats) -> Floats:
    """Counts of a pair of numbers, (rows, columns), of this Gaussian copula; rows, columns: counts of each alone.

    All are 0 where no record has both numbers.
    """
    if rows.sum() <= 0 or columns.sum() <= 0:
        return np.zeros((len(rows), len(columns)))
    return np.asarray(float(rows.sum()) * _copula(rows, columns).shares(correlation))


def shrink_side(values: Floats, expected: Floats, sigma: float) -> Floats:
    """Noisy sums of the rows of a part of a table, non-negative and with their total, drawn towards expected ones.

    Their differences lose the part of their square that noise alone would give (James and Stein 1961).
    """
    beyond = values - expected
    beyond -= beyond.mean()
    strength = float(beyond @ beyond)
    part = max(1 - (len(values) - 1) * sigma**2 / strength, 0.0) if strength else 0.0
    clean = np.maximum(expected + part * beyond, 0.0)
    out: Floats = clean * (float(expected.sum()) / max(float(clean.sum()), 1e-9))
    return out


def correlation_beyond(
    values: Floats,
    rows: Floats,
    columns: Floats,
    sigma: float,
    *,
    towards: float = 0.0,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> float:
    """The correlation of the copula that is nearest to a noisy table, drawn towards another one as far as noise goes.

    Its difference from `towards` is lost where it is no larger than the noise of a correlation, which is about that of
    all cells over the total. Arguments as in `shrink_numbers`.
    """
    total = float(rows.sum())
    if total <= 0 or min(values.shape) < 2:
        return towards
    copula = _copula(rows, columns)
    cells = shrink_unordered(values.ravel(), sigma, tuning=tuning).reshape(values.shape)
    beyond = copula.nearest(cells / max(float(cells.sum()), 1e-9)) - towards
    noise = sigma * math.sqrt(values.size) / total
    return towards + (beyond * max(1 - (noise / beyond) ** 2, 0.0) if beyond else 0.0)


def shrink_classes(
    values: Floats, rows: Floats, columns: Floats, sigma: float, *, tuning: Shrinkage = RECORDS.shrinkage
) -> tuple[Floats, float]:
    """A noisy table of two numbers in each of a few classes: class by class, towards what all classes show together.

    A class with few records estimates a correlation badly, and correlations rarely differ much between classes.

    Args:
        values: float64 (classes, r, c), noisy counts; rows and columns in order.
        rows: float64 (classes, r), counts of the rows in each class.
        columns: float64 (classes, c), those of the columns.
        sigma: standard deviation of the noise of a cell.
        tuning: constants.

    Returns:
        Counts, and the part of the noise that is left in them.
    """
    sizes = (rows.sum(axis=1) + columns.sum(axis=1)) / 2
    rows, columns = (s * (sizes / np.maximum(s.sum(axis=1), 1e-9))[:, None] for s in (rows, columns))
    total = float(sizes.sum())
    if total <= 0 or min(values.shape[1:]) < 2:
        return values, 1.0
    together, noise = values.sum(axis=0), sigma * math.sqrt(len(values))
    shared = correlation_beyond(together, rows.sum(axis=0), columns.sum(axis=0), noise, tuning=tuning)
    tables = [
        shrink_numbers(v, r, c, sigma, towards=shared, tuning=tuning)
        for v, r, c in zip(values, rows, columns, strict=True)
    ]
    return np.stack([v for v, _ in tables]), float(np.mean([left for _, left in tables]))


def _copula(rows: Floats, columns: Floats) -> Copula:
    p, q = (np.maximum(side, 1e-6 * float(side.sum())) for side in (rows, columns))
    return Copula(p / p.sum(), q / q.sum())
