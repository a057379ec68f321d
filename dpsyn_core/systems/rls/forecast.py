"""Forecast of the steps of a run and of their noise, from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.measure import choose_sets
from dpsyn_core.privacy import Cost, Unit
from dpsyn_core.systems.rls.budget import BudgetPlan, Noise
from dpsyn_core.systems.rls.tuning import Tuning
from dpsyn_core.systems.steps import WEAK_STRONG, Step, noise_of, share_of, usual_gains

if TYPE_CHECKING:
    from dpsyn_core.estimate import Workload
    from dpsyn_core.schema import Domain
    from dpsyn_core.systems.rls.prior import RlsPrior


@dataclass(frozen=True, kw_only=True, slots=True)
class ForecastInputs:
    """What the forecast takes of a system. plan: `Rls.budget_plan`. target: the column of `Rls.target`."""

    domain: Domain
    n_public: int | None
    workload: Workload | None
    prior: RlsPrior | None
    cost: Cost
    unit: Unit
    noise: Noise
    tuning: Tuning
    triples: bool
    target: str | None
    plan: Callable[..., BudgetPlan]


def forecast_steps(given: ForecastInputs, n_records: float) -> list[Step]:
    """Total, one-ways and scores nearly exactly; of pairs and triples, a forecast for ordinary dependence."""
    d, n = len(given.domain), float(n_records if given.n_public is None else given.n_public)
    if not d:
        return []
    plans = _likely_plans(given, n)
    about = given.n_public is None
    total, ones = _total_steps(given, plans), _one_way_step(given, plans, about=about)
    if d < 2:
        return [*total, ones]
    asked = []
    if given.workload is not None and plans[0].questions is not None:
        from dpsyn_core.systems.rls.question_tables import question_steps

        asked += question_steps(given.workload, given.domain, plans[0], total=n, about=about)
    pairing = [p for p in plans if p.pairs is not None]
    if not pairing:
        return [*total, ones, *asked]
    return [*total, ones, *asked, *_pair_steps(given, pairing[0], n, certain=len(pairing) == len(plans), about=about)]


def _likely_plans(given: ForecastInputs, n: float) -> list[BudgetPlan]:
    """The plan for a number of records, then those for what may be released in its place: four deviations away."""
    plan = given.plan(n)
    if plan.total is None:
        return [plan]
    away = 4 * given.noise.of_cell(plan.total if plan.total_again is None else plan.total_again)
    first = 4 * given.noise.of_cell(plan.total)
    twice = {given.plan(max(n + side, 0.0)).total_again is not None for side in (-first, 0.0, first)}
    others = [(max(n + side, 0.0), again) for side in (-away, 0.0, away) for again in twice]
    return [plan, *(given.plan(total, again=again) for total, again in others)]


def _total_steps(given: ForecastInputs, plans: Sequence[BudgetPlan]) -> list[Step]:
    """The step of the number of records: one release, or two where there are few; either where it is near."""
    costs = [[c for c in (p.total, p.total_again) if c is not None] for p in plans]
    if not costs[0]:
        return []
    steps = [_step(given, "total", c, [1]) for c in costs]
    return [_over(steps, about=len({len(c) for c in costs}) > 1)]


def _one_way_step(given: ForecastInputs, plans: Sequence[BudgetPlan], *, about: bool) -> Step:
    """The one-ways, and the second ones of numbers, whose coarse values follow from what is released."""
    charges = []
    for plan in plans:
        again = [c for c in plan.coarse_one_ways if c is not None]
        places = zip(given.domain.attributes, plan.blocks, strict=True)
        values = [a.size if b is None else b + a.special for a, b in places]
        charges.append(_step(given, "1-way", [*plan.one_ways, *again], [*values, *([1] * len(again))]))
    return _over(charges, about=about)


def _pair_steps(given: ForecastInputs, plan: BudgetPlan, n: float, *, certain: bool, about: bool) -> list[Step]:
    """Scores, and what they choose; certain: whether pairs are measured whatever number of records is released."""
    if plan.pairs is None:
        return []
    d = len(given.domain)
    cells, pairs = _likely_cells(given, plan, n), math.comb(d, 2)
    noise = given.noise.of_score(plan.scores, pairs)
    likely: list[list[float]] = []
    for strength in WEAK_STRONG:
        gains = usual_gains(pairs, n, noise, strength)
        chosen = choose_sets(
            gains,
            cells,
            cost=plan.pairs,
            sensitivity=given.noise.sensitivity,
            noise_factor=given.tuning.pairs.noise_factor,
        )
        likely.append([float(c) for c in cells[chosen]])
    each = [h or [float(cells.min())] for h in likely]
    most, scored, extra = max(pairs, d), share_of(plan.scores, given.cost), 0.0  # pairs, or one-ways once more
    limits, orders = given.tuning.triples, given.tuning.orders
    releases = 3  # without a target, pairs may be scored against a fit
    beyond_tree = scored * (pairs - d + 1) / pairs
    against_fit = min(beyond_tree, given.tuning.shares.scores_of_joint * share_of(plan.pairs, given.cost))
    # what follows from what may be scored twice, and values together three times; both may have tables
    f = given.tuning.followers
    extra += share_of(plan.pairs.scaled(3 * f.score + f.runs + f.groups), given.cost)
    releases, most = releases + 5, 2 * most + 2 * d
    if given.prior is not None:
        extra = share_of(given.prior.cost_of_scores(plan.scores, plan.pairs), given.cost)
        releases, most = releases + 1, most + d
    if given.triples and 3 <= d <= limits.most_attributes:
        # a second round may score triples, look for wider sets, and measure some of them, or the pairs again
        most += max(pairs, min(limits.most_triples, math.comb(d, 3)) + orders.most_answers)
        extra += share_of(plan.triple_scores(plan.pairs), given.cost)
        extra += orders.most_answers * share_of(plan.answer(plan.pairs), given.cost)
        releases += 1 + orders.most_answers
    rest = share_of(plan.pairs, given.cost)
    scales = [noise_of(c, given.unit) for h in each for c in plan.pairs.split(given.noise.shares(np.array(h)))]
    tables = [int(c) for h in each for c in h]
    target = given.target
    most_cells = max(max(tables) * (1 if target is None else given.domain[target].size), limits.most_cells)
    return [
        # pairs of a target may be scored before; after, coarser tables, against a fit, and the largest of many
        Step(
            kind="scores",
            parts=(int(certain), releases),
            share=(scored if certain else 0.0, 2 * scored + against_fit + extra),
            about=about,
        ),
        Step(
            kind="chosen",
            parts=(0, most),
            share=(0.0, rest),
            sigma=(min(scales), max(scales)),
            cells=(min(tables), most_cells),
            likely=(len(likely[0]), len(likely[1])),
            about=True,
        ),
    ]


def _likely_cells(given: ForecastInputs, plan: BudgetPlan, n: float) -> NDArray[np.float64]:
    """Forecast of the cells of every pair, in the order of `Domain.subsets`.

    A coarse value holds enough records; as values are never equally frequent, about two thirds of them are left.
    """
    sizes = np.array(given.domain.sizes)
    deviations = [given.tuning.resolution.held * noise_of(c, given.unit) for c in plan.one_ways]
    held_by_one = np.maximum(n / plan.resolution, deviations)
    coarse = np.minimum(sizes, np.maximum(2, np.ceil(np.minimum(sizes, n / held_by_one) * 2 / 3)))
    few = np.minimum(coarse, np.ceil(plan.number_resolution))
    mixed = np.minimum(coarse, np.ceil(plan.mixed_resolution))
    r = given.tuning.resolution
    bins = [a.size - a.special if a.number else 0 for a in given.domain.attributes]
    number = [b >= r.numbers_from for b in bins]
    values = (coarse, np.where([r.merges(b, plan.mixed_resolution) for b in bins], mixed, coarse), few)
    by_kind = ((values[number[i] + number[j]], i, j) for i, j in combinations(range(len(sizes)), 2))
    return np.array([float(v[i]) * v[j] for v, i, j in by_kind])


def _step(
    given: ForecastInputs, kind: str, costs: Sequence[Cost], cells: Sequence[int], *, about: bool = False
) -> Step:
    """A step of one release a cost."""
    scales = [noise_of(c, given.unit) for c in costs]
    share = sum(share_of(c, given.cost) for c in costs)
    return Step(
        kind=kind,
        parts=(len(costs), len(costs)),
        share=(share, share),
        sigma=(min(scales), max(scales)),
        cells=(min(cells), max(cells)),
        about=about,
    )


def _over(steps: Sequence[Step], *, about: bool) -> Step:
    """One step for several that are possible: from the least to the most of each figure."""
    sigmas = [s.sigma for s in steps if s.sigma is not None]
    return Step(
        kind=steps[0].kind,
        parts=(min(s.parts[0] for s in steps), max(s.parts[1] for s in steps)),
        share=(min(s.share[0] for s in steps), max(s.share[1] for s in steps)),
        sigma=(min(low for low, _ in sigmas), max(high for _, high in sigmas)) if sigmas else None,
        cells=(min(s.cells[0] for s in steps), max(s.cells[1] for s in steps)),
        about=about,
    )
