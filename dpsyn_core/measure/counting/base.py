"""What a counter answers, in blocks and where most cells are empty.

Counter: the interface to exact counts, whatever holds the records.

Block counters: those on this machine can hand out the codes of their records, block by block. Private.

Occupied cells of a marginal: for tables with far more cells than records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import NO_RECODES, Recodes
from dpsyn_core.schema import AttributeSet, Domain


class Counter(Protocol):
    """Counts encoded records, of which each individual holds at most `max_records`. All that it returns is private.

    This is what every counter can do. What only some can do is a separate protocol, which a system looks for:
    `counting.sparse.SparseCounter` lists occupied cells, `counting.sums.VectorCounter` sums clipped vectors.
    """

    domain: Domain

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact counts, one axis an attribute; () gives the total as a 0-dimensional array."""

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many at once."""


@runtime_checkable
class BlockCounter(Protocol):
    """A counter whose records are on this machine. What it hands out is private, record by record."""

    def blocks(self, names: Sequence[str]) -> Iterator[NDArray[np.unsignedinteger]]:
        """Codes (names, records) of all records, block by block."""


@runtime_checkable
class SparseCounter(Protocol):
    """A counter that can list the occupied cells without laying out the others."""

    def occupied(
        self, attributes: AttributeSet, recodes: Recodes = NO_RECODES
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Flat indices (ascending, last attribute fastest) and counts above 0; recodes as in `Counter`. Private."""


def occupied(
    counter: Counter, attributes: AttributeSet, recodes: Recodes = NO_RECODES
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Flat indices and counts of the occupied cells, from whatever the counter offers. Private."""
    if isinstance(counter, SparseCounter):
        return counter.occupied(attributes, recodes)
    flat = counter.marginal(attributes, recodes).ravel()
    index = np.flatnonzero(flat)
    return index, flat[index].astype(np.int64)
