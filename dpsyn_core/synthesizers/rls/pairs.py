"""Which pairs record least squares measures, and at which of two resolutions; scored through the gate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.select import added_noise, choose_tables, score_sets, shares
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema.domain import AttributeSet
from dpsyn_core.synthesizers.rls.view import Recodes, View

CAUTION = 0.7  # shrinking and fitting leave about this part of the noise
COARSER = 8.0  # times fewer coarse values where the usual table is too dear
COARSEST = 10.0  # coarse values that a second look asks for at least
SMALLER = 0.35  # of the usual cells, at most, or the second look is not worth a score
DEAR = 0.4  # of a pair's score: noise of its usual table from which on a coarser one is looked at
EXPLAINED = 0.9  # of the square of what a coarser table was seen to explain is counted
FINE = (64.0, 48.0, 32.0)  # resolutions that small tables take whatever the budget
FEW = 40.0  # cells that pairs have on average, at most, for that
FOLDED = 0.7979  # mean absolute value of a standard normal


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """Chosen pairs with the coarse maps of each; their cells; all scores; and the cost that is left for them."""

    sets: list[AttributeSet]
    recodes: list[Recodes]
    cells: NDArray[np.float64]
    scores: dict[AttributeSet, float]
    cost: Cost


def choose_pairs(
    counter: Counter,
    view: View,
    *,
    resolution: float,
    for_scores: Cost,
    for_pairs: Cost,
    theta: float,
    gate: Gate,
    progress: Progress = silent,
) -> Pairs:
    """Scores all pairs, looks again at a coarser table where the usual one is dear, and chooses what pays.

    A pair that depends, but not by enough for a table of its hundreds of cells, may still be worth a few dozen.
    Its coarser table is scored as well, out of the budget of pairs and with the noise of the first scores. What the
    coarser table leaves open is the root of the difference of the squares of both scores, for most of it is the
    chance of many thin cells, which adds to dependence as independent errors do.

    Args:
        counter: exact counts.
        view: the released one-ways.
        resolution: coarse values an attribute, at most about; see `View.recodes`.
        for_scores: what the first scores spend together.
        for_pairs: what the tables spend, and the second scores before them.
        theta: sensitivity of one table, as in `noise_error`.
        gate: through which scores are released.
        progress: told the steps.
    """
    pairs = view.domain.subsets(2)
    usual = view.recodes(resolution)
    expected = [view.product(p, usual) for p in pairs]
    scores, _ = score_sets(counter, pairs, expected, usual, cost=for_scores, gate=gate, name="scores of pairs")
    progress("scoring pairs", 1, 1)
    cells = np.array([e.size for e in expected], dtype=np.float64)
    errors = np.stack([np.maximum(scores, 0), np.zeros(len(pairs))], axis=1)
    sizes = np.stack([np.zeros(len(pairs)), cells], axis=1)
    chosen = choose_tables(errors, sizes, cost=for_pairs, theta=theta, caution=CAUTION)

    coarse = view.recodes(max(COARSEST, resolution / COARSER))
    fewer = np.array([_cells(p, coarse) for p in pairs])
    weight = float(shares(cells[chosen > 0], pure=for_pairs.pure).sum())
    price, less = (CAUTION * added_noise(c, weight, for_pairs, theta) for c in (cells, fewer))
    excess = scores - np.array([_chance(e) for e in expected])
    looks = _dear(scores, excess, cells=(cells, fewer), noise=(price, less))
    if len(looks):
        for_looks = for_scores.scaled(len(looks) / len(pairs))  # so that all scores have the same noise
        for_pairs = for_pairs.less(for_looks)
        sets = [pairs[i] for i in looks]
        second, _ = score_sets(
            counter, sets, [view.product(p, coarse) for p in sets], coarse,
            cost=for_looks, gate=gate, name="scores of coarser pairs",
        )  # fmt: skip
        found = np.clip(second, 0, errors[looks, 0])
        open_ = np.full(len(pairs), np.inf)
        open_[looks] = np.sqrt(errors[looks, 0] ** 2 - EXPLAINED * found**2)
        errors = np.column_stack([errors, open_])
        sizes = np.column_stack([sizes, fewer])
        chosen = choose_tables(errors, sizes, cost=for_pairs, theta=theta, caution=CAUTION)
    taken = np.flatnonzero(chosen)
    return Pairs(
        sets=[pairs[i] for i in taken],
        recodes=[usual if chosen[i] == 1 else coarse for i in taken],
        cells=sizes[taken, chosen[taken]],
        scores={p: float(s) for p, s in zip(pairs, scores, strict=True)},
        cost=for_pairs,
    )


def affordable(view: View, resolution: float) -> float:
    """A resolution, or a finer one where pairs have few cells even then: there, merging loses more than noise adds."""
    for finer in FINE:
        if finer > resolution:
            recodes = view.recodes(finer)
            sizes = np.array([int(r.max()) + 1 for r in recodes.values()], dtype=np.float64)
            if (sizes.sum() ** 2 - (sizes**2).sum()) / (len(sizes) * (len(sizes) - 1)) <= FEW:
                return finer
    return resolution


def _dear(
    scores: NDArray[np.float64],
    excess: NDArray[np.float64],
    *,
    cells: tuple[NDArray[np.float64], NDArray[np.float64]],
    noise: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.intp]:
    """Pairs whose usual table costs much of what it tells, and whose coarser one may pay; (usual, coarser) each."""
    return np.flatnonzero((cells[1] <= SMALLER * cells[0]) & (noise[0] > DEAR * scores) & (noise[1] < excess))


def _cells(names: AttributeSet, recodes: Recodes) -> float:
    """Cells of a coarse table; infinitely many where an attribute has one value left, which no table can pay for."""
    shape = [int(recodes[n].max()) + 1 for n in names]
    return float(shape[0] * shape[1]) if min(shape) > 1 else np.inf


def _chance(expected: NDArray[np.float64]) -> float:
    """Distance from its expectation that a table of independent attributes has by chance (Poisson counts)."""
    return float(np.minimum(FOLDED * np.sqrt(expected), 2 * expected).sum())
