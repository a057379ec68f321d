"""What a declared question or target adds to a run.

A declared target: how much more its pairs count, which pairs are scored, and which are measured together with it.

Tables that other declared questions need: how coarse they are, and measuring them through the gate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.estimate import Coarsening, Measurement, Need, Recodes, Workload, coarse_shape
from dpsyn_core.measure import Counter, Gate, measure_marginals, score_sets
from dpsyn_core.privacy import Cost
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.rls.budget import BudgetPlan, Noise
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.pairs import Pairs, sampling_errors
from dpsyn_core.systems.rls.tuning import DeclaredTables
from dpsyn_core.systems.steps import Step, noise_of, share_of

USUAL_PAIRS = 4.5  # measured, for each attribute
ROUNDS = (0.35, 0.65)  # of the cost of a regression, for its first sum, and for that at what the first one told


def target_of(needs: Sequence[Need], domain: Domain, *, most: float = math.inf) -> str | None:
    """The target that weighs most, of those with 2 to `most` values; None without one."""
    weights: dict[str, float] = {}
    for need in needs:
        if need.target is not None and 2 <= domain[need.target].size <= most:
            weights[need.target] = weights.get(need.target, 0.0) + need.weight
    return max(sorted(weights), key=lambda n: weights[n]) if weights else None


def parts_of_questions(workload: Workload, cost: Cost) -> tuple[Cost | None, Cost | None]:
    """What the tables of questions and the sums of regressions get of the cost of both, by weight; None: nothing."""
    models = 0.0 if cost.pure else sum(m.weight for m in workload.models)
    tables = sum(n.weight for n in asked_tables(workload, pure=cost.pure))
    if not models or not tables:
        return (None, cost) if models else (cost if tables else None, None)
    first, second = cost.split([tables, models])
    return first, second


def asked_tables(workload: Workload, *, pure: bool) -> tuple[Need, ...]:
    """The tables that are measured for questions alone. What a target is predicted from competes with other pairs.

    A regression needs none where a sum can be released for it: where noise is Gaussian.
    """
    return tuple(n for n in workload.needs if n.target is None and (pure or not workload.models or not n.model))


def asked_share(workload: Workload) -> float:
    """Of what pairs would get, for these tables and sums: their part of the share of all questions, by weight."""
    of_tables = sum(n.weight for n in workload.needs if n.target is None)
    return workload.share * of_tables / max(sum(n.weight for n in workload.needs), 1e-300)


def pair_weights(workload: Workload, *, tuning: DeclaredTables) -> dict[AttributeSet, float]:
    """How many times more the error of a pair counts that holds a declared target and what predicts it."""
    return {n.attributes: 1 + tuning.target_weight * workload.share for n in workload.needs if n.target is not None}


def kept_whole(workload: Workload, domain: Domain, *, tuning: DeclaredTables) -> list[str]:
    """Targets whose values stay apart in those pairs: classes, unless they are many."""
    names = {n.target for n in workload.needs}
    return sorted(n for n in names if n is not None and not domain[n].number and domain[n].size <= tuning.most_compared)


def pairs_to_score(
    counter: Counter, view: RlsEvidence, plan: BudgetPlan, target: str, needs: Sequence[Need], *, gate: Gate
) -> tuple[list[AttributeSet], Cost]:
    """All pairs, or where their scores would be noise, those with a target and those of columns that tell most of it.

    A hundred columns have 4,950 pairs, and their scores share one part of the budget. Half of that part scores the
    target with each column first, which shows where to look.

    Returns:
        The pairs, and what their scores may spend.
    """
    every, noise = view.domain.subsets(2), plan.noise
    total = max(view.total, 1.0)
    if noise.of_score(plan.scores, len(every)) <= plan.tuning.declared.vague_score * total:
        return every, plan.scores
    first, rest = plan.scores.split([0.5, 0.5])
    least = plan.tuning.declared.precise_score * total
    affordable = (least / noise.of_score(rest, 1)) ** (1 / noise.root)
    most = max(2, int((1 + math.sqrt(1 + 8 * affordable)) / 2))
    names = sorted(predictors_of(target, needs))
    if len(names) <= most:  # all other pairs would be left out for the sake of a few
        return every, plan.scores
    pairs = [view.domain.ordered_set((n, target)) for n in names]
    maps = view.recodes(plan.mixed_resolution)
    expected = [view.product(s, maps) for s in pairs]
    scores, _ = score_sets(
        counter, pairs, expected, [maps] * len(pairs), cost=first, gate=gate, name="scores of the target"
    )
    scored = dict(zip(names, scores - sampling_errors(expected), strict=True))
    best = set(sorted(names, key=lambda n: (-scored[n], n))[:most])
    with_target = set(pairs)
    return [s for s in every if set(s) <= best or s in with_target], rest


def beside_target(plan: BudgetPlan, size: int) -> BudgetPlan:
    """The plan with fewer coarse values of two numbers: with the target they have as many cells as alone before."""
    fewer = max(plan.tuning.resolution.numbers_least, plan.number_resolution / math.sqrt(size))
    return replace(plan, number_resolution=min(plan.number_resolution, fewer))


def predictors_of(target: str, needs: Sequence[Need]) -> set[str]:
    """What a target is to be predicted from."""
    return {n for need in needs if need.target == target for n in need.attributes} - {target}


def with_target(pairs: Pairs, target: str, needs: Sequence[Need], view: RlsEvidence) -> Pairs:
    """The chosen pairs, those of numbers that the target is predicted from as triples with it.

    A model that learns on the records needs to know how numbers depend on each other in each class of the target. The
    target with each number alone says nothing of that, and a pair the same for all classes. In a class the dependence
    of two numbers is little more than one correlation, so that the triple says it about as well as a pair would; a
    triple of categories would make their pair noisier for nothing.

    Args:
        pairs: chosen by their scores.
        target: see `target_of`.
        needs: the tables of the questions, which say what the target is predicted from.
        view: which attributes are numbers.
    """
    domain, numbers = view.domain, predictors_of(target, needs) & view.numbers
    widened = np.array([set(s) <= numbers for s in pairs.sets], dtype=bool)
    sets = [domain.ordered_set((*s, target)) if w else s for s, w in zip(pairs.sets, widened, strict=True)]
    whole = {target: Coarsening.identity(domain[target].size)}
    recodes = [{**maps, **whole} if w else maps for maps, w in zip(pairs.recodes, widened, strict=True)]
    cells = pairs.cells * np.where(widened, domain[target].size, 1)
    return replace(pairs, sets=sets, recodes=recodes, cells=cells)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredNeeds:
    """Tables that will be measured for questions, with the coarse maps and the cost of each."""

    needs: tuple[Need, ...]
    recodes: tuple[Recodes, ...]
    costs: tuple[Cost, ...]

    def measure(self, counter: Counter, *, gate: Gate) -> list[Measurement]:
        """One charge of the kind 'question' a table."""
        sets = [need.attributes for need in self.needs]
        return measure_marginals(counter, sets, self.costs, gate=gate, recodes=self.recodes, kind="question")


def declared_tables(needs: Sequence[Need], view: RlsEvidence, *, cost: Cost, noise: Noise) -> DeclaredNeeds:
    """Settles coarse values and costs from released one-ways. Reads nothing else.

    Args:
        needs: of all questions, at least one.
        view: the released one-ways.
        cost: what all these tables spend.
        noise: of this run.
    """
    weights = np.array([n.weight for n in needs])
    first = cost.split([float(p) for p in question_shares(weights, noise=noise)])
    recodes = tuple(coarse_maps(n, view, sigma=noise.of_cell(c)) for n, c in zip(needs, first, strict=True))
    cells = np.array([cells_of(n, maps, view) for n, maps in zip(needs, recodes, strict=True)], dtype=np.float64)
    costs = cost.split([float(p) for p in question_shares(weights * cells, noise=noise)])
    return DeclaredNeeds(needs=tuple(needs), recodes=recodes, costs=tuple(costs))


def question_steps(workload: Workload, domain: Domain, plan: BudgetPlan, *, total: float, about: bool) -> list[Step]:
    """What tables and sums will spend: number and share exactly, their noise as far as cells can be guessed."""
    if plan.questions is None:
        msg = "the plan has no part for questions"
        raise EngineError(msg)
    tables, models = parts_of_questions(workload, plan.questions)
    out = []
    if tables is not None:
        needs = asked_tables(workload, pure=tables.pure)
        scales = [scale for _, scale in likely_tables(needs, domain, replace(plan, questions=tables), total=total)]
        share = share_of(tables, plan.whole)
        out.append(
            Step(
                kind="question",
                parts=(len(needs), len(needs)),
                share=(share, share),
                sigma=(min(scales), max(scales)),
                cells=(1, max(_most_cells(n, domain, plan) for n in needs)),
                about=True,
            )
        )
    if models is not None:
        count, share = len(ROUNDS) * len(workload.models), share_of(models, plan.whole)
        terms = [len(m.terms) for m in workload.models]
        out.append(
            Step(kind="sum", parts=(count, count), share=(share, share), cells=(min(terms), max(terms)), about=about)
        )
    return out


def likely_answers(workload: Workload, domain: Domain, plan: BudgetPlan, *, total: float) -> list[tuple[float, float]]:
    """About how many cells the table of each need will have, and the scale of its noise; none without pairs."""
    asked = [n for n in workload.needs if n.target is None]
    predicted = [n for n in workload.needs if n.target is not None]
    tables = iter(likely_tables(asked, domain, plan, total=total))
    pairs = likely_predictions(predicted, workload, domain, plan, total=total)
    of_targets = iter(pairs)
    if len(pairs) < len(predicted):
        return []
    return [next(tables if need.target is None else of_targets) for need in workload.needs]


def likely_tables(
    needs: Sequence[Need], domain: Domain, plan: BudgetPlan, *, total: float
) -> list[tuple[float, float]]:
    """For each table, about how many cells it will have, and the scale of their noise; none without a part for them."""
    noise, cost = plan.noise, plan.questions
    if cost is None:
        return []
    likely = np.array([_likely_cells(n, domain, plan, total) for n in needs])
    weights = np.array([n.weight for n in needs])
    costs = cost.split([float(p) for p in question_shares(weights * likely, noise=noise)])
    return [(float(c), noise_of(part, noise.unit)) for c, part in zip(likely, costs, strict=True)]


def likely_predictions(
    needs: Sequence[Need], workload: Workload, domain: Domain, plan: BudgetPlan, *, total: float
) -> list[tuple[float, float]]:
    """The same for pairs with a declared target, as if all of them were measured beside the usual number of others."""
    noise, cost, d = plan.noise, plan.pairs, len(domain)
    if cost is None or not needs:
        return []
    others = max(min(USUAL_PAIRS * d, d * (d - 1) / 2) - len(needs), 0.0)
    weights = pair_weights(workload, tuning=plan.tuning.declared)
    portions = noise.shares(np.array([weights[n.attributes] for n in needs]))
    parts = cost.split([*portions, others] if others else portions)
    return [
        (_likely_cells(n, domain, plan, total), noise_of(part, noise.unit))
        for n, part in zip(needs, parts, strict=False)
    ]


def _likely_cells(need: Need, domain: Domain, plan: BudgetPlan, total: float) -> float:
    """Expected number of cells of a table, before one-ways are measured."""
    tuning = plan.tuning.declared
    cells, rest = 1.0, 1.0
    for name in need.attributes:
        size = domain[name].size
        if name in need.maps:
            cells *= need.maps[name].size
        elif name in need.whole:
            cells *= min(size, tuning.most_compared)
        elif name in need.means:
            cells *= min(size, 2 * tuning.other_numbers)
        else:
            rest *= min(size, tuning.target_values)
    cost = plan.whole if plan.questions is None else plan.questions
    return max(min(cells * rest, total / (tuning.per_cell * max(plan.noise.of_cell(cost), 1e-9))), cells)


def _most_cells(need: Need, domain: Domain, plan: BudgetPlan) -> int:
    """Cells that a table has at most."""
    tuning = plan.tuning.declared
    sizes = (
        need.maps[n].size
        if n in need.maps
        else min(domain[n].size, tuning.most_means + 1)
        if n in need.means
        else domain[n].size
        for n in need.attributes
    )
    return math.prod(sizes)


def question_shares(weights: NDArray[np.float64], *, noise: Noise) -> NDArray[np.float64]:
    """Relative costs that make the weighted sum of expected errors least; see `measurement.select.shares`."""
    return np.asarray(np.power(weights, 1 / 2 if noise.pure else 2 / 3))


def cells_of(need: Need, maps: Recodes, view: RlsEvidence) -> int:
    """Cells of the table that is measured."""
    return math.prod(coarse_shape(view.domain, need.attributes, maps))


def coarse_maps(need: Need, view: RlsEvidence, *, sigma: float) -> Recodes:
    """The coarsenings of a table whose cells have about this noise.

    Public maps stay as they are. Values that are compared stay apart unless they are many. Values whose mean matters
    are merged by mean for a group of average size. The rest have as many values as leave a cell with a few
    times its noise on average.
    """
    tuning: DeclaredTables = view.tuning.declared
    maps = dict(need.maps)
    cells = 1.0
    for name in need.attributes:
        if name in maps:
            cells *= maps[name].size
        elif name in need.whole:
            if view.domain[name].size > tuning.most_compared:
                maps[name] = view.recode(name, tuning.most_compared)
                cells *= maps[name].size
            else:
                cells *= view.domain[name].size
    for name in need.attributes:
        if name in need.means:
            groups = cells * np.prod([tuning.other_numbers for n in need.means if n != name])
            counts = view.one_ways[view.domain.index(name)]
            noise = float(groups) * sigma / tuning.hidden
            maps[name] = Coarsening.by_mean(counts, need.means[name], most=tuning.most_means, noise=noise)
    cells *= float(np.prod([maps[n].size for n in need.means]))
    rest = [n for n in need.attributes if n not in maps and n not in need.whole]
    if rest:
        room = max(view.total / (tuning.per_cell * max(sigma, 1e-9)) / cells, 2.0 ** len(rest))
        maps |= _evenly(rest, view, room)
    return maps


def _evenly(names: Sequence[str], view: RlsEvidence, cells: float) -> dict[str, Coarsening]:
    """Coarsenings of attributes that together have at most about so many cells."""
    maps: dict[str, Coarsening] = {}
    for resolution in view.tuning.declared.resolutions:
        tried = {n: view.recode(n, resolution) for n in names}
        if maps and math.prod(r.size for r in tried.values()) > cells:
            break
        maps = tried
    return maps
