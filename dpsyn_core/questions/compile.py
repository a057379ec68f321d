"""Compiles questions: which tables have to be measured so that they can be answered, and how coarsely. Public."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from dpsyn_core.questions.document import Questions
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
from dpsyn_core.questions.language import clauses
from dpsyn_core.questions.meaning import Floats, Map, coarse_of, code_of, numbers_of, numeric, within
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import AttributeSet, Domain

NO_MAPS: Mapping[str, Map] = MappingProxyType({})
NO_NUMBERS: Mapping[str, Floats] = MappingProxyType({})
JOINT_CELLS = 200  # a regression is measured as one table up to so many cells; larger ones lose to their pairs
FEW = 8  # values that a number is likely to have once it is coarse


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """A table that a question needs.

    attributes: in domain order. weight: importance of the question, divided among its tables. maps: for attributes
    whose coarse values are public, from code to coarse code, shape (size,). means: for attributes of which the mean
    matters, the number that each cell stands for (NaN: none), shape (size,); coarse values are to be chosen so that
    means are kept. Attributes in neither have as many values as the budget allows. whole: attributes whose values are
    what is compared, and are not merged unless they are many. questions: names of the questions that need it.
    target: what is to be predicted from the other attribute, None where that is not the purpose.
    """

    attributes: AttributeSet
    weight: float
    questions: tuple[str, ...]
    maps: Mapping[str, Map] = field(default_factory=lambda: NO_MAPS)
    means: Mapping[str, Floats] = field(default_factory=lambda: NO_NUMBERS)
    whole: frozenset[str] = frozenset()
    target: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Two needs with one key are one table."""
        return (
            self.attributes,
            tuple((n, self.maps[n].tobytes()) for n in self.attributes if n in self.maps),
            tuple(n for n in self.attributes if n in self.means),
            tuple(n for n in self.attributes if n in self.whole),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """What a run is told: the tables that its questions need, and the share of the budget that they get.

    needs: each table once. share: part, from 0 to 1, of what pairs of attributes would get without questions.
    """

    needs: tuple[Need, ...]
    share: float

    def sets(self) -> list[AttributeSet]:
        """The attribute sets, each once, for systems whose workload is a list of them."""
        return list(dict.fromkeys(n.attributes for n in self.needs))


def compile_questions(questions: Questions, schema: Schema) -> tuple[Need, ...]:
    """The tables that all questions need together, each once; equal tables add their weights up.

    Args:
        questions: they fit the schema (`Questions.checked`).
        schema: of the table.
    """
    found: dict[tuple[object, ...], Need] = {}
    for question in questions.questions:
        for need in compile_question(question, schema):
            same = found.get(need.key)
            found[need.key] = need if same is None else _joined(same, need)
    return tuple(found.values())


def compile_question(question: Question, schema: Schema) -> tuple[Need, ...]:
    """The tables that one question needs."""
    domain = schema.domain()
    if isinstance(question, TableQuestion):
        maps = {n: coarse_of(schema[n], b)[0] for n, b in question.bins.items()}
        return (_need(domain, question.of, question, maps=maps),)
    if isinstance(question, GapQuestion):
        name, sides = question.sides
        maps = {name: sides_map(schema[name], sides)}
        return (_need(domain, question.attributes, question, maps=maps, means=_means(schema, question.of),
                      whole=question.by),)  # fmt: skip
    if isinstance(question, QuantileQuestion):
        return (_need(domain, question.attributes, question, whole=question.by),)
    if isinstance(question, GroupedQuestion):
        means = _means(schema, question.of)
        return (_need(domain, question.attributes, question, means=means, whole=question.by),)
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


def _need(
    domain: Domain,
    names: Sequence[str],
    question: Question,
    *,
    weight: float | None = None,
    maps: Mapping[str, Map] = NO_MAPS,
    means: Mapping[str, Floats] = NO_NUMBERS,
    whole: Sequence[str] = (),
    target: str | None = None,
) -> Need:
    return Need(
        attributes=domain.ordered_set(names),
        weight=float(question.weight) if weight is None else weight,
        questions=(question.name,),
        maps=maps,
        means=means,
        whole=frozenset(whole) - maps.keys() - means.keys(),
        target=target,
    )


def _joined(a: Need, b: Need) -> Need:
    return Need(
        attributes=a.attributes, weight=a.weight + b.weight, questions=(*a.questions, *b.questions), maps=a.maps,
        means=a.means, whole=a.whole, target=a.target or b.target,
    )  # fmt: skip


def _means(schema: Schema, name: str) -> dict[str, Floats]:
    return {name: numbers_of(schema[name])}


def sides_map(attribute: Any, sides: Sequence[Any]) -> Map:
    """Codes as 0 (first side), 1 (second side) and 2 (neither, where there is such a code)."""
    out = np.full(attribute.size, 2, dtype=np.intp)
    for i, value in enumerate(sides):
        out[code_of(attribute, value)] = i
    return out


def condition_maps(question: RangeQuestion, schema: Schema) -> dict[str, Map]:
    """For each attribute of the conditions, 0 for cells that are out and 1 for cells that are in.

    A bin that an end of an interval cuts has a code of its own. Codes that do not occur are closed up.
    """
    shares: dict[str, Floats] = {}
    for clause in clauses(question.where):
        passes = within(schema[clause.attribute], clause)
        before = shares.get(clause.attribute)
        shares[clause.attribute] = passes if before is None else np.minimum(before, passes)
    out = {}
    for name, share in shares.items():
        raw = np.where(share == 0, 0, 1)
        cut = np.flatnonzero((share > 0) & (share < 1))
        raw[cut] = 2 + np.arange(len(cut))
        out[name] = np.unique(raw, return_inverse=True)[1].astype(np.intp)
    return out


def _regression(question: RegressionQuestion, schema: Schema, domain: Domain) -> tuple[Need, ...]:
    """One table of everything where that is small, else the pairs of the outcome and of what explains it."""
    names = (question.of, *question.on)
    means = {n: numbers_of(schema[n]) for n in names if numeric(schema[n])}
    maps: dict[str, Map] = {}
    if question.model == "logistic":
        outcome = schema[question.of]
        value = question.value
        chosen = int(outcome.size - outcome.special) - 1 if value is None else code_of(outcome, value)
        raw = (np.arange(outcome.size) == chosen).astype(np.intp)
        if outcome.special:
            raw[outcome.size - outcome.special :] = 2
            raw[chosen] = 1
        maps[question.of] = raw
        means.pop(question.of, None)
    sizes = [
        int(maps[n].max()) + 1 if n in maps else min(int(schema[n].size), FEW) if n in means else int(schema[n].size)
        for n in names
    ]

    def need(of: Sequence[str], weight: float) -> Need:
        return _need(
            domain, of, question, weight=weight, maps={n: maps[n] for n in of if n in maps},
            means={n: means[n] for n in of if n in means}, whole=of,
        )  # fmt: skip

    if math.prod(sizes) <= JOINT_CELLS:
        return (need(names, float(question.weight)),)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return tuple(need(p, float(question.weight) / len(pairs)) for p in pairs)
