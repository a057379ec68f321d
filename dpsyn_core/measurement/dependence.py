"""Dependence of pairs in exact integers: what the gate releases with noise so that pairs can be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.algebra import product
from dpsyn_core.marginals.coarsening import Recodes
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.schema.domain import AttributeSet

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
    counter: Counter,
    pairs: Sequence[AttributeSet],
    expected: Sequence[NDArray[np.int64]],
    recodes: Recodes,
) -> NDArray[np.int64]:
    """||M - E||_1 of many pairs against public whole tables E, int64 (n_pairs,); private; sensitivity 1 a record."""
    out = []
    for i in range(0, len(pairs), BATCH):
        tables = counter.marginals(pairs[i : i + BATCH], recodes)
        out += [int(np.abs(t - e).sum()) for t, e in zip(tables, expected[i : i + BATCH], strict=True)]
    return np.array(out, dtype=np.int64)
