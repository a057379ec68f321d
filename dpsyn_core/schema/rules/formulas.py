"""Rules of arithmetic: order, difference, sum and ratio of numbers or dates, at the resolution of the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.base import SchemaRule
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.grids import OF_TIMES

Completed = Literal["completed-years", "completed-months"]
Part = Literal["year", "quarter", "month", "day", "weekday", "hour", Completed]  # of a date
Name = Annotated[StrictStr, Field(min_length=1)]
SECONDS = {
    "seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86_400.0, "weeks": 604_800.0,
    "years": 365.2425 * 86_400,  # the mean year of the calendar
    "completed-years": 365.2425 * 86_400, "completed-months": 365.2425 * 86_400 / 12,
}  # fmt: skip
UNMET = "no values can meet it inside the declared ranges; widen the range of one of its columns"
COMPLETED: tuple[str, ...] = get_args(Completed)  # by the calendar, as ages are counted


class OrderRule(SchemaRule):
    """One number or date is at most another; below it where the rule is strict."""

    kind: Literal["order"] = "order"
    lower: Name = Field(description="Column of the smaller number, or the earlier date")
    upper: Name = Field(description="Column of the larger number, or the later date")
    strict: StrictBool = Field(False, description="Whether both may not be equal")
    close: StrictBool | None = Field(
        None, description="Whether two dates lie so close that the time between is measured; null: as headers say"
    )

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
        if self.close is not None and not isinstance(low, DatetimeAttribute):
            msg = f"'close' is about two dates, and '{self.lower}' holds numbers; leave it out"
            raise SchemaError(msg)
        least, most = range_of(low)[0], range_of(high)[1]
        if least > most or (self.strict and least >= most):
            msg = f"no values can meet it: '{self.lower}' begins at {low.min} and '{self.upper}' ends at {high.max}"
            raise SchemaError(msg)


class DifferenceRule(SchemaRule):
    """A number is the difference of two numbers, or the time between two dates."""

    kind: Literal["difference"] = "difference"
    column: Name = Field(description="Column of the difference")
    of: Name = Field(description="Column of the larger number, or the later date")
    minus: Name = Field(description="Column that is subtracted")
    unit: Literal["seconds", "minutes", "hours", "days", "weeks", "years"] | Completed | None = Field(
        None,
        description="Of the time between two dates; null: days. Cells differ from it by less than one step; completed "
        "years and months are those of the calendar, as ages are counted",
    )
    measured: StrictBool = Field(
        False, description="Whether the column that others give is measured too, and not only computed from them"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The difference first."""
        return (self.column, self.of, self.minus)

    def __str__(self) -> str:
        """For people."""
        if self.completed:
            return f"{self.column} = {str(self.unit).replace('-', ' ')} from {self.minus} to {self.of}"
        return f"{self.column} = {self.of} - {self.minus}" + (f" in {self.unit}" if self.unit else "")

    @property
    def completed(self) -> bool:
        """Whether complete years or months are counted."""
        return self.unit in COMPLETED

    def weights(self, attributes: Mapping[str, Any]) -> tuple[float, ...]:
        """So that the columns times these add up to 0: dates count as days or seconds."""
        of = attributes[self.of]
        if not isinstance(of, DatetimeAttribute):
            return (1, -1, 1)
        unit = SECONDS[self.unit or "days"] / of.unit_seconds
        return (int(unit) if unit == int(unit) else unit, -1, 1)

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns do not fit, or no values agree with the rule."""
        of = attributes[self.of]
        _comparable(of, attributes[self.minus])
        if isinstance(of, DatetimeAttribute):
            if of.precise and self.unit is None:
                msg = f"'{self.of}' holds times of day, so the difference needs a unit: {', '.join(SECONDS)}"
                raise SchemaError(msg)
        elif self.unit is not None:
            msg = f"'{self.of}' holds numbers, whose difference has no unit; leave the unit out"
            raise SchemaError(msg)
        column = attributes[self.column]
        _numbers(column)
        if self.completed:
            from dpsyn_core.schema.rules.completed import reach

            least, most = reach(self, {n: range_of(attributes[n]) for n in self.columns}, of.unit_seconds)
            if column.min > most or column.max < least:
                raise SchemaError(UNMET)
        else:
            _balanced(self, attributes)


class AdditionRule(SchemaRule):
    """A number is the sum of others."""

    kind: Literal["sum"] = "sum"
    column: Name = Field(description="Column of the sum; it is computed from the parts")
    parts: tuple[Name, ...] = Field(min_length=2, max_length=50, description="Columns that are added")
    measured: StrictBool = Field(
        False, description="Whether the column that others give is measured too, and not only computed from them"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The sum first."""
        return (self.column, *self.parts)

    def __str__(self) -> str:
        """For people."""
        return f"{self.column} = {' + '.join(self.parts)}"

    def weights(self, attributes: Mapping[str, Any]) -> tuple[float, ...]:
        """So that the columns times these add up to 0."""
        del attributes
        return (1, *[-1] * len(self.parts))

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns hold no numbers, or no values agree with the rule."""
        for name in self.columns:
            _numbers(attributes[name])
        _balanced(self, attributes)


class RatioRule(SchemaRule):
    """A number is one number divided by others, as written: it differs from the exact ratio by less than one step."""

    kind: Literal["ratio"] = "ratio"
    column: Name = Field(description="Column of the ratio")
    of: Name = Field(description="Column that is divided")
    by: tuple[Name, ...] = Field(
        min_length=1, max_length=4, description="Columns that it is divided by; one that is named twice counts twice"
    )
    times: StrictInt | StrictFloat = Field(1, gt=0, le=1e12, description="A constant factor, such as 100 for percent")

    @property
    def columns(self) -> tuple[str, ...]:
        """The ratio first, each once."""
        return tuple(dict.fromkeys((self.column, self.of, *self.by)))

    def __str__(self) -> str:
        """For people."""
        factor = "" if self.times == 1 else f"{self.times:g} * "
        return f"{self.column} = {factor}{self.of} / {' / '.join(self.by)}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns hold no numbers, or one stands on both sides."""
        if self.column in (self.of, *self.by):
            msg = "it names a column on both sides; name different ones"
            raise SchemaError(msg)
        for name in self.columns:
            _numbers(attributes[name])


