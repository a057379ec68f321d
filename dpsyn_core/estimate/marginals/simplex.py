"""Non-negativity: norm_sub, norm_cut and ripple remove negative cells and keep the total."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NonNegativeRule = Literal["norm_sub", "norm_cut", "ripple", "none"]

RIPPLE_DEPTH = 1.0  # counts; negative cells above minus this are not emptied
RIPPLE_PASSES = 3  # cells emptied at most, as a multiple of the cells there are


def norm_sub(values: Array, total: float | None = None) -> Array:
    """The nearest table in least squares that is non-negative and keeps the total: clip(x - t, 0).

    t comes from a sort in closed form, without bisection. A total of 0 or less gives zeros.

    Args:
        values: any shape, in counts.
        total: what the result sums to; default the sum of `values`.

    Source: Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li 2020 (norm-sub); the projection onto the simplex.
    """
    target = float(values.sum()) if total is None else float(total)
    if not target > 0:
        return np.zeros_like(values)
    if total is None and values.min() >= 0:
        return values
    x = np.sort(values, axis=None)[::-1]
    t = (np.cumsum(x) - target) / np.arange(1, x.size + 1)
    last = int(np.flatnonzero(x >= t)[-1])  # true at least for the first cell, even when rounding loses the total
    return np.asarray(np.clip(values - t[last], 0, None))


def norm_cut(values: Array, total: float | None = None) -> Array:
    """Zeroes the negative cells, then the smallest positive ones until the removed mass balances.

    The last cell that is cut keeps what is left over. A total of 0 or less gives zeros; a total above the sum
    of the positive cells scales them up.
    """
    target = float(values.sum()) if total is None else float(total)
    if not target > 0:
        return np.zeros_like(values)
    flat = np.clip(values, 0, None).ravel()
    surplus = flat.sum() - target
    if surplus <= 0:
        if flat.sum() <= 0:
            return np.full(values.shape, target / values.size)
        return np.asarray((flat * (target / flat.sum())).reshape(values.shape))
    order = np.argsort(flat, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(flat[order])[:-1]])
    kept = flat[order] - np.clip(surplus - before, 0, flat[order])
    flat[order] = kept
    return flat.reshape(values.shape)


def ripple(values: Array, total: float | None = None) -> Array:
    """Empties clearly negative cells; the cells that differ in one attribute share the deficit equally.

    So the error stays near the cell where the noise put it. Cells above minus one count are left alone. When there
    still is a deficit after three times as many steps as there are cells, norm_sub removes it.

    Args:
        values: any shape; one axis an attribute, since neighbours differ along one axis.
        total: what the result sums to; default the sum of `values`.

    Source: Qardaji, Yang, Li 2014, section 4.4; on categorical attributes a cell has sum(size - 1) neighbours.
    """
    from dpsyn_core.estimate.marginals.ripple_kernel import ripple_flat  # numba is heavy

    if total is not None and values.size:
        values = values + (total - values.sum()) / values.size
    if not float(values.sum()) > 0:
        return np.zeros_like(values)
    out = np.array(values, dtype=np.float64, order="C")
    sizes = np.array(out.shape, dtype=np.int64)
    strides = np.array(out.strides, dtype=np.int64) // out.itemsize
    left = ripple_flat(out.reshape(-1), sizes, strides, RIPPLE_DEPTH, RIPPLE_PASSES * out.size)
    return out if left > 0 else norm_sub(out)


def keep(values: Array, total: float | None = None) -> Array:
    """Leaves a table as it is."""
    return values


RULES: dict[NonNegativeRule, Callable[[Array], Array]] = {
    "norm_sub": norm_sub,
    "norm_cut": norm_cut,
    "ripple": ripple,
    "none": keep,
}
