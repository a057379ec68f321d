"""The time between two dates that lie close together: measured in place of one of them, which is computed from it.

Two dates that are synthesized separately agree to the width of their coarse values: stays of four days get a mean
of weeks, and all that depends on them is lost. The time between is one more number of the record. Public
knowledge: which dates lie close together is declared, or guessed from headers, and never read off the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.blank import BlankRule
from dpsyn_core.schema.rules.difference import DifferenceRule, between
from dpsyn_core.schema.rules.order import OrderRule

SINGLE = 1000  # days, or seconds, that are told apart one by one: every stay, and heaps at whole weeks and years
MOST_DAYS = 73_050  # 200 years, more than close dates lie apart; a longer time counts as this long
GROWTH = 1.02  # later bins are a fiftieth of the time wide, so that their number stays small


class SpanAttribute(NumericAttribute):
    """The time from one date to another of the same record, in days or seconds. No column of the table holds it."""

    of: DatetimeAttribute
    minus: DatetimeAttribute

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the table that it is computed from."""
        return (self.of.name, self.minus.name)

    def of_codes(self, of: NDArray[np.integer], minus: NDArray[np.integer]) -> NDArray[np.signedinteger]:
        """Codes (n,) from those of both dates: exact where each of their bins is one value, else of the first ones."""
        blank = np.asarray(of) >= self.of.binning.size
        late = self.of.binning.bounds()[0][np.where(blank, 0, of)]
        codes = self.binning.find(late - self.minus.binning.bounds()[0][minus])
        return np.where(blank, self.size - 1, codes)

    def encode(self, *columns: Any, comma: bool = False, strict: bool = False) -> NDArray[np.signedinteger]:
        """Codes (n,) of two pyarrow columns, their dates clamped to their ranges.

        Where one of them is no date: the cell of blanks where the later one may be blank, else -1.
        """
        del comma, strict
        ends = []
        for column, attribute in zip(columns, (self.of, self.minus), strict=True):
            seconds, valid = attribute.seconds_of(column)
            low, high = attribute.binning.bounds()
            ends.append((np.clip(seconds // attribute.unit_seconds, int(low[0]), int(high[-1])), valid))
        (late, late_set), (early, also) = ends
        codes = self.binning.find(late - early).astype(np.int64)
        codes[~late_set] = self.size - 1 if self.missing else -1
        codes[~also] = -1
        return codes


def with_spans(schema: Schema) -> Schema:
    """The schema with the time between dates as one more attribute and rule, where an order of the dates asks for it.

    Left out where the earlier date can be blank, and where a rule says already what the time between is. Where the
    later one can be blank, so can the time between, and what rules say of such blanks holds for it too.
    """
    spans: list[SpanAttribute] = []
    rules: list[Rule] = []
    for rule in schema.rules:
        if not isinstance(rule, OrderRule) or not closes(rule, schema):
            continue
        of, minus = schema[rule.upper], schema[rule.lower]
        name = between(of.name, minus.name)
        taken = any(a.name == name for a in (*schema.attributes, *spans))
        ruled = any(isinstance(r, DifferenceRule) and {of.name, minus.name} <= set(r.columns) for r in schema.rules)
        if minus.special or taken or ruled:
            continue
        spans.append(span_between(name, of, minus, strict=rule.strict))
        unit: Any = "seconds" if of.precise else "days"
        rules.append(DifferenceRule(column=name, of=of.name, minus=minus.name, unit=unit, measured=False))
        blanks = (r for r in schema.rules if isinstance(r, BlankRule) and r.column == of.name)
        rules += [r.model_copy(update={"column": name}) for r in blanks]
    if not spans:
        return schema
    return schema.model_copy(update={"attributes": (*schema.attributes, *spans), "rules": (*schema.rules, *rules)})


def with_span_codes(codes: NDArray[np.unsignedinteger], schema: Schema) -> NDArray[np.unsignedinteger]:
    """Codes (attributes, records) of a schema, and below them those of the times that `with_spans` adds."""
    names = schema.domain().names
    spans = [a for a in with_spans(schema).coded if isinstance(a, SpanAttribute) and a.name not in names]
    rows = dict(zip(names, codes, strict=True))
    more = [a.of_codes(*(rows[n] for n in a.reads)) for a in spans]
    return np.concatenate([codes, np.stack(more).astype(np.uint32)]) if more else codes


def closes(rule: OrderRule, schema: Schema) -> bool:
    """Whether the time between is measured: two dates that are declared to lie close together, or named so."""
    return close_dates(rule.close, schema[rule.lower], schema[rule.upper])


def close_dates(declared: bool | None, minus: Any, of: Any) -> bool:
    """Whether both are dates that are declared to lie close together, or named so."""
    if not (isinstance(of, DatetimeAttribute) and isinstance(minus, DatetimeAttribute)):
        return False
    if declared is not None:
        return declared
    from dpsyn_core.schema.rules.usual_rules import named_close

    return named_close(minus.name, of.name, precise=of.precise)


def span_between(name: str, of: DatetimeAttribute, minus: DatetimeAttribute, *, strict: bool) -> SpanAttribute:
    """The time between; its bins do not depend on the dates' ranges: a refit that narrows these finds the same ones."""
    edges, at, most = list(range(int(strict) + 1, SINGLE)), float(SINGLE), MOST_DAYS * 86_400 // of.unit_seconds
    while at < most:
        edges.append(int(at))
        at *= GROWTH
    return SpanAttribute.model_validate(
        {
            "name": name,
            "dtype": "integer",
            "min": int(strict),
            "max": most,
            "missing": of.missing,
            "of": of,
            "minus": minus,
            "bins": {"edges": edges},
        }
    )
