"""Measurement: a noisy marginal, the only thing that post-processing is handed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.domain import AttributeSet

NO_RECODES: Mapping[str, NDArray[np.intp]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A released marginal.

    attributes: in domain order (empty: the total). values: float64, one axis an attribute, in counts, may be
    negative. sigma: standard deviation of the noise of one cell, in counts. recodes: for attributes measured
    coarsely, an array of shape (size of the attribute,) that maps its code to the axis position.
    """

    attributes: AttributeSet
    values: NDArray[np.float64]
    sigma: float
    recodes: Mapping[str, NDArray[np.intp]] = field(default_factory=lambda: NO_RECODES)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.values.size)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """Released dependences of attribute sets.

    sets: in domain order each. values: float64 (len(sets),), for each the L1 distance of its (coarse) table from what
    its one-ways alone let expect, in records, with noise. sigma: standard deviation of that noise.
    """

    sets: tuple[AttributeSet, ...]
    values: NDArray[np.float64]
    sigma: float

    def bounds(self, deviations: float = 2.0) -> dict[AttributeSet, float]:
        """For each set its score, at least 0, and so many standard deviations of the noise more.

        Tables with low scores are not measured, and a score may be low by chance: hence two of them.
        """
        return {s: max(float(v), 0.0) + deviations * self.sigma for s, v in zip(self.sets, self.values, strict=True)}


class ReleasedTables(list[Measurement]):
    """Released marginals in order, with the scores by which some of them were chosen; None where there are none."""

    scores: Scores | None = None
