"""How a run of linked tables divides its budget, before anything is spent: public facts alone."""

from __future__ import annotations

from dataclasses import dataclass

from dpsyn_core.measure.charges import check_widest
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.questions.linked import LinkedQuestions
from dpsyn_core.runs.trees.answers import asked_needs
from dpsyn_core.runs.trees.measurement import SHARES, LinkedShares
from dpsyn_core.runs.trees.release import check_drawable, costs_of
from dpsyn_core.runs.trees.stages import stages_of
from dpsyn_core.schema.linked import LinkedSchema


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetStep:
    """One step of a run.

    what: "root", "role" (children of one single role), "children" (all others), "siblings" (consecutive ones) or
    "question" (a declared one). table: that it measures, or the name of the question. role: of "role". share: of the
    budget, from 0 to 1 (of rho, or of epsilon at delta 0). noise: scale of the noise in a cell of a table that got all
    of the step, in roots: a root whose children all fall into one cell counts 1 there (standard deviation; at delta 0
    the scale of Laplace noise).
    """

    what: str
    table: str
    role: str
    share: float
    noise: float


def division(
    schema: LinkedSchema,
    budget: Budget,
    shares: LinkedShares = SHARES,
    *,
    questions: LinkedQuestions | None = None,
) -> tuple[BudgetStep, ...]:
    """The steps in their order.

    Args:
        schema: public.
        budget: of the run.
        shares: how it is divided.
        questions: declared; None: none.

    Raises:
        BudgetError: the noise could not be drawn.
        QuestionError: a question does not fit the schema.
    """
    cost = budget.gaussian() if budget.delta else budget.pure()
    needs = asked_needs(schema, questions or LinkedQuestions.of([]))
    costs = costs_of(schema, cost, shares, [float(table.question.ask.weight) for table, _ in needs])
    check_drawable(schema, costs)

    def step(what: str, table: str, own: Cost, weight: int, role: str = "") -> BudgetStep:
        unit = schema.unit.counting(weight)
        share = own.epsilon / cost.epsilon if cost.pure else own.rho / cost.rho
        noise = own.scale(unit.l1()) if own.pure else own.sigma(unit.l2())
        return BudgetStep(what=what, table=table, role=role, share=share, noise=noise / weight)

    out = [step("root", schema.root.name, costs.root, 1)]
    for stage, own, siblings in zip(stages_of(schema), costs.stages, costs.siblings, strict=True):
        link = schema.links[stage.link]
        role = "" if stage.single is None or link.roles is None else link.roles.single[stage.single]
        out.append(step("role" if role else "children", link.child, own, stage.view.unit, role))
        if siblings is not None and stage.siblings is not None:
            out.append(step("siblings", link.child, siblings, stage.siblings.unit))
    for (table, _), own in zip(needs, costs.questions, strict=True):
        out.append(step("question", table.question.name, own, table.unit))
        check_widest(out[-1].noise * table.unit)
    return tuple(out)
