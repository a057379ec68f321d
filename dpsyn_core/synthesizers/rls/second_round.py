"""The second round: triples and pairs worth another measurement.

What a fit to the tables measured so far expects of further ones, and what measuring those would remove. Blind.

The second round of record least squares: triples that the pairs do not explain, and the same pairs again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.coarsening import Recodes, coarse_shape
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.measure import measure_marginals
from dpsyn_core.measurement.select import choose_sets, score_sets
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.records.rls.denoise import shrink_unordered
from dpsyn_core.records.rls.even import average_tables
from dpsyn_core.records.rls.fit import Target, fit_records, schedule
from dpsyn_core.schema.domain import AttributeSet
from dpsyn_core.synthesizers.rls.budget import BudgetPlan
from dpsyn_core.synthesizers.rls.pairs import Pairs
from dpsyn_core.synthesizers.rls.tuning import TUNING, Tuning
from dpsyn_core.synthesizers.rls.view import RlsEvidence

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """What the measured tables let one expect of others, in counts.

    tables: for each set float64 of the shape of its (coarse) table. fit_error: L1 error of each table that comes from
    the noise of the measured ones and from the fit. sampling_error: L1 distance that remains between a table and its
    expectation because records are a random sample.
    """

    tables: list[Floats]
    fit_error: Floats
    sampling_error: Floats


def expect(view: RlsEvidence, sets: Sequence[AttributeSet], recodes: Recodes) -> Expectation:
    """Fits records to the measured tables, and again to what those would have shown if the first fit were true.

    The second fit differs from the first by noise and random moves of its own, as the first one does from the truth
    (a parametric bootstrap: Efron and Tibshirani 1993, chapter 6). Scores that are no larger say nothing of dependence.
    Post-processing: reads released values only.
    """
    rng = np.random.default_rng(0)  # post-processing inside measure: a public constant, not privacy noise
    wanted = [_empty(view, s, recodes) for s in sets]
    known = [_empty(view, m.attributes, m.recodes) for m in view.joint]
    found = _averages(view, [*wanted, *known], rng)
    tables = found[: len(sets)]
    again = copy(view)
    again.joint = [
        Measurement(
            attributes=m.attributes, values=a + rng.normal(0.0, m.sigma, a.shape), sigma=m.sigma, recodes=m.recodes
        )
        for m, a in zip(view.joint, found[len(sets) :], strict=True)
    ]
    fit_error = [float(np.abs(a - b).sum()) for a, b in zip(tables, _averages(again, wanted, rng), strict=True)]
    joined = {m.attributes for m in view.joint}
    sampling = np.array([sampling_error(a, s, joined) for a, s in zip(tables, sets, strict=True)])
    return Expectation(tables=tables, fit_error=np.array(fit_error), sampling_error=sampling)


def _averages(view: RlsEvidence, wanted: Sequence[Target], rng: Generator) -> list[Floats]:
    """What records fitted to the view hold on average, in counts of the real table."""
    t, records = view.tuning.triples, view.tuning.records
    n = int(np.clip(view.total, t.fewest_records, t.records))
    rows, targets = view.start(n, rng=rng), view.targets(n)
    pace = schedule(n, len(view.domain), targets, effort=t.effort, tuning=records.fitting)
    fit_records(rows, targets, view.probabilities, pace=pace, rng=rng, tuning=records.fitting)
    found = average_tables(rows, targets, view.probabilities, wanted, pace=pace, rng=rng, tuning=records)
    return [a * (view.total / n) for a in found]


def _empty(view: RlsEvidence, names: AttributeSet, recodes: Recodes) -> Target:
    """The shape and the maps of a table; attributes without a coarsening stay as they are."""
    maps = tuple(recodes[n].map if n in recodes else np.arange(view.domain[n].size) for n in names)
    shape = coarse_shape(view.domain, names, recodes)
    return Target(attributes=tuple(map(view.domain.index, names)), maps=maps, values=np.zeros(shape), sigma=1.0)


def sampling_error(expected: Floats, names: AttributeSet, joined: set[AttributeSet]) -> float:
    """L1 distance that sampling alone would leave between the counts of a table and what is expected of it.

    Mean absolute deviation of Poisson counts, 2 exp(-m) m^(k + 1) / k! with k the whole part of m (Crow 1958), less
    the directions in which measured tables already follow the counts: the one-ways, and the pairs in `joined`.
    """
    from scipy.special import gammaln  # scipy is heavy

    mean = np.maximum(expected, 1e-12)
    whole = np.floor(mean)
    loose = 2 * np.exp(-mean + (whole + 1) * np.log(mean) - gammaln(whole + 1))
    free = [k - 1 for k in expected.shape]
    pairs = sum(free[i] * free[j] for i, j in combinations(range(len(names)), 2) if (names[i], names[j]) in joined)
    return float(loose.sum()) * math.sqrt(max(1 - (1 + sum(free) + pairs) / expected.size, 0.0))


def removable_errors(scores: Floats, sigma: float, known: Expectation, *, tuning: Tuning = TUNING) -> Floats:
    """The L1 error that measuring each set would remove, from noisy scores of the sets.

    What stands significantly above the errors of fit and sampling together is shrunk and counts; without that, the
    largest of hundreds of scores without signal would be chosen. Then the error of the fit is taken out, for measuring
    the same tables again removes it as well, while only measuring the set itself removes the sampling error. Errors of
    many cells add up in squares.
    """
    null = np.hypot(known.fit_error, known.sampling_error)
    above = shrink_unordered(scores - null, sigma, tuning=tuning.records.shrinkage)
    above[scores - null < tuning.triples.significant * sigma] = 0.0
    left: Floats = np.sqrt(np.maximum((null + above) ** 2 - known.fit_error**2, 0.0))
    return left


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