def range_of(attribute: Any) -> tuple[float, float]:
    """Smallest and largest plain value, dates as days or seconds."""
    if isinstance(attribute, DatetimeAttribute):
        bins = attribute.binning
        return (int(bins.starts[0]), bins.last) if bins.only is None else (int(bins.only[0]), int(bins.only[-1]))
    return attribute.min, attribute.max


def _comparable(first: Any, second: Any) -> None:
    for attribute in (first, second):
        if not isinstance(attribute, NumericAttribute | DatetimeAttribute):
            msg = (
                f"'{attribute.name}' is {attribute.kind}, and the rule compares numbers or dates; declare it as numeric"
            )
            raise SchemaError(msg)
        if isinstance(attribute, DatetimeAttribute) and attribute.formats:
            written = attribute.formats[0]
            needed = ("%S",) if attribute.rhythm not in OF_TIMES else ("%M", "%S")
            if not any(day in written for day in ("%d", "%j")) or (
                attribute.precise and not any(part in written for part in needed)
            ):
                msg = f"'{attribute.name}' is written as {written}, which loses part of the date; write it in full"
                raise SchemaError(msg)
    if first.kind != second.kind or getattr(first, "precise", None) != getattr(second, "precise", None):
        msg = f"'{first.name}' and '{second.name}' cannot be compared: both must be numbers, days, or times of day"
        raise SchemaError(msg)


def _numbers(attribute: Any) -> None:
    if not isinstance(attribute, NumericAttribute):
        msg = f"'{attribute.name}' is {attribute.kind} and holds no numbers; declare it numeric"
        raise SchemaError(msg)


def _balanced(rule: DifferenceRule | AdditionRule, attributes: Mapping[str, Any]) -> None:
    ends = [(w, *range_of(attributes[n])) for w, n in zip(rule.weights(attributes), rule.columns, strict=True)]
    least = sum(w * (low if w > 0 else high) for w, low, high in ends)
    most = sum(w * (high if w > 0 else low) for w, low, high in ends)
    if least > 0 or most < 0:
        raise SchemaError(UNMET)
