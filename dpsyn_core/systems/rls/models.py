"""Declared regressions: for each a sum of score vectors, released at coefficients that records so far suggest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import ModelDesign, ModelSum, ReleasedTables
from dpsyn_core.measure import Counter, Features, Gate, SumRule
from dpsyn_core.privacy import Cost
from dpsyn_core.systems.rls.question_tables import ROUNDS

MOST_DRAFT = 50_000  # records that a sum starts from
SHORT = 0.3  # of the records of a draft, whose vectors are shorter than the clip norm; the others are as long as it
USUAL = 0.99  # of residuals of a linear model, that are no longer than is reckoned with
DOUBT = 1e-3  # of each record, the outcome is taken for another one: start coefficients are finite then
LEAST_TURN = 1e-6  # of the mean information on a coefficient: directions of less are not stretched further


def measure_models(
    designs: Sequence[ModelDesign],
    measured: ReleasedTables,
    draft: Callable[[int], NDArray[np.unsignedinteger]],
    counter: Counter,
    *,
    total: float,
    cost: Cost,
    gate: Gate,
) -> None:
    """Adds the sums of regressions to what was measured: a first one, and one at coefficients that follow from it.

    Args:
        designs: of the regressions, with their weights.
        measured: so far; its `sums` grow.
        draft: makes so many records of it.
        counter: of the records.
        total: the number of records, released or public.
        cost: what all sums spend, Gaussian.
        gate: releases them.
    """
    for part in cost.split(ROUNDS):
        codes = draft(int(np.clip(round(total), 2, MOST_DRAFT)))
        columns = dict(zip(counter.domain.names, codes, strict=True))
        sums = []
        for design, share in zip(designs, part.split([d.weight for d in designs]), strict=True):
            aimed = aim(design, design.numbers(columns), total)
            rule = SumRule(features=Features(tables=design.lookups), clip=aimed.clip, cells=len(design.terms))
            got = gate.release_sum(f"model {design.name}", counter, aimed.map, rule=rule, cost=share)
            sums.append(replace(aimed, values=got.values, sigma=got.sigma))
        measured.sums = tuple(sums)


def aim(design: ModelDesign, numbers: NDArray[np.float64], total: float) -> ModelSum:
    """The sum that is to be released, without values: start coefficients, scales and clip norm from a draft.

    Args:
        design: of the regression.
        numbers: of the records of the draft.
        total: the number of real records.
    """
    numbers = numbers[design.complete(numbers) > 0]
    x, k = design.x(numbers), len(design.terms)
    norm = np.sqrt((x**2).mean(axis=0)) if len(x) else np.ones(k)
    unit = np.maximum(norm, 1 / max(total, 1.0))
    start = _start(design, numbers, x / unit)
    blank = ModelSum(
        design=design, start=start / unit, scale=1.0, turn=np.diag(1 / unit), clip=1.0, values=np.zeros(k), sigma=1.0
    )
    rest = numbers[:, design.y] - design.expected(x, blank.start)
    information = ((x / unit) * np.square(rest)[:, None]).T @ (x / unit)
    information += LEAST_TURN * max(np.trace(information) / k, 1e-9) * np.eye(k)
    turn = blank.turn @ np.linalg.inv(np.linalg.cholesky(information)).T
    scale = 1.0 if design.logistic or not len(x) else max(float(np.quantile(np.abs(rest), USUAL)), 1e-9)
    aimed = replace(blank, turn=turn, scale=scale, clip=np.inf)
    if not len(x):
        return replace(aimed, clip=1.0)
    p = design.expected(x, aimed.start)
    length = np.sqrt(((x @ turn) ** 2).sum(axis=1)) * (np.maximum(p, 1 - p) if design.logistic else scale)
    return replace(aimed, clip=float(np.quantile(length, SHORT)))


def _start(design: ModelDesign, numbers: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients of the draft; 0 where it does not determine one."""
    from dpsyn_core.questions import DesignMatrix, fit_linear, fit_logistic

    y, n = numbers[:, design.y], len(x)
    matrix = DesignMatrix(terms=design.labels, x=x, y=y, weights=np.ones(n), keep=np.arange(n))
    if design.logistic:
        weights = np.repeat([1 - DOUBT, DOUBT], n)
        matrix = replace(matrix, x=np.vstack([x, x]), y=np.append(y, 1 - y), weights=weights, keep=np.arange(2 * n))
    return np.nan_to_num((fit_logistic if design.logistic else fit_linear)(matrix)[0])
