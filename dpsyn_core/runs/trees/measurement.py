"""The private phase of linked tables: views of roots, children and siblings, and what is measured of them.

In a view of children every record weighs its part of what the children of one root weigh together. All that is
measured goes through the gate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import NO_RECODES, Measurement, Recodes, ReleasedTables, Scores, coarse_shape
from dpsyn_core.measure import Counter, Gate, check_cells, choose_tables
from dpsyn_core.privacy import Cost, Unit
from dpsyn_core.runs.trees.forest import Forest
from dpsyn_core.runs.trees.pair_choice import Told, ViewEvidence
from dpsyn_core.runs.trees.stages import Columns, Stage, View, context_columns, in_root, own_columns, pairs_in_root
from dpsyn_core.schema import AttributeSet, Domain, LinkedSchema
from dpsyn_core.systems import (
    TUNING,
    BudgetPlan,
    MethodConfig,
    Rls,
    RlsConfig,
    Synthesizer,
    Task,
    Tuning,
    choose_pairs,
    usual_recodes,
)

MAX_CELLS = 50_000_000  # of one table
EXACT = 1 << 53  # sums of whole numbers up to here are exact in floating point


class ViewCounter:
    """Counts weighted records. See `counting.base.Counter`; a root's records weigh at most `unit` together."""

    def __init__(self, view: View, codes: Columns, weights: NDArray[np.int64]) -> None:
        """Keeps the columns. Raises SizeError where weights could not be added up exactly."""
        if int(weights.sum()) >= EXACT:
            msg = "the tables hold more records than weights can be counted for (for the owner only); draw a sample"
            raise SizeError(msg)
        self.domain = view.domain
        self._codes = {a.name: c for a, c in zip(self.domain.attributes, codes, strict=True)}
        self._weights = weights.astype(np.float64)

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact sums of weights, one axis an attribute."""
        shape = coarse_shape(self.domain, attributes, recodes)
        check_cells(attributes, shape, MAX_CELLS)
        flat = np.zeros(len(self._weights), dtype=np.int64)
        for name, size in zip(attributes, shape, strict=True):
            flat *= size
            flat += recodes[name].map[self._codes[name]] if name in recodes else self._codes[name]
        cells = int(np.prod(shape, dtype=np.int64))
        return np.bincount(flat, weights=self._weights, minlength=cells).astype(np.int64).reshape(shape)

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many, one after the other."""
        return [self.marginal(names, recodes) for names in sets]


def records_of(forest: Forest, stage: Stage, schema: LinkedSchema) -> tuple[Columns, NDArray[np.int64]]:
    """All columns of a stage's records, and their weights: of a root's r records each unit / r, rounded down."""
    children = forest.children[stage.link]
    codes = context_columns(forest, stage, schema) + own_columns(children, stage)
    return stage.view.with_differences(codes), stage.view.unit // in_root(forest, stage)


def counter_of(forest: Forest, stage: Stage, schema: LinkedSchema) -> ViewCounter:
    """Counts the children of a stage."""
    return ViewCounter(stage.view, *records_of(forest, stage, schema))


