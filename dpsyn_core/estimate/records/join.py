"""Separate, append and join: parts of a table that can be synthesized separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.marginals.types import Measurement, probabilities
from dpsyn_core.schema import AttributeSet

Codes = NDArray[np.unsignedinteger]


def components(sets: Sequence[AttributeSet], names: Sequence[str]) -> list[AttributeSet]:
    """Groups of attributes that no set connects, each in the order of `names`; an attribute in no set is a group."""
    group = {n: i for i, n in enumerate(names)}
    for s in sets:
        joined = {group[n] for n in s}
        if len(joined) > 1:
            low = min(joined)
            group = {n: low if g in joined else g for n, g in group.items()}
    return [tuple(n for n in names if group[n] == g) for g in sorted(set(group.values()))]


@dataclass(frozen=True, slots=True)
class Leaf:
    """An attribute that only one pair connects to the others."""

    name: str
    parent: str
    measurement: Measurement


def peel(measured: Sequence[Measurement]) -> tuple[list[Measurement], list[Leaf]]:
    """Takes away, again and again, attributes that only one pair connects to the rest.

    Sampled afterwards from that pair, in reverse order, they lose nothing and the updates get fewer tables.

    Returns:
        The tables that are left and the leaves in the order in which they were taken.
    """
    left = [m for m in measured if len(m.attributes) > 1]
    leaves: list[Leaf] = []
    while True:
        degree: dict[str, list[int]] = {}
        for i, m in enumerate(left):
            for n in m.attributes:
                degree.setdefault(n, []).append(i)
        ends = [(n, d[0]) for n, d in degree.items() if len(d) == 1 and len(left[d[0]].attributes) == 2]
        if not ends:
            break
        name, position = ends[0]
        pair = left.pop(position)
        leaves.append(Leaf(name, next(n for n in pair.attributes if n != name), pair))
    gone = {leaf.name for leaf in leaves}
    return [m for m in measured if not gone & set(m.attributes)], leaves


def conditional_column(
    parent: NDArray[np.unsignedinteger], table: NDArray[np.float64], *, rng: Generator
) -> NDArray[np.intp]:
    """A column that follows a table given another column, in shares that are exact up to one record a value.

    Args:
        parent: codes (n,) on the first axis of `table`.
        table: counts (parent size, column size); negative cells count as zero, rows without a positive cell
            follow the column sums.

    Systematic sampling: the records of one parent value, in random order, take evenly spaced quantiles.
    """
    usual = probabilities(np.clip(table, 0, None).sum(axis=0))
    rows = np.clip(table, 0, None)
    sums = rows.sum(axis=1, keepdims=True)
    share = np.where(sums > 0, rows / np.where(sums > 0, sums, 1), usual)
    n = parent.size
    shuffled = rng.permutation(n)
    order = shuffled[np.argsort(parent[shuffled], kind="stable")]
    keys = parent[order].astype(np.intp)
    count = np.bincount(keys, minlength=table.shape[0])
    start = np.cumsum(count) - count
    quantile = (np.arange(n) - start[keys] + np.asarray(rng.random(table.shape[0]))[keys]) / np.maximum(count, 1)[keys]
    edges = np.cumsum(share, axis=1)
    edges[:, -1] = 1.0
    flat = (edges + np.arange(table.shape[0])[:, None]).ravel()
    drawn = np.searchsorted(flat, keys + np.minimum(quantile, 1 - 1e-12), side="right")
    out = np.empty(n, dtype=np.intp)
    out[order] = np.minimum(drawn, flat.size - 1) - keys * table.shape[1]
    return out


def match_within(left: NDArray[np.integer], right: NDArray[np.integer], *, rng: Generator) -> NDArray[np.intp]:
    """Positions in `right` to put beside each record of `left`, so that equal keys meet wherever they can.

    Both are (n,). Records of one key meet in random order; what is left over on both sides is paired at random.
    """
    order = []
    for keys in (left, right):
        shuffled = rng.permutation(keys.size)
        order.append(shuffled[np.argsort(keys[shuffled], kind="stable")])
    size = int(max(left.max(initial=0), right.max(initial=0))) + 1
    counts = [np.bincount(k, minlength=size) for k in (left, right)]
    both = np.minimum(*counts)
    inside = []
    for keys, o, count in zip((left, right), order, counts, strict=True):
        rank = np.arange(keys.size) - (np.cumsum(count) - count)[keys[o]]
        inside.append(rank < both[keys[o]])
    out = np.empty(left.size, dtype=np.intp)
    out[order[0][inside[0]]] = order[1][inside[1]]
    out[order[0][~inside[0]]] = rng.permutation(order[1][~inside[1]])
    return out
