"""Dependence that a fit adds to pairs which were not measured although their scores deny it, and how it is taken back.

Two causes of one outcome, as length of stay and ward are of a bill, need not depend on each other. Their pair then has
a low score and no table, and records that fit both pairs with the outcome make the causes depend: a ward with high
bills gets long stays. The released score of the pair says that it should not be so. Post-processing only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Pace, Scores, Target
from dpsyn_core.schema import Domain
from dpsyn_core.systems.rls.budget import BudgetPlan
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.pairs import sampling_errors, usual_recodes


def denied_pairs(
    rows: NDArray[np.uint16], targets: Sequence[Target], view: RlsEvidence, plan: BudgetPlan
) -> list[Target]:
    """Targets for pairs without one that the records make more dependent than their scores allow.

    Both are L1 distances from what the one-ways expect, less what sampling adds: the root of the difference of the
    squares, as independent errors add. The goal keeps the dependence of the records, at the strength of what the score
    shows beyond sampling and beyond `PairChoice.denied` deviations of its noise.

    Args:
        rows: uint16 (n_records, n_attributes), fitted to the targets.
        targets: what they were fitted to.
        view: the released one-ways and scores.
        plan: how coarse pairs are; see `usual_recodes`.
    """
    tables, scores = [t for t in targets if len(t.attributes) > 1], view.scores
    if scores is None or not tables or view.total <= 0:
        return []
    domain, scale = view.domain, len(rows) / view.total
    sigma = float(np.median([t.sigma for t in tables]))
    most, doubt = scores.bounds(view.tuning.pairs.denied), view.tuning.pairs.denied * scores.sigma
    can = _can_depend(domain, tables, scores)
    coarse = usual_recodes(view, plan)
    out = []
    for pair, score in zip(scores.sets, scores.values, strict=True):
        place = tuple(domain.index(n) for n in pair)
        if can[place] <= most[pair]:
            continue
        maps = coarse[len(view.numbers.intersection(pair))]
        onto = tuple(maps[n].map for n in pair)
        alone = view.product(pair, maps)
        (of_people,), (of_records,) = sampling_errors([alone]), sampling_errors([alone * scale])
        cells = np.ravel_multi_index(tuple(m[rows[:, i]] for i, m in zip(place, onto, strict=True)), alone.shape)
        excess = np.bincount(cells, minlength=alone.size).reshape(alone.shape) - alone * scale
        fitted = beyond(float(np.abs(excess).sum()), of_records)
        if fitted <= scale * beyond(most[pair], of_people):
            continue
        goal = alone * scale + excess * scale * beyond(float(score), of_people + doubt) / fitted
        if view.zeros is not None:
            goal = view.zeros.emptied(goal, pair, dict(zip(pair, onto, strict=True)))
        out.append(Target(attributes=place, maps=onto, values=goal, sigma=sigma))
    return out


def _can_depend(domain: Domain, tables: Sequence[Target], scores: Scores) -> NDArray[np.float64]:
    """L1 distance that targets can give each pair, at most: float64 (attributes, attributes); 0 where one holds it.

    Along a path of tables, two attributes depend on each other by no more than the weakest step (data processing).
    """
    reach = np.zeros((len(domain), len(domain)))
    inside = [[(a, b) for a in t.attributes for b in t.attributes if a != b] for t in tables]
    direct = tuple(np.array([p for pairs in inside for p in pairs]).T)
    reach[direct] = np.inf
    for pair, score in zip(scores.sets, scores.values, strict=True):
        a, b = (domain.index(n) for n in pair)
        if reach[a, b]:
            reach[a, b] = reach[b, a] = max(float(score), 0.0)
    for middle in range(len(reach)):
        np.maximum(reach, np.minimum.outer(reach[middle], reach[middle]), out=reach)
    reach[direct] = 0.0
    return reach


def beyond(distance: float, by_chance: float) -> float:
    """What of an L1 distance chance does not explain, at least 0."""
    return float(np.sqrt(max(max(distance, 0.0) ** 2 - by_chance**2, 0.0)))


def cooler_half(pace: Pace) -> Pace:
    """The second half of a fit's sweeps, for records that fit most of their targets."""
    return Pace(temperatures=pace.temperatures[len(pace.temperatures) // 2 :], repeats=pace.repeats, shards=pace.shards)
