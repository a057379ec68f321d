"""Basis sets: small item sets that together contain every itemset one wants to count. Public arithmetic only."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Items = frozenset[int]


def maximal_cliques(vertices: Collection[int], edges: Iterable[tuple[int, int]]) -> list[Items]:
    """Maximal cliques of a graph (Bron and Kerbosch, with pivots), vertices without an edge left out."""
    near: dict[int, set[int]] = {v: set() for v in vertices}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    found: list[Items] = []
    stack = [(set[int](), {v for v in near if near[v]}, set[int]())]
    while stack:
        clique, open_, closed = stack.pop()
        if not open_ and not closed:
            if clique:
                found.append(frozenset(clique))
            continue
        pivot = max(open_ | closed, key=lambda v: len(near[v] & open_))
        for v in sorted(open_ - near[pivot]):
            stack.append((clique | {v}, open_ & near[v], closed & near[v]))
            open_ = open_ - {v}
            closed = closed | {v}
    return found


def split_clique(clique: Items, longest: int) -> list[Items]:
    """Sets of at most `longest` items that hold every pair of a larger clique: unions of two of its parts."""
    if len(clique) <= longest:
        return [clique]
    ordered, half = sorted(clique), longest // 2
    parts = [ordered[i : i + half] for i in range(0, len(ordered), half)]
    return [frozenset((*a, *b)) for a, b in itertools.combinations(parts, 2)]


def mean_variance(bases: Sequence[Items], queries: Sequence[Items]) -> float:
    """Mean variance of the queries' counts, in units of the variance of a bin when there is one basis.

    A query of m items sums 2^(b - m) bins of a basis of b items; bases are combined by inverse variance; noise on a
    bin grows with the number of bases that share the budget, its variance with the square.
    """
    return _mean(_weights(bases, queries).sum(axis=0), len(bases))


def _weights(bases: Sequence[Items], queries: Sequence[Items]) -> NDArray[np.float64]:
    return np.array([[2.0 ** (len(q) - len(b)) if q <= b else 0.0 for q in queries] for b in bases])


def _mean(precision: NDArray[np.float64], bases: int) -> float:
    with np.errstate(divide="ignore"):
        return float(np.mean(bases**2 / precision))


def build_bases(items: Sequence[int], pairs: Sequence[tuple[int, int]], longest: int) -> list[Items]:
    """Basis sets of at most `longest` items that hold all items and pairs.

    Maximal cliques of the pairs, and the items in no pair by threes; then two sets are merged for as long as that
    lowers the mean variance over items and pairs. Source: Li, Qardaji, Su, Cao 2012 (PrivBasis).
    """
    cliques = maximal_cliques(items, pairs)
    bases = list(dict.fromkeys(b for c in cliques for b in split_clique(c, longest)))
    covered = frozenset().union(*bases) if bases else frozenset()
    alone = [i for i in items if i not in covered]
    size = min(3, longest)
    bases += [frozenset(alone[i : i + size]) for i in range(0, len(alone), size)]
    bases = [b for b in bases if not any(b < c for c in bases)]
    queries = [frozenset([i]) for i in items] + [frozenset(p) for p in pairs]
    weights = _weights(bases, queries)
    while len(bases) > 1:
        total = weights.sum(axis=0)
        now = _mean(total, len(bases))
        best: tuple[float, int, int] | None = None
        for i, j in itertools.combinations(range(len(bases)), 2):
            joined = bases[i] | bases[j]
            if len(joined) > longest:
                continue
            value = _mean(total - weights[i] - weights[j] + _weights([joined], queries)[0], len(bases) - 1)
            if best is None or value < best[0]:
                best = (value, i, j)
        if best is None or best[0] >= now:
            break
        _, i, j = best
        bases = [*(b for k, b in enumerate(bases) if k not in (i, j)), bases[i] | bases[j]]
        weights = _weights(bases, queries)
    return bases


def superset_sums(bins: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every subset (as bits) the sum of the bins that contain it: the counts of all itemsets of a basis."""
    out = bins.astype(np.int64).copy()
    for bit in range(int(out.size).bit_length() - 1):
        pairs = out.reshape(-1, 2, 1 << bit)
        pairs[:, 0] += pairs[:, 1]
    return out
