"""Regressions on weighted records: the design matrix of a question, least squares, and logistic models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import QuestionError
from dpsyn_core.estimate import ModelDesign
from dpsyn_core.questions.answer import Answer, Axis
from dpsyn_core.questions.forms import RegressionQuestion
from dpsyn_core.questions.formula import FUNCTIONS, Factor
from dpsyn_core.questions.meaning import Floats, code_of, numbers_of, numeric
from dpsyn_core.schema import Schema

STEPS = 60  # of Newton's method
LARGEST = (
    12.0  # a logistic coefficient of more standard deviations of its term means that a term separates the outcomes
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DesignMatrix:
    """What a regression is computed from: records that have every value.

    terms: names of the columns of x, the intercept first. x: float64 (records, terms). y: float64 (records,): the
    number, or 0 and 1 for a logistic model. weights: float64 (records,). keep: positions of these records.
    """

    terms: tuple[str, ...]
    x: Floats
    y: Floats
    weights: Floats
    keep: NDArray[np.intp]


def design_of(question: RegressionQuestion, schema: Schema) -> ModelDesign:
    """The terms and the outcome of a regression.

    Terms are numbers, functions of numbers, one 0/1 column for each value of a category but the first, and products of
    these. Records with a missing, other or special cell in any column do not take part.

    Raises:
        QuestionError: a function has no value for some number of its column.
    """
    read, logistic = question.read, question.model == "logistic"
    levels: dict[str, list[str | int | None]] = {}  # by attribute: functions (None: the number), or codes
    places: list[tuple[str, list[tuple[str, str | int | None]]]] = [("intercept", [])]
    for factors in read.terms:
        terms: list[tuple[str, list[tuple[str, str | int | None]]]] = [("", [])]
        for factor in factors:
            one = _columns(factor, schema[factor.column])
            terms = [(f"{a}:{b}".lstrip(":"), [*x, y]) for a, x in terms for b, y in one]
        places += terms
    outcome = read.outcome
    aim = (outcome.column, _explained(question, schema) if logistic else outcome.function)
    for column, key in [*(k for _, keys in places for k in keys), aim]:
        if key not in levels.setdefault(column, []):
            levels[column].append(key)
    lookups = {n: _lookup(schema[n], keys, logistic and n == outcome.column) for n, keys in levels.items()}
    starts = dict(zip(lookups, np.cumsum([0, *(t.shape[1] for t in lookups.values())]).tolist(), strict=False))
    place = {(n, key): starts[n] + i for n, keys in levels.items() for i, key in enumerate(keys)}
    return ModelDesign(
        name=question.name,
        weight=float(question.weight),
        lookups=lookups,
        terms=tuple((label, tuple(place[k] for k in keys)) for label, keys in places),
        outcome=outcome.column,
        y=place[aim],
        logistic=logistic,
        functions=MappingProxyType({p: k for k, p in place.items() if not isinstance(k[1], int)}),
    )


def _columns(factor: Factor, attribute: Any) -> list[tuple[str, tuple[str, str | int | None]]]:
    """The columns of a factor, with their labels: a number, or one a value but the first."""
    if numeric(attribute):
        return [(str(factor), (factor.column, factor.function))]
    labels = attribute.labels()
    return [(f"{factor} = {labels[c]}", (factor.column, c)) for c in range(1, attribute.size - attribute.special)]


def _explained(question: RegressionQuestion, schema: Schema) -> int:
    """The code whose odds a logistic model explains."""
    outcome = schema[question.of]
    last = int(outcome.size - outcome.special) - 1
    return last if question.value is None else code_of(outcome, question.value)


def _lookup(attribute: Any, keys: Sequence[str | int | None], whole: bool) -> Floats:
    """The numbers of each code, (size, keys + 1), the last one whether it has them all. whole: all plain codes do."""
    has = np.arange(attribute.size) < attribute.size - attribute.special
    numbers = numbers_of(attribute) if numeric(attribute) and not whole else np.zeros(attribute.size)
    has &= ~np.isnan(numbers)
    out = np.zeros((attribute.size, len(keys) + 1))
    out[:, -1] = has
    for i, key in enumerate(keys):
        if isinstance(key, int):
            out[key, i] = 1.0
            continue
        with np.errstate(all="ignore"):
            out[has, i] = numbers[has] if key is None else FUNCTIONS[key](numbers[has])
        if not np.isfinite(out[:, i]).all():
            msg = f"{key}({attribute.name}) has no value for some numbers of its range; take another function, as log1p"
            raise QuestionError(msg)
    return out


def design(
    question: RegressionQuestion,
    columns: Mapping[str, NDArray[np.integer[Any]]],
    schema: Schema,
    *,
    numbers: Callable[[str], Floats],
    weights: Floats,
) -> DesignMatrix:
    """The design matrix of records.

    Args:
        question: fits the schema.
        columns: codes by attribute.
        schema: of the codes.
        numbers: gives the numbers of an attribute, NaN where there is none.
        weights: of the records.
    """
    layout = design_of(question, schema)
    values = layout.numbers(columns)
    whole = layout.complete(values) > 0
    for position, (name, function) in layout.functions.items():
        with np.errstate(all="ignore"):
            values[:, position] = numbers(name) if function is None else FUNCTIONS[function](numbers(name))
        whole &= np.isfinite(values[:, position])
    keep = np.flatnonzero(whole)
    kept = values[keep]
    return DesignMatrix(terms=layout.labels, x=layout.x(kept), y=kept[:, layout.y], weights=weights[keep], keep=keep)


def answer_regression(
    question: RegressionQuestion,
    columns: Mapping[str, NDArray[np.integer[Any]]],
    schema: Schema,
    *,
    numbers: Callable[[str], Floats],
    weights: Floats,
) -> Answer:
    """Coefficients, one a term; NaN for terms that the records do not determine."""
    matrix = design(question, columns, schema, numbers=numbers, weights=weights)
    fit = fit_logistic(matrix)[0] if question.model == "logistic" else fit_linear(matrix)[0]
    unit = f"log odds of {question.of}" if question.model == "logistic" else f"{question.of} a unit"
    return Answer(
        question=question, axes=(Axis(name="term", labels=matrix.terms),), values=fit, unit=unit, scales=False
    )


def fit_linear(made: DesignMatrix) -> tuple[Floats, Floats]:
    """Weighted least squares: coefficients and their covariance; NaN for terms that are not determined."""
    x, w, used = _usable(made)
    beta, covariance = _blank(len(made.terms))
    if not used.any():
        return beta, covariance
    x = x[:, used]
    scale = _sizes(x, w)
    z = x / scale
    inverse = np.linalg.pinv((z * w[:, None]).T @ z)
    beta[used] = inverse @ ((z * w[:, None]).T @ made.y) / scale
    rest = made.y - x @ beta[used]
    free = max(float(w.sum()) - int(used.sum()), 1.0)
    covariance[np.ix_(used, used)] = inverse / np.outer(scale, scale) * float((w * rest**2).sum()) / free
    return beta, covariance


def fit_logistic(made: DesignMatrix) -> tuple[Floats, Floats]:
    """Maximum likelihood by Newton's method with halved steps: coefficients and their covariance.

    NaN for all terms where the outcome does not vary, or where terms separate its values, so that no estimate exists.
    """
    x, w, used = _usable(made)
    beta, covariance = _blank(len(made.terms))
    y = made.y
    share = float((w * y).sum()) / max(float(w.sum()), 1e-300)
    if not used.any() or not 0 < share < 1:
        return beta, covariance
    x = x[:, used]
    scale = _sizes(x, w)
    z = x / scale
    b = np.zeros(z.shape[1])
    b[0] = np.log(share / (1 - share)) if used[0] else 0.0
    value = _deviance(z @ b, y, w)
    gram = np.eye(len(b))
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(z @ b, -35, 35)))
        gram = (z * (w * p * (1 - p))[:, None]).T @ z
        step = np.linalg.pinv(gram) @ (z.T @ (w * (y - p)))
        size = 1.0
        while size > 1e-6 and _deviance(z @ (b + size * step), y, w) > value:
            size /= 2
        b = b + size * step
        before, value = value, _deviance(z @ b, y, w)
        if before - value < 1e-10 * (abs(value) + 1):
            break
    middle = (w @ x) / w.sum()
    if np.abs(b / scale * np.sqrt((w @ (x - middle) ** 2) / w.sum())).max() > LARGEST:
        return beta, covariance
    beta[used] = b / scale
    covariance[np.ix_(used, used)] = np.linalg.pinv(gram) / np.outer(scale, scale)
    return beta, covariance


def _sizes(x: Floats, w: Floats) -> Floats:
    """Root mean squares of the terms, by which they are divided: a pseudo-inverse drops far smaller ones."""
    return np.asarray(np.maximum(np.sqrt((w[:, None] * x**2).sum(axis=0) / w.sum()), 1e-300))


def _usable(made: DesignMatrix) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Records with weight, and the terms that do not follow from those before them."""
    w = np.maximum(made.weights, 0.0)
    used = np.zeros(len(made.terms), dtype=bool)
    if not len(w) or w.sum() <= 0:
        return made.x, w, used
    scaled = made.x * np.sqrt(w / w.sum())[:, None]
    gram = scaled.T @ scaled
    left = np.diag(gram).copy()
    basis: list[Floats] = []
    for j in range(len(left)):
        row = gram[j].copy()
        for v in basis:
            row = row - v[j] * v
        if row[j] > 1e-9 * max(left[j], 1e-300) and left[j] > 0:
            used[j] = True
            basis.append(row / np.sqrt(row[j]))
    return made.x, w, used


def _blank(terms: int) -> tuple[Floats, Floats]:
    return np.full(terms, np.nan), np.full((terms, terms), np.nan)


def _deviance(eta: Floats, y: Floats, w: Floats) -> float:
    return float((w * (np.logaddexp(0.0, eta) - y * eta)).sum())
