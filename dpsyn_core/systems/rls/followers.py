"""Finds with budget which columns follow from others, as a country from a city, and measures their tables.

A noisy number of exceptions (`score_exceptions`) says of likely pairs of columns whether one follows from the other.
Where it does, the table of both is measured with all of their values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Follower, Measurement
from dpsyn_core.measure import Gate, exceptions_noise, measure_marginals, score_exceptions
from dpsyn_core.privacy import Cost
from dpsyn_core.systems.rls.budget import Noise
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.hierarchies import entropy

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class LikelyFollower:
    """A column that may follow from another one. alone: exceptions, in records, if they did not depend: at least."""

    name: str
    of: str
    alone: float


def candidates(view: RlsEvidence) -> list[LikelyFollower]:
    """Pairs in which one column may follow from the other by public sizes and released counts, the clearest first.

    What follows is no more varied than what it follows from, its values hold the whole values of the finer column, and
    its exceptions would be many if it did not follow. Post-processing.
    """
    t, domain, total = view.tuning.followers, view.domain, max(view.total, 1.0)
    counts = [np.maximum(c, 0.0) for c in view.one_ways]
    varied = [entropy(c) for c in counts]
    order = sorted(range(len(domain)), key=lambda i: (-varied[i], i))
    out = []
    for i, j in combinations(order, 2):
        fine, coarse = domain.attributes[i], domain.attributes[j]
        if coarse.size < 2 or fine.size * coarse.size > t.most_cells:
            continue
        alone = _exceptions_alone(counts[i], counts[j])
        noise = math.hypot(view.counted[i], view.counted[j])
        if alone > t.least * total and _may_hold(counts[i], counts[j], t.away * noise, t.few):
            out.append(LikelyFollower(name=coarse.name, of=fine.name, alone=alone))
    return sorted(out, key=lambda c: -c.alone)


def measure_followers(
    counter: Counter, view: RlsEvidence, *, cost: Cost, noise: Noise, gate: Gate
) -> tuple[list[Measurement], tuple[Follower, ...], Cost]:
    """Scores the likely pairs, measures the tables of those that follow, and says what is left of the cost.

    As many pairs are scored as can be told apart for `FollowerChoice.score` of the cost; where these need less, less is
    spent, and nothing where no pair is likely. Those that seem to follow are scored once more for as much, which says
    how many exceptions there are.
    """
    t, total = view.tuning.followers, max(view.total, 1.0)
    likely, most = candidates(view), cost.scaled(t.score)
    while likely and exceptions_noise(len(likely), most, noise.unit) > likely[-1].alone / t.clear:
        likely.pop()
    if not likely:
        return [], (), cost

    def scored(of: Sequence[LikelyFollower], cost: Cost) -> tuple[Floats, float]:
        sets = [view.domain.ordered_set((c.name, c.of)) for c in of]
        name = "exceptions to what follows"
        return score_exceptions(counter, sets, [c.of for c in of], {}, cost=cost, gate=gate, name=name)

    needed = 2 * t.clear * exceptions_noise(len(likely), most, noise.unit) / likely[-1].alone
    first = most.scaled(min(1.0, needed ** (1 / noise.root)))
    cost = cost.less(first)
    scores, sigma = scored(likely, first)
    near = [
        c
        for c, s in zip(likely, scores, strict=True)
        if s - t.apart * sigma <= t.exceptions * total and s + t.apart * sigma <= t.part * c.alone
    ]
    if not near:
        return [], (), cost
    cost = cost.less(most)
    scores, sigma = scored(near, most)
    shares = {
        (c.of, c.name): float(s) / total if s > t.seen * sigma else 0.0
        for c, s in zip(near, scores, strict=True)
        if s - t.apart * sigma <= t.exceptions * total
    }
    if not shares:
        return [], (), cost
    found = tuple(_followers(shares, view))
    parts = [_part(view, f, cost, noise) for f in found]
    parts = [p * min(1.0, t.tables / sum(parts)) for p in parts]
    *costs, left = cost.split([*parts, 1 - sum(parts)])
    tables = measure_marginals(counter, [view.domain.ordered_set((f.name, f.of)) for f in found], costs, gate=gate)
    return tables, found, left


def _followers(exceptions: Mapping[tuple[str, str], float], view: RlsEvidence) -> Iterator[Follower]:
    """Each column that follows, from the least varied of those that it follows from: its map is the surest.

    exceptions: share of the records, by (fine column, the one that follows). Those of a chain are of its root, which
    says more than the column in between, where it was scored.
    """
    varied = {n: entropy(np.maximum(c, 0.0)) for n, c in zip(view.domain.names, view.one_ways, strict=True)}
    of = {name: min((f for f, n in exceptions if n == name), key=varied.__getitem__) for _, name in exceptions}
    for name, parent in of.items():
        root = parent
        while root in of:
            root = of[root]
        yield Follower(name=name, of=parent, exceptions=exceptions.get((root, name), exceptions[parent, name]))


def _part(view: RlsEvidence, follower: Follower, cost: Cost, noise: Noise) -> float:
    """Of the cost, for the table of a follower: records with a wrong value against what pairs lose."""
    t, d = view.tuning.followers, len(view.domain)
    held = np.maximum(view.one_ways[view.domain.index(follower.of)], 0.0)
    others = view.domain[follower.name].size - 1

    def lost(part: float) -> float:
        away = held / (2 * noise.of_cell(cost.scaled(part)))  # of two cells, over the root of 2
        wrong = held @ np.minimum(1.0, others * np.array([math.erfc(a) / 2 for a in away]))
        return float(wrong) / max(view.total, 1.0) * (1 + t.others * (d - 1)) + part * t.pairs * d * (d - 1) / 4

    return min(t.parts, key=lost)


def _exceptions_alone(fine: Floats, coarse: Floats) -> float:
    """Exceptions, in records, that two independent columns with these counts have, at least about."""
    share = float(coarse.max()) / max(float(coarse.sum()), 1e-9)
    spread = math.sqrt(2 * math.log(len(coarse)) * share * (1 - share))
    return float((fine - np.minimum(fine, fine * share + spread * np.sqrt(fine))).sum())


def _may_hold(fine: Floats, coarse: Floats, noise: float, few: int) -> bool:
    """Whether the values of the finer column can be divided among those of the other one, up to so much noise.

    Of few values that stand out of noise, all sums are tried.
    """
    if coarse.max() < fine.max() - noise:
        return False
    large = fine[fine > noise / 2]
    if len(large) > few:
        return True
    sums, slack = np.zeros(1), float(fine.sum() - large.sum())
    for count in large:
        sums = np.concatenate([sums, sums + count])
    away = noise * math.sqrt(max(len(large) / 2, 1.0))
    return all(bool(((sums <= c + away) & (sums >= c - away - slack)).any()) for c in coarse if c > noise)
