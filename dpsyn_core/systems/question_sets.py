"""The tables of declared questions, for systems that measure attribute sets as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import SizeError
from dpsyn_core.privacy import Cost
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Task

MOST_CELLS = 10_000_000  # of one table that is measured without coarse values


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionTables:
    """Attribute sets of declared questions, each once, their weights, and the share of the budget that they get."""

    sets: tuple[AttributeSet, ...] = ()
    weights: tuple[float, ...] = ()
    share: float = 0.0

    def costs(self, cost: Cost, domain: Domain) -> list[Cost]:
        """A cost divided so that the weighted sum of expected errors is least."""
        raw = np.array([w * domain.cells(s) for w, s in zip(self.weights, self.sets, strict=True)], dtype=np.float64)
        return cost.split([float(p) for p in np.power(raw, 1 / 2 if cost.pure else 2 / 3)])

    def beside(self, cost: Cost, others: int) -> tuple[Cost | None, Cost | None]:
        """A cost divided between `others` tables and these; None for a side that has no tables or no share."""
        if not self.sets:
            return cost, None
        if not others or self.share >= 1:
            return None, cost
        rest, part = cost.split([1 - self.share, self.share])
        return rest, part


def asked_of(task: Task, method: str, *, fewest: int = 1) -> QuestionTables:
    """What questions need, at full resolution; empty without questions.

    Args:
        task: with its workload.
        method: name of the system, for messages.
        fewest: attributes; smaller sets are left out, for systems that measure them anyway.

    Raises:
        SizeError: a table is too large to be measured without coarse values.
    """
    if task.workload is None:
        return QuestionTables()
    weights: dict[AttributeSet, float] = {}
    for need in task.workload.needs:
        if len(need.attributes) >= fewest:
            weights[need.attributes] = weights.get(need.attributes, 0.0) + need.weight
    for names in weights:
        cells = task.domain.cells(names)
        if cells > MOST_CELLS:
            msg = (
                f"a question needs a table of {cells} cells ({' x '.join(names)}), above the cap of {MOST_CELLS} of "
                f"{method}; use the method 'rls', which measures it coarsely, or give the columns coarser bins"
            )
            raise SizeError(msg)
    return QuestionTables(sets=tuple(weights), weights=tuple(weights.values()), share=task.workload.share)


def with_extra(
    sets: Sequence[AttributeSet], costs: Sequence[Cost], asked: QuestionTables, extra: Sequence[Cost]
) -> list[Cost]:
    """The costs of tables, those that hold a declared set with what that set gets on top.

    Sets that no table holds must have been added to `sets` before, with their cost.
    """
    gained = [0.0] * len(sets)
    for names, cost in zip(asked.sets, extra, strict=True):
        at = min((i for i, s in enumerate(sets) if set(names) <= set(s)), key=lambda i: (len(sets[i]), i))
        gained[at] += cost.epsilon if cost.pure else cost.rho
    return [
        Cost(rho=c.rho + (0.0 if c.pure else g), epsilon=c.epsilon + (g if c.pure else 0.0), mixed=c.mixed)
        for c, g in zip(costs, gained, strict=True)
    ]


def held(names: AttributeSet, sets: Sequence[AttributeSet]) -> bool:
    """Whether one of the sets holds all of these attributes."""
    return any(set(names) <= set(s) for s in sets)


def times(share: float, rounds: int) -> int:
    """How many of some rounds a share is: at least one, and all of them only for a share of 1."""
    if share >= 1:
        return rounds
    return min(max(1, math.floor(share * rounds + 0.5)), max(rounds - 1, 1))
