"""What conditions and maps of rules mean: codes of a category, intervals and values of numbers and dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.rules.base import Group
from dpsyn_core.schema.rules.interval_ends import ends_of
from dpsyn_core.tables import Clause, canonical, clauses, instants

Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """What a condition says of one column.

    codes: bool (size,), which codes of a categorical column meet it; None for numbers and dates, where `spans` are
    intervals of plain ones, `points` single ones (special values too), and `blank` says whether a missing cell does.
    negated: of numbers and dates, those meet it of which this is not so.
    """

    codes: Bools | None = None
    spans: tuple[tuple[float, float], ...] = ()
    points: tuple[float, ...] = ()
    blank: bool = False
    negated: bool = False

    @classmethod
    def of(cls, attribute: Any, clause: Clause) -> Condition:
        """Raises SchemaError for a value that the column cannot have."""
        if isinstance(attribute, CategoricalAttribute):
            codes = _codes(attribute, clause)
            return cls(codes=~codes if clause.negated else codes)
        if clause.interval:
            return cls(spans=(ends_of(attribute, clause),), negated=clause.negated)
        blank = "(missing)" in clause.values and attribute.missing
        points = tuple(_number(attribute, v) for v in clause.values if not (blank and v == "(missing)"))
        return cls(points=points, blank=blank, negated=clause.negated)


def named(where: str | None) -> tuple[str, ...]:
    """The columns of conditions, each once."""
    return () if where is None else tuple(dict.fromkeys(c.attribute for c in clauses(where)))


def meanings(where: str, attributes: Mapping[str, Any]) -> dict[str, list[Condition]]:
    """What conditions say of each of their columns. Raises SchemaError for a value that a column cannot have."""
    out: dict[str, list[Condition]] = {}
    for clause in clauses(where):
        out.setdefault(clause.attribute, []).append(Condition.of(attributes[clause.attribute], clause))
    return out


def check_where(where: str | None, attributes: Mapping[str, Any]) -> None:
    """Raises SchemaError for a value that a column cannot have."""
    if where is not None:
        meanings(where, attributes)


def met_by_column(where: str, group: Group) -> dict[str, Bools]:
    """Which records meet all that conditions say of a column, by column."""
    clauses_of = meanings(where, {n: group[n].attribute for n in named(where)})
    return {n: np.logical_and.reduce([group[n].meets(c) for c in listed]) for n, listed in clauses_of.items()}


def met(where: str | None, group: Group) -> Bools:
    """Which records meet all conditions; None: all records."""
    if where is None:
        return np.ones(len(next(iter(group.values())).values), dtype=bool)
    out: Bools = np.logical_and.reduce(list(met_by_column(where, group).values()))
    return out


def _codes(attribute: CategoricalAttribute, clause: Clause) -> Bools:
    """Which codes meet a condition: listed values, labels, or an interval of numbers or of ranks."""
    if clause.interval:
        numbers = attribute.middles()
        if numbers is None and not attribute.ordered:
            msg = f"'{clause.attribute}' has no order, so it has no interval; write {clause.attribute} in {{value}}"
            raise SchemaError(msg)
        values = np.arange(attribute.size, dtype=float) if numbers is None else numbers
        values[attribute.size - attribute.special :] = np.nan
        low, high = ends_of(attribute, clause)
        return (values >= low) & (values <= high)
    labels = attribute.labels()
    words = [*attribute.keys, *labels[len(attribute.keys) :]]
    out = np.zeros(attribute.size, dtype=bool)
    for value in clause.values:
        text = canonical(value)
        if text not in words and text not in labels:
            some = ", ".join(words[:8]) + (", ..." if len(words) > 8 else "")
            msg = f"'{text[:80]}' is no value of '{attribute.name}'; its values are {some}"
            raise SchemaError(msg)
        out[words.index(text) if text in words else labels.index(text)] = True
    return out


def _number(attribute: Any, text: str) -> float:
    """A number, or a date as days (seconds where the column holds times) since 1970."""
    if isinstance(attribute, DatetimeAttribute):
        moment = instants.parse_one(text)
        if moment is None:
            msg = f"'{text[:80]}' is no date of '{attribute.name}'; write it as 2020-01-31"
            raise SchemaError(msg)
        return float(moment // attribute.unit_seconds)
    try:
        return float(text)
    except ValueError as error:
        msg = f"'{text[:80]}' is no number, and '{attribute.name}' holds numbers"
        raise SchemaError(msg) from error


def codes_of_map(
    pairs: Sequence[tuple[Any, Any]], of: CategoricalAttribute, column: Any
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Codes of the values of a map, and the values that follow: codes of a category, or numbers. Raises SchemaError."""
    keys: list[int] = []
    targets: list[float] = []
    for key, value in pairs:
        keys.append(_code(of, key))
        if isinstance(column, CategoricalAttribute):
            targets.append(_code(column, value))
        elif isinstance(column, NumericAttribute):
            targets.append(_in_range(column, value))
        else:
            msg = f"'{column.name}' is {column.kind}, and what follows by a map is a category or a number"
            raise SchemaError(msg)
    whole = isinstance(column, CategoricalAttribute) or column.dtype == "integer"
    return np.array(keys, dtype=np.int64), np.array(targets, dtype=np.int64 if whole else np.float64)


def _code(attribute: CategoricalAttribute, value: Any) -> int:
    text = canonical(value)
    if text not in attribute.keys:
        msg = f"'{text[:80]}' is no value of '{attribute.name}'; its values are {', '.join(attribute.keys[:8])}"
        raise SchemaError(msg)
    return attribute.keys.index(text)


def _in_range(attribute: NumericAttribute, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not attribute.min <= number <= attribute.max:
        msg = f"'{str(value)[:80]}' is no number inside the range of '{attribute.name}'"
        raise SchemaError(msg)
    return number
