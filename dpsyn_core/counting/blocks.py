"""Block counters: those on this machine can hand out the codes of their records, block by block. Private."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class BlockCounter(Protocol):
    """A counter whose records are on this machine. What it hands out is private, record by record."""

    def blocks(self, names: Sequence[str]) -> Iterator[NDArray[np.unsignedinteger]]:
        """Codes (names, records) of all records, block by block."""
