"""What is measured of dates in linked tables that lie close together: the time between them.

`linked.document`, which says what a schema, its links and its tables are, reads this file to check rules.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.rules.computation import computed_columns, measured_part
from dpsyn_core.schema.rules.linked_rules import LinkOrderRule
from dpsyn_core.schema.rules.spans import SpanAttribute, close_dates, span_between

WIDEST = 7  # days that a bin of a date holds, at most: the time between is known no better
MOST_CELLS = 4_000_000  # of a table that says the time between for any two days: some 2,000 of each


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkSpan:
    """The time from a parent's or root's date to a child's.

    minus: the former, as a view names it. own: position of the latter in the child table.
    """

    minus: str
    own: int
    span: SpanAttribute


def measured_schema(schema: Any, questions: Sequence[Any] = ()) -> Any:
    """The schema of the codes that a run counts: dates that `schema.spans` computes give way to the times between.

    Not those by which children follow each other, nor those that a question names. What other rules compute is
    measured all the same.

    Args:
        schema: public.
        questions: declared, as documents.
    """
    text = json.dumps(list(questions), ensure_ascii=False)
    return schema.model_copy(update={"tables": tuple(_measured(t, schema, text) for t in schema.tables)})


def _measured(table: Any, schema: Any, said: str) -> Any:
    if table.columns is None or not table.columns.rules:
        return table
    fixed = {link.order for link in schema.links if link.child == table.name and link.order is not None}
    fixed |= {a.name for a in table.coded if a.name in said}
    computed = computed_columns(table.columns, fixed)
    if all(c.named == c.sources for c in computed):
        return table
    fixed |= {c.column for c in computed if c.named == c.sources}
    return table.model_copy(update={"columns": measured_part(table.columns, fixed)})


def spans_of(schema: Any, link: Any) -> list[LinkSpan]:
    """Times between that are measured besides a child's date: of dates in bins of a few days, whose order is close."""
    out: list[LinkSpan] = []
    coded = {a.name: i for i, a in enumerate(schema[link.child].coded)}
    for rule in link.rules:
        if not isinstance(rule, LinkOrderRule) or _unmeasured(schema, link, rule) is not None:
            continue
        minus, of = _dates(schema, link, rule)
        if close_dates(rule.close, minus, of) and all((s.minus, s.own) != (rule.lower, coded[rule.upper]) for s in out):
            out.append(LinkSpan(minus=rule.lower, own=coded[rule.upper], span=_span(rule, minus, of)))
    return out


def check_close(schema: Any) -> None:
    """Raises SchemaError for a rule that calls dates close whose time between is not measured."""
    for link in schema.links:
        for number, rule in enumerate(link.rules, 1):
            if isinstance(rule, LinkOrderRule) and rule.close:
                why = _unmeasured(schema, link, rule) or _computed(schema, link, rule)
                if why is not None:
                    msg = f"rule {number} of the link ({str(rule)[:200]}): {why}"
                    raise SchemaError(msg)


def _unmeasured(schema: Any, link: Any, rule: LinkOrderRule) -> str | None:
    """Why the time between the dates of a rule cannot be measured, in one sentence; None: it can."""
    dates = _dates(schema, link, rule)
    if not all(isinstance(d, DatetimeAttribute) for d in dates):
        return (
            f"'close' is about a date of the parent or the root (lower) and a later one of the child (upper), and the "
            f"rule names '{rule.lower}' and '{rule.upper}'; leave 'close' out"
        )
    if rule.where is not None:
        return f"'close' is about all children, and the rule about those with {rule.where}; leave one of both out"
    if link.distinct and link.order == rule.upper:
        return f"'{rule.upper}' is the order of the link, of which no time between is measured; leave 'close' out"
    for name, date in zip((rule.lower, rule.upper), dates, strict=True):
        units = 1 + int(np.diff(date.binning.bounds(), axis=0).max())
        days = -(-units * date.unit_seconds // 86_400)
        if days > WIDEST:
            return (
                f"a bin of '{name}' holds up to {days} days, and the time between is measured in bins of at most "
                f"{WIDEST}; declare narrower bins, or leave 'close' out"
            )
    if int(np.prod([d.size for d in dates])) > MOST_CELLS:
        return (
            f"'{rule.lower}' has {dates[0].size:,} bins and '{rule.upper}' {dates[1].size:,}, and the time between is "
            f"measured for up to {MOST_CELLS:,} pairs of them; declare wider bins or narrower ranges, or leave 'close' "
            "out"
        )
    return None


def _computed(schema: Any, link: Any, rule: LinkOrderRule) -> str | None:
    """Why a date that a table computes from another has no time between across the link; None: it computes neither."""
    dates = _dates(measured_schema(schema), link, rule)
    for name, date in zip((rule.lower, rule.upper), dates, strict=True):
        if date is None:
            table, _, column = name.rpartition(".")
            computed = computed_columns(schema[table or link.child].columns)
            (given,) = next(c.named for c in computed if c.column == column)
            return (
                f"'{name}' is computed from '{given}' and not measured itself; name '{given}' in its place, or leave "
                "'close' out"
            )
    return None


def _dates(schema: Any, link: Any, rule: LinkOrderRule) -> tuple[Any, Any]:
    """The date of the parent or root and the child's that a rule names, as far as these are measured; else None."""
    table, _, column = rule.lower.partition(".")
    above = schema[table].coded if table in (link.parent, schema.root.name) else ()
    attributes = {f"{table}.{a.name}": a for a in above}
    return attributes.get(f"{table}.{column}"), {a.name: a for a in schema[link.child].coded}.get(rule.upper)


def _span(rule: LinkOrderRule, minus: DatetimeAttribute, of: DatetimeAttribute) -> SpanAttribute:
    """The time between; its bins merge lengths that no two bins of the dates distinguish."""
    span = span_between(f"{rule.upper} - {rule.lower}"[:100], of, minus, strict=rule.strict)
    whole = span.model_dump() | {"missing": of.missing or minus.missing}
    late, early = np.meshgrid(*(d.binning.bounds()[0] for d in (of, minus)))
    lengths = np.unique(np.maximum(late - early, span.min))
    edges = lengths[np.unique(span.binning.find(lengths), return_index=True)[1]][1:].tolist()
    return SpanAttribute.model_validate(whole | {"bins": {"edges": edges} if edges else {"count": 1}})


def span_codes(span: SpanAttribute) -> NDArray[np.int64]:
    """Code of the time between for each code of the earlier date and each of the later one."""
    size = span.minus.binning.size
    minus, of = np.indices((size, span.of.size))
    codes = span.of_codes(of.ravel(), minus.ravel()).astype(np.int64).reshape(minus.shape)
    blank = np.full((span.minus.size - size, span.of.size), span.size - 1, dtype=np.int64)
    return np.concatenate([codes, blank])


def later(span: SpanAttribute, minus: NDArray[np.integer], drawn: NDArray[np.integer]) -> NDArray[np.int64]:
    """Code of the later date, where the time from the earlier one is as drawn: blank, or -1 where there is none."""
    ranked, size = span.size - span.special, span.minus.binning.size
    first = span.minus.binning.bounds()[0][np.minimum(minus, size - 1)]
    days = first + span.binning.bounds()[0][np.minimum(drawn, ranked - 1)]
    low, high = span.of.binning.bounds()
    bins = np.where(days <= high[-1], span.of.binning.find(np.clip(days, low[0], high[-1])), -1)
    blank = span.of.binning.size if span.of.missing else -1
    bins = np.where(drawn < ranked, np.where(days >= low[0], bins, -1), blank)
    return np.where(minus < size, bins, -1).astype(np.int64)
