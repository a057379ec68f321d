"""Which pairs record least squares measures, and at which of two resolutions; scored through the gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Recodes, Trust, shrink_unordered
from dpsyn_core.measure import Gate, added_noise, choose_tables, score_sets, shares
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet
from dpsyn_core.systems.rls.budget import BudgetPlan
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.tuning import PairChoice

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter

ALIKE: Mapping[AttributeSet, float] = MappingProxyType({})  # all pairs weigh the same
FEWEST = 4.0  # coarse values of a number in a pair whose category keeps its own, at most about
MOST_TOLD = 0.5  # of the cost of pairs, for the one-ways once more where a public table tells pairs
HALF_NORMAL_MEAN = 0.7979  # mean absolute value of a standard normal: the root of 2 / pi


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """Chosen pairs with the coarse maps, cells and weight of each; all scores; and the cost that is left for them.

    sigma: of the noise of a score. trust: how far a public table is borne out, by pair; see `synthesizers.rls.prior`.
    one_ways: for the one-ways once more, where pairs that a public table tells are not measured.
    doubtful: for each set, whether its attributes may depend because both follow a third one.
    """

    sets: list[AttributeSet]
    recodes: list[Recodes]
    cells: NDArray[np.float64]
    weights: NDArray[np.float64]
    scores: dict[AttributeSet, float]
    sigma: float
    cost: Cost
    trust: Mapping[AttributeSet, Trust] = field(default_factory=dict)
    one_ways: Cost | None = None
    doubtful: NDArray[np.bool_]

    def only(self, places: Sequence[int]) -> Pairs:
        """Some of them."""
        sets, recodes = [self.sets[i] for i in places], [self.recodes[i] for i in places]
        return replace(
            self,
            sets=sets,
            recodes=recodes,
            cells=self.cells[list(places)],
            weights=self.weights[list(places)],
            doubtful=self.doubtful[list(places)],
        )


def _recodes_of_pairs(
    pairs: Sequence[AttributeSet],
    view: RlsEvidence,
    by_numbers: Sequence[dict[str, Coarsening]],
    weights: Mapping[AttributeSet, float],
    apart: dict[str, Coarsening],
) -> list[Recodes]:
    """The coarse values of each pair, by how many numbers it has; `apart` counts before them in pairs with a weight."""
    by_numbers_of = {False: by_numbers, True: tuple(maps | apart for maps in by_numbers)}
    return [by_numbers_of[p in weights][len(view.numbers.intersection(p))] for p in pairs]


def choose_pairs(
    counter: Counter,
    view: RlsEvidence,
    *,
    plan: BudgetPlan,
    cost: Cost,
    gate: Gate,
    pairs: list[AttributeSet] | None = None,
    weights: Mapping[AttributeSet, float] = ALIKE,
    whole: Sequence[str] = (),
    choose: Callable[..., NDArray[np.intp]] = choose_tables,
    progress: Progress = silent,
) -> Pairs:
    """Scores all pairs, some a second time at a coarser resolution, and chooses the tables that pay.

    A pair that depends, but not by enough for a table of its hundreds of cells, may still repay a few dozen. Its
    coarser table is scored as well, out of the budget of pairs. What that leaves unexplained is the root of the
    difference of the squares of both scores: sampling error of many cells adds as independent errors do.

    Of a table with hundreds of attributes and many records, no more pairs are chosen than a fit can take in a bounded
    time (`PairChoice.most`): the dependent ones first.

    Args:
        counter: exact counts.
        view: the released one-ways, and the tables of questions, which tell what is expected of pairs inside them.
        plan: what the scores may spend, and how many coarse values an attribute has; see `RlsEvidence.recodes`.
        cost: what the tables of pairs may spend.
        gate: through which scores are released.
        pairs: those to score, if not all.
        weights: how many times more the error of a pair counts; 1 where it is not named.
        whole: attributes whose values stay apart in pairs with a weight.
        choose: the tables that pay, as `choose_tables` does.
        progress: receives the steps.
    """
    tuning, sensitivity, resolution = plan.tuning.pairs, plan.noise.sensitivity, plan.resolution
    pairs = [p for p in (view.domain.subsets(2) if pairs is None else pairs) if not view.hierarchies.tells(p)]
    by_numbers = usual_recodes(view, plan)
    apart = {n: Coarsening.identity(view.domain[n].size) for n in whole}
    usual = _recodes_of_pairs(pairs, view, by_numbers, weights, apart)
    expected = [view.expected(p, maps) for p, maps in zip(pairs, usual, strict=True)]
    scores, sigma = score_sets(counter, pairs, expected, usual, cost=plan.scores, gate=gate, name="scores of pairs")
    progress("scoring pairs", 1, 1)
    trust: Mapping[AttributeSet, Trust] = {}
    left, excess, sure = _standing_out(scores, sigma, expected, plan)
    if view.prior is not None:
        for_public = view.prior.cost_of_scores(plan.scores, cost)
        cost = cost.less(for_public)
        trust, left = view.prior.scored(counter, pairs, usual, expected, scores, sigma, cost=for_public, gate=gate)
    cells = np.array([e.size for e in expected], dtype=np.float64)
    # a table of a single coarse value each way would tell what the one-ways tell
    useless = np.array([min(e.shape) < 2 for e in expected], dtype=np.bool_)
    weight = np.array([weights.get(p, 1.0) for p in pairs])
    errors = np.stack([left, np.where(useless, np.inf, 0.0)], axis=1)
    sizes = np.stack([np.zeros(len(pairs)), cells], axis=1)

    def chosen_for(cost: Cost, errors: NDArray[np.float64]) -> NDArray[np.intp]:
        counted = np.maximum(sizes, tuning.fewest_cells * (sizes > 0))
        return choose(
            errors * weight[:, None],
            counted * weight[:, None],
            cost=cost,
            sensitivity=sensitivity,
            noise_factor=tuning.noise_factor,
        )

    chosen = chosen_for(cost, errors)
    implied = _implied(pairs, excess, chosen > 0, view)
    if implied.any():
        errors[:, 0] += implied
        chosen = chosen_for(cost, errors)
    coarser = view.recodes(max(tuning.fewest_values, resolution / tuning.coarser))
    coarse_of = {False: coarser, True: coarser | apart}
    coarse = [_coarser(view, p, coarse_of[p in weights], maps) for p, maps in zip(pairs, usual, strict=True)]
    fewer = np.array([_cells(maps[a].size, maps[b].size) for (a, b), maps in zip(pairs, coarse, strict=True)])
    spent = float(shares((cells * weight)[chosen > 0], pure=cost.pure).sum())
    noise, less = (tuning.noise_factor * added_noise(c * weight, spent, cost, sensitivity) for c in (cells, fewer))
    again = _second_scoring(scores * weight, excess * weight, cells=(cells, fewer), noise=(noise, less), tuning=tuning)
    if len(again):
        for_scores = plan.second_scores(len(again), len(pairs))
        cost = cost.less(for_scores)
        sets, maps = [pairs[i] for i in again], [coarse[i] for i in again]
        second, _ = score_sets(
            counter,
            sets,
            [view.expected(p, m) for p, m in zip(sets, maps, strict=True)],
            maps,
            cost=for_scores,
            gate=gate,
            name="scores of coarser pairs",
        )
        clipped = np.clip(second, 0, errors[again, 0])
        left = np.full(len(pairs), np.inf)
        left[again] = np.sqrt(errors[again, 0] ** 2 - tuning.explained * clipped**2)
        errors = np.column_stack([errors, left])
        sizes = np.column_stack([sizes, fewer])
        chosen = chosen_for(cost, errors)
    chosen[sure & (chosen == 0) & ~useless] = 1
    most = tuning.most(len(view.domain), view.total)
    if np.count_nonzero(chosen) > most:  # those that are most off without a table stay
        gains = weight * (errors[:, 0] - errors[np.arange(len(pairs)), chosen])
        chosen[np.argsort(-gains, kind="stable")[most:]] = 0
    one_ways = None
    if trust:
        before = np.flatnonzero(chosen_for(cost, np.column_stack([np.maximum(scores, 0), errors[:, 1:]])))
        part = shares((cells * weight)[before], pure=cost.pure) * (chosen[before] == 0)
        # what a margin of a pair tells of its column, its table tells of it at one part in the values of the other one
        explained = float(part @ [1 / expected[i].shape[0] + 1 / expected[i].shape[1] for i in before])
        if explained > 0:
            one_ways = cost.scaled(min(explained, MOST_TOLD))
            cost = cost.less(one_ways)
    taken = np.flatnonzero(chosen)
    made = Pairs(
        sets=[pairs[i] for i in taken],
        recodes=[usual[i] if chosen[i] == 1 else coarse[i] for i in taken],
        cells=sizes[taken, chosen[taken]],
        weights=weight[taken],
        scores={p: float(s) for p, s in zip(pairs, scores, strict=True)},
        sigma=float(sigma),
        cost=cost,
        trust=trust,
        one_ways=one_ways,
        doubtful=_doubtful(pairs, excess, sigma, expected, chosen > 0, tuning)[taken],
    )
    return _with_groups(made, dict(zip(pairs, excess - tuning.groups_sure * sigma, strict=True)), expected, view)


def _standing_out(
    scores: NDArray[np.float64], sigma: float, expected: Sequence[NDArray[np.float64]], plan: BudgetPlan
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Errors of pairs without a table, by their scores; what sampling does not explain of them; which are strong."""
    tuning, chance, most = plan.tuning, sampling_errors(expected), largest_distances(expected)
    excess = scores - chance
    if plan.hopeless:  # the largest scores are largely noise, but for one that stands out of all others
        excess = np.minimum(excess, shrink_unordered(excess, sigma, tuning=tuning.records.shrinkage))
    strong = excess > np.maximum(tuning.pairs.certain * sigma, tuning.pairs.strong * most)
    return np.clip(chance + excess, 0, most), excess, strong


