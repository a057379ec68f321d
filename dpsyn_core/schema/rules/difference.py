"""Differences: a number is one number less another, or the time between two dates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, StrictBool

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules import anniversaries
from dpsyn_core.schema.rules.anniversaries import COMPLETED, Completed
from dpsyn_core.schema.rules.base import Bools, Change, Key, Name, RecordRule
from dpsyn_core.schema.rules.columns import Group, range_of
from dpsyn_core.schema.rules.comparable import check_comparable, check_number
from dpsyn_core.schema.rules.linear import UNMET, LinearRule
from dpsyn_core.schema.rules.zeros import CodeTable

YEAR = 365.2425 * 86_400  # the mean year of the calendar, in seconds
SECONDS = {
    "seconds": 1.0,
    "minutes": 60.0,
    "hours": 3600.0,
    "days": 86_400.0,
    "weeks": 604_800.0,
    "years": YEAR,
    "completed-years": YEAR,
    "completed-months": YEAR / 12,
}


class DifferenceRule(LinearRule):
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

    def words(self) -> tuple[str, dict[str, Any]]:
        """The columns and the unit; a difference of numbers is a formula."""
        filled = {"column": self.column, "minus": self.minus, "of": self.of}
        if self.completed:
            return f"rules.says_{self.unit}", filled
        return ("rules.says_difference", filled | {"unit": Key(f"rules.unit_{self.unit}")}) if self.unit else ("", {})

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

    def excess(self, group: Group) -> NDArray[Any]:
        """As for any sum; of completed years and months by how much the earlier day is too late."""
        return anniversaries.excess(self, group) if self.completed else super().excess(group)

    def tolerance(self, group: Group) -> float:
        """Between dates one step of the time between."""
        if self.completed:
            return 0.5
        if isinstance(group[self.of].attribute, DatetimeAttribute):
            return abs(self.weights_in(group)[0]) * group[self.column].step * (1 - 1e-9)
        return super().tolerance(group)

    def open_part(self, group: Group, rng: Generator) -> Any:
        """A part of the unit, drawn, where the unit is coarser than the dates."""
        of, first = group[self.of], self.weights_in(group)[0]
        unit = abs(first) * group[self.column].step
        if unit <= of.step or of.values.dtype.kind == "f" or first == 1:
            return 0
        return np.floor(rng.random(len(of.values)) * unit)

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns do not fit, or no values agree with the rule."""
        of, column = attributes[self.of], attributes[self.column]
        check_comparable(of, attributes[self.minus])
        if isinstance(of, DatetimeAttribute):
            if of.precise and self.unit is None:
                msg = f"'{self.of}' holds times of day, so the difference needs a unit: {', '.join(SECONDS)}"
                raise SchemaError(msg)
        elif self.unit is not None:
            msg = f"'{self.of}' holds numbers, whose difference has no unit; leave the unit out"
            raise SchemaError(msg)
        check_number(column)
        if self.completed:
            ends = {n: range_of(attributes[n]) for n in self.columns}
            least, most = anniversaries.reach(self, ends, of.unit_seconds)
            if column.min > most or column.max < least:
                raise SchemaError(UNMET)
        else:
            self.check_balance(attributes)

    def zeros(self, table: CodeTable) -> Bools | None:
        """Cells whose intervals hold no values that agree with the rule."""
        if not self.completed or not table.known(self.columns):
            return super().zeros(table)
        ends = table.ends(self.columns)
        fewest, longest = anniversaries.reach(self, ends, table.attributes[self.of].unit_seconds)
        return np.asarray((ends[self.column][0] > longest) | (ends[self.column][1] < fewest))

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """One column computed from the others; of completed years also the nearest count, and a date with it."""
        if not self.completed:
            yield from super().moves(rules, rows, keepers, rng)
            return
        first = self.first_to_move(rows)
        for name in sorted(self.columns, key=lambda n: n != first):
            yield {name: anniversaries.solved(self, name, rows, rng)}
        column = rows[self.column]
        nearest = column.nearest(anniversaries.solved(self, self.column, rows, rng), up=False)
        filled = {**rows, self.column: column.holding(nearest)}
        for name in (self.minus, self.of):
            yield {self.column: nearest, name: anniversaries.solved(self, name, filled, rng)}

    def first_to_move(self, rows: Group) -> str:
        """The side with the wider range."""
        return self._wider({n: rows[n].attribute for n in (self.of, self.minus)})

    def _wider(self, attributes: Mapping[str, Any]) -> str:
        """The one of both sides with the wider range.

        A stay is described by its first day and its length, a birth by the day of a visit and an age; the difference of
        two dates that were synthesized separately is mostly chance.
        """
        ends = {n: range_of(attributes[n]) for n in (self.of, self.minus)}
        return max(ends, key=lambda n: ends[n][1] - ends[n][0])

    def computes(self, schema: Schema, computed: Collection[str]) -> str | None:
        """One of both sides, where no column can be blank or special."""
        del computed
        hidden = schema[self.column].reads != (self.column,)  # the later date is blank where the time between is
        if self.measured or (any(schema[n].special for n in self.columns) and not hidden):
            return None
        return self.implied(schema)[0]

    def implied(self, schema: Schema) -> tuple[str, ...]:
        """The side with the wider range, or the one that can be blank."""
        sides = {n: schema[n] for n in (self.of, self.minus)}
        return (self.of,) if sides[self.of].special else (self._wider(sides),)

    def values(self, name: str, group: Group, rng: Generator) -> NDArray[Any]:
        """As for any sum; of completed years and months a date is drawn among the days that agree."""
        if self.completed:
            return group[name].snapped(anniversaries.solved(self, name, group, rng))
        return super().values(name, group, rng)

    def computation(self, name: str) -> tuple[tuple[str, ...], str]:
        """Where the time between is no column of the table, the sentence says so."""
        sources, sentence = super().computation(name)
        named = tuple(n for n in sources if n != between(self.of, self.minus))
        if named != sources:
            sentence = (
                f"'{name}' is not measured: the time between is ('{self.column}', in {self.unit}), and gives it with "
                f"'{named[0]}'"
            )
        return named, sentence


def between(of: str, minus: str) -> str:
    """The name of the time from one date to another, which is no column of the table."""
    return f"{of} - {minus}"
