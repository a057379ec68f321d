"""Basis sets: small item sets that together contain every itemset one wants to count. Public arithmetic only."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Items = frozenset[int]
Rows = NDArray[np.bool_]
Floats = NDArray[np.float64]

SEARCHED = 12  # sets to merge, above which there are too many ways (4 million for 12) to search among them
SEARCH_STEPS = 20_000  # of the search, some seconds; on random graphs up to 10 sets ended before
PATIENCE = 16  # merges in a row that do not lower the variance; of few sets all are tried
ROUNDING = 1e-12  # part of a variance by which sums of other order may differ


def maximal_cliques(vertices: Collection[int], edges: Iterable[tuple[int, int]]) -> list[Items]:
    """Maximal cliques of a graph (Bron and Kerbosch, with pivots), vertices without an edge left out."""
    near: dict[int, set[int]] = {v: set() for v in vertices}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    out: list[Items] = []
    stack = [(set[int](), {v for v in near if near[v]}, set[int]())]
    while stack:
        clique, open_, closed = stack.pop()
        if not open_ and not closed:
            if clique:
                out.append(frozenset(clique))
            continue
        pivot = max(open_ | closed, key=lambda v: len(near[v] & open_))
        for v in sorted(open_ - near[pivot]):
            stack.append((clique | {v}, open_ & near[v], closed & near[v]))
            open_ = open_ - {v}
            closed = closed | {v}
    return out


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
    asked = Queries(queries, frozenset().union(*bases))
    return float(_means(asked.weights(asked.rows(bases)).sum(axis=0), len(bases)))


def build_bases(items: Sequence[int], pairs: Sequence[tuple[int, int]], longest: int) -> list[Items]:
    """Basis sets of at most `longest` items that hold all items and pairs.

    Maximal cliques of the pairs, and the items in no pair by threes; then sets are merged so that the mean variance
    over items and pairs is low: two by two, and where there are few sets by a search among all ways to merge them.

    Source: Li, Qardaji, Su, Cao 2012 (PrivBasis), who merge two by two for as long as each merge is a gain.
    """
    cliques = maximal_cliques(items, pairs)
    bases = list(dict.fromkeys(b for c in cliques for b in split_clique(c, longest)))
    covered = frozenset().union(*bases) if bases else frozenset()
    alone = [i for i in items if i not in covered]
    size = min(3, longest)
    bases += [frozenset(alone[i : i + size]) for i in range(0, len(alone), size)]
    bases = [b for b in bases if not any(b < c for c in bases)]
    if len(bases) < 2:
        return bases
    asked = Queries([frozenset([i]) for i in items] + [frozenset(p) for p in pairs])
    best = merge_by_twos(bases, asked, longest)
    return merge_best(bases, asked, longest, best) if len(bases) <= SEARCHED else best


class Queries:
    """Itemsets to count, and the item sets that count them, as rows of yes and no over the items."""

    def __init__(self, queries: Collection[Items], others: Items = frozenset()) -> None:
        """Numbers the items. others: items of sets that are in no query."""
        self._place = {item: i for i, item in enumerate(sorted(others.union(*queries)))}
        self.sets = self.rows(queries)
        self.sizes = self.sets.sum(axis=1)
        # float products are exact for such numbers, and much faster than those of integers
        self._columns = np.ascontiguousarray(self.sets.T, dtype=np.float32)

    def rows(self, sets: Collection[Items]) -> Rows:
        """Bool (sets, items)."""
        out = np.zeros((len(sets), len(self._place)), dtype=np.bool_)
        for row, items in zip(out, sets, strict=True):
            row[[self._place[i] for i in items]] = True
        return out

    def items(self, rows: Rows) -> list[Items]:
        """The sets of rows."""
        names = np.array(list(self._place))
        return [frozenset(names[row].tolist()) for row in rows]

    def within(self, rows: Rows) -> NDArray[np.float32]:
        """How many of a query's items each set holds, (sets, queries)."""
        return rows.astype(np.float32) @ self._columns

    def weights(self, rows: Rows) -> Floats:
        """The precision that each set gives each query, (sets, queries); 0 where it does not hold the query."""
        exponents = self.sizes - rows.sum(axis=1)[:, None]
        return np.where(self.within(rows) == self.sizes, np.exp2(exponents), 0.0)


