"""Algebra of marginals: projection, products and integer rounding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError

Array = NDArray[np.float64]


def project(values: Array, names: Sequence[str], keep: Sequence[str]) -> Array:
    """Sums a table over all attributes that are not kept; the kept axes stand in the order of `keep`.

    Raises EngineError when an attribute to keep is not on the table.
    """
    missing = [n for n in keep if n not in names]
    if missing:
        msg = f"a table over {', '.join(names) or 'nothing'} has no axis '{missing[0]}'"
        raise EngineError(msg)
    dropped = tuple(i for i, n in enumerate(names) if n not in keep)
    left = [n for n in names if n in keep]
    return np.asarray(values.sum(axis=dropped)).transpose([left.index(n) for n in keep])


def spread(values: Array, names: Sequence[str], onto: Sequence[str]) -> Array:
    """Gives a table over some attributes an axis of length 1 for each of the others, ready to broadcast."""
    positions = [list(onto).index(n) for n in names]
    ordered = values.transpose(np.argsort(positions)) if len(names) else values
    shape = [1] * len(onto)
    for axis, position in enumerate(sorted(positions)):
        shape[position] = ordered.shape[axis]
    return ordered.reshape(shape)


def product(one_ways: Sequence[Array], total: float) -> Array:
    """The independent table: the outer product of marginals that share a total, scaled to it.

    A marginal without a positive count is taken as uniform.
    """
    out = np.array(float(total))
    for values in one_ways:
        out = np.multiply.outer(out, probabilities(values))
    return out


def probabilities(values: Array) -> Array:
    """Clips at zero and scales to 1; uniform when nothing is left."""
    clipped = np.clip(np.asarray(values, dtype=np.float64), 0, None)
    total = clipped.sum()
    if total > 0 and np.isfinite(total):
        return np.asarray(clipped / total)
    return np.full(clipped.shape, 1 / max(clipped.size, 1))


def whole_counts(values: Array, total: int, *, rng: Generator) -> NDArray[np.int64]:
    """Scales a table to `total` records and rounds by largest remainder; ties are broken at random.

    Without that, of thousands of equally small cells the first ones would always be rounded up.

    Args:
        values: any shape, negative cells count as zero; uniform when nothing is positive.
        total: number of records, at least 0.
        rng: post-processing randomness.

    Returns:
        int64, same shape, sums to `total`, each cell within one record of its share.
    """
    share = probabilities(values).ravel() * total
    whole = np.floor(share).astype(np.int64)
    left = int(total - whole.sum())
    if left > 0:
        order = rng.permutation(share.size)
        remainder = (share - whole)[order]
        top = order[np.argpartition(-remainder, left - 1)[:left]] if left < share.size else order
        whole[top] += 1
    return whole.reshape(np.shape(values))
