"""Regressions on weighted records: the design matrix of a question, least squares, and logistic models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.questions.answer import Answer, Axis
from dpsyn_core.questions.forms import RegressionQuestion
from dpsyn_core.questions.meaning import Floats, code_of, numeric
from dpsyn_core.schema import Schema

STEPS = 60  # of Newton's method
LARGEST = 30.0  # a standardized logistic coefficient beyond this means that a term separates the outcomes


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


def design(
    question: RegressionQuestion,
    columns: Mapping[str, NDArray[np.integer[Any]]],
    schema: Schema,
    *,
    numbers: Callable[[str], Floats],
    weights: Floats,
) -> DesignMatrix:
    """The design matrix: numbers as they are, categories as one column a value but the first.

    Records with a missing, other or special cell in any column are left out.

    Args:
        question: fits the schema.
        columns: codes by attribute.
        schema: of the codes.
        numbers: gives the numbers of an attribute, NaN where there is none.
        weights: of the records.
    """
    names = (question.of, *question.on)
    whole = np.ones(len(weights), dtype=bool)
    for name in names:
        whole &= columns[name] < schema[name].size - schema[name].special
        if numeric(schema[name]) and not (name == question.of and question.model == "logistic"):
            whole &= ~np.isnan(numbers(name))
    keep = np.flatnonzero(whole)
    terms, parts = ["intercept"], [np.ones(len(keep))]
    for name in question.on:
        attribute = schema[name]
        if numeric(attribute):
            terms.append(name)
            parts.append(numbers(name)[keep])
            continue
        labels = attribute.labels()
        for code in range(1, attribute.size - attribute.special):
            terms.append(f"{name} = {labels[code]}")
            parts.append((columns[name][keep] == code).astype(np.float64))
    if question.model == "logistic":
        outcome = schema[question.of]
        last = int(outcome.size - outcome.special) - 1
        chosen = last if question.value is None else code_of(outcome, question.value)
        y = (columns[question.of][keep] == chosen).astype(np.float64)
    else:
        y = numbers(question.of)[keep]
    return DesignMatrix(terms=tuple(terms), x=np.column_stack(parts), y=y, weights=weights[keep], keep=keep)


def answer_regression(
    question: RegressionQuestion,
    columns: Mapping[str, NDArray[np.integer[Any]]],
    schema: Schema,
    *,
    numbers: Callable[[str], Floats],
    weights: Floats,
) -> Answer:
    """Coefficients, one a term; NaN for terms that the records do not determine."""
    made = design(question, columns, schema, numbers=numbers, weights=weights)
    found = fit_logistic(made)[0] if question.model == "logistic" else fit_linear(made)[0]
    unit = f"log odds of {question.of}" if question.model == "logistic" else f"{question.of} a unit"
    return Answer(
        question=question, axes=(Axis(name="term", labels=made.terms),), values=found, unit=unit, scales=False
    )


def fit_linear(made: DesignMatrix) -> tuple[Floats, Floats]:
    """Weighted least squares: coefficients and their covariance; NaN for terms that are not determined."""
    x, w, used = _usable(made)
    beta, covariance = _blank(len(made.terms))
    if not used.any():
        return beta, covariance
    x = x[:, used]
    gram = (x * w[:, None]).T @ x
    inverse = np.linalg.pinv(gram)
    beta[used] = inverse @ ((x * w[:, None]).T @ made.y)
    rest = made.y - x @ beta[used]
    free = max(float(w.sum()) - int(used.sum()), 1.0)
    covariance[np.ix_(used, used)] = inverse * float((w * rest**2).sum()) / free
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
    scale = np.maximum(np.sqrt((w[:, None] * x**2).sum(axis=0) / w.sum()), 1e-300)
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
    if np.abs(b).max() > LARGEST:
        return beta, covariance
    beta[used] = b / scale
    covariance[np.ix_(used, used)] = np.linalg.pinv(gram) / np.outer(scale, scale)
    return beta, covariance


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
