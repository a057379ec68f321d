"""Records of linked tables on their way to fit: children with the columns of their parents. Blind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

LAGS = 6  # of siblings without an order, with how many before it each is counted; with 1 only those side by side fit


class LinkedRecords(NamedTuple):  # as the kernel takes it
    """Records of one child table, those of one parent one after the other.

    rows: uint16 (n, columns). first_own: columns before it stand. weight: (n,), of each record in the tables. coupling:
    (n,), of each with each sibling that it is counted with; 0 for the first of a parent. ordered: whether siblings
    stand in an order that means something, and each is counted with the one before; else with several, and they change
    places between the sweeps of a fit, so that any two come to be alike, and not only those that stand side by side.
    """

    rows: NDArray[np.uint16]
    first_own: int
    weight: NDArray[np.float32]
    coupling: NDArray[np.float32]
    ordered: bool = True

    @property
    def lags(self) -> int:
        """With how many siblings before it a record is counted."""
        return 1 if self.ordered else LAGS

    def part(self, rows: slice) -> LinkedRecords:
        """Some of them, which begin with a first child."""
        return self._replace(rows=self.rows[rows], weight=self.weight[rows], coupling=self.coupling[rows])

    def mixed(self, rng: Generator) -> None:
        """Siblings in another order, drawn; those that stand in an order stay."""
        if self.ordered or not len(self.rows):
            return
        parent = np.cumsum(self.coupling == 0)
        self.rows[:] = self.rows[np.lexsort((rng.random(len(parent)), parent))]
