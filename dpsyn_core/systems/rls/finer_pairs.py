"""Finer tables of pairs of numbers, for the second round: where records crowd inside the cells of the first one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Measurement, Recodes
from dpsyn_core.measure import Gate, score_sets
from dpsyn_core.privacy import Cost
from dpsyn_core.schema import AttributeSet
from dpsyn_core.systems.rls.budget import BudgetPlan
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.expectation import sampling_error
from dpsyn_core.systems.rls.pairs import HALF_NORMAL_MEAN, Pairs
from dpsyn_core.systems.steps import share_of

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class FinerPair:
    """A pair of numbers that was measured, the values of its finer table, and what is expected of that.

    error: L1 distance, in counts, at which the finer table stands from `expected` where nothing is new in it: by
    sampling, and by the noise of the first table.
    """

    names: AttributeSet
    maps: Recodes
    expected: Floats
    error: float


def of_numbers(sets: Iterable[AttributeSet], view: RlsEvidence) -> list[AttributeSet]:
    """Pairs of two numbers among attribute sets."""
    return [s for s in sets if len(s) == 2 and view.numbers.issuperset(s)]


def with_finer_pairs(
    counter: Counter, pairs: Pairs, view: RlsEvidence, *, plan: BudgetPlan, cost: Cost, gate: Gate
) -> tuple[Pairs, Cost]:
    """The pairs of the second round, with finer tables of numbers in place of their first ones where these pay.

    A first table has few values of each number, for numbers mostly depend as in a Gaussian copula, which fills in the
    rest. How far a finer table is from what the first one and the copula expect of it is scored: roads on a map, and
    fares that follow from minutes, are far from it. A pair gets its finer table where that removes more error than
    the noise that it adds to all tables; the pair that is farthest off is decided first.

    Args:
        counter: exact counts.
        pairs: of the second round, as in the first.
        view: of the tables of the first round.
        plan: of the budget.
        cost: what the second round may spend.
        gate: through which scores are released.

    Returns:
        The pairs, and the cost that the scores leave.
    """
    tuning, noise = plan.tuning.pairs, plan.noise
    first = set(of_numbers((m.attributes for m in view.joint), view))
    strongest = sorted(
        (m for m in view.joint if m.attributes in first), key=lambda m: -pairs.scores.get(m.attributes, 0.0)
    )[: tuning.finer_most]
    found = [f for m in strongest if (f := _finer(m, view, plan)) is not None]
    if not found:
        return pairs, cost
    for_scores = plan.second_scores(len(found), len(pairs.scores))
    for_scores = cost.scaled(min(share_of(for_scores, cost), plan.tuning.shares.scores_of_joint))
    sets, maps = [f.names for f in found], [f.maps for f in found]
    scores, sigma = score_sets(
        counter, sets, [f.expected for f in found], maps, cost=for_scores, gate=gate, name="scores of finer pairs"
    )
    cost = cost.less(for_scores)
    errors = np.array([f.error for f in found])
    sure = scores - errors > tuning.finer_sure * sigma
    beyond = np.sqrt(np.maximum(scores**2 - errors**2, 0.0)) * sure
    unit, power = noise.error(np.ones(1), cost), 1.0 if cost.pure else 0.5

    def noise_of(pairs: Pairs) -> float:
        """L1 error, in counts, of all tables of the second round together."""
        parts = np.array(noise.shares(pairs.cells * pairs.weights))
        return float((unit * pairs.cells * (parts / parts.sum()) ** -power).sum())

    for k in np.argsort(-beyond, kind="stable"):
        then = _with(pairs, found[k])
        if beyond[k] > tuning.noise_factor * (noise_of(then) - noise_of(pairs)):
            pairs = then
    return pairs, cost


def _finer(m: Measurement, view: RlsEvidence, plan: BudgetPlan) -> FinerPair | None:
    """The finer table of a measured pair of numbers, whose values divide those of the first one; None where it is none.

    A number that has no more values than the first table keeps those.
    """
    tuning = plan.tuning.pairs
    maps = dict[str, Coarsening]()
    for name, first in view.maps(m).items():
        fine = view.recode(name, plan.number_resolution * tuning.finer)
        maps[name] = Coarsening.of(np.unique(first.map * fine.size + fine.map, return_inverse=True)[1])
    if math.prod(r.size for r in maps.values()) < tuning.finer_cells * m.cells:
        return None
    expected = view.finer_pair(m, maps)
    noise = tuning.noise_factor * HALF_NORMAL_MEAN * m.sigma * m.cells
    error = math.hypot(sampling_error(expected, m.attributes, set()), noise)
    return FinerPair(names=m.attributes, maps=maps, expected=expected, error=error)


def _with(pairs: Pairs, finer: FinerPair) -> Pairs:
    """With the finer table in place of the first one of its pair, or besides, where that is not measured again."""
    cells, recodes = float(finer.expected.size), list(pairs.recodes)
    if finer.names not in pairs.sets:
        return replace(
            pairs,
            sets=[*pairs.sets, finer.names],
            recodes=[*recodes, finer.maps],
            cells=np.append(pairs.cells, cells),
            weights=np.append(pairs.weights, pairs.weights.max()),
            doubtful=np.append(pairs.doubtful, False),
        )
    at = pairs.sets.index(finer.names)
    recodes[at] = finer.maps
    return replace(pairs, recodes=recodes, cells=np.where(np.arange(len(recodes)) == at, cells, pairs.cells))
