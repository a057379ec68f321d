"""The query language: `age in [20, 35] and sex in {female} and "home town" in {"Paris, Texas", Lyon}`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.workload import Condition, Query, count_queries

QUOTED = r'"(?:[^"]|"")*"'
HEAD = re.compile(rf'\s*({QUOTED}|[^"\[{{]+?)\s+in\s*([\[{{])')
VALUE = re.compile(rf'\s*({QUOTED}|[^,}}\]"]+?)\s*([,}}\]])')
AND = re.compile(r"\s+and\b")
LANGUAGE = "write conditions as 'attribute in [low, high]' or 'attribute in {value, value}', joined by 'and'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
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


def parse(text: str, c: Comparison) -> Query:
    """Reads a query. Values are labels of the schema (or codes where there are none), compared without outer spaces.

    Raises:
        MetricError: an unknown attribute or value, an interval on an attribute without order, or other text; it
            says where.
    """
    conditions = []
    at = 0
    while True:
        head = HEAD.match(text, at)
        if head is None:
            msg = f"the query cannot be read from '{text[at : at + 30].strip()}' on; {LANGUAGE}"
            raise MetricError(msg)
        name = _unquoted(head[1])
        if name not in c.domain.names:
            msg = f"the query names '{name}', which is not in the schema; known are {', '.join(c.domain.names)}"
            raise MetricError(msg)
        values, at = _values(text, head.end(), "]" if head[2] == "[" else "}")
        conditions.append(_interval(name, values, c) if head[2] == "[" else _set(name, values, c))
        if not text[at:].strip():
            return Query(tuple(conditions))
        joint = AND.match(text, at)
        if joint is None:
            msg = f"the query cannot be read from '{text[at : at + 30].strip()}' on; {LANGUAGE}"
            raise MetricError(msg)
        at = joint.end()


def ask(c: Comparison, queries: Sequence[Query]) -> list[Answer]:
    """Answers queries on both tables. Private."""
    real, synthetic = count_queries(c, queries)
    out = []
    for query, r, s in zip(queries, real.tolist(), synthetic.tolist(), strict=True):
        scaled = s * c.n / c.m
        out.append(
            Answer(
                text=query.text(c),
                real=r,
                synthetic=s,
                scaled=scaled,
                error=scaled - r,
                relative=(scaled - r) / r if r else None,
            )
        )
    return out


def _values(text: str, at: int, closing: str) -> tuple[list[str], int]:
    values = []
    while True:
        found = VALUE.match(text, at)
        if found is None or found[2] not in (",", closing):
            msg = f"the query has no '{closing}' after '{text[max(0, at - 20) : at].strip()}'; {LANGUAGE}"
            raise MetricError(msg)
        values.append(_unquoted(found[1]))
        at = found.end()
        if found[2] == closing:
            return values, at


def _interval(name: str, values: list[str], c: Comparison) -> Condition:
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
    return Condition(attribute=name, low=low, high=high)


def _set(name: str, values: list[str], c: Comparison) -> Condition:
    codes = {w: i for i, w in enumerate(c.words(name))}
    for v in values:
        if v not in codes:
            some = ", ".join(list(codes)[:8]) + (", ..." if len(codes) > 8 else "")
            msg = f"'{v}' is no value of '{name}' in the schema; its values are {some}"
            raise MetricError(msg)
    return Condition(attribute=name, codes=tuple(sorted({codes[v] for v in values})))


def _unquoted(token: str) -> str:
    token = token.strip()
    return token[1:-1].replace('""', '"') if token.startswith('"') else token
