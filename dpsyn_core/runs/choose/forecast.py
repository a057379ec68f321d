"""Forecast: how far off the answer of each question will be, and everything else, before anything is spent. Public.

It rests on the plan of the run and on an assumed table whose groups are equally large and whose numbers are spread
evenly, for nothing of the real one is public. What fitting several tables together gains is left out, and so is what
systems that choose their tables on the way may measure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpsyn_core.estimate import Groups, Need, Workload, figures
from dpsyn_core.evaluate import expected_tvd
from dpsyn_core.questions import (
    GapQuestion,
    GiniQuestion,
    GroupedQuestion,
    QuantileQuestion,
    Question,
    Questions,
    RangeQuestion,
    SumQuestion,
    compile_question,
    groups_of,
    workload_of,
)
from dpsyn_core.runs.price import ASSUMED, RunPlan, plan_of
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema import Schema
from dpsyn_core.systems import MethodConfig, Step, Synthesizer, Task

DRAWS = 200  # noisy copies of one assumed group, from which the mean error of its figure is taken
Scale = Literal["records", "spread", "gini", "sum"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """Of one question.

    scale: what the errors are shares of: all records (table, range, predict), the spread of the number (its standard
    deviation; mean, gap, quantile, regression), 1 (gini), the sum itself (sum). before: mean error where the question
    is not declared; None if no default measurement covers all its columns. after: mean error where
    it is; None where the system chooses its tables on the way, or the questions get nothing. Both at most 1.
    """

    question: Question
    scale: Scale
    before: float | None
    after: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecasts:
    """Of all questions.

    share: that the questions get. others: how many times more noise all other pairs of columns have than without
    questions; None where they are not measured any more, or never were. takes: whether the system can use declared
    questions at all.
    """

    each: tuple[Forecast, ...]
    share: float
    others: float | None
    takes: bool


def forecast(spec: RunSpec, schema: Schema, *, n_records: float = ASSUMED) -> Forecasts:
    """What declaring the questions of a run changes. Reads no data; raises what calibration raises.

    Args:
        spec: of the run, with its questions.
        schema: of the table; the questions fit it.
        n_records: about how many records there are; a public number in the schema comes before it.
    """
    config, questions = spec.config, spec.asked(schema)
    workload = workload_of(questions, schema, spec.questions_share)
    plain = Task.of(schema, spec.budget, questions=Questions.of([]), measures=config.measures)
    n = float(schema.n_records if schema.n_records is not None else n_records)
    usual = config.calibrate(plain)
    before = plan_of(usual, plain, n_records=n)
    informed = None
    if workload is not None and config.takes_questions:
        informed = _told(config, spec.task(schema), n)
    tables = {} if informed is None or workload is None else _tables(informed, workload, n)
    each = [
        Forecast(
            question=q,
            scale=_scale(q),
            before=_error(q, schema, _usual(q, schema, before), n),
            after=_error(q, schema, tables.get(q.name), n),
        )
        for q in questions.questions
    ]
    return Forecasts(
        each=tuple(each),
        share=0.0 if workload is None else workload.share,
        takes=config.takes_questions,
        others=1.0 if informed is None else _ratio(before, informed[1]),
    )


def _told(config: MethodConfig, task: Task, n: float) -> tuple[Synthesizer, RunPlan]:
    system = config.calibrate(task)
    return system, plan_of(system, task, n_records=n)


def _ratio(before: RunPlan, after: RunPlan) -> float | None:
    """How many times more noise a cell of a pair has; at the most that the plans state."""
    ends = [plan.std(step) for plan in (before, after) if (step := _pairs(plan)) is not None]
    errors = [e[1] for e in ends if e is not None]
    return errors[1] / errors[0] if len(errors) == 2 else None


def _pairs(plan: RunPlan, names: Sequence[str] = ()) -> Step | None:
    """The step that measures pairs, with these attributes where they are named."""
    return next((step for kind in ("2-way", "chosen", "listed") if (step := _step(plan, kind, names))), None)


def _step(plan: RunPlan, kind: str, names: Sequence[str] = ()) -> Step | None:
    return next((s for s in plan.steps if s.kind == kind and s.sigma is not None and s.reaches(names)), None)


def _middle(plan: RunPlan, step: Step) -> float | None:
    std = plan.std(step)
    return None if std is None else math.sqrt(std[0] * std[1])


Table = tuple[float, float]  # cells, standard deviation of the noise of one


def _tables(told: tuple[Synthesizer, RunPlan], workload: Workload, n: float) -> dict[str, Table]:
    """The table of each question, by its name; the worst where it needs several."""
    system, plan = told
    widen = math.sqrt(2) if plan.cost.pure else 1.0
    tables = [(cells, scale * widen) for cells, scale in system.question_tables(n)]
    if not tables:
        step = _step(plan, "question")
        middle = None if step is None else _middle(plan, step)
        if middle is None:
            return {}
        tables = [(_full(need, system), middle) for need in workload.needs]
    out: dict[str, Table] = {}
    for need, table in zip(workload.needs, tables, strict=True):
        for name in need.questions:
            if name not in out or table[0] * table[1] > out[name][0] * out[name][1]:
                out[name] = table
    return out


def _full(need: Need, system: Synthesizer) -> float:
    """Cells of a table that is measured as it is."""
    domain = system.domain  # type: ignore[attr-defined]
    return float(domain.cells(need.attributes))


def _usual(question: Question, schema: Schema, plan: RunPlan) -> Table | None:
    """The table that a run measures by default and that covers the question: a column, or a pair if it is chosen."""
    widest = max((n.attributes for n in compile_question(question, schema)), key=len)
    step = {1: _step(plan, "1-way"), 2: _pairs(plan, widest)}.get(len(widest))
    middle = None if step is None else _middle(plan, step)
    if step is None or middle is None:
        return None
    return math.sqrt(step.cells[0] * step.cells[1]), middle


def _scale(question: Question) -> Scale:
    if isinstance(question, SumQuestion):
        return "sum"
    if isinstance(question, GiniQuestion):
        return "gini"
    return "spread" if isinstance(question, GroupedQuestion) or question.kind == "regression" else "records"


def _error(question: Question, schema: Schema, table: Table | None, n: float) -> float | None:
    """Mean error of one figure of an assumed table; None without a table."""
    if table is None:
        return None
    cells, std = table
    if not isinstance(question, GroupedQuestion):
        if question.kind == "regression":
            return min(1.0, std * math.sqrt(cells) / n)
        if isinstance(question, RangeQuestion):
            return min(1.0, expected_tvd(2, std, n))  # the cell that is in
        return expected_tvd(max(1, round(cells)), std, n)
    groups = math.prod(groups_of(schema[a], question.bins.get(a))[0].size for a in question.by)
    sides = 2 if isinstance(question, GapQuestion) else 1
    values = max(4, round(cells / (groups * (3 if sides == 2 else 1))))
    return min(1.0, _grouped(question, values, std, n / (groups * sides)))


def _grouped(question: GroupedQuestion, values: int, std: float, held: float) -> float:
    """Mean error of the figure of one group of so many records, in the unit of `Forecast.scale`."""
    rng = np.random.default_rng(0)  # public; nothing is protected by it
    x = np.tile((np.arange(values) + 0.5) / values, DRAWS)
    group = np.repeat(np.arange(DRAWS), values)

    def noisy() -> Groups:
        counts = np.maximum(held / values + rng.normal(0.0, std, size=len(x)), 0.0)
        return Groups(group=group, numbers=x, weights=counts, size=DRAWS)

    spread, truth = math.sqrt(1 / 12), 0.5
    if isinstance(question, GiniQuestion):
        return _mean(np.abs(figures.ginis(noisy()) - 1 / 3))
    if isinstance(question, SumQuestion):
        off = np.bincount(group, weights=x * rng.normal(0.0, std, size=len(x)), minlength=DRAWS)
        return _mean(np.abs(off) / (held * truth))
    if isinstance(question, QuantileQuestion):
        ends = (x - 0.5 / values, x + 0.5 / values)
        return _mean(np.abs(figures.quantiles(noisy(), 0.5, ends=ends) - truth)) / spread
    error = figures.means(noisy()) - truth
    if isinstance(question, GapQuestion):
        error = error - (figures.means(noisy()) - truth)
    return _mean(np.abs(error)) / spread


def _mean(errors: Any) -> float:
    finite = errors[~np.isnan(errors)]
    return float(finite.mean()) if len(finite) else 1.0