def _with_groups(
    pairs: Pairs, excess: Mapping[AttributeSet, float], expected: Sequence[NDArray[np.float64]], view: RlsEvidence
) -> Pairs:
    """Adds tables of a number at a few coarse values and every single value of a category, as of marks and schools.

    Merging schools takes away most of the variance between them, and no table of their pair need pay for that. The
    differences are kept at the size that their noisy sums show (`with_gaps`).

    Args:
        pairs: chosen so far.
        excess: for each scored pair, what of its score neither sampling nor noise explains.
        expected: their tables, in order, were both attributes independent. Those of many groups are off by the noise
            of each group, which adds to sampling as independent errors do.
        view: the released one-ways.
    """
    tuning, domain, measured = view.tuning.pairs, view.domain, dict(zip(pairs.sets, pairs.recodes, strict=True))
    groups = dict[AttributeSet, Recodes]()
    for (pair, beyond), alone, chance in zip(excess.items(), expected, sampling_errors(expected), strict=True):
        number, category = sorted((domain[n] for n in pair), key=lambda a: not a.number)
        if category.number or not number.number or number.size - number.special <= tuning.groups_values:
            continue
        values = alone.shape[pair.index(category.name)]
        of_all = HALF_NORMAL_MEAN * view.sigmas[domain.index(category.name)] * math.sqrt(category.size * values)
        told = measured[pair][category.name].size if pair in measured else 0
        if (
            beyond > math.hypot(chance, of_all) - chance
            and told < category.size >= tuning.groups_from
            and view.hierarchies.free(category.name)
        ):
            few = view.recode(number.name, tuning.groups_values)
            groups[pair] = {number.name: few, category.name: Coarsening.identity(category.size)}
    return replace(
        pairs,
        sets=[*pairs.sets, *groups],
        recodes=[*pairs.recodes, *groups.values()],
        cells=np.append(pairs.cells, [float(maps[a].size * maps[b].size) for (a, b), maps in groups.items()]),
        weights=np.append(pairs.weights, np.full(len(groups), tuning.groups_weight)),
        doubtful=np.append(pairs.doubtful, np.zeros(len(groups), dtype=np.bool_)),
    )


