"""Outlook of linked tables: the error that noise alone gives each of them, from the plan of a run. Public.

Known before a run are the root table, which is one table with the numbers of children, and the one-ways of every stage
of children. Which pairs of children are measured follows from scores that the run pays for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpsyn_core.errors import SettingError
from dpsyn_core.runs.choose.epsilon_search import COLUMNS, PAIRS, Reached, searched
from dpsyn_core.runs.choose.outlook import EPSILONS, SIZES, pairs_error
from dpsyn_core.runs.price import column_error, columns_off, plan_of
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.trees.measurement import VIEWS, root_system, view_system
from dpsyn_core.runs.trees.real_tables import root_domain
from dpsyn_core.runs.trees.release import TreePlan
from dpsyn_core.runs.trees.stages import Stage, stages_of
from dpsyn_core.schema import LinkedSchema
from dpsyn_core.systems import RlsConfig, Task

NOT_KNOWN = (
    "which pairs of children are measured is decided by scores that a run pays for, so that their error is not known "
    "before; of each step the plan says the noise of a table that gets all of it"
)
EVERY = "every root has a record of each kind: where fewer have, the error is larger in proportion"


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeOutlook:
    """Of one table, or of its records in one role, at one epsilon and number of roots.

    columns: mean TVD that noise alone gives single columns, at most 1; None where none is measured. pairs: the same of
    measured pairs of middle size; None where they are chosen during the run.
    """

    table: str
    role: str
    epsilon: float
    n_roots: int
    columns: float | None
    pairs: float | None


def tree_outlook(
    spec: RunSpec, schema: LinkedSchema, *, epsilons: Sequence[float] = EPSILONS, sizes: Sequence[int] = SIZES
) -> list[TreeOutlook]:
    """One entry for each epsilon, size and step: the root, then the stages of children. Reads no data.

    A root is taken to have a record of each kind.

    Args:
        spec: of the run; its epsilon gives way to each of `epsilons`.
        schema: public metadata.
        epsilons: budgets.
        sizes: numbers of roots.

    Raises:
        InputError: as `TreePlan.of`.
    """
    out = []
    for epsilon in epsilons:
        plan = TreePlan.of(spec.model_copy(update={"epsilon": epsilon}), schema)
        stages = stages_of(plan.working, pairs=plan.pairs)
        for n in sizes:
            line = partial(TreeOutlook, epsilon=epsilon, n_roots=n)
            columns, pairs = _root_error(plan, n)
            out.append(line(table=schema.root.name, role="", columns=columns, pairs=pairs))
            for place, stage in enumerate(stages):
                link = plan.working.links[stage.link]
                role = "" if stage.single is None or link.roles is None else link.roles.single[stage.single]
                out.append(line(table=link.child, role=role, columns=_stage_error(plan, place, stage, n), pairs=None))
    return out


def _task(plan: TreePlan) -> Task:
    child = plan.working[plan.working.links[0].child].columns
    return Task.of(child, plan.spec.budget)  # type: ignore[arg-type]


def _root_error(plan: TreePlan, n: int) -> tuple[float | None, float | None]:
    """The errors of columns and of measured pairs of the root table, with the numbers of children."""
    domain, unit = root_domain(plan.working), plan.working.unit.counting(1)
    system = root_system(plan.config, domain, cost=plan.costs.root, task=_task(plan), unit=unit)
    planned = plan_of(system, replace(_task(plan), domain=domain, n_public=None, unit=unit), n_records=n)
    return column_error(planned, domain, n), pairs_error(planned, n)


def _stage_error(plan: TreePlan, place: int, stage: Stage, n: int) -> float | None:
    """The mean error of the child columns of a stage, whose records weigh `unit` of each root; None without any."""
    config = plan.config if isinstance(plan.config, RlsConfig) else RlsConfig()
    context = {c.attribute.name for c in stage.view.columns if c.kind == "context"}
    whole = n * stage.view.unit
    system, budget = view_system(
        stage.view,
        context,
        whole,
        cost=plan.costs.stages[place],
        task=_task(plan),
        unit=plan.working.unit.counting(stage.view.unit),
        config=config,
        tuning=VIEWS,
    )
    off = []
    for a, cost, runs in zip(system.domain.attributes, budget.one_ways, budget.blocks, strict=True):
        if a.name in {c.attribute.name for c in stage.own}:
            cells = a.size if runs is None else runs + a.special
            off.append(columns_off([a], cells, budget.noise.of_cell(cost), whole)[0])
    return float(np.mean(off)) if off else None


def tree_epsilon(spec: RunSpec, schema: LinkedSchema, *, of: str, target: float, n_roots: int) -> Reached:
    """The smallest epsilon at which the error of columns stays at or below a target. See `epsilon_for_error`.

    Args:
        spec: of the run; its epsilon plays no part.
        schema: public metadata.
        of: `columns`, of all tables, or the name of one: the largest error of its steps counts.
        target: above 0 and below 1.
        n_roots: about how many roots there are: a public number.

    Raises:
        SettingError: `of` is none of these, or a figure that is unknown before a run.
    """
    tables = [t.name for t in schema.tables]
    if of not in (COLUMNS, *tables):
        why = f": {NOT_KNOWN}" if of == PAIRS else ""
        msg = (
            f"the error of '{of[:80]}' of linked tables is not forecast{why}; ask for that of {COLUMNS}, or of the "
            f"columns of {' or '.join(tables)}"
        )
        raise SettingError(msg)

    return searched(partial(tree_error, spec, schema, of, n_roots), of=of, target=target, n_records=n_roots)


def tree_error(spec: RunSpec, schema: LinkedSchema, of: str, n_roots: int, epsilon: float) -> float | None:
    """The largest error of the columns of a table, or of all, at an epsilon; None where none is measured."""
    lines = tree_outlook(spec, schema, epsilons=[epsilon], sizes=[n_roots])
    return max((o.columns for o in lines if of in (COLUMNS, o.table) and o.columns is not None), default=None)
