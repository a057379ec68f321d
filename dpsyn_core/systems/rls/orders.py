"""Sets of three attributes and more: which of them the pairs do not explain, and measuring those that pay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Measurement, Recodes, coarse_shape
from dpsyn_core.measure import Gate, Margins, choose_sets, excesses, measure_marginals, score_sets, search_sets
from dpsyn_core.privacy import Cost
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.rls.budget import BudgetPlan
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.expectation import Expectation, expect, removable_errors
from dpsyn_core.systems.rls.pairs import Pairs

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter

Floats = NDArray[np.float64]
# standard deviation of the absolute value of a standard normal: of an L1 distance of counts, over the root of records
HALF_NORMAL_DEVIATION = 0.6028
MeasurePairs = Callable[[Cost, Pairs], list[Measurement]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wide:
    """A set of three attributes or more, how coarse it would be measured, and what that would remove of its error.

    gain: L1, in counts, of the set and of all that lie inside it. known: the part of it that is dependence beyond doubt
    and stands out of the records, not sampling error; 0 where there is little.
    """

    attributes: AttributeSet
    shape: tuple[int, ...]
    recodes: Recodes
    gain: float = 0.0
    known: float = 0.0

    @property
    def strong(self) -> bool:
        """Whether it may take more than a little from pairs."""
        return self.known > 0

    @property
    def cells(self) -> float:
        """Of its table."""
        return float(math.prod(self.shape))

    def holds(self, other: Wide) -> bool:
        """Whether its table tells all that the table of the other set would tell, and more."""
        return set(other.attributes) < set(self.attributes) and self.agrees(other)

    def agrees(self, other: Wide) -> bool:
        """Whether the attributes that both have are equally coarse."""
        return all(
            _coarse(self.recodes.get(n)) == _coarse(other.recodes.get(n))
            for n in set(self.attributes) & set(other.attributes)
        )

    def with_one_of(self, other: Wide, domain: Domain) -> Wide | None:
        """The set with the one attribute more that the other has; None where it has not one, or is coarser."""
        more = [n for n in other.attributes if n not in self.attributes]
        if len(more) != 1 or not self.agrees(other):
            return None
        size = dict(zip((*other.attributes, *self.attributes), (*other.shape, *self.shape), strict=True))
        names = domain.ordered_set(size)
        return replace(
            self, attributes=names, shape=tuple(size[n] for n in names), recodes={**other.recodes, **self.recodes}
        )


def _coarse(recode: Coarsening | None) -> Coarsening | None:
    """A coarsening that merges something; one that only changes the order of values tells as much as none."""
    return None if recode is None or recode.size == len(recode.map) else recode


def triples_to_score(view: RlsEvidence, scores: dict[AttributeSet, float]) -> list[AttributeSet]:
    """Triples that are small enough, and of too many those whose pairs depend most, by released scores."""
    tuning, d = view.tuning.triples, len(view.domain)
    if d < 3 or d > tuning.most_attributes:
        return []
    recodes = view.recodes(tuning.resolution)
    size = {n: r.size for n, r in recodes.items()}
    sets = [t for t in view.domain.subsets(3) if math.prod(size[n] for n in t) <= tuning.most_cells]
    sets = [t for t in sets if min(size[n] for n in t) > 1]
    strength = [sum(scores.get(p, 0.0) for p in combinations(t, 2)) for t in sets]
    best = np.argsort(-np.array(strength), kind="stable")[: tuning.most_triples]
    return [sets[i] for i in sorted(best)]


def triples_may_pay(view: RlsEvidence, plan: BudgetPlan, pairs: Pairs, triples: int) -> bool:
    """Whether the noise of the chosen pairs is low enough for triples to be scored one by one, by released values."""
    tuning, d, total = plan.tuning.triples, len(view.domain), max(view.total, 1.0)
    error = plan.noise.error(pairs.cells, pairs.cost) / (d * (d - 1) * total)
    of_score = plan.noise.of_score(plan.triple_scores(pairs.cost), triples) / total
    low = tuning.low_noise_precise if of_score < tuning.precise else tuning.low_noise
    if float(pairs.cells.mean()) <= tuning.few_cells:
        low = max(low, tuning.low_noise_few)
    return error < low


class Search:
    """The search for sets of any order among too many to score one by one: what it costs, and what it may find."""

    def __init__(
        self, view: RlsEvidence, plan: BudgetPlan, cost: Cost, target: str | None = None, weight: float = 1.0
    ) -> None:
        """cost: of pairs and wider sets together. target: in sets of orders that have too many.

        weight: how many times more the error of a set with the target counts.
        """
        self.view, self.plan, self.tuning = view, plan, plan.tuning.orders
        self.cost = plan.answer(cost)
        sample = max(view.total, 1.0)
        sample *= 1 + sample / min(sample, 2 * plan.tuning.triples.records)  # of the records, and of both fits
        spread = HALF_NORMAL_DEVIATION * math.sqrt(sample)
        self.least = self.tuning.significant * math.hypot(plan.noise.of_score(self.cost, 1), spread)
        noise = plan.noise.error(np.ones(1), cost.scaled(self.tuning.usual_part))
        self.most_cells = min(self.tuning.most_cells, self.tuning.lost * max(view.total, 0.0) / noise)
        self.target, self.weight = target, weight
        small = self.tuning.few_values
        self.levels: list[Recodes] = [
            {n: r for n, r in view.recodes(level).items() if view.domain[n].size > small}
            for level in self.tuning.resolutions
        ]

    def pays(self) -> bool:
        """Whether a strong dependence would stand out of the noise of an answer."""
        return 3 <= len(self.view.domain) <= self.tuning.most_attributes and (
            self.least < self.tuning.strongest * self.view.total
        )

    def of_order(self, order: int) -> list[Margins]:
        """The candidates of an order: all, or those with the target, or none, by the work; each as fine as fits."""
        domain, target = self.view.domain, None if self.target is None else self.view.domain.index(self.target)
        d = len(domain)
        if math.comb(d, order) <= self.tuning.most_sets:
            places = np.array(list(combinations(range(d), order)))
        elif target is not None and math.comb(d - 1, order - 1) <= self.tuning.most_sets:
            rest = combinations([i for i in range(d) if i != target], order - 1)
            places = np.sort(np.array([(*p, target) for p in rest]), axis=1)
        else:
            return []
        sizes = np.array(
            [[maps[n].size if n in maps else domain[n].size for n in domain.names] for maps in self.levels]
        )
        cells = sizes[:, places].astype(np.float64).prod(axis=2)  # (levels, sets)
        fits = (cells <= self.most_cells) & (sizes[:, places].min(axis=2) > 1)
        level = np.where(fits.any(axis=0), fits.argmax(axis=0), -1)  # the finest that fits
        names, out = domain.names, []
        for k, maps in enumerate(self.levels):
            sets = [tuple(names[i] for i in p) for p in places[level == k].tolist()]
            if sets:
                out.append(Margins(domain, sets, maps))
        counted = sum(len(m.tables) for m in out) * self.view.total
        read = sum(m.work for m in out)
        return out if counted <= self.tuning.most_counted and read <= self.tuning.most_read else []

    def run(self, counter: Counter, known: Expectation, found: Sequence[Wide], *, gate: Gate) -> tuple[list[Wide], int]:
        """Sets of each order in turn that neither the fit nor earlier sets explain, and the number of answers.

        found: dependent sets so far; dependence inside these is taken off the score of a larger set.
        """
        view, fresh, asked, order = self.view, list[Wide](), 0, 3
        while 2.0**order <= self.most_cells and order <= len(view.domain) and asked < self.tuning.most_answers:
            margins = self.of_order(order)
            if margins:
                expected, errors = zip(*(known.of_margins(m, view.total) for m in margins), strict=True)
                explained = self._explained(margins, np.concatenate(errors), [*found, *fresh])

                excess, answers = search_sets(
                    partial(excesses, counter, margins, expected, explained),
                    len(explained),
                    cost=self.cost,
                    least=self.least,
                    most=self.tuning.most_answers - asked,
                    gate=gate,
                    name=f"largest scores of {order}",
                )
                asked += answers
                sets = [(s, m.recodes) for m in margins for s in m.sets]
                for k, x in excess.items():  # what is beyond adds up in squares with what is explained
                    names, maps = sets[k]
                    gain = math.sqrt(max(x * x + 2 * x * explained[k], 0.0))
                    shape = coarse_shape(view.domain, names, maps)
                    fresh.append(Wide(attributes=names, shape=shape, recodes=maps, gain=gain, known=gain))
            order += 1
        return fresh, asked

    def _explained(self, margins: Sequence[Margins], errors: Floats, found: Sequence[Wide]) -> Floats:
        """What each score is likely to be without news: errors of fit and sampling, and what smaller sets explain."""
        members = [set(s) for m in margins for s in m.sets]
        inside = np.zeros(len(members))
        for one in found:
            names = set(one.attributes)
            inside += np.array([one.known**2 if names <= m else 0.0 for m in members])
        # between the sum of squares, of errors that are spread alike, and the square of the sum
        return np.asarray(np.sqrt(errors**2 + inside + self.tuning.apart * errors * np.sqrt(inside)))


def measure_orders(
    counter: Counter,
    view: RlsEvidence,
    triples: Sequence[AttributeSet],
    search: Search,
    *,
    plan: BudgetPlan,
    pairs: Pairs,
    cost: Cost,
    gate: Gate,
    measure_pairs: MeasurePairs,
) -> list[Measurement]:
    """Sets of three attributes and more that the pairs do not explain, where they pay, and the same pairs again.

    Args:
        counter: exact counts.
        view: all that has been released so far.
        triples: those to score one by one.
        search: for sets of any order.
        plan: of the budget.
        pairs: chosen and measured in the first round.
        cost: what this round may spend.
        gate: through which all is released.
        measure_pairs: measures the same pairs again at a cost.
    """
    tuning, noise = plan.tuning.triples, plan.noise
    coarse = view.recodes(tuning.resolution)
    expectation = expect(view, triples, coarse)
    wide: list[Wide] = []
    if triples:
        of_score = noise.of_score(cost.scaled(tuning.score_share), len(triples)) / max(view.total, 1.0)
        enough = float(np.clip((of_score / tuning.score_enough) ** (1 / noise.root), tuning.score_least, 1.0))
        scoring = tuning.score_share * enough
        for_scores, cost = cost.split([scoring, 1 - scoring])
        scores, sigma = score_sets(
            counter,
            triples,
            expectation.tables,
            [coarse] * len(triples),
            cost=for_scores,
            gate=gate,
            name="scores of triples",
        )
        gains = removable_errors(scores, sigma, expectation, tuning=plan.tuning)
        null = np.hypot(expectation.fit_error, expectation.sampling_error)
        beyond = np.sqrt(np.maximum(scores**2 - null**2, 0.0)) * (scores - null > tuning.significant * sigma)
        beyond[beyond < plan.tuning.orders.strong * view.total] = 0.0
        wide = [
            Wide(attributes=t, shape=e.shape, recodes=coarse, gain=float(g), known=float(b))
            for t, e, g, b in zip(triples, expectation.tables, gains, beyond, strict=True)
        ]
    if search.pays():
        more, answers = search.run(counter, expectation, [w for w in wide if w.strong], gate=gate)
        cost = cost.less(search.cost.scaled(answers)) if answers else cost
        wide = _gathered([*wide, *more], view.domain, search.most_cells)
    times = np.array([search.weight if search.target in w.attributes else 1.0 for w in wide])
    chosen = _best_parts(wide, times, plan, pairs, cost, attributes=len(view.domain), total=view.total)
    if not chosen:
        return measure_pairs(cost, pairs)
    sets, parts = [w for w, _ in chosen], [part for _, part in chosen]
    rest = _not_told(pairs, sets)
    weights = np.array(noise.shares(pairs.cells * pairs.weights))
    left = (1 - sum(parts)) * (float(weights[rest].sum() / weights.sum()) if len(weights) else 1.0)
    costs = cost.split([*parts, left] if left else parts)
    measured = measure_marginals(
        counter, [w.attributes for w in sets], costs[: len(sets)], gate=gate, recodes=[w.recodes for w in sets]
    )
    return measured + measure_pairs(costs[-1], pairs.only(rest)) if left else measured


def _not_told(pairs: Pairs, chosen: Sequence[Wide]) -> list[int]:
    """Positions of the pairs that no strong set tells as finely as they were measured."""
    tables = [Wide(attributes=p, shape=(), recodes=maps) for p, maps in zip(pairs.sets, pairs.recodes, strict=True)]
    return [i for i, t in enumerate(tables) if not any(w.strong and w.holds(t) for w in chosen)]


def _gathered(found: Sequence[Wide], domain: Domain, most_cells: float) -> list[Wide]:
    """Strong sets joined into larger ones, scored or composed, where one table costs less than theirs together."""
    strong = sorted((w for w in found if w.strong), key=lambda w: w.cells)
    larger = [w for w in strong if any(w.holds(s) for s in strong)]
    unions = [a.with_one_of(b, domain) for a, b in combinations(strong, 2)]
    larger += [w for w in unions if w is not None and w.cells <= most_cells]
    left = list(found)
    for w in sorted(larger, key=lambda w: -len(w.attributes)):
        inside = [s for s in left if s.strong and w.holds(s)]
        cost = sum(s.cells ** (2 / 3) for s in inside)
        same = next((s for s in left if s.attributes == w.attributes and s.agrees(w)), None)
        if inside and (same is not None or w.cells ** (2 / 3) < cost):
            gone = {id(s) for s in inside} | {id(same)}
            left = [s for s in left if id(s) not in gone]
            parts = inside if same is None else [*inside, same]
            left.append(replace(w, gain=sum(s.gain for s in parts), known=sum(s.known for s in parts)))
    return left


def _best_parts(
    found: Sequence[Wide], times: Floats, plan: BudgetPlan, pairs: Pairs, cost: Cost, *, attributes: int, total: float
) -> list[tuple[Wide, float]]:
    """The sets that pay, with the part of the cost that each gets.

    A larger part is taken when the error that it removes from sets, on average, exceeds the error that it adds to
    pairs by the factor of `TripleChoice.gains`. Strong sets get more as long as what they lose together, each weighed
    by its strength (`Orders.counts_fully`), exceeds what is added to all pairs together. Each part is compared with
    the part before it.
    """
    tuning, noise, held_back = plan.tuning.triples, plan.noise, plan.tuning.shares.held_back
    cells, gains, sure = (np.array([getattr(w, what) for w in found]) for what in ("cells", "gain", "known"))
    count = attributes * (attributes - 1) / 2
    of_pairs = plan.tuning.pairs.noise_factor * noise.error(pairs.cells, cost) * held_back**noise.root

    def tried(part: float, gains: Floats) -> tuple[dict[int, float], Floats, float]:
        """What each set gets of a part, what it gains by it, and what all pairs lose."""
        for_sets, won = cost.scaled(part), np.zeros(len(found))
        chosen = choose_sets(gains * times, cells * times, cost=for_sets, sensitivity=noise.sensitivity)
        weights = np.array(noise.shares((cells * times)[chosen]))
        shares = part * weights / weights.sum()
        won[chosen] = [gains[i] - noise.error(cells[[i]], cost.scaled(s)) for i, s in zip(chosen, shares, strict=True)]
        loses = of_pairs * ((1 - part * held_back) ** -noise.root - 1)
        return dict(zip(chosen, shares.tolist(), strict=True)), won, loses

    usual, won, lost = dict[int, float](), np.zeros(len(found)), 0.0
    for part, factor in zip(tuning.parts, tuning.gains, strict=True) if found else ():
        shares, wins, loses = tried(part, gains)
        if (wins - won).sum() / len(found) > factor * (loses - lost) / count:
            usual, won, lost = shares, wins, loses
    weights = times * (sure / (plan.tuning.orders.counts_fully * max(total, 1.0))) ** 2
    more, before = dict[int, float](), float((weights * np.maximum(won + sure - gains, 0.0)).sum())
    for part in plan.tuning.orders.parts if sure.any() else ():
        shares, wins, loses = tried(part, sure)
        if (weights * wins).sum() - before > loses - lost:
            more, before, lost = shares, float((weights * wins).sum()), loses
    if more:
        usual = {i: s for i, s in usual.items() if not sure[i]} | more
    return [(found[i], s) for i, s in sorted(usual.items())]
