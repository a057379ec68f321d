"""The first records: every column from its one-way share in exact counts, shuffled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.marginals.algebra import probabilities, whole_counts
from dpsyn_core.records.tables import TargetTable


def one_way_shares(tables: Sequence[TargetTable], sizes: Sequence[int]) -> list[NDArray[np.float64]]:
    """The share of each value of each attribute: the weighted mean over the tables that hold it, else uniform."""
    totals = [np.zeros(s) for s in sizes]
    for table in tables:
        values = table.share.reshape(table.sizes)
        for axis, row in enumerate(table.rows):
            others = tuple(a for a in range(table.sizes.size) if a != axis)
            precision = table.weight * table.sizes[axis] / table.share.size
            totals[row] += precision * values.sum(axis=others)
    return [probabilities(t) for t in totals]


def independent_records(
    shares: Sequence[NDArray[np.float64]], n: int, *, rng: Generator
) -> NDArray[np.unsignedinteger]:
    """Codes (n_attributes, n): each column holds its shares in exact counts, in an order of its own."""
    dtype = np.min_scalar_type(max((s.size for s in shares), default=1) - 1)
    codes = np.empty((len(shares), n), dtype=dtype)
    for j, share in enumerate(shares):
        column = np.repeat(np.arange(share.size, dtype=dtype), whole_counts(share, n, rng=rng))
        codes[j] = rng.permutation(column)
    return codes
