"""Whether a question fits a schema: existing columns and values, numbers where numbers are needed, tables of a size."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from dpsyn_core.errors import QuestionError
from dpsyn_core.questions.forms import (
    Bins,
    GapQuestion,
    GroupedQuestion,
    PredictQuestion,
    Question,
    RangeQuestion,
    RegressionQuestion,
    TableQuestion,
)
from dpsyn_core.questions.meaning import attribute_of, code_of, groups_of, numbers_of, numeric, within
from dpsyn_core.questions.regress import design_of
from dpsyn_core.schema import Schema
from dpsyn_core.tables import clauses

MOST_CELLS = 10_000_000  # of the answer of one question
MOST_CONDITIONS = 8  # attributes of a range: it is measured as a table with two values or so of each
MOST_TERMS = 500  # coefficients of a regression


def check(question: Question, schema: Schema) -> None:
    """Refuses a question that its schema cannot answer. Reads nothing but the schema.

    Raises:
        QuestionError: one sentence with what is wrong, what was got, and what is allowed.
    """
    columns = {n: attribute_of(schema, n) for n in question.attributes}
    _no_repeats(question)
    if isinstance(question, TableQuestion):
        _bins(question.bins, question.of, "of")
        _cells([groups_of(columns[n], question.bins.get(n))[0].size for n in columns])
    elif isinstance(question, GroupedQuestion):
        numbers_of(columns[question.of])
        _bins(question.bins, question.by, "by")
        _cells([groups_of(columns[n], question.bins.get(n))[0].size for n in question.by])
        if isinstance(question, GapQuestion):
            name, (first, second) = question.sides
            if code_of(columns[name], first) == code_of(columns[name], second):
                msg = f"it compares '{first}' of '{name}' with itself; name two different values"
                raise QuestionError(msg)
    elif isinstance(question, RangeQuestion):
        if len(columns) > MOST_CONDITIONS:
            msg = f"it has conditions on {len(columns)} columns, above the cap of {MOST_CONDITIONS}; ask for fewer"
            raise QuestionError(msg)
        for clause in clauses(question.where):
            within(columns[clause.attribute], clause)
    elif isinstance(question, PredictQuestion):
        target = columns[question.of]
        if target.size - target.special < 2:
            msg = f"'{question.of}' has a single value, so there is nothing to predict; name another column"
            raise QuestionError(msg)
        if len(schema.coded) < 2:
            msg = "there is no other column to predict from; declare at least two columns"
            raise QuestionError(msg)
    elif isinstance(question, RegressionQuestion):
        _regression(question, schema)


def _bins(bins: Mapping[str, Bins], names: Sequence[str], field: str) -> None:
    """Refuses bins of a column that is not broken down."""
    for name in bins:
        if name not in names:
            msg = f"it has bins for '{name[:80]}', which is not in its '{field}'; bins belong to columns in '{field}'"
            raise QuestionError(msg)


def _no_repeats(question: Question) -> None:
    """Refuses a column in two places of one question, where that has no meaning."""
    if isinstance(question, RangeQuestion):
        return
    named: list[str] = []
    if isinstance(question, TableQuestion):
        named = list(question.of)
    elif isinstance(question, GapQuestion):
        named = [question.of, *question.by, *question.between]
    elif isinstance(question, GroupedQuestion):
        named = [question.of, *question.by]
    elif isinstance(question, PredictQuestion):
        named = [question.of, *(question.predictors or ())]
    elif isinstance(question, RegressionQuestion):
        named = [question.of, *question.on]
    twice = [n for n, count in Counter(named).items() if count > 1]
    if twice:
        msg = f"it names '{twice[0][:80]}' twice; every column stands once in a question"
        raise QuestionError(msg)


def _cells(sizes: Sequence[int]) -> None:
    cells = math.prod(sizes)
    if cells > MOST_CELLS:
        msg = (
            f"its table has {cells} cells, above the cap of {MOST_CELLS}; give bins to columns of many values (dates: "
            "day, month, quarter or year; numbers: a width or edges), or name fewer columns"
        )
        raise QuestionError(msg)


def _regression(question: RegressionQuestion, schema: Schema) -> None:
    outcome, read = schema[question.of], question.read
    plain = int(outcome.size - outcome.special)
    functions = [*(f for term in read.terms for f in term), *([] if question.model == "logistic" else [read.outcome])]
    for factor in (f for f in functions if f.function is not None):
        numbers_of(schema[factor.column])
    if question.model == "logistic" and read.outcome.function is not None:
        msg = f"a logistic regression explains one value of '{question.of}'; write its name without a function"
        raise QuestionError(msg)
    if question.model == "linear":
        numbers_of(outcome)
        if question.value is not None:
            msg = "a linear regression explains the number itself; remove 'value', or set the model to logistic"
            raise QuestionError(msg)
    elif question.value is not None:
        code_of(outcome, question.value)
    elif plain != 2:
        msg = (
            f"a logistic regression explains one value, and '{question.of}' has {plain} of them; name one with 'value'"
        )
        raise QuestionError(msg)
    sizes = {n: 1 if numeric(schema[n]) else int(schema[n].size - schema[n].special) - 1 for n in question.on}
    terms = 1 + sum(math.prod(sizes[f.column] for f in term) for term in read.terms)
    if terms > MOST_TERMS:
        msg = f"it has {terms} coefficients, above the cap of {MOST_TERMS}; name columns with fewer values"
        raise QuestionError(msg)
    design_of(question, schema)
