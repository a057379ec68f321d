"""Answers a question on a table of codes: on the real one for its owner, on a synthetic one for everybody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Groups, figures
from dpsyn_core.questions.answer import Answer, Axis
from dpsyn_core.questions.forms import (
    Bins,
    GapQuestion,
    GroupedQuestion,
    MeanQuestion,
    PredictQuestion,
    QuantileQuestion,
    Question,
    RangeQuestion,
    RegressionQuestion,
    SumQuestion,
    TableQuestion,
)
from dpsyn_core.questions.meaning import Floats, code_of, groups_of, interval_ends, numbers_of, spans, within
from dpsyn_core.questions.regress import answer_regression
from dpsyn_core.schema import Schema
from dpsyn_core.tables import clauses

NO_VALUES: Mapping[str, Floats] = {}
Codes = NDArray[np.integer[Any]]


def evaluate(
    question: Question,
    codes: Codes,
    schema: Schema,
    *,
    values: Mapping[str, Floats] = NO_VALUES,
    weights: Floats | None = None,
) -> Answer:
    """The answer of a question that fits the schema, on a table of codes.

    Guarantee: that of the codes. Cells of a noisy table are answered the same
    way: one record a cell, with the noisy counts as weights.

    Args:
        question: declared.
        codes: (n_attributes, n_records), in the order of the schema's domain.
        schema: of the codes.
        values: decoded numbers by attribute, shape (n_records,), NaN where there is none; other numbers are taken
            from the middles of bins.
        weights: how often each record counts, shape (n_records,); None: once.

    Returns:
        Figures with names for their axes; see `Answer`.
    """
    names = schema.domain().names
    rows = dict(zip(names, codes, strict=True))
    return answer_columns(question, rows, schema, values=values, weights=weights)


def answer_columns(
    question: Question,
    columns: Mapping[str, Codes],
    schema: Schema,
    *,
    values: Mapping[str, Floats] = NO_VALUES,
    weights: Floats | None = None,
) -> Answer:
    """As `evaluate`, from the columns of codes by name; only those that the question names are needed."""
    table = _Table(columns, schema, values, weights)
    if isinstance(question, TableQuestion):
        return _table(question, table)
    if isinstance(question, GroupedQuestion):
        return _grouped(question, table)
    if isinstance(question, RangeQuestion):
        return _range(question, table)
    if isinstance(question, PredictQuestion):
        return _predict(question, table)
    return _regression(question, table)


class _Table:
    """Columns with what is public about them."""

    def __init__(
        self, columns: Mapping[str, Codes], schema: Schema, values: Mapping[str, Floats], weights: Floats | None
    ) -> None:
        self.columns, self.schema, self.values = columns, schema, values
        size = len(next(iter(columns.values()))) if columns else 0
        self.weights: Floats = np.ones(size) if weights is None else np.asarray(weights, dtype=np.float64)

    def numbers(self, name: str) -> Floats:
        """Numbers of the records: decoded ones, else the middles of bins; NaN where there is none."""
        middles = numbers_of(self.schema[name])[self.columns[name]]
        if name not in self.values:
            return middles
        exact = np.asarray(self.values[name], dtype=np.float64)
        return np.where(np.isnan(middles), np.nan, exact)  # special values stand for no number

    def groups(self, names: tuple[str, ...], bins: Mapping[str, Bins]) -> tuple[NDArray[np.intp], tuple[Axis, ...]]:
        """One group a record, flat, and the axes that the groups have."""
        parts = [groups_of(self.schema[n], bins.get(n)) for n in names]
        axes = tuple(Axis(name=n, labels=tuple(labels)) for n, (_, labels) in zip(names, parts, strict=True))
        if not names:
            return np.zeros(len(self.weights), dtype=np.intp), ()
        keys = [recode.map[self.columns[n].astype(np.intp)] for n, (recode, _) in zip(names, parts, strict=True)]
        return np.ravel_multi_index(keys, tuple(len(a.labels) for a in axes)), axes


def _table(question: TableQuestion, table: _Table) -> Answer:
    flat, axes = table.groups(question.of, question.bins)
    shape = tuple(len(a.labels) for a in axes)
    counts: Floats = np.bincount(flat, weights=table.weights, minlength=int(np.prod(shape))).astype(np.float64)
    return Answer(question=question, axes=axes, values=counts.reshape(shape), unit="records", scales=True)


def _grouped(question: GroupedQuestion, table: _Table) -> Answer:
    group, by = table.groups(question.by, question.bins)
    shape = tuple(len(a.labels) for a in by)
    size = int(np.prod(shape)) if shape else 1
    x = table.numbers(question.of)
    valid = ~np.isnan(x)
    groups = Groups(
        group=group, numbers=np.where(valid, x, 0.0), weights=np.where(valid, table.weights, 0.0), size=size
    )
    axes = list(by)
    if isinstance(question, MeanQuestion):
        values = figures.means(groups)
    elif isinstance(question, SumQuestion):
        values = figures.sums(groups)
    elif isinstance(question, QuantileQuestion):
        ends = None if question.of in table.values else _ends(table, question.of)
        parts = [figures.quantiles(groups, float(q), ends=ends) for q in question.at]
        axes.append(Axis(name="quantile", labels=tuple(f"{q:g}" for q in question.at)))
        return _answer(question, axes, np.stack(parts, axis=-1).reshape((*shape, len(parts))))
    elif isinstance(question, GapQuestion):
        name, sides = question.sides
        column = table.columns[name]
        first, second = (code_of(table.schema[name], value) for value in sides)
        side = np.where(column == first, 0, np.where(column == second, 1, -1))
        values = figures.gaps(groups, side)
    else:
        values = figures.ginis(groups)
    return _answer(question, axes, values.reshape(shape))


def _answer(question: GroupedQuestion, axes: list[Axis], values: Floats) -> Answer:
    unit = "Gini index" if question.kind == "gini" else question.of  # type: ignore[attr-defined]
    return Answer(question=question, axes=tuple(axes), values=values, unit=unit, scales=question.scales)  # type: ignore[arg-type]


def _ends(table: _Table, name: str) -> tuple[Floats, Floats] | None:
    """Lower and upper end of each record's bin, between which its number is taken to be spread evenly."""
    if table.schema[name].binning is None:
        return None
    low, high = spans(table.schema[name])
    return low[table.columns[name]], high[table.columns[name]]


