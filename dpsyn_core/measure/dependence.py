"""How much columns depend on each other: scores with their sensitivity.

Dependence of pairs in exact integers: what the gate releases with noise so that pairs can be chosen.

How far two parts of a table are from independence, and how far one individual can move that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, Recodes, product
from dpsyn_core.measure.counting.base import Counter
from dpsyn_core.schema import AttributeSet

BATCH = 256  # pairs counted at a time


def indif(table: NDArray[np.int64]) -> int:
    """floor(||M - M_a M_b / n||_1); high means dependent; 0 without records.

    Sensitivity 4 to one record added or removed: the joint moves by 1, the product by less than 3. Rounding
    down to whole numbers keeps it, for 4 is whole. Source: Zhang et al. 2021 (PrivSyn), section 4.1.

    Args:
        table: int64 (s_a, s_b), exact counts of at most 2^30 records.
    """
    scaled, n = indif_ratio(table)
    return scaled // n if n else 0


def indif_ratio(table: NDArray[np.int64]) -> tuple[int, int]:
    """(n InDif, n) in exact integers."""
    n = int(table.sum())
    gap = np.abs(n * table - np.multiply.outer(table.sum(axis=1), table.sum(axis=0)))
    return int(gap.sum()), n


def indif_counts(counter: Counter, pairs: Sequence[AttributeSet], recodes: Recodes) -> NDArray[np.int64]:
    """InDif of many pairs, int64 (n_pairs,); private."""
    out = [indif(t) for i in range(0, len(pairs), BATCH) for t in counter.marginals(pairs[i : i + BATCH], recodes)]
    return np.array(out, dtype=np.int64)


def expected_pairs(one_ways: Mapping[str, Measurement], pairs: Sequence[AttributeSet]) -> list[NDArray[np.int64]]:
    """Whole counts of each pair under independence, from released one-ways."""
    weights = {n: max(0.0, float(m.values.sum())) for n, m in one_ways.items()}
    total = float(np.median(list(weights.values())))
    return [np.rint(product([one_ways[a].values, one_ways[b].values], total)).astype(np.int64) for a, b in pairs]


def l1_counts(
    counter: Counter, pairs: Sequence[AttributeSet], expected: Sequence[NDArray[np.int64]], recodes: Recodes
) -> NDArray[np.int64]:
    """||M - E||_1 of many pairs against public whole tables E, int64 (n_pairs,); private; sensitivity 1 a record."""
    out = []
    for i in range(0, len(pairs), BATCH):
        tables = counter.marginals(pairs[i : i + BATCH], recodes)
        out += [int(np.abs(t - e).sum()) for t, e in zip(tables, expected[i : i + BATCH], strict=True)]
    return np.array(out, dtype=np.int64)


def mutual_information(table: NDArray[np.int64]) -> float:
    """Mutual information in bits between the rows and the columns of a count table; 0 for an empty one."""
    n = int(table.sum())
    if n == 0:
        return 0.0

    def entropy(counts: NDArray[np.int64]) -> float:
        p = counts[counts > 0] / n
        return float(-(p * np.log2(p)).sum())

    return entropy(table.sum(axis=1)) + entropy(table.sum(axis=0)) - entropy(table.ravel())


def filled(table: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The table with records in its first cell until it holds n.

    The sensitivity of mutual information falls with the number of records, and holds for n of them. A table of fewer
    (declared wrongly, or an individual of several records was exchanged for one of a single record) is filled up:
    records that come or go are then exchanged for the added ones, and theta of them are at most theta exchanges.
    """
    out = table.copy()
    out.flat[0] += max(n - int(table.sum()), 0)
    return out


def mutual_information_sensitivity(n: int, *, binary: bool) -> float:
    """Most that one record exchanged for another moves the mutual information of a table of n records, in bits.

    binary: one of the two sides has at most two codes. Attained. Source: Zhang et al. 2014 (PrivBayes).
    """
    n = max(n, 2)  # a single record has none, whatever it is
    if binary:
        return math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1))
    return 2 / n * math.log2((n + 1) / 2) + (n - 1) / n * math.log2((n + 1) / (n - 1))


def independence_gap(table: NDArray[np.int64], n: int) -> int:
    """Sum over cells of |n count - row total x column total|, exactly: 2 n^2 times the score R of PrivBayes."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    return int(np.abs(n * table - np.outer(rows, columns)).sum())


def independence_gap_sensitivity(n: int, theta: int = 1) -> int:
    """Most that one individual exchanged for another moves `independence_gap`, for tables of at most n records.

    A record more or less moves n count by n in L1 and the products of the margins by at most 2 n + 1, hence the sum
    by at most 3 n + 1; an exchange of theta records is at most 2 theta such steps. PrivBayes states 3 / n + 2 / n^2
    for R, that is 6 n + 4 here, and that is what is used: Zhang et al. 2017.
    """
    return theta * (6 * n + 4)
