"""Queries on two tables, as they are written (see `schema.conditions`): read, and answered on both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsyn_core.errors import MetricError, QuestionError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.workload import CountQuery, Filter, count_queries
from dpsyn_core.tables import Clause, clauses


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryAnswer:
    """One answered query. The real count is private.

    error: synthetic minus real, after the synthetic count is scaled to the real number of records; relative: the
    error over the real count, None when that is 0.
    """

    text: str
    real: int
    synthetic: int
    scaled: float
    error: float
    relative: float | None


def parse(text: str, c: Comparison) -> CountQuery:
    """Reads a query. Values are labels of the schema (or codes where there are none), compared without outer spaces.

    Raises:
        MetricError: an unknown attribute or value, an interval on an attribute without order, or other text; it
            says where.
    """
    try:
        read = clauses(text)
    except QuestionError as error:
        raise MetricError(str(error)) from error
    conditions = []
    for clause in read:
        name = clause.attribute
        if name not in c.domain.names:
            msg = f"the query names '{name}', which is not in the schema; known are {', '.join(c.domain.names)}"
            raise MetricError(msg)
        values = list(clause.values)
        if clause.interval and clause.negated:
            msg = f"it asks what lies outside an interval of '{name}'; ask for what is below or above it, by < or >"
            raise MetricError(msg)
        conditions.append(_interval(clause, c) if clause.interval else _set(name, values, c, without=clause.negated))
    return CountQuery(tuple(conditions))


def ask(c: Comparison, queries: Sequence[CountQuery]) -> list[QueryAnswer]:
    """Answers queries on both tables; counts in samples are scaled to the tables they were drawn from. Private."""
    counted, synthetic = count_queries(c, queries)
    real = np.rint(counted * (c.whole_n / c.n)).astype(np.int64)
    out = []
    for query, r, s in zip(queries, real.tolist(), synthetic.tolist(), strict=True):
        scaled = s * c.whole_n / c.m
        out.append(
            QueryAnswer(
                text=query.text(c),
                real=r,
                synthetic=round(s * c.whole_m / c.m),
                scaled=scaled,
                error=scaled - r,
                relative=(scaled - r) / r if r else None,
            )
        )
    return out


def _interval(clause: Clause, c: Comparison) -> Filter:
    name, values = clause.attribute, clause.values
    if not c.readable(name):
        msg = f"attribute '{name}' has no order, so it has no interval; ask for it as {name} in {{value, ...}}"
        raise MetricError(msg)
    try:
        low, high = (float(v) for v in values)
    except ValueError:
        low, high = math.nan, math.nan
    if not low <= high:
        msg = f"the interval of '{name}' needs two numbers, the lower one first, such as [20, 35] or [-inf, 35]"
        raise MetricError(msg)
    if clause.outside:
        low, high = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    return Filter(attribute=name, low=low, high=high)


def _set(name: str, values: list[str], c: Comparison, *, without: bool) -> Filter:
    codes = {w: i for i, w in enumerate(c.words(name))}
    for v in values:
        if v not in codes:
            some = ", ".join(list(codes)[:8]) + (", ..." if len(codes) > 8 else "")
            msg = f"'{v}' is no value of '{name}' in the schema; its values are {some}"
            raise MetricError(msg)
    named = {codes[v] for v in values}
    return Filter(attribute=name, codes=tuple(sorted(set(codes.values()) - named if without else named)))
