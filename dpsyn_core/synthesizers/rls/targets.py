"""A declared target: which pairs are scored for it, and which are measured together with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.questions.compile import Need
from dpsyn_core.schema.domain import AttributeSet, Domain
from dpsyn_core.synthesizers.rls.budget import BudgetPlan
from dpsyn_core.synthesizers.rls.pairs import Pairs
from dpsyn_core.synthesizers.rls.tuning import DeclaredTables
from dpsyn_core.synthesizers.rls.view import RlsEvidence


def target_of(needs: Sequence[Need], domain: Domain, *, tuning: DeclaredTables) -> str | None:
    """The target that pairs are measured with: of those with few values the one that weighs most, None without one."""
    weights: dict[str, float] = {}
    for need in needs:
        if need.target is not None and 2 <= domain[need.target].size <= tuning.target_most:
            weights[need.target] = weights.get(need.target, 0.0) + need.weight
    return max(sorted(weights), key=lambda n: weights[n]) if weights else None


def pairs_to_score(view: RlsEvidence, plan: BudgetPlan, target: str, needs: Sequence[Need]) -> list[AttributeSet]:
    """All pairs, or where their scores would be noise, those of the columns that tell most of a target.

    A hundred columns have 4,950 pairs, and their scores share one part of the budget. What the measured tables of the
    target with each column show says where to look. Reads released values only.
    """
    every, noise = view.domain.subsets(2), plan.noise
    wanted = plan.tuning.declared.precise_score * max(view.total, 1.0)
    if noise.of_score(plan.scores, len(every)) <= wanted:
        return every
    affordable = (wanted / noise.of_score(plan.scores, 1)) ** (1 / noise.root)
    most = max(2, int((1 + math.sqrt(1 + 8 * affordable)) / 2))
    found = predictors_of(target, needs)
    if len(found) < most:  # all other pairs would be left out for the sake of a few
        return every
    told = {n: view.dependence(view.domain.ordered_set((n, target))) for n in found}
    best = sorted(found, key=lambda n: (-told[n], n))[:most]
    return [s for s in every if set(s) <= set(best)]


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
