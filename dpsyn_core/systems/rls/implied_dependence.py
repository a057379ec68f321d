"""Dependence that a fit adds to pairs which were not measured although their scores deny it, and how it is taken back.

Two causes of one outcome, as length of stay and ward are of a bill, need not depend on each other. Their pair then has
a low score and no table, and records that fit both pairs with the outcome make the causes depend: a ward with high
bills gets long stays. The released score of the pair says that it should not be so. Post-processing, but for scores of
pairs against a fit, which go through the gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Pace, Scores, Target, shrink_unordered
from dpsyn_core.measure import Gate, choose_tables, score_sets
from dpsyn_core.privacy import Cost
from dpsyn_core.schema import Domain
from dpsyn_core.systems.rls.budget import BudgetPlan, Noise
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.expectation import fitted_tables
from dpsyn_core.systems.rls.pairs import Pairs, sampling_errors, usual_recodes

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter


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


class ExplainedPairs:
    """Doubtful pairs that the tables of the others explain: measuring them would add more error than it removes.

    Of what is released so far, records are fitted, and what they show of each doubtful pair is the expected table.
    """

    def __init__(self, pairs: Pairs, view: RlsEvidence) -> None:
        """view: of the tables of all pairs that are not doubtful."""
        self.pairs, self.view, self.places = pairs, view, np.flatnonzero(pairs.doubtful)
        self.sets, self.maps = ([of[i] for i in self.places] for of in (pairs.sets, pairs.recodes))
        self.alone = [view.product(s, m) for s, m in zip(self.sets, self.maps, strict=True)]
        self.fitted = fitted_tables(view, self.sets, self.maps)
        self.chance = sampling_errors(self.alone)
        self.excess = np.array([pairs.scores[s] for s in self.sets]) - self.chance
        self.shown = np.array([float(np.abs(f - a).sum()) for f, a in zip(self.fitted, self.alone, strict=True)])
        whole = max(float(self.excess.sum()), 1e-9)
        self._short, self._noisy = 1 - float(self.shown.sum()) / whole, pairs.sigma * len(self.places) / whole

    @property
    def vague(self) -> bool:
        """Whether the fit may fall short of the scores of all doubtful pairs for their noise alone."""
        return self._short <= self._noisy / self.view.tuning.pairs.vague

    def by_scores(self, noise: Noise) -> NDArray[np.bool_]:
        """Where the fit shows what the scores of all doubtful pairs show together, those of which it shows as much.

        As in a tree: such a pair is off by sampling alone. Where the fit falls short of all together, there is none:
        that it shows as much dependence for one of them does not say that it is the same dependence. For each pair.
        """
        t, sigma = self.view.tuning.pairs, self.pairs.sigma
        if self._short > min(1 - t.explains, t.vague * self._noisy):
            return np.zeros(len(self.pairs.sets), dtype=np.bool_)
        explained = self.shown >= t.explains * (self.excess - sigma)
        return self._needless(np.where(explained, self.chance, np.inf), self.pairs.cost, noise)

    def by_fit(self, counter: Counter, *, cost: Cost, noise: Noise, gate: Gate) -> NDArray[np.bool_]:
        """Scores the doubtful pairs against the fit, and chooses those of which it is too near to pay for a table."""
        tuning = self.view.tuning.records.shrinkage
        scores, sigma = score_sets(
            counter, self.sets, self.fitted, self.maps, cost=cost, gate=gate, name="scores of pairs against a fit"
        )
        excess = scores - self.chance
        off = np.minimum(shrink_unordered(excess, sigma, tuning=tuning), self.excess + self.pairs.sigma)
        return self._needless(self.chance + np.maximum(off, 0.0), self.pairs.cost.less(cost), noise)

    def _needless(self, off: NDArray[np.float64], cost: Cost, noise: Noise) -> NDArray[np.bool_]:
        """Doubtful pairs that no table pays for; off: how far each is from the fit, inf where it needs one."""
        pairs, weights = self.pairs, self.pairs.weights[:, None]
        errors = np.stack([np.full(len(pairs.sets), 2 * max(self.view.total, 1.0)), np.zeros(len(pairs.sets))], axis=1)
        errors[self.places, 0] = np.minimum(off, errors[self.places, 0])
        cells = np.stack([np.zeros(len(pairs.sets)), pairs.cells], axis=1)
        chosen = choose_tables(
            errors * weights,
            cells * weights,
            cost=cost,
            sensitivity=noise.sensitivity,
            noise_factor=self.view.tuning.pairs.noise_factor,
        )
        out = np.zeros(len(pairs.sets), dtype=np.bool_)
        out[self.places] = np.isfinite(off) & (chosen[self.places] == 0)
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