def _coarser(view: RlsEvidence, pair: AttributeSet, coarser: Recodes, usual: Recodes) -> Recodes:
    """The coarser maps of a pair. A category keeps its values next to a number, which has the fewer in turn.

    Differences between forty schools are seen at three values of a mark, and not between four groups of schools.
    """
    numbers = [n for n in pair if n in view.numbers]
    (category,) = [n for n in pair if n not in numbers] if len(numbers) == 1 else [""]
    if not category or coarser[category].size >= usual[category].size:
        return coarser
    factor = coarser[numbers[0]].size * coarser[category].size / usual[category].size
    fewer = view.recode(numbers[0], max(FEWEST, factor))
    return {numbers[0]: fewer, category: usual[category]}


def usual_recodes(view: RlsEvidence, plan: BudgetPlan) -> tuple[dict[str, Coarsening], ...]:
    """How coarse attributes are in pairs without numbers, with one number and with two."""
    fine = view.recodes(plan.resolution)
    merged = view.merged_with_categories(plan.mixed_resolution)
    mixed = fine | {n: view.recode(n, plan.mixed_resolution) for n in merged}
    return fine, mixed, view.recodes(plan.number_resolution)


def _implied(
    pairs: list[AttributeSet], excess: NDArray[np.float64], chosen: NDArray[np.bool_], view: RlsEvidence
) -> NDArray[np.float64]:
    """L1 error of each pair of numbers that is not chosen, because two chosen pairs make both follow a third number.

    A total follows each of its parts. A fit to these pairs takes the parts to depend on each other, though they do
    not, and no score says so, for scores compare with independence. Correlations, read off the scores as those of a
    Gaussian copula whose L1 distance from independence is 2 / pi times as large, multiply along a path.

    Args:
        pairs: all pairs.
        excess: of their scores over the sampling error.
        chosen: which of them will be measured.
        view: which attributes are numbers, and the total.
    """
    place = {n: i for i, n in enumerate(sorted(view.numbers))}
    both = [(place[a], place[b]) if a in place and b in place else None for a, b in pairs]
    strong, weak = np.zeros((len(place), len(place))), np.zeros((len(place), len(place)))
    unit = 2 / np.pi * max(view.total, 1.0)
    for at, value, taken in zip(both, excess, chosen, strict=True):
        if at is not None:
            strong[at] = strong[at[::-1]] = min(max(value / unit, 0.0), 1.0) if taken else 0.0
    for i in range(len(place)):  # the strongest path over one number in between
        weak = np.maximum(weak, np.outer(strong[:, i], strong[i]))
    gaps = [
        0.0 if at is None or taken else max(float(weak[at]) * unit - max(float(value), 0.0), 0.0)
        for at, value, taken in zip(both, excess, chosen, strict=True)
    ]
    return np.array(gaps)


