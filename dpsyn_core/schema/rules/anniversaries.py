"""Completed years or months between two days, as ages are counted. Public knowledge.

A month that lacks the day completes on the first of the next one: who is born on 29 February has a birthday on 1 March
in other years.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Days = NDArray[np.int64]  # since 1970

Completed = Literal["completed-years", "completed-months"]
COMPLETED: tuple[str, ...] = get_args(Completed)
DAY = 86_400
IN_MONTHS = {"completed-years": 12, "completed-months": 1}
FARTHEST = 4_000_000  # days around 1970; any date is nearer


def completed(unit: str, of: Any, minus: Any) -> Days:
    """Years or months (n,) that are complete on the days `of`, counted from the days `minus`; negative before them."""
    (months, day), (start, first) = _month_and_day(of), _month_and_day(minus)
    return np.asarray((months - start - (day < first)) // IN_MONTHS[unit])


def starts_with(unit: str, of: Any, count: Any) -> tuple[Days, Days]:
    """The first and the last day (n,) from which a count is complete on the days `of`."""
    months, day = _month_and_day(of)

    def last(number: Any) -> Days:
        month = months - number * IN_MONTHS[unit]
        return np.asarray(np.minimum(_first_of(month) + day, _first_of(month + 1)) - 1)

    return last(_whole(count) + 1) + 1, last(_whole(count))


def ends_with(unit: str, minus: Any, count: Any) -> tuple[Days, Days]:
    """The first and the last day (n,) on which a count from the days `minus` is complete, and no more."""
    months, day = _month_and_day(minus)

    def first(number: Any) -> Days:
        month = months + number * IN_MONTHS[unit]
        return np.asarray(np.minimum(_first_of(month) + day - 1, _first_of(month + 1)))

    return first(_whole(count)), first(_whole(count) + 1) - 1


def excess(rule: Any, group: Any) -> NDArray[Any]:
    """By how much the day that is subtracted is too late (n,), in the unit of the dates; 0 where the rule is kept."""
    (of, per_day), (minus, _) = _days(group[rule.of]), _days(group[rule.minus])
    first, last = starts_with(str(rule.unit), of, group[rule.column].values)
    return np.asarray((minus - np.clip(minus, first, last)) * per_day)


def solved(rule: Any, name: str, group: Any, rng: Generator) -> NDArray[Any]:
    """One column (n,) of a rule, given by the two others; a date is drawn among the days that agree with them."""
    (of, per_day), (minus, _) = _days(group[rule.of]), _days(group[rule.minus])
    unit, count = str(rule.unit), group[rule.column].values
    if name == rule.column:
        return completed(unit, of, minus)
    first, last = starts_with(unit, of, count) if name == rule.minus else ends_with(unit, minus, count)
    drawn = first + np.floor(rng.random(len(first)) * (last - first + 1)).astype(np.int64)
    return np.asarray(drawn * per_day + group[name].values % per_day)


def reach(rule: Any, ends: Any, unit_seconds: int) -> tuple[Days, Days]:
    """The least and the largest count between dates of two ranges; ends: of each column, which may be infinite."""
    (least, most), (first, last) = (
        [np.floor(np.clip(np.asarray(end) * (unit_seconds / DAY), -FARTHEST, FARTHEST)) for end in ends[name]]
        for name in (rule.of, rule.minus)
    )
    return completed(str(rule.unit), least, last), completed(str(rule.unit), most, first)


def _whole(count: Any) -> Days:
    return np.clip(np.nan_to_num(np.asarray(count, dtype=np.float64)), -FARTHEST // 30, FARTHEST // 30).astype(np.int64)


def _days(column: Any) -> tuple[Days, int]:
    """Dates as days, and how many of their units a day has."""
    per_day = DAY // column.attribute.unit_seconds
    return np.asarray(column.values).astype(np.int64) // per_day, per_day


def _month_and_day(days: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Months since 1970, and the day of the month."""
    days = np.asarray(days).astype(np.int64)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return months, days - _first_of(months) + 1


def _first_of(months: NDArray[np.int64]) -> Days:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
