"""Occupied cells of a marginal: for tables with far more cells than records."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.coarsening import NO_RECODES, Recodes
from dpsyn_core.schema.domain import AttributeSet


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
