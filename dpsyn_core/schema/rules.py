"""Rules that no record of a synthetic table breaks: declared in the schema, public, and free of charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictBool, StrictStr

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attribute import SchemaPart
from dpsyn_core.schema.categorical import CategoricalAttribute
from dpsyn_core.schema.conditions import Clause, clauses, ends_of
from dpsyn_core.schema.datetimes import DatetimeAttribute
from dpsyn_core.schema.numeric import NumericAttribute
from dpsyn_core.tables import instants
from dpsyn_core.tables.canonical import canonical

Name = Annotated[StrictStr, Field(min_length=1)]
Bools = NDArray[np.bool_]


class ImpossibleRule(SchemaPart):
    """No record meets all conditions."""

    kind: Literal["impossible"] = "impossible"
    where: StrictStr = Field(
        min_length=1, max_length=10_000, description="Conditions as in questions: age in [0, 15] and marital = married"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the conditions, each once."""
        return tuple(dict.fromkeys(c.attribute for c in clauses(self.where)))

    def __str__(self) -> str:
        """For people."""
        return f"impossible: {self.where}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError for a value that the schema does not have."""
        found = [(c, Meant.of(attributes[c.attribute], c)) for c in clauses(self.where)]
        for column in self.columns:
            attribute = attributes[column]
            met = [m for c, m in found if c.attribute == column]
            listed = isinstance(attribute, CategoricalAttribute)
            if not listed or not np.logical_and.reduce([m.codes for m in met if m.codes is not None]).all():
                break
        else:
            msg = "every value that the schema has meets its conditions, so that no record would be left; narrow them"
            raise SchemaError(msg)


class OrderRule(SchemaPart):
    """One number or date is at most another; below it where the rule is strict."""

    kind: Literal["order"] = "order"
    lower: Name = Field(description="Column of the smaller number, or the earlier date")
    upper: Name = Field(description="Column of the larger number, or the later date")
    strict: StrictBool = Field(False, description="Whether both may not be equal")

    @property
    def columns(self) -> tuple[str, ...]:
        """Both."""
        return (self.lower, self.upper)

    def __str__(self) -> str:
        """For people."""
        return f"{self.lower} {'<' if self.strict else '<='} {self.upper}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns cannot be compared, or no two values agree with the rule."""
        low, high = attributes[self.lower], attributes[self.upper]
        _comparable(low, high)
        least, most = _range(low)[0], _range(high)[1]
        if least > most or (self.strict and least >= most):
            msg = f"no values can meet it: '{self.lower}' begins at {low.min} and '{self.upper}' ends at {high.max}"
            raise SchemaError(msg)


class DifferenceRule(SchemaPart):
    """A whole number is the difference of two whole numbers, or the days between two dates."""

    kind: Literal["difference"] = "difference"
    column: Name = Field(description="Column of the difference")
    of: Name = Field(description="Column of the larger number, or the later date")
    minus: Name = Field(description="Column that is subtracted")

    @property
    def columns(self) -> tuple[str, ...]:
        """The difference first."""
        return (self.column, self.of, self.minus)

    @property
    def signs(self) -> tuple[int, ...]:
        """So that the columns, with these signs, add up to 0."""
        return (1, -1, 1)

    def __str__(self) -> str:
        """For people."""
        return f"{self.column} = {self.of} - {self.minus}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns do not fit, or no values agree with the rule."""
        _comparable(attributes[self.of], attributes[self.minus])
        if attributes[self.of].kind == "datetime" and attributes[self.of].precise:
            msg = f"'{self.of}' holds times of day; the difference is counted in days, so declare days"
            raise SchemaError(msg)
        _whole(attributes[self.column])
        for name in (self.of, self.minus):
            if attributes[name].kind != "datetime":
                _whole(attributes[name])
        _balanced(self, attributes)


class AdditionRule(SchemaPart):
    """A whole number is the sum of others."""

    kind: Literal["sum"] = "sum"
    column: Name = Field(description="Column of the sum; it is computed from the parts")
    parts: tuple[Name, ...] = Field(min_length=2, max_length=50, description="Columns that are added")

    @property
    def columns(self) -> tuple[str, ...]:
        """The sum first."""
        return (self.column, *self.parts)

    @property
    def signs(self) -> tuple[int, ...]:
        """So that the columns, with these signs, add up to 0."""
        return (1, *[-1] * len(self.parts))

    def __str__(self) -> str:
        """For people."""
        return f"{self.column} = {' + '.join(self.parts)}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns hold no whole numbers, or no values agree with the rule."""
        for name in self.columns:
            _whole(attributes[name])
        _balanced(self, attributes)


