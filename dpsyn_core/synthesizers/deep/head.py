"""The head: the column to predict is decoded last, by a network that sees the other columns of a record.

A decoder gives every column its values by the latent values alone, which blurs what the other columns together say
about the column to predict. The head is trained on real records under noise, and applied to drawn ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.synthesizers.deep.decoder import Group, drawn, layout_of, settled
from dpsyn_core.synthesizers.deep.features import Space
from dpsyn_core.synthesizers.deep.network import Shape, decoded

Floats = NDArray[np.float64]
LONGEST = 1.5  # times the usual length: longer inputs are shortened


@dataclass(frozen=True, kw_only=True)
class Others:
    """Features of all columns but one, as the head sees them: columns of the features, and their greatest length."""

    columns: NDArray[np.intp]
    length: float

    @classmethod
    def of(cls, space: Space, at: int) -> Others:
        """All but the block at `at`; the usual length follows from the released shares."""
        place = space.places[at]
        columns = np.array([i for i in range(space.width) if not place.start <= i < place.stop], dtype=np.intp)
        usual = float(np.sqrt(sum(b.variance for i, b in enumerate(space.blocks) if i != at)))
        return cls(columns=columns, length=max(usual, 0.1))

    def __call__(self, features: Floats) -> Floats:
        """Inputs (records, columns), each record by itself, for all features (records, width)."""
        found = features[:, self.columns]
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))
        out: Floats = found / np.maximum(lengths / (LONGEST * self.length), 1)[:, None]
        return out


@dataclass(frozen=True, kw_only=True)
class Head:
    """The trained network of the column at `at`. Post-processing only."""

    at: int
    shape: Shape
    weights: Floats

    def outputs(self, space: Space, coarse: NDArray[np.intp]) -> Floats:
        """Outputs (records, outputs) for the coarse values of records (records, attributes)."""
        return decoded(self.shape, self.weights, Others.of(space, self.at)(space.featured(coarse)))

    def offsets(self, space: Space, coarse: NDArray[np.intp]) -> Floats:
        """Offsets (1, values) with which these records together have the released shares."""
        return settled(self._group(space), self.outputs(space, coarse))

    def draw(self, space: Space, coarse: NDArray[np.intp], offsets: Floats, rng: Generator) -> NDArray[np.intp]:
        """Coarse values of the column (records,), by chance, given those of the others."""
        return drawn(self._group(space), self.outputs(space, coarse), offsets, rng)[:, 0]

    def _group(self, space: Space) -> Group:
        return layout_of(space, [self.at]).groups[0]
