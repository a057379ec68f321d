"""The ends of the intervals of conditions (`tables.clauses`), by the attribute that they are about."""

from __future__ import annotations

import math
from typing import Any

from dpsyn_core.errors import QuestionError
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.tables import Clause, moment


def ends_of(attribute: Any, clause: Clause) -> tuple[float, float]:
    """The two ends of an interval, both in it: numbers, days or seconds since 1970, or ranks of ordered values.

    Ordered values that are no numbers may be written as themselves. A year or a month stands for all of its days.

    Raises:
        QuestionError: an attribute without order, or ends that it cannot have.
    """
    dates = isinstance(attribute, DatetimeAttribute)
    if not (dates or attribute.in_order or attribute.middles() is not None):
        msg = f"'{clause.attribute}' has no order, so it has no interval; ask for it as {clause.attribute} in {{value}}"
        raise QuestionError(msg)
    labels = [] if dates or attribute.middles() is not None else attribute.labels()
    ends = [_end(attribute, labels, text, last=bool(i)) for i, text in enumerate(clause.values)]
    low, high = ends if len(ends) == 2 else (math.nan, math.nan)
    if clause.outside:
        low, high = _beyond(attribute, low, up=True), _beyond(attribute, high, up=False)
    if not low <= high:
        msg = f"the interval of '{clause.attribute}' needs two {'dates' if dates else 'numbers'}, the lower one first"
        raise QuestionError(msg)
    return low, high


def _end(attribute: Any, labels: list[str], text: str, *, last: bool) -> float:
    if text in labels:
        return float(labels.index(text))
    if isinstance(attribute, DatetimeAttribute) and "inf" not in text:
        end = moment(text, attribute.unit_seconds, last=last)
        if math.isnan(end):
            msg = f"'{text[:80]}' is no date of '{attribute.name}'; write it as 2020-01-31, 2020-01 or 2020"
            raise QuestionError(msg)
        return end
    try:
        return float(text)
    except ValueError:
        return math.nan


def _beyond(attribute: Any, end: float, *, up: bool) -> float:
    """The next value after an end that is not in its interval."""
    if isinstance(attribute, DatetimeAttribute):
        return end + (1 if up else -1)
    return end if math.isinf(end) else math.nextafter(end, math.inf if up else -math.inf)
