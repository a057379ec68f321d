"""The spanning tree of pairs with the largest scores. Reads released values only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import AttributeSet


def spanning_tree(
    pairs: list[AttributeSet],
    scores: NDArray[np.float64],
    *,
    beside: Sequence[AttributeSet] = (),
    fits: Callable[[list[AttributeSet]], bool] = lambda _: True,
) -> list[AttributeSet]:
    """Pairs of a maximum spanning tree (a forest where pairs are missing), by Kruskal's rule, in domain order.

    beside: sets that are in the model already, and connect their attributes. fits: whether a model of these sets is
    small enough; pairs that would make it too large are left out.
    """
    part = {n: n for n in chain.from_iterable([*pairs, *beside])}

    def top(n: str) -> str:
        while part[n] != n:
            part[n] = part[part[n]]
            n = part[n]
        return n

    for names in beside:
        for other in names[1:]:
            part[top(other)] = top(names[0])
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        a, b = (top(n) for n in pairs[i])
        if a != b and fits([*beside, *(pairs[j] for j in chosen), pairs[i]]):
            part[a] = b
            chosen.append(int(i))
    return [pairs[i] for i in sorted(chosen)]