Rule = Annotated[ImpossibleRule | OrderRule | DifferenceRule | AdditionRule, Field(discriminator="kind")]
AnyRule = ImpossibleRule | OrderRule | DifferenceRule | AdditionRule
RULES = ("impossible", "order", "difference", "sum")


def check_rule(number: int, rule: AnyRule, coded: Mapping[str, Any]) -> None:
    """Raises SchemaError, in one sentence, for a rule that does not fit the attributes that are synthesized."""
    try:
        columns = rule.columns
        for name in columns:
            if name not in coded:
                some = ", ".join(list(coded)[:20])
                msg = f"'{name[:80]}' is no column that is synthesized; those are {some}"
                raise SchemaError(msg)
        if len(set(columns)) != len(columns):
            msg = "it names a column twice; name different ones"
            raise SchemaError(msg)
        rule.check(coded)
    except ValueError as error:
        msg = f"rule {number} ({str(rule)[:200]}): {error}"
        raise SchemaError(msg) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Meant:
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
    def of(cls, attribute: Any, clause: Clause) -> Meant:
        """Raises SchemaError for a value that the column cannot have."""
        if isinstance(attribute, CategoricalAttribute):
            codes = _codes(attribute, clause)
            return cls(codes=~codes if clause.negated else codes)
        if clause.interval:
            return cls(spans=(ends_of(attribute, clause),), negated=clause.negated)
        blank = "(missing)" in clause.values and attribute.missing
        points = tuple(_number(attribute, v) for v in clause.values if not (blank and v == "(missing)"))
        return cls(points=points, blank=blank, negated=clause.negated)


def _codes(attribute: CategoricalAttribute, clause: Clause) -> Bools:
    """Which codes meet a condition: listed values, labels, or an interval of numbers or of ranks."""
    if clause.interval:
        numbers = attribute.middles()
        if numbers is None and not attribute.ordered:
            msg = f"'{clause.attribute}' has no order, so it has no interval; write {clause.attribute} in {{value}}"
            raise SchemaError(msg)
        held = np.arange(attribute.size, dtype=float) if numbers is None else numbers
        held[attribute.size - attribute.special :] = np.nan
        low, high = ends_of(attribute, clause)
        return (held >= low) & (held <= high)
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


def _comparable(first: Any, second: Any) -> None:
    for attribute in (first, second):
        if not isinstance(attribute, NumericAttribute | DatetimeAttribute):
            msg = f"'{attribute.name}' is {attribute.kind}, and the rule compares numbers or dates"
            raise SchemaError(msg)
        if isinstance(attribute, DatetimeAttribute) and attribute.formats:
            written = attribute.formats[0]
            if not any(day in written for day in ("%d", "%j")) or (attribute.precise and "%S" not in written):
                msg = f"'{attribute.name}' is written as {written}, which loses part of the date; write it in full"
                raise SchemaError(msg)
    if first.kind != second.kind or getattr(first, "precise", None) != getattr(second, "precise", None):
        msg = f"'{first.name}' and '{second.name}' cannot be compared: both must be numbers, days, or times of day"
        raise SchemaError(msg)


def _whole(attribute: Any) -> None:
    if not isinstance(attribute, NumericAttribute) or attribute.dtype != "integer":
        msg = f"'{attribute.name}' holds no whole numbers; declare it numeric with dtype integer"
        raise SchemaError(msg)


def _range(attribute: Any) -> tuple[float, float]:
    """Smallest and largest plain value, dates as days or seconds."""
    if isinstance(attribute, DatetimeAttribute):
        return int(attribute.binning.starts[0]), attribute.binning.last
    return attribute.min, attribute.max


def _balanced(rule: DifferenceRule | AdditionRule, attributes: Mapping[str, Any]) -> None:
    ends = [(s, *_range(attributes[n])) for s, n in zip(rule.signs, rule.columns, strict=True)]
    least = sum(s * (low if s > 0 else high) for s, low, high in ends)
    most = sum(s * (high if s > 0 else low) for s, low, high in ends)
    if least > 0 or most < 0:
        msg = "no values can meet it inside the declared ranges; widen the range of one of its columns"
        raise SchemaError(msg)
