"""Compiles questions: which tables have to be measured so that they can be answered, and how coarsely. Public."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpsyn_core.errors import QuestionError
from dpsyn_core.estimate import NO_NUMBERS, NO_RECODES, Coarsening, Need, Recodes, Workload, coarse_shape
from dpsyn_core.questions.document import Questions, declared
from dpsyn_core.questions.forms import (
    GapQuestion,
    GroupedQuestion,
    PredictQuestion,
    QuantileQuestion,
    Question,
    RangeQuestion,
    RegressionQuestion,
    TableQuestion,
)
from dpsyn_core.questions.meaning import Floats, coarse_of, code_of, conditions, numbers_of, numeric
from dpsyn_core.questions.regress import design_of
from dpsyn_core.schema import Domain, Schema

JOINT_CELLS = 200  # a regression is measured as one table up to so many cells; larger ones lose to their pairs
DEFAULT_SHARE = 0.5  # of what pairs of attributes would get without questions, at most, unless a share is given
PRECISE = 4.0  # times less noise than pairs have: a table of a question is not measured better than that by default
PAIRS = 4.5  # pairs that a run usually measures, for each attribute
COVERED = 4.0  # times more cells, up to which a table answers for a smaller one inside it
MOST_SUMMED = 60  # terms of a regression that is measured as a sum; a longer vector is mostly noise
FEW = 8  # values that a number is likely to have once it is coarse


def workload_of(questions: Questions | None, schema: Schema, share: float | None = None) -> Workload | None:
    """The workload that questions declare for a run; None without questions, or where their share is 0.

    Args:
        questions: declared; they must fit the schema. None takes those that stand in the schema.
        schema: of the table.
        share: from 0 to 1, of what pairs of attributes would get; None is `default_share`.

    Raises:
        QuestionError: a share outside its range, or a question that does not fit.
    """
    if share is not None and not 0 <= share <= 1:
        msg = f"the share of the budget for questions is {share}; it must lie between 0 and 1"
        raise QuestionError(msg)
    asked = declared(questions, schema)
    if not len(asked) or share == 0:
        return None
    needs = compile_questions(asked, schema)
    models = tuple(design_of(q, schema) for q in asked.questions if isinstance(q, RegressionQuestion))
    models = tuple(m for m in models if len(m.terms) <= MOST_SUMMED)
    part = default_share(len(needs), len(schema.coded)) if share is None else float(share)
    return Workload(needs=needs, share=part, models=models)


def default_share(tables: int, attributes: int) -> float:
    """The share of questions, where none is given: half of what pairs would get, less for few tables.

    With a share s, each of Q tables gets s / Q and each of P pairs (1 - s) / P, and noise falls with their root. A
    share at which the tables of questions have `PRECISE` times less noise than pairs is enough: beyond it, everything
    else loses more than questions gain. Public: it depends on how many tables and attributes there are.
    """
    pairs = max(1.0, min(PAIRS * attributes, attributes * (attributes - 1) / 2))
    return min(DEFAULT_SHARE, 1 / (1 + pairs / (PRECISE**2 * max(tables, 1))))


def compile_questions(questions: Questions, schema: Schema) -> tuple[Need, ...]:
    """The tables that all questions need together, each once; equal tables add their weights up.

    Args:
        questions: they fit the schema (`Questions.checked`).
        schema: of the table.
    """
    needs: dict[tuple[object, ...], Need] = {}
    for question in questions.questions:
        for need in compile_question(question, schema):
            same = needs.get(need.key)
            needs[need.key] = need if same is None else _joined(same, need)
    return _without_covered(list(needs.values()), schema.domain())


def _without_covered(needs: list[Need], domain: Domain) -> tuple[Need, ...]:
    """Leaves out tables that a somewhat larger one answers for, which gets their weight."""
    kept = {n.key: n for n in needs}
    for small in sorted(needs, key=lambda n: (len(n.attributes), n.attributes)):
        over = next((k for k, large in kept.items() if k != small.key and _covers(large, small, domain)), None)
        if over is not None:
            kept[over] = _joined(kept[over], kept.pop(small.key))
    return tuple(kept.values())


def _covers(large: Need, small: Need, domain: Domain) -> bool:
    """Whether one table tells all that another is needed for, at up to `COVERED` times as many cells."""
    if not set(small.attributes) < set(large.attributes) or small.means.keys() - large.means.keys():
        return False
    extra = [n for n in large.attributes if n not in small.attributes]
    times = math.prod(coarse_shape(domain, extra, large.maps))
    if times > COVERED or any(n in large.means for n in extra):
        return False
    for name in small.attributes:
        finer = large.maps.get(name)
        if name in small.maps:
            whole = name in large.whole or (finer is not None and finer.refines(small.maps[name]))
            if not whole:
                return False
        elif (
            finer is not None
            or (name in large.means) != (name in small.means)
            or (name in small.whole and name not in large.whole)
        ):
            return False
    return True


def compile_question(question: Question, schema: Schema) -> tuple[Need, ...]:
    """The tables that one question needs."""
    domain = schema.domain()
    if isinstance(question, TableQuestion):
        return (_need(domain, question.of, question, maps=_bins(question, schema)),)
    if isinstance(question, GapQuestion):
        name, sides = question.sides
        maps = {name: sides_map(schema[name], sides), **_bins(question, schema)}
        return (
            _need(
                domain, question.attributes, question, maps=maps, means=_means(schema, question.of), whole=question.by
            ),
        )
    if isinstance(question, QuantileQuestion):
        return (_need(domain, question.attributes, question, maps=_bins(question, schema), whole=question.by),)
    if isinstance(question, GroupedQuestion):
        return (_need(domain, question.attributes, question, maps=_bins(question, schema),
                      means=_means(schema, question.of), whole=question.by),)  # fmt: skip
    if isinstance(question, RangeQuestion):
        maps = condition_maps(question, schema)
        return (_need(domain, tuple(maps), question, maps=maps),)
    if isinstance(question, PredictQuestion):
        names = [n for n in (question.predictors or domain.names) if n != question.of]
        part = float(question.weight) / len(names)
        return tuple(
            _need(domain, (question.of, n), question, weight=part, whole=(question.of,), target=question.of)
            for n in names
        )
    return _regression(question, schema, domain)


def _bins(question: TableQuestion | GroupedQuestion, schema: Schema) -> dict[str, Coarsening]:
    """How coarse the columns are that a question gives bins to."""
    return {n: coarse_of(schema[n], b)[0] for n, b in question.bins.items()}


def _need(
    domain: Domain,
    names: Sequence[str],
    question: Question,
    *,
    weight: float | None = None,
    maps: Recodes = NO_RECODES,
    means: Mapping[str, Floats] = NO_NUMBERS,
    whole: Sequence[str] = (),
    target: str | None = None,
    model: bool = False,
) -> Need:
    return Need(
        attributes=domain.ordered_set(names),
        weight=float(question.weight) if weight is None else weight,
        questions=(question.name,),
        maps=maps,
        means=means,
        whole=frozenset(whole) - maps.keys() - means.keys(),
        target=target,
        model=model,
    )


def _joined(a: Need, b: Need) -> Need:
    return Need(
        attributes=a.attributes,
        weight=a.weight + b.weight,
        questions=(*a.questions, *b.questions),
        maps=a.maps,
        means=a.means,
        whole=a.whole,
        target=a.target or b.target,
        model=a.model and b.model,
    )


def _means(schema: Schema, name: str) -> dict[str, Floats]:
    return {name: numbers_of(schema[name])}


def sides_map(attribute: Any, sides: Sequence[Any]) -> Coarsening:
    """Codes as 0 (first side), 1 (second side) and 2 (neither, where there is such a code)."""
    out = np.full(attribute.size, 2, dtype=np.intp)
    for i, value in enumerate(sides):
        out[code_of(attribute, value)] = i
    return Coarsening.of(out)


def condition_maps(question: RangeQuestion, schema: Schema) -> dict[str, Coarsening]:
    """For each attribute of the conditions, 0 for cells that are out and 1 for cells that are in.

    A bin that an end of an interval cuts has a separate code. Codes that do not occur are closed up.
    """
    out = {}
    for name, share in conditions(question.where, schema).items():
        raw = np.where(share == 0, 0, 1)
        cut = np.flatnonzero((share > 0) & (share < 1))
        raw[cut] = 2 + np.arange(len(cut))
        out[name] = Coarsening.of(np.unique(raw, return_inverse=True)[1])
    return out


def _regression(question: RegressionQuestion, schema: Schema, domain: Domain) -> tuple[Need, ...]:
    """One table of everything where that is small, else the pairs of the outcome and of what explains it."""
    names = (question.of, *question.on)
    means = {n: numbers_of(schema[n]) for n in names if numeric(schema[n])}
    maps: dict[str, Coarsening] = {}
    if question.model == "logistic":
        outcome = schema[question.of]
        value = question.value
        chosen = int(outcome.size - outcome.special) - 1 if value is None else code_of(outcome, value)
        raw = (np.arange(outcome.size) == chosen).astype(np.intp)
        if outcome.special:
            raw[outcome.size - outcome.special :] = 2
            raw[chosen] = 1
        maps[question.of] = Coarsening.of(raw)
        means.pop(question.of, None)
    sizes = [
        maps[n].size if n in maps else min(int(schema[n].size), FEW) if n in means else int(schema[n].size)
        for n in names
    ]

    def need(of: Sequence[str], weight: float) -> Need:
        return _need(
            domain, of, question, weight=weight, maps={n: maps[n] for n in of if n in maps},
            means={n: means[n] for n in of if n in means}, whole=of, model=terms <= MOST_SUMMED,
        )  # fmt: skip

    terms = len(design_of(question, schema).terms)
    if math.prod(sizes) <= JOINT_CELLS:
        return (need(names, float(question.weight)),)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return tuple(need(p, float(question.weight) / len(pairs)) for p in pairs)
