"""How a run of linked tables divides its budget, before anything is spent: public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dpsyn_core.errors import QuestionError
from dpsyn_core.estimate import Need
from dpsyn_core.measure import check_widest
from dpsyn_core.privacy import Cost, Unit
from dpsyn_core.runs.trees.flat_table import AskedTable
from dpsyn_core.runs.trees.measurement import LinkedShares
from dpsyn_core.runs.trees.stages import stages_of
from dpsyn_core.schema import LinkedSchema


@dataclass(frozen=True, kw_only=True, slots=True)
class Costs:
    """What the root, each stage, the siblings of each stage and each question may spend."""

    root: Cost
    stages: tuple[Cost, ...]
    siblings: tuple[Cost | None, ...]
    questions: tuple[Cost, ...] = ()


def costs_of(
    schema: LinkedSchema,
    cost: Cost,
    shares: LinkedShares,
    questions: Sequence[float] = (),
    *,
    share: float | None = None,
    pairs: bool = True,
) -> Costs:
    """Divides the cost of a run: public facts alone. Raises QuestionError.

    Args:
        schema: of the tables.
        cost: of the whole run.
        shares: how it is divided.
        questions: how important each is.
        share: part of the whole for all questions, between 0 and 1; None: as `shares` say.
        pairs: see `stages_of`.
    """
    if share is not None and (not questions or not 0 < share < 1):
        why = "is above 0 and below 1 where there are some" if questions else "needs questions; none are declared"
        msg = f"the share of questions is {share:g}: of linked tables, it is their part of the whole budget, and {why}"
        raise QuestionError(msg)
    stages = stages_of(schema, pairs=pairs)
    weights = [shares.root]
    for stage in stages:
        weights += [shares.rest if stage.single is None else shares.single]
        weights += [shares.siblings] if stage.siblings is not None else []
    for_questions = [shares.questions * q / sum(questions) for q in questions]

    def split(whole: Cost, parts: Sequence[float]) -> list[Cost]:
        return list(whole.split([w**0.5 if cost.pure else w for w in parts])) if parts else []

    if share is None:
        both = split(cost, [*weights, *for_questions])
    else:
        tables, asked = cost.split([1 - share, share])
        both = [*split(tables, weights), *split(asked, for_questions)]
    parts = iter(both)
    root, each, siblings = next(parts), [], []
    for stage in stages:
        each.append(next(parts))
        siblings.append(next(parts) if stage.siblings is not None else None)
    return Costs(root=root, stages=tuple(each), siblings=tuple(siblings), questions=tuple(parts))


LEAST_TABLE = 1e3  # noise of the least table of a view, at most, over that of one that got all (convention)
LEAST_SCORE = 10.0  # the same of scores, which get 2 % of what a view gets at least


def check_drawable(schema: LinkedSchema, costs: Costs, *, pairs: bool = True) -> None:
    """Refuses, before anything is charged, a budget whose noise the samplers could not draw. Raises BudgetError."""
    from dpsyn_core.measure import GRID

    for stage, cost, siblings in zip(stages_of(schema, pairs=pairs), costs.stages, costs.siblings, strict=True):
        for view, part in ((stage.view, cost), (stage.siblings, siblings)):
            if view is not None and part is not None:
                number = max(len(view.pairs), 1)
                scores = GRID * (number if part.pure else number**0.5) * LEAST_SCORE
                check_widest(noise_of(part, schema.unit.counting(view.unit)) * max(scores, LEAST_TABLE))


def noise_of(cost: Cost, unit: Unit) -> float:
    """Scale of the noise of a view that got one table, in weights."""
    return cost.scale(unit.l1()) if cost.pure else cost.sigma(unit.l2())


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetStep:
    """One step of a run.

    what: "root", "role" (children of one single role), "children" (all others), "siblings" (consecutive ones) or
    "question" (a declared one). table: that it measures, or the name of the question. role: of "role". share: of the
    budget, from 0 to 1 (of rho, or of epsilon at delta 0). noise: scale of the noise in a cell of a table that got all
    of the step, in roots: a root whose children all fall into one cell counts 1 there (standard deviation; at delta 0
    the scale of Laplace noise).
    """

    what: Literal["root", "role", "children", "siblings", "question"]
    table: str
    role: str
    share: float
    noise: float

    def sentence(self) -> str:
        """What it is spent on."""
        return {
            "root": f"'{self.table}' and how many children each has",
            "role": f"'{self.table}' with {self.role}",
            "children": f"all other '{self.table}'",
            "siblings": f"consecutive '{self.table}'",
            "question": f"the question '{self.table}'",
        }[self.what]


def steps_of(
    schema: LinkedSchema, cost: Cost, costs: Costs, needs: Sequence[tuple[AskedTable, Need]], *, pairs: bool = True
) -> tuple[BudgetStep, ...]:
    """The steps of a run whose cost is divided already. Raises BudgetError where the noise could not be drawn.

    Args:
        schema: of the columns that are measured.
        cost: of the whole run.
        costs: of its parts.
        needs: the table of each question.
        pairs: see `stages_of`.
    """

    def step(what: Any, table: str, own: Cost, weight: int, role: str = "") -> BudgetStep:
        unit = schema.unit.counting(weight)
        share = own.epsilon / cost.epsilon if cost.pure else own.rho / cost.rho
        noise = own.scale(unit.l1()) if own.pure else own.sigma(unit.l2())
        return BudgetStep(what=what, table=table, role=role, share=share, noise=noise / weight)

    out = [step("root", schema.root.name, costs.root, 1)]
    for stage, part, siblings in zip(stages_of(schema, pairs=pairs), costs.stages, costs.siblings, strict=True):
        link = schema.links[stage.link]
        role = "" if stage.single is None or link.roles is None else link.roles.single[stage.single]
        out.append(step("role" if role else "children", link.child, part, stage.view.unit, role))
        if siblings is not None and stage.siblings is not None:
            out.append(step("siblings", link.child, siblings, stage.siblings.unit))
    for (table, _), part in zip(needs, costs.questions, strict=True):
        out.append(step("question", table.question.name, part, table.unit))
        check_widest(out[-1].noise * table.unit)
    return tuple(out)
