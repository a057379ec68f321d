"""The head: the column to predict is decoded last, by a network that sees the other columns of a record.

A decoder gives every column its values by the latent values alone, which blurs what the other columns together say
about the column to predict. The head is trained on real records under noise, and applied to drawn ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.synthesizers.deep.decoder import BlockGroup, drawn, layout_of, settled
from dpsyn_core.synthesizers.deep.features import Space
from dpsyn_core.synthesizers.deep.network import Shape, decoded

Floats = NDArray[np.float64]
ROUNDS = 20  # of setting the shares of the column's values: a rare one takes some
LONGEST = 1.5  # times the usual length: longer inputs are shortened


@dataclass(frozen=True, kw_only=True)
class Others:
    """Features of all columns but one, as the head sees them: columns of the features, and their greatest length."""

    columns: NDArray[np.intp]
    length: float

    @classmethod
    def of(cls, space: Space, at: int, *, bent: bool = True) -> Others:
        """All but the block at `at`; the usual length follows from the released shares.

        bent: with the squared scores of numbers, whose length makes the noise of a sum larger.
        """
        used = [(b, place) for i, (b, place) in enumerate(zip(space.blocks, space.places, strict=True)) if i != at]
        parts, square = [np.zeros(0, dtype=np.intp)], 0.0
        for block, place in used:
            columns = np.arange(place.start, place.stop)
            if not bent and block.bent:
                columns = np.delete(columns, 1)
            parts.append(columns)
            square += float(block.shares @ (block.features[:, columns - place.start] ** 2).sum(axis=1))
        return cls(columns=np.concatenate(parts), length=max(float(np.sqrt(square)), 0.1))

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
        return settled(self._group(space), self.outputs(space, coarse), ROUNDS)

    def draw(self, space: Space, coarse: NDArray[np.intp], offsets: Floats, rng: Generator) -> NDArray[np.intp]:
        """Coarse values of the column (records,), by chance, given those of the others."""
        return drawn(self._group(space), self.outputs(space, coarse), offsets, rng)[:, 0]

    def _group(self, space: Space) -> BlockGroup:
        return layout_of(space, [self.at]).groups[0]
