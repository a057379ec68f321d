"""Measurement: a noisy marginal, the only thing that post-processing is handed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals.coarsening import NO_RECODES, Coarsening, Recodes
from dpsyn_core.schema.domain import AttributeSet

Law = Literal["gaussian", "geometric"]  # of noise on whole counts: rounded Gaussian, or two-sided geometric


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A released marginal.

    attributes: in domain order (empty: the total). values: float64, one axis an attribute, in counts, may be
    negative. sigma: standard deviation of the noise of one cell, in counts. recodes: for attributes measured
    coarsely, which of their values share a position on the axis. law: of the noise;
    None where it was not written down (files of earlier versions), and then the run's delta tells. shared: names the
    one release from which this table was computed together with others, whose noise therefore is not its own; empty
    for a table with noise of its own.
    """

    attributes: AttributeSet
    values: NDArray[np.float64]
    sigma: float
    recodes: Recodes = field(default_factory=lambda: NO_RECODES)
    law: Law | None = None
    shared: str = ""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class JointAxis:
    """An axis that stands for several attributes together. recode: of the cells of their product (C order)."""

    attributes: AttributeSet
    recode: Coarsening


@dataclass(frozen=True, kw_only=True, slots=True)
class JointTable:
    """A released marginal whose axes hold combinations of attributes, of which rare ones share a cell.

    axes: with all attributes that the table counts. values: float64, one axis each, in counts, may be negative.
    sigma, law: of the noise of one cell.
    """

    axes: tuple[JointAxis, ...]
    values: NDArray[np.float64]
    sigma: float
    law: Law | None = None

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.values.size)


class ReleasedTables(list[Measurement]):
    """Released marginals in order, with the scores by which some of them were chosen; None where there are none.

    joint: released tables over combinations of attributes, which are no product of the attributes' values.
    """

    scores: Scores | None = None
    joint: tuple[JointTable, ...] = ()