def merge_by_twos(bases: Sequence[Items], asked: Queries, longest: int, *, patience: int = PATIENCE) -> list[Items]:
    """Merges the two sets whose union lowers the mean variance most, or raises it least, again and again.

    Returns the best of all the steps. A merge that raises the variance is taken too, since later ones may more than
    make up for it.

    Args:
        bases: sets.
        asked: what they should count.
        longest: items in one basis.
        patience: it ends after so many merges in a row without a new best; 1 ends at the first that is no gain.
    """
    rows = asked.rows(bases)
    weights = asked.weights(rows)
    best, least = rows, float(_means(weights.sum(axis=0), len(rows)))
    idle = 0
    while len(rows) > 1 and idle < patience:
        total = weights.sum(axis=0)
        pair: tuple[float, int, int] | None = None
        for i in range(len(rows) - 1):
            joined = rows[i] | rows[i + 1 :]
            fits = np.flatnonzero(joined.sum(axis=1) <= longest)
            if fits.size == 0:
                continue
            values = _means(total - weights[i] - weights[i + 1 + fits] + asked.weights(joined[fits]), len(rows) - 1)
            at = int(values.argmin())
            if pair is None or values[at] < pair[0]:
                pair = (float(values[at]), i, i + 1 + int(fits[at]))
        if pair is None:
            break
        value, i, j = pair
        rows = np.vstack([np.delete(rows, [i, j], axis=0), rows[i] | rows[j]])
        weights = asked.weights(rows)
        idle += 1
        if value < least:
            best, least, idle = rows, value, 0
    return asked.items(best)


def merge_best(bases: Sequence[Items], asked: Queries, longest: int, known: Sequence[Items]) -> list[Items]:
    """The best of all ways to merge sets; `known` where none is better, or none appears within SEARCH_STEPS steps.

    One set after the other joins a basis or begins one. What has been merged so far is dropped where even the most
    precision that the other sets can add leaves the mean variance above that of the best way so far.

    Args:
        bases: sets, none inside another, at least two.
        asked: what they should count.
        longest: items in one basis.
        known: bases to improve on.
    """
    sets = asked.rows(sorted(bases, key=len, reverse=True))
    singles = asked.weights(sets)
    most = _most_precision(sets, singles, asked)
    best = asked.rows(known)
    least = float(_means(asked.weights(best).sum(axis=0), len(best)))
    stack = [(0.0, sets[:1], singles[:1], 1)]
    for _ in range(SEARCH_STEPS):
        if not stack:
            break
        bound, rows, weights, i = stack.pop()
        if bound >= least:
            continue
        joined = rows | sets[i]
        gained = asked.weights(joined)
        total = weights.sum(axis=0)
        totals = np.vstack([total - weights + gained, total + singles[i]])
        k, left = len(rows), len(sets) - i - 1
        counts = np.append(np.full(k, k), k + 1)[:, None] + np.arange(left + 1)
        bounds = (counts**2 * (1 / (totals[:, None] + most[i + 1])).mean(axis=2)).min(axis=1)
        for j in np.argsort(-bounds).tolist():  # the most promising one last, so that it is taken first
            if bounds[j] >= least * (1 - ROUNDING) or (j < k and joined[j].sum() > longest):
                continue
            if j == k:
                more, precision = np.vstack([rows, sets[i]]), np.vstack([weights, singles[i]])
            else:
                more, precision = rows.copy(), weights.copy()
                more[j], precision[j] = joined[j], gained[j]
            if left:
                stack.append((float(bounds[j]), more, precision, i + 1))
            else:
                best, least = more, float(bounds[j])
    return asked.items(best)


def _most_precision(sets: Rows, own: Floats, asked: Queries) -> list[Floats]:
    """For each i, the most precision that the sets from i on can add, (sets that stay alone + 1, queries).

    A query that a basis comes to hold through a set shares an item with it. A set that stays alone gives its
    precision; one in a basis with others at most what it gives in the smallest union with another set and the query.
    """
    merged = np.zeros(own.shape)
    for at, row in enumerate(sets):
        unions = np.delete(sets, at, axis=0) | row
        smallest = (unions.sum(axis=1)[:, None] + asked.sizes - asked.within(unions)).min(axis=0)
        merged[at] = np.where((asked.sets & row).any(axis=1), np.exp2(asked.sizes - smallest), 0.0)
    more = np.maximum(own - merged, 0.0)
    out = []
    for i in range(len(sets) + 1):
        alone = np.cumsum(np.sort(more[i:], axis=0)[::-1], axis=0)
        out.append(merged[i:].sum(axis=0) + np.vstack([np.zeros(own.shape[1]), alone]))
    return out


def _means(precision: Floats, bases: int) -> Floats:
    """The mean variance over the queries (last axis)."""
    with np.errstate(divide="ignore"):
        return np.asarray((bases**2 / precision).mean(axis=-1))


def superset_sums(bins: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every subset (as bits) the sum of the bins that contain it: the counts of all itemsets of a basis."""
    out = bins.astype(np.int64).copy()
    for bit in range(int(out.size).bit_length() - 1):
        pairs = out.reshape(-1, 2, 1 << bit)
        pairs[:, 0] += pairs[:, 1]
    return out
