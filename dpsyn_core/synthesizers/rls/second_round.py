"""The second round of record least squares: triples that the pairs do not explain, and the same pairs again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.measure import measure_marginals
from dpsyn_core.measurement.select import choose_sets, score_sets
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.schema.domain import AttributeSet
from dpsyn_core.synthesizers.rls.budget import BudgetPlan
from dpsyn_core.synthesizers.rls.pairs import Pairs
from dpsyn_core.synthesizers.rls.triples import Expectation, Floats, expect, removable_errors
from dpsyn_core.synthesizers.rls.view import RlsEvidence

MeasurePairs = Callable[[Cost], list[Measurement]]


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
    """Whether the noise of the chosen pairs is low enough for triples to be scored, by released values."""
    tuning, d, total = plan.tuning.triples, len(view.domain), max(view.total, 1.0)
    error = plan.noise.error(pairs.cells, pairs.cost) / (d * (d - 1) * total)
    of_score = plan.noise.of_score(plan.triple_scores(pairs.cost), triples) / total
    low = tuning.low_noise_precise if of_score < tuning.precise else tuning.low_noise
    if float(pairs.cells.mean()) <= tuning.few_cells:
        low = max(low, tuning.low_noise_few)
    return error < low


def second_round(
    counter: Counter,
    view: RlsEvidence,
    triples: Sequence[AttributeSet],
    *,
    plan: BudgetPlan,
    pairs: Pairs,
    cost: Cost,
    gate: Gate,
    measure_pairs: MeasurePairs,
) -> list[Measurement]:
    """Triples that the pairs do not explain, where they pay, and the same pairs again with what is left.

    Args:
        counter: exact counts.
        view: all that has been released so far.
        triples: those to score.
        plan: of the budget.
        pairs: chosen and measured in the first round.
        cost: what this round may spend.
        gate: through which all is released.
        measure_pairs: measures the same pairs again at a cost.
    """
    tuning, noise = plan.tuning.triples, plan.noise
    coarse = view.recodes(tuning.resolution)
    known = expect(view, triples, coarse)
    of_score = noise.of_score(cost.scaled(tuning.score_share), len(triples)) / max(view.total, 1.0)
    enough = float(np.clip((of_score / tuning.score_enough) ** (1 / noise.root), tuning.score_least, 1.0))
    scoring = tuning.score_share * enough
    for_scores, cost = cost.split([scoring, 1 - scoring])
    scores, sigma = score_sets(
        counter, triples, known.tables, [coarse] * len(triples), cost=for_scores, gate=gate, name="scores of triples"
    )
    gains = removable_errors(scores, sigma, known, tuning=plan.tuning)
    chosen, part = _best_part(gains, known, plan, pairs, cost, attributes=len(view.domain))
    if not chosen:
        return measure_pairs(cost)
    for_triples, for_pairs = cost.split([part, 1 - part])
    sets = [triples[i] for i in chosen]
    parts = for_triples.split(noise.shares(np.array([known.tables[i].size for i in chosen])))
    return measure_marginals(counter, sets, parts, gate=gate, recodes=coarse) + measure_pairs(for_pairs)


def _best_part(
    gains: Floats, known: Expectation, plan: BudgetPlan, pairs: Pairs, cost: Cost, *, attributes: int
) -> tuple[list[int], float]:
    """The positions of the triples that pay, and the part of the cost that they get; none where none pay.

    A larger part is taken when the error that it removes from triples, on average, exceeds the error that it adds to
    pairs by the factor of `TripleChoice.gains`, both compared with the part before it.
    """
    tuning, noise, held_back = plan.tuning.triples, plan.noise, plan.tuning.shares.held_back
    cells = np.array([e.size for e in known.tables], dtype=np.float64)
    count = attributes * (attributes - 1) / 2
    chosen, part, won, lost = list[int](), 0.0, 0.0, 0.0
    for tried, factor in zip(tuning.parts, tuning.gains, strict=True):
        for_triples = cost.scaled(tried)
        found = choose_sets(gains, cells, cost=for_triples, sensitivity=noise.sensitivity)
        wins = (gains[found].sum() - noise.error(cells[found], for_triples)) / len(cells) if found else 0.0
        of_pairs = plan.tuning.pairs.noise_factor * noise.error(pairs.cells, cost) * held_back**noise.root
        loses = of_pairs * ((1 - tried * held_back) ** -noise.root - 1) / count
        if wins - won > factor * (loses - lost):
            chosen, part, won, lost = found, tried, wins, loses
    return chosen, part
