"""Figures of weighted records by group: means, quantiles, Gini indices, and what one column says of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def means(group: Ints, x: Floats, w: Floats, size: int) -> Floats:
    """Weighted mean of each group, shape (size,); NaN where its weights do not add up to something positive."""
    total = np.bincount(group, weights=w, minlength=size)
    found = np.bincount(group, weights=w * x, minlength=size)
    out: Floats = np.divide(found, total, out=np.full(size, np.nan), where=total > 0)
    return out


def quantiles(
    group: Ints, x: Floats, w: Floats, size: int, q: float, *, ends: tuple[Floats, Floats] | None = None
) -> Floats:
    """The q-quantile of each group, shape (size,); NaN for groups without records.

    With exact numbers, the mean of the two numbers between which the share q falls, where it falls between two (as a
    median is usually taken), else the number at which it is reached. With the ends of bins, records are spread evenly
    between the ends of theirs. Negative weights count as 0.

    Args:
        group: of each record.
        x: number of each record; the middle of its bin where `ends` are given.
        w: weight of each record.
        size: number of groups.
        q: in (0, 1).
        ends: lower and upper end of each record's bin.
    """
    keep = np.flatnonzero(w > 0)
    order = keep[np.lexsort((x[keep], group[keep]))]
    out = np.full(size, np.nan)
    if not len(order):
        return out
    g, v, weight = group[order], x[order], w[order]
    start = np.flatnonzero(np.append(True, (g[1:] != g[:-1]) | (v[1:] != v[:-1])))  # one entry a distinct number
    weight = np.add.reduceat(weight, start)
    at, v, g = order[start], v[start], g[start]
    reached = np.cumsum(weight)
    first = np.flatnonzero(np.append(True, g[1:] != g[:-1]))
    last = np.append(first[1:], len(g)) - 1
    before = np.append(0.0, reached)[first]
    total = reached[last] - before
    wanted = before + q * total
    place = np.clip(np.searchsorted(reached, wanted * (1 - 1e-12), side="left"), first, last)
    if ends is None:
        exact = np.isclose(reached[place], wanted, rtol=1e-12, atol=0.0) & (place < last)
        found = np.where(exact, (v[place] + v[np.minimum(place + 1, last)]) / 2, v[place])
    else:
        low, high = ends[0][at[place]], ends[1][at[place]]
        inside = (wanted - (reached[place] - weight[place])) / weight[place]
        found = low + np.clip(inside, 0.0, 1.0) * (high - low)
    out[g[first]] = found
    return out


def ginis(group: Ints, x: Floats, w: Floats, size: int) -> Floats:
    """Gini index of each group by the trapezoid rule, shape (size,); NaN without records, 0 where all have nothing.

    Negative numbers count as 0, negative weights too.
    """
    weight, value = np.maximum(w, 0.0), np.maximum(x, 0.0)
    order = np.lexsort((value, group))
    g, weight, value = group[order], weight[order], value[order]
    mass = np.cumsum(weight * value)
    first = np.searchsorted(g, np.arange(size), side="left")
    last = np.searchsorted(g, np.arange(size), side="right")
    base = np.append(0.0, mass)[first]
    running = mass - base[g]
    lorenz = np.bincount(g, weights=weight * (2 * running - weight * value), minlength=size)
    total = np.append(0.0, mass)[last] - base
    count = np.bincount(g, weights=weight, minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 1 - lorenz / (count * total)
    out: Floats = np.where(count > 0, np.where(total > 0, np.maximum(found, 0.0), 0.0), np.nan)
    return out


def explained(x: Ints, y: Ints, w: Floats, shape: tuple[int, int]) -> float:
    """Share of the entropy of y that knowing x takes away, from 0 to 1 (Theil's uncertainty coefficient).

    NaN where y does not vary. Negative weights count as 0.
    """
    counts = np.bincount(np.ravel_multi_index((x, y), shape), weights=np.maximum(w, 0.0), minlength=shape[0] * shape[1])
    joint = counts.reshape(shape)
    total = float(joint.sum())
    if total <= 0:
        return float("nan")
    of_y, of_x, both = (_entropy(t / total) for t in (joint.sum(axis=0), joint.sum(axis=1), joint))
    return float(np.clip((of_x + of_y - both) / of_y, 0.0, 1.0)) if of_y > 1e-12 else float("nan")


def _entropy(p: Floats) -> float:
    positive = p[p > 0]
    return float(-(positive * np.log(positive)).sum())
