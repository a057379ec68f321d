"""Batteries: alike columns, such as the items of a questionnaire, whose pairs share the noisy mean of their tables.

Each pair of items depends too little to pay for a table of its own, and all together depend clearly: a scale is as
reliable as the mean correlation of its items. The mean of the tables of many pairs costs as much as the table of one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, MeanTable, Recodes
from dpsyn_core.measure import Gate, measure_mean
from dpsyn_core.systems.rls.alike_tables import form
from dpsyn_core.systems.rls.budget import BudgetPlan, Noise
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.mean_targets import symmetric, turned
from dpsyn_core.systems.rls.pairs import HALF_NORMAL_MEAN, Pairs, sampling_errors, usual_recodes
from dpsyn_core.systems.rls.tuning import Tuning

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class AlikePairs:
    """Pairs of two items of a battery, or of an item and one other column, or of items of two batteries.

    pairs: the column of the rows and that of the columns of each. recodes: of their tables. alone: what independence
    expects of each, in counts. scores: released, one a pair. sigma: of the noise of a score.
    """

    pairs: tuple[tuple[str, str], ...]
    recodes: Recodes
    alone: tuple[Floats, ...]
    scores: Floats
    sigma: float

    @cached_property
    def chance(self) -> Floats:
        """What sampling adds to each score."""
        return sampling_errors(self.alone)

    @property
    def strength(self) -> float:
        """L1 distance of a pair from independence, in records, in the mean of squares; at least 0."""
        squares = np.square(self.scores) - self.sigma**2 - np.square(self.chance)
        return math.sqrt(max(float(squares.mean()), 0.0))

    def sure(self, deviations: float) -> bool:
        """Whether the mean score stands by so many deviations of its noise above sampling."""
        excess = float((self.scores - self.chance).mean())
        return excess * math.sqrt(len(self.pairs)) > deviations * self.sigma

    def noise(self, sigma: float) -> float:
        """L1 error of a mean table with this noise in each cell; two cells of a symmetric one tell the same."""
        return HALF_NORMAL_MEAN * sigma * self.alone[0].size / math.sqrt(2 if symmetric(self.pairs) else 1)

    def only(self, places: Sequence[int]) -> AlikePairs:
        """Some of the pairs."""
        return AlikePairs(
            pairs=tuple(self.pairs[i] for i in places),
            recodes=self.recodes,
            alone=tuple(self.alone[i] for i in places),
            scores=self.scores[list(places)],
            sigma=self.sigma,
        )


def measure_mean_tables(
    counter: Counter, view: RlsEvidence, pairs: Pairs, *, plan: BudgetPlan, noise: Noise, gate: Gate
) -> tuple[tuple[MeanTable, ...], Pairs]:
    """Buys the mean tables that pay for their noise, of pairs that get no table of their own; and what they leave.

    Args:
        counter: exact counts.
        view: the released one-ways.
        pairs: chosen, with the scores of all, and what they may spend.
        plan: how coarse other columns are in pairs with items.
        noise: of this run.
        gate: through which tables are released.
    """
    t, measured = view.tuning.batteries, set(pairs.sets)
    wanted = []
    for block in _blocks(view, pairs, plan):
        varies = float(np.var(block.scores - block.chance, ddof=1)) / block.sigma**2
        left = [i for i, p in enumerate(block.pairs) if view.domain.ordered_set(p) not in measured]
        if varies <= 1 + t.alike * math.sqrt(2 / len(block.pairs)) and len(left) >= t.pairs:
            wanted.append(block.only(left))
    wanted = sorted((b for b in wanted if b.sure(t.sure)), key=lambda b: -b.strength * len(b.pairs))
    means, room = [], _room(view, pairs)
    for block in wanted:
        part = _best_part(block, pairs, noise, view.tuning) if len(block.pairs) <= room else 0.0
        if part > 0:
            room -= len(block.pairs)
            cost, rest = pairs.cost.split([part, 1 - part])
            means.append(measure_mean(counter, block.pairs, recodes=block.recodes, cost=cost, gate=gate))
            pairs = replace(pairs, cost=rest)
    return tuple(means), pairs


def _room(view: RlsEvidence, pairs: Pairs) -> int:
    """Pairs that a fit can take in a bounded time, beside those with tables of their own."""
    return view.tuning.pairs.most(len(view.domain), view.total) - len(pairs.sets)


def _best_part(block: AlikePairs, pairs: Pairs, noise: Noise, tuning: Tuning) -> float:
    """Of the cost of pairs, what takes most error away from the pairs of a block and gives least to all others."""
    factor, best = tuning.pairs.noise_factor, (0.0, 0.0)
    chance = float(block.chance.mean())
    for part in tuning.batteries.parts:
        table = block.noise(noise.of_cell(pairs.cost.scaled(part)))  # all of it: blocks of high scores look strong
        gain = len(block.pairs) * (math.hypot(block.strength, chance) - math.hypot(table, chance))
        others = [noise.error(pairs.cells * pairs.weights, pairs.cost.scaled(p)) for p in (1 - part, 1.0)]
        best = max(best, (gain - factor * (others[0] - others[1]), part))
    return best[1]


def _blocks(view: RlsEvidence, pairs: Pairs, plan: BudgetPlan) -> Iterator[AlikePairs]:
    """Pairs of alike columns, of which the mean score may say that they depend.

    A column stands for itself unless it is an item. Items behind a filter are paired with each other alone: what the
    filter explains of other pairs, its own tables tell.
    """
    t, domain = view.tuning.batteries, view.domain
    batteries: dict[tuple[object, ...], list[str]] = {}
    for a in domain.attributes:
        if a.size <= t.values:
            batteries.setdefault((form(a.name), a.size, a.special, a.number), []).append(a.name)
    of = {n: names[0] for names in batteries.values() if len(names) >= t.items for n in names}
    by_sides: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for x, y in pairs.scores:
        if (x in of or y in of) and view.agreements.filter_of(x) == view.agreements.filter_of(y):
            first, second = (x, y) if domain.index(of.get(x, x)) <= domain.index(of.get(y, y)) else (y, x)
            by_sides.setdefault((of.get(first, first), of.get(second, second)), []).append((first, second))
    usual = usual_recodes(view, plan)
    for every in by_sides.values():
        some = every[:: 1 + len(every) // max(_room(view, pairs), 1)]  # of too many, some from each part of the battery
        scores = np.array([pairs.scores[domain.ordered_set(p)] for p in some])
        if len(some) < t.pairs or float(scores.mean()) * math.sqrt(len(some)) < t.sure * pairs.sigma:
            continue
        maps = usual[len(view.numbers.intersection(some[0]))]
        columns = {n for p in some for n in p}
        recodes = {n: Coarsening.identity(domain[n].size) if n in of else maps[n] for n in columns}
        alone = tuple(turned(view.product(domain.ordered_set(p), recodes), p, domain) for p in some)
        if min(alone[0].shape) > 1:
            yield AlikePairs(pairs=tuple(some), recodes=recodes, alone=alone, scores=scores, sigma=pairs.sigma)
