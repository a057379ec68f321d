"""Counter: the interface to exact counts, whatever holds the records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals.coarsening import NO_RECODES, Recodes
from dpsyn_core.schema.domain import AttributeSet, Domain


class Counter(Protocol):
    """Counts encoded records, of which each individual holds at most `max_records`. All that it returns is private.

    This is what every counter can do. What only some can do is a protocol of its own, which a system looks for:
    `counting.sparse.SparseCounter` lists occupied cells, `counting.sums.VectorCounter` sums clipped vectors.
    """

    domain: Domain

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact counts, one axis an attribute; () gives the total as a 0-dimensional array."""

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many at once."""
