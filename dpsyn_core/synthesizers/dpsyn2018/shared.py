"""Attributes that hold one value wherever they are there, as synchronous dates do: one draw a record. Blind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.records.join import conditional_column

Column = NDArray[np.intp]


def shared_values(
    coarse: Mapping[str, Column],
    maps: Mapping[str, Column],
    one_ways: Mapping[str, NDArray[np.float64]],
    there: int,
    *,
    rng: Generator,
) -> dict[str, Column]:
    """Codes of every member: the same value in all that are there, each one's own code where it is not.

    Patterns are served from the one with most members on. Each draws from what is left of the released one-way of
    its rarest member, so that the members' one-ways come out right as far as they agree: a member that is there
    only together with another takes its values out of the other's one-way.

    Args:
        coarse: bin of every record (n,) by member.
        maps: bin of every code by member; all codes from `there` on keep bins of their own.
        one_ways: released counts of every code by member; all of one length.
        there: number of codes that stand for a value.
        rng: post-processing randomness.
    """
    names = list(coarse)
    n = coarse[names[0]].size
    absent = {m: np.unique(maps[m][there:]) for m in names}
    present = np.array([~np.isin(coarse[m], absent[m]) for m in names]).reshape(len(names), n)
    out = {m: np.zeros(n, dtype=np.intp) for m in names}
    for i, m in enumerate(names):  # where it is not there, a bin is a code
        first = np.zeros(int(maps[m].max()) + 1, dtype=np.intp)
        first[maps[m][there:]] = np.arange(there, maps[m].size)
        out[m][~present[i]] = first[coarse[m][~present[i]]]
    left = {m: np.clip(one_ways[m][:there], 0, None) for m in names}
    patterns, which = np.unique(present, axis=1, return_inverse=True)
    which = which.ravel()
    for p in np.argsort(-patterns.sum(axis=0), kind="stable"):
        members = [m for i, m in enumerate(names) if patterns[i, p]]
        at = np.flatnonzero(which == p)
        if not members or not at.size:
            continue
        rarest = min(members, key=lambda m: float(np.clip(one_ways[m][:there], 0, None).sum()))
        drawn = _draw([coarse[m][at] for m in members], [maps[m][:there] for m in members], left[rarest],
                      np.clip(one_ways[rarest][:there], 0, None), rng)  # fmt: skip
        taken = np.bincount(drawn, minlength=there)
        for m in members:
            left[m] = np.clip(left[m] - taken, 0, None)
            out[m][at] = drawn
    return out


def _draw(
    bins: list[Column], maps: list[Column], left: NDArray[np.float64], whole: NDArray[np.float64], rng: Generator
) -> Column:
    """One value a record inside the bins that its members hold; where they contradict, the first one's bin counts."""
    sizes = [int(m.max()) + 1 for m in maps]
    value_bins = np.ravel_multi_index(tuple(maps), sizes)
    record_bins = np.ravel_multi_index(tuple(np.minimum(b, s - 1) for b, s in zip(bins, sizes, strict=True)), sizes)
    possible, rows = np.unique(record_bins, return_inverse=True)
    inside = value_bins[None, :] == possible[:, None]
    lost = ~inside.any(axis=1)
    step = int(np.prod(sizes[1:], dtype=object))
    inside[lost] = maps[0][None, :] == (possible[lost] // step)[:, None]
    weights = np.where(inside, left[None, :], 0.0)
    empty = weights.sum(axis=1) <= 0
    weights[empty] = np.where(inside[empty], whole[None, :] + 1e-9, 0.0)
    return conditional_column(rows.ravel().astype(np.uint32), weights, rng=rng)