def _doubtful(
    pairs: list[AttributeSet],
    excess: NDArray[np.float64],
    sigma: float,
    expected: Sequence[NDArray[np.float64]],
    chosen: NDArray[np.bool_],
    tuning: PairChoice,
) -> NDArray[np.bool_]:
    """Which pairs may depend because both follow others, so that other tables say what theirs would: all but a tree.

    Strengths, as parts of what margins allow, multiply along a path of a tree, of which the pair is the weakest step.
    Where two attributes depend beyond that, as parts of one class do, their score is mostly larger than the product.
    Few pairs among many are as small by chance, and weak ones may be all that shows what is rare.

    Args:
        pairs: all pairs.
        excess: of their scores over the sampling error.
        sigma: of the noise of a score, by which an excess may be too large.
        expected: tables of independent attributes.
        chosen: which of them are to be measured.
        tuning: constants.
    """
    most = np.maximum(largest_distances(expected), 1.0)
    strength, doubted = (np.clip((excess - away) / most, 0.0, 1.0) for away in (0.0, sigma))
    place = {n: i for i, n in enumerate(dict.fromkeys(n for p in pairs for n in p))}
    at = np.array([[place[a], place[b]] for a, b in pairs], dtype=np.intp).reshape(-1, 2)
    strengths = np.zeros((len(place), len(place)))
    strengths[at[:, 0], at[:, 1]] = strengths[at[:, 1], at[:, 0]] = np.where(chosen, strength, 0.0)
    follows = np.zeros(len(pairs), dtype=np.bool_)
    for i in np.flatnonzero(chosen & (excess > tuning.follow_sure * sigma)):
        one, other = strengths[at[i]]
        through = float(np.where(np.minimum(one, other) > strength[i], one * other, 0.0).max(initial=0.0))
        follows[i] = 0 < through >= tuning.follows * doubted[i]
    if follows.sum() < max(tuning.follow * chosen.sum(), 1):
        return np.zeros_like(follows)
    tree, part = set[int](), {n: n for pair in pairs for n in pair}
    for k in sorted(np.flatnonzero(chosen).tolist(), key=lambda k: -float(excess[k])):
        root, leaf = (part[n] for n in pairs[k])
        if root != leaf:
            tree.add(k)
            part = {n: root if p == leaf else p for n, p in part.items()}
    return chosen & ~np.isin(np.arange(len(pairs)), list(tree))


