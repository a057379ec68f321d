"""Counter: the interface to exact counts, whatever holds the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals.types import NO_RECODES
from dpsyn_core.schema.domain import AttributeSet, Domain


class Counter(Protocol):
    """Counts records. Contribution bounding has been applied before. Everything it returns is private."""

    domain: Domain

    def marginal(
        self, attributes: AttributeSet, recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES
    ) -> NDArray[np.int64]:
        """Exact counts, one axis an attribute; () gives the total as a 0-dimensional array."""

    def marginals(
        self, sets: Sequence[AttributeSet], recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES
    ) -> list[NDArray[np.int64]]:
        """Many at once."""
