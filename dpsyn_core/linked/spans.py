"""What is measured of dates in linked tables that lie close together: the time between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.linked.document import Link, LinkedSchema, LinkedTable
from dpsyn_core.linked.rules import LinkOrderRule
from dpsyn_core.schema.computed import computed_columns, measured_part
from dpsyn_core.schema.datetimes import DatetimeAttribute
from dpsyn_core.schema.spans import SpanAttribute, close_dates, span_between

WIDEST = 7  # days of a bin, at most: the time between is known no better
MOST_CELLS = 4_000_000  # of a table that says the time between for any two days: some 2,000 of each


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkSpan:
    """The time from a parent's or root's date to a child's.

    minus: the former, as a view names it. own: place of the latter in the child table.
    """

    minus: str
    own: int
    span: SpanAttribute


def measured_schema(schema: LinkedSchema, questions: Sequence[Any] = ()) -> LinkedSchema:
    """The schema of the codes that a run counts: dates that `schema.spans` computes give way to the times between.

    Not those by which children follow each other, nor those that a question names. What other rules compute is
    measured all the same.

    Args:
        schema: public.
        questions: declared, as documents.
    """
    said = json.dumps(list(questions), ensure_ascii=False)
    return schema.model_copy(update={"tables": tuple(_measured(t, schema, said) for t in schema.tables)})


def _measured(table: LinkedTable, schema: LinkedSchema, said: str) -> LinkedTable:
    if table.columns is None or not table.columns.rules:
        return table
    fixed = {link.order for link in schema.links if link.child == table.name and link.order is not None}
    fixed |= {a.name for a in table.coded if a.name in said}
    computed = computed_columns(table.columns, fixed)
    if all(c.named == c.sources for c in computed):
        return table
    fixed |= {c.column for c in computed if c.named == c.sources}
    return table.model_copy(update={"columns": measured_part(table.columns, fixed)})


def spans_of(schema: LinkedSchema, link: Link) -> list[LinkSpan]:
    """Times between that are measured besides a child's date: of dates in bins of a few days, whose order is close.

    Left out where the earlier date can be blank, the child's is not measured itself, or the rule is about some alone.
    """
    out: list[LinkSpan] = []
    coded = {a.name: i for i, a in enumerate(schema[link.child].coded)}
    for rule in link.rules:
        table, _, column = rule.lower.partition(".") if isinstance(rule, LinkOrderRule) else ("", "", "")
        if not isinstance(rule, LinkOrderRule) or rule.upper not in coded or not column or rule.where is not None:
            continue
        if table not in (link.parent, schema.root.name) or column not in {a.name for a in schema[table].coded}:
            continue
        of = schema[link.child].coded[coded[rule.upper]]
        minus = next(a for a in schema[table].coded if a.name == column)
        if not close_dates(rule.close, minus, of) or not _by_days(minus, of) or minus.special:
            continue
        if all((s.minus, s.own) != (rule.lower, coded[rule.upper]) for s in out):
            span = span_between(f"{rule.upper} - {rule.lower}"[:100], of, minus, strict=rule.strict)
            out.append(LinkSpan(minus=rule.lower, own=coded[rule.upper], span=span))
    return out


def _by_days(*dates: Any) -> bool:
    """Whether bins of these dates are no longer than a few days, and there are not too many of them."""
    if not all(isinstance(d, DatetimeAttribute) and not d.precise for d in dates):
        return False
    longest = max(int(np.diff(d.binning.bounds(), axis=0).max()) for d in dates)
    return longest < WIDEST and int(np.prod([d.size for d in dates])) <= MOST_CELLS


def span_codes(span: SpanAttribute) -> NDArray[np.int64]:
    """Code of the time between for each code of the earlier date and each of the later one."""
    minus, of = np.indices((span.minus.size, span.of.size))
    return span.of_codes(of.ravel(), minus.ravel()).astype(np.int64).reshape(minus.shape)


def later(span: SpanAttribute, minus: NDArray[np.integer], drawn: NDArray[np.integer]) -> NDArray[np.int64]:
    """Code of the later date, where the time from the earlier one is as drawn: blank, or -1 where there is none."""
    ranked = span.size - span.special
    days = span.minus.binning.bounds()[0][minus] + span.binning.bounds()[0][np.minimum(drawn, ranked - 1)]
    low, high = span.of.binning.bounds()
    found = np.where(days <= high[-1], span.of.binning.find(np.clip(days, low[0], high[-1])), -1)
    return np.where(drawn < ranked, np.where(days >= low[0], found, -1), span.of.binning.size).astype(np.int64)