def _range(question: RangeQuestion, table: _Table) -> Answer:
    passes = table.weights.copy()
    for clause in clauses(question.where):
        attribute = table.schema[clause.attribute]
        if clause.interval and clause.attribute in table.values and attribute.binning is not None:
            x = table.numbers(clause.attribute)
            low, high = interval_ends(attribute, clause)
            passes = np.where(((x >= low) & (x <= high)) != clause.negated, passes, 0.0)
        else:
            passes = passes * within(attribute, clause)[table.columns[clause.attribute]]
    return Answer(question=question, axes=(), values=np.array(float(passes.sum())), unit="records", scales=True)


def _predict(question: PredictQuestion, table: _Table) -> Answer:
    schema = table.schema
    names = question.predictors or tuple(a.name for a in schema.coded if a.name != question.of)
    target = schema[question.of]
    y = table.columns[question.of].astype(np.intp)
    w = np.where(y < target.size - target.special, table.weights, 0.0)
    out = []
    for n in names:
        shape = (int(schema[n].size), int(target.size))
        cell = np.ravel_multi_index((table.columns[n].astype(np.intp), y), shape)
        counts = np.bincount(cell, weights=np.maximum(w, 0.0), minlength=shape[0] * shape[1])
        out.append(figures.explained(counts.astype(np.float64).reshape(shape)))
    axis = Axis(name="from", labels=tuple(names))
    unit = f"share of what is uncertain about {question.of}"
    return Answer(question=question, axes=(axis,), values=np.array(out), unit=unit, scales=False)


def _regression(question: RegressionQuestion, table: _Table) -> Answer:
    numbers: Callable[[str], Floats] = table.numbers
    return answer_regression(question, table.columns, table.schema, numbers=numbers, weights=table.weights)