def sibling_counter(forest: Forest, stage: Stage) -> ViewCounter | None:
    """Counts consecutive siblings of a stage: of a root's p pairs each weighs unit / p. None: it has none."""
    view = stage.siblings
    if view is None:
        return None
    children = forest.children[stage.link]
    columns, first = own_columns(children, stage), children.first
    now = np.flatnonzero(~first)
    codes = [c[now - 1] for c in columns] + [c[now] for c in columns]
    return ViewCounter(view, view.with_differences(codes), np.asarray(view.unit // pairs_in_root(forest, stage)[now]))


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedShares:
    """How the budget is divided: parts of rho, or under the root of a pure epsilon, in proportion."""

    root: float = 1.2
    """For the root table with the numbers of children."""

    single: float = 0.8
    """For each role that one child may have."""

    rest: float = 2.2
    """For all other children of a link."""

    siblings: float = 0.3
    """For consecutive siblings of a link."""

    questions: float = 0.6
    """For all declared questions together, where there are some; what users asked for goes before what they may."""


SHARES = LinkedShares()
VIEW_NOISE = 1.25  # times as much noise as in one table must a pair of a view repay: 1 is worse on trips
SIBLING_NOISE = 1.5  # the same of siblings: what they are by themselves tells much of it


def _repaying(factor: float) -> Tuning:
    """Constants of the default system, but for what a pair must repay."""
    pairs = replace(TUNING.pairs, noise_factor=factor * TUNING.pairs.noise_factor)
    return replace(TUNING, pairs=pairs)


VIEWS, SIBLINGS = _repaying(VIEW_NOISE), _repaying(SIBLING_NOISE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """The context columns of a view, which are synthesized before it is measured, and weights of the records."""

    columns: Columns
    weights: NDArray[np.float64]


def root_system(config: MethodConfig, domain: Domain, *, cost: Cost, task: Task, unit: Unit) -> Synthesizer:
    """The system that measures and makes the root table as one table, at this cost."""
    system = config.build(replace(task, domain=domain, n_public=None, unit=unit))
    system.cost = cost
    return system


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewRelease:
    """What was released of a view: tables with the scores of pairs, and how coarse the columns of pairs were in them.

    tables: in weights, of which one root's records have `view.unit` at most. coarse: as of `usual_recodes`; none where
    no pair was scored.
    """

    tables: ReleasedTables
    coarse: tuple[Recodes, ...] = ()

    def evidence(self, view: View, known: Sequence[Measurement], total: float) -> ViewEvidence:
        """The one-ways that follow and the released tables, as evidence for a fit.

        Args:
            view: its columns.
            known: one-ways that follow from released values, in weights.
            total: about how much the records weigh together, released.
        """
        measured = self.tables.like([*known, *self.tables])
        return ViewEvidence(view.domain, measured, max(round(total), 1), self.coarse)


def view_system(
    view: View, told: Collection[str], total: int, *, cost: Cost, task: Task, unit: Unit, config: RlsConfig,
    tuning: Tuning,
) -> tuple[Rls, BudgetPlan]:  # fmt: skip
    """The system that measures the columns of a view whose one-ways do not follow, and how it divides its budget.

    Args:
        view: its columns and candidates.
        told: columns whose one-ways follow from released values.
        total: about how much the records weigh together.
        cost: what all of it may spend.
        task: of the run.
        unit: of records of which one root holds `view.unit` at most.
        config: settings of the system.
        tuning: its constants, for children or for siblings.
    """
    asked = Domain(tuple(a for a in view.domain.attributes if a.name not in told))
    domain = asked if len(asked) else view.domain
    system = Rls(config, replace(task, domain=domain, n_public=total, unit=unit), tuning=tuning)
    system.cost = cost
    return system, system.budget_plan(total, with_pairs=bool(view.pairs))


def measure_view(
    view: View,
    counter: Counter,
    known: Sequence[Measurement],
    *,
    total: float,
    cost: Cost,
    task: Task,
    gate: Gate,
    standing: Standing | None = None,
    config: RlsConfig,
) -> ViewRelease:
    """Measures the one-ways of a view that do not follow, and the pairs chosen by scores that are charged.

    Args:
        view: its columns and candidates.
        counter: of its records, of which one root's weigh at most `view.unit` together.
        known: one-ways that follow from released values, in weights.
        total: about how much the records weigh together, released.
        cost: what all of it may spend.
        task: of the run.
        gate: of the run; counts of this view go through `gate.counting`.
        standing: which pairs these columns tell is not measured again; None: of siblings.
        config: settings of the system.
    """
    counting = gate.counting(view.unit)
    measured = {m.attributes[0] for m in known}
    system, plan = view_system(
        view, measured, max(round(total), 1), cost=cost, task=task, unit=counting.unit, config=config,
        tuning=SIBLINGS if standing is None else VIEWS,
    )  # fmt: skip
    asked = len(measured) < len(view.columns)
    released, pairs = ReleasedTables(), plan.pairs
    if asked:
        released += system.measure_one_ways(counter, plan, counting)
        released += system.measure_coarse_one_ways(counter, ReleasedTables([*known, *released]), plan, counting)
    elif pairs is not None:
        pairs = cost.less(plan.scores)
    if pairs is None or not view.pairs:
        return ViewRelease(tables=released)
    evidence = ViewRelease(tables=released).evidence(view, known, total)
    asked_pairs, coarse = list(view.pairs), usual_recodes(evidence, plan)
    choose: Callable[..., NDArray[np.intp]] = choose_tables
    if standing is not None:
        choose = Told.by(evidence, asked_pairs, coarse, standing.columns, standing.weights)
    chosen = choose_pairs(counter, evidence, plan=plan, cost=pairs, gate=counting, pairs=asked_pairs, choose=choose)
    if chosen.sets:
        released += system.measure_pairs(counter, chosen, chosen.cost, counting)
    elif asked:  # nothing is left to spend it on but the one-ways
        released += system.measure_one_ways(counter, plan, counting, chosen.cost)
    released.scores = Scores(
        sets=tuple(chosen.scores), values=np.array(list(chosen.scores.values())), sigma=chosen.sigma
    )
    return ViewRelease(tables=released, coarse=tuple(coarse))
