"""Noisy tables of three attributes and more, without most of their noise: what their pairs say, and a little beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.denoise import shrink_differences, shrink_pair
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
ROUNDS = 12  # of iterative proportional fitting: pairs of noisy tables do not agree exactly, and more change little


def shrink_wide(
    values: Floats, alone: Sequence[Floats], sigma: float, *, tuning: Shrinkage = RECORDS.shrinkage
) -> Floats:
    """A noisy table of three or more attributes whose cells hold few records for their noise, shrunk in two steps.

    Its pairs are sums of many cells, in which dependence stands out from the noise; they are shrunk as pair tables
    are, and joined by iterative proportional fitting. What the cells show beyond them is shrunk by a mixture prior
    that is fitted to it: nothing where it looks like noise.

    Args:
        values: float64, one axis an attribute, noisy counts.
        alone: for each axis its expected counts, float64, with one positive total.
        sigma: standard deviation of the noise of a cell.
        tuning: constants.
    """
    total = float(alone[0].sum())
    axes = range(values.ndim)
    table = np.full(values.shape, total)
    for i in axes:
        table = table * _along((i,), alone[i] / total, values.ndim)
    pairs = {}
    for i, j in combinations(axes, 2):
        rest = tuple(a for a in axes if a not in (i, j))
        noise = sigma * math.sqrt(math.prod(values.shape[a] for a in rest))
        expected = np.outer(alone[i], alone[j]) / total
        clean = np.maximum(shrink_pair(values.sum(axis=rest), expected, noise, tuning=tuning), 0.0)
        pairs[i, j] = clean * (total / max(float(clean.sum()), 1e-300))
    for _ in range(ROUNDS):
        for (i, j), target in pairs.items():
            rest = tuple(a for a in axes if a not in (i, j))
            margin = table.sum(axis=rest)
            ratio = np.divide(target, margin, out=np.zeros_like(target), where=margin > 0)
            table = table * _along((i, j), ratio, values.ndim)
    beyond = shrink_differences(((values - table) / sigma).ravel(), tuning=tuning)
    out: Floats = table + sigma * beyond.reshape(values.shape)
    return out


def _along(axes: tuple[int, ...], values: Floats, dimensions: int) -> Floats:
    """Values with one axis each for `axes`, in rising order, and length 1 elsewhere."""
    shape = [1] * dimensions
    for axis, size in zip(axes, values.shape, strict=True):
        shape[axis] = size
    return values.reshape(shape)
