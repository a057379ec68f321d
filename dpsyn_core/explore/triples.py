"""Which three columns of a public table hold more than their three pairs say."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.explore.look import Exploration
from dpsyn_core.schema.domain import AttributeSet

Floats = NDArray[np.float64]
LOOKED_AT = 10  # columns whose triples are looked at, those with the strongest pairs: 120 triples
COARSE = 12  # values of a column in order that are told apart; more say little about a table of three columns
MOST_VALUES = 60  # of a column without order; a longer list leaves too few records in a cell
ROUNDS = 25  # of iterative proportional fitting; tables of this size agree to a few parts in a thousand by then


@dataclass(frozen=True, kw_only=True, slots=True)
class Interaction:
    """How far three columns are from what their pairs say together.

    distance: half the L1 distance of the triple's frequencies from those of the table that has the same pairs and no
    interaction of all three, in [0, 1]. by_chance: about the mean of the same where there is none.
    """

    triple: AttributeSet
    distance: float
    by_chance: float

    @property
    def excess(self) -> float:
        """What is left of the distance without the part that chance explains, at least 0."""
        return max(self.distance - self.by_chance, 0.0)


def interactions(found: Exploration) -> list[Interaction]:
    """The triples of the columns with the strongest pairs, the strongest interaction first."""
    strength = dict.fromkeys(found.domain.names, 0.0)
    for d in found.pairs:
        for name in d.pair:
            strength[name] += d.excess
    few = [a.name for a in found.domain.attributes if a.size >= 2 and (a.ordered or a.size <= MOST_VALUES)]
    chosen = sorted(few, key=lambda name: -strength[name])[:LOOKED_AT]
    ordered = sorted((n for n in chosen if strength[n] > 0), key=found.domain.index)
    columns = {name: _coarse(found, name) for name in ordered}
    made = [_interaction(triple, [columns[n] for n in triple]) for triple in combinations(ordered, 3)]
    return sorted(made, key=lambda i: (-i.excess, i.triple))


def _coarse(found: Exploration, name: str) -> tuple[NDArray[np.intp], int]:
    """Codes (n_records,) of a column, at most COARSE runs of neighbours where it has an order; and their number."""
    attribute = found.domain.attributes[found.domain.index(name)]
    codes = found.codes[found.domain.index(name)].astype(np.intp)
    ranked = attribute.size - attribute.special
    if not attribute.ordered or ranked <= COARSE:
        return codes, attribute.size
    counts = np.bincount(codes, minlength=attribute.size)[:ranked]
    middle = (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1)
    runs = np.minimum((middle * COARSE).astype(np.intp), COARSE - 1)
    special = COARSE + np.arange(attribute.special)
    return np.concatenate([runs, special])[codes], COARSE + attribute.special


def _interaction(triple: AttributeSet, columns: list[tuple[NDArray[np.intp], int]]) -> Interaction:
    shape = tuple(size for _, size in columns)
    cells = np.ravel_multi_index(tuple(codes for codes, _ in columns), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(float)
    n = counts.sum()
    fitted = _without_interaction(counts)
    distance = float(np.abs(counts - fitted).sum()) / (2 * n)
    # mean absolute deviation of Poisson counts, less what fitting the pairs takes away
    free = np.prod([max(s - 1, 0) for s in shape]) / counts.size
    deviation = np.minimum(np.sqrt(2 * fitted / np.pi), 2 * fitted).sum() * np.sqrt(free)
    return Interaction(triple=triple, distance=distance, by_chance=float(deviation) / (2 * n))


def _without_interaction(counts: Floats) -> Floats:
    """The table of the largest entropy with the same three pairs, by iterative proportional fitting."""
    fitted = np.full(counts.shape, counts.sum() / counts.size)
    for _ in range(ROUNDS):
        for axis in range(3):
            now = fitted.sum(axis=axis, keepdims=True)
            fitted *= np.divide(counts.sum(axis=axis, keepdims=True), now, out=np.zeros_like(now), where=now > 0)
    return fitted
