"""Functionals: figures that are weighted sums over the records of a table; their parts, and what makes them uncertain.

A batch holds K functionals over the same attributes. Its weights are float64 (K, *sizes of the attributes): what one
record with these codes adds to each figure. Smooth figures (means, gaps, Gini indices) come in by their influence:
what one more record would change them by.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import Coarsening
from dpsyn_core.schema import AttributeSet, Domain

Floats = NDArray[np.float64]
MOST_CELLS = 8_000_000  # of one table at full resolution, and of the weights of one batch


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """K functionals. attributes: in domain order. weights: float64 (K, *shape of the attributes)."""

    attributes: AttributeSet
    weights: Floats

    def of(self, table: Floats) -> Floats:
        """The figures (K,) of a table of counts over the attributes."""
        k = len(self.weights)
        values: Floats = self.weights.reshape(k, -1) @ table.ravel()
        return values


def count(codes: NDArray[np.unsignedinteger], domain: Domain, names: AttributeSet) -> Floats:
    """Counts of records over some attributes at full resolution, float64 of `domain.shape(names)`.

    Raises:
        SizeError: the table has too many cells; coarser bins would do.
    """
    shape = domain.shape(names)
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        msg = f"a table over {', '.join(names)} has {cells:,} cells, above the cap of {MOST_CELLS:,}; ask for fewer"
        raise SizeError(msg)
    flat = np.zeros(codes.shape[1], dtype=np.int64)
    for name, size in zip(names, shape, strict=True):
        flat *= size
        flat += codes[domain.index(name)]
    return np.bincount(flat, minlength=cells).astype(np.float64).reshape(shape)


def onto(batch: Batch, names: AttributeSet, margins: Mapping[str, Floats]) -> Floats:
    """The part of the weights that belongs to exactly these attributes: float64 (K, *their shape).

    Every attribute that is left out is averaged over its margin, and from every other one its average is taken off
    (an analysis of variance under independence). Parts over all subsets add up to the weights, and a sum over a table
    needs, for each part, only the table's margin over the part's attributes.

    Args:
        batch: of functionals.
        names: a subset of its attributes, in their order.
        margins: for each attribute its probabilities.
    """
    kept = [n in names for n in batch.attributes]
    return part(batch.weights, kept, [margins[n] for n in batch.attributes])


def part(weights: Floats, kept: Sequence[bool], margins: Sequence[Floats]) -> Floats:
    """As `onto`, by position: float64 (K, *sizes) to (K, *sizes of the kept axes)."""
    out = weights
    for axis in reversed(range(len(kept))):
        mean = np.tensordot(out, margins[axis], axes=([axis + 1], [0]))
        out = out - np.expand_dims(mean, axis + 1) if kept[axis] else mean
    return out


def subsets(names: AttributeSet, least: int) -> list[AttributeSet]:
    """All subsets of at least so many attributes, in order of their size."""
    return [s for k in range(least, len(names) + 1) for s in itertools.combinations(names, k)]


def merged_weights(
    weights: Floats, recodes: Sequence[Coarsening | None], margins: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Weights at coarse values, and what is left of them inside.

    Args:
        weights: float64 (K, *sizes).
        recodes: for each axis how coarse it is, or None where values stay apart.
        margins: for each axis the probabilities of its values, by which coarse values are averages.

    Returns:
        The averages, (K, *coarse sizes), and the weights less their average, (K, *sizes).
    """
    coarse = weights
    for axis, (recode, margin) in enumerate(zip(recodes, margins, strict=True)):
        if recode is not None:
            coarse = _averaged(coarse, axis + 1, recode, margin)
    back = coarse
    for axis, recode in enumerate(recodes):
        if recode is not None:
            back = recode.expand(back, axis + 1)
    return coarse, weights - back


def _averaged(weights: Floats, axis: int, recode: Coarsening, margin: Floats) -> Floats:
    """One axis averaged over the values of each coarse value; evenly where a coarse value has no mass."""
    matrix = np.zeros((len(recode.map), recode.size))
    matrix[np.arange(len(recode.map)), recode.map] = recode.within(np.maximum(margin, 0.0) + 1e-12)
    return np.moveaxis(np.tensordot(weights, matrix, axes=([axis], [0])), -1, axis)


def sampling(weights: Floats, table: Floats) -> Floats:
    """Variance (K,) that each figure has because the records of a table are a sample: the sum of counts times w^2.

    That of Poisson counts; for weights whose mean over the table is 0 also that of a fixed number of records.
    """
    k = len(weights)
    return np.square(weights).reshape(k, -1) @ np.maximum(table, 0.0).ravel()


def reach(weights: Floats, table: Floats) -> Floats:
    """How far each figure (K,) can move, at most, when all records change cells: half the sum of counts times |w|."""
    k = len(weights)
    return np.abs(weights).reshape(k, -1) @ np.maximum(table, 0.0).ravel() / 2


def centred(weights: Floats, table: Floats) -> Floats:
    """The weights less their mean over the records of a table."""
    k = len(weights)
    total = float(table.sum())
    mean = weights.reshape(k, -1) @ table.ravel() / total if total > 0 else np.zeros(k)
    return weights - mean.reshape(k, *[1] * (weights.ndim - 1))
