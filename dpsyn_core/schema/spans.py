"""The time between two dates that lie close together: measured in place of one of them, which is computed from it.

Two dates that are made apart agree to the width of their coarse values alone: stays of four days come out with a mean
of weeks, and nothing is left of what depends on them. The time between is one more number of the record. Public
knowledge: which dates lie close together is declared, or told by headers, and never read off the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.datetimes import DatetimeAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.formulas import DifferenceRule, OrderRule
from dpsyn_core.schema.numeric import EdgeBins, NumericAttribute
from dpsyn_core.tables import casting

SINGLE = 1000  # steps (days, minutes or seconds) that are told apart one by one
GROWTH = 1.02  # width of later bins: a fiftieth of the time, so that one of years is known to a week


class SpanAttribute(NumericAttribute):
    """The time from one date to another of the same record, in days or seconds. No column of the table holds it."""

    of: DatetimeAttribute
    minus: DatetimeAttribute

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the table that it is computed from."""
        return (self.of.name, self.minus.name)

    def encode(self, of: Any, minus: Any) -> NDArray[np.signedinteger]:
        """Codes (n,) of two pyarrow columns; -1 where one of the cells is no date. Dates are clamped to their ranges."""
        ends = []
        for column, attribute in ((of, self.of), (minus, self.minus)):
            seconds, valid = casting.to_instants(column, attribute.formats)
            low, high = attribute.binning.bounds()
            ends.append((np.clip(seconds // attribute.unit_seconds, int(low[0]), int(high[-1])), valid))
        (late, known), (early, also) = ends
        codes = self.binning.find(late - early).astype(np.int64)
        codes[~(known & also)] = -1
        return codes


def with_spans(schema: Schema) -> Schema:
    """The schema with the time between dates as one more attribute and rule, where an order of the dates asks for it.

    Left out where a date can be blank or a special value, and where a rule says already what the time between is.
    """
    spans, rules = [], []
    for rule in schema.rules:
        if not isinstance(rule, OrderRule) or not closes(rule, schema):
            continue
        of, minus = schema[rule.upper], schema[rule.lower]
        name = f"{of.name} - {minus.name}"
        taken = any(a.name == name for a in (*schema.attributes, *spans))
        told = any(isinstance(r, DifferenceRule) and {of.name, minus.name} <= set(r.columns) for r in schema.rules)
        if of.special or minus.special or taken or told:
            continue
        spans.append(_span(name, of, minus, strict=rule.strict))
        unit: Any = "seconds" if of.precise else "days"
        rules.append(DifferenceRule(column=name, of=of.name, minus=minus.name, unit=unit))
    if not spans:
        return schema
    return schema.model_copy(update={"attributes": (*schema.attributes, *spans), "rules": (*schema.rules, *rules)})


def closes(rule: OrderRule, schema: Schema) -> bool:
    """Whether the time between is measured: two dates that are declared to lie close together, or named so."""
    of, minus = schema[rule.upper], schema[rule.lower]
    if not (isinstance(of, DatetimeAttribute) and isinstance(minus, DatetimeAttribute)):
        return False
    if rule.close is not None:
        return rule.close
    from dpsyn_core.schema.usual_rules import named_close

    return named_close(minus.name, of.name, precise=of.precise)


def _span(name: str, of: DatetimeAttribute, minus: DatetimeAttribute, *, strict: bool) -> SpanAttribute:
    (first, _), (_, last) = (a.binning.bounds() for a in (minus, of))
    (begin, _), (_, end) = (a.binning.bounds() for a in (of, minus))
    least = max(int(begin[0]) - int(end[-1]), int(strict))
    most = int(last[-1]) - int(first[0])
    edges, at = [], float(least + SINGLE)
    while at < most:
        edges.append(float(int(at)))
        at = max(at * GROWTH, at + 1)
    single = [float(v) for v in range(least + 1, min(least + SINGLE, most))]
    bins = EdgeBins(edges=(*single, *edges)) if single or edges else None
    return SpanAttribute(
        name=name, dtype="integer", min=least, max=most, bins=bins, source="public", of=of, minus=minus
    )