def _second_scoring(
    scores: NDArray[np.float64],
    excess: NDArray[np.float64],
    *,
    cells: tuple[NDArray[np.float64], NDArray[np.float64]],
    noise: tuple[NDArray[np.float64], NDArray[np.float64]],
    tuning: PairChoice,
) -> NDArray[np.intp]:
    """Positions of the pairs whose usual table is noisy for its score, and whose coarser one may pay.

    cells and noise: of the usual table and of the coarser one. excess: of the scores over their sampling error.
    """
    return np.flatnonzero(
        (cells[1] <= tuning.fewer_cells * cells[0]) & (noise[0] > tuning.noisy * scores) & (noise[1] < excess)
    )


def _cells(first: int, second: int) -> float:
    """Cells of a coarse table; infinitely many where an attribute has one value left, which no table can pay for."""
    return float(first * second) if min(first, second) > 1 else np.inf


def sampling_errors(expected: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Mean L1 distances from their expectations of tables of independent attributes with given margins.

    A cell of a frequent value of either varies little then: its variance is the count times what is left of both.
    """
    if not len(expected):
        return np.zeros(0)
    margins = [(e.sum(axis=1, keepdims=True), e.sum(axis=0), max(float(e.sum()), 1.0)) for e in expected]
    left = [e * (1 - rows / n) * (1 - columns / n) for e, (rows, columns, n) in zip(expected, margins, strict=True)]
    cells = np.maximum(np.concatenate([v.ravel() for v in left]), 0.0)
    begins = np.cumsum([0, *(e.size for e in expected[:-1])])
    out: NDArray[np.float64] = np.add.reduceat(np.minimum(HALF_NORMAL_MEAN * np.sqrt(cells), 2 * cells), begins)
    return out


def largest_distances(expected: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """L1 distances from independence that these margins allow: where the side of fewer chances follows from the other.

    Of N records of which parts p_i have the i-th value of an attribute, 2 N (1 - sum p_i^2) are out of place at most.
    """
    sides = ((e.sum(axis=axis), max(float(e.sum()), 1.0)) for e in expected for axis in (0, 1))
    distances = [2 * n * (1 - float((margin / n) @ (margin / n))) for margin, n in sides]
    smallest: NDArray[np.float64] = np.array(distances).reshape(-1, 2).min(axis=1)
    return smallest
