"""Columns that rules name, as numbers, and which records break a rule. Of a real table, for its owner only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.binning import WholeBins
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Bools, RecordRule, Rows
from dpsyn_core.schema.rules.condition import Condition
from dpsyn_core.tables import amounts, canonical, locate
from dpsyn_core.tables import numbers as casting

BLANK, SPECIAL, PLAIN = 0, 1, 2


@dataclass(slots=True)
class RuleColumn:
    """A column that a rule names, as numbers.

    values: (n,) codes of categories, else numbers, or days or seconds since 1970. state: (n,) whether a cell is blank,
    a special value, or plain.
    """

    attribute: Any
    values: NDArray[Any]
    state: NDArray[np.uint8]

    @classmethod
    def read(cls, column: Any, attribute: Any, *, comma: bool = False) -> RuleColumn:
        """From a pyarrow column, synthetic or real; numbers outside the declared range stay as they are."""
        if isinstance(attribute, CategoricalAttribute):
            codes = attribute.encode(column).astype(np.int64)
            return cls.of_codes(codes, attribute)
        if isinstance(attribute, DatetimeAttribute):
            values, valid = attribute.seconds_of(column)
            return cls(attribute, values // attribute.unit_seconds, np.where(valid, PLAIN, BLANK).astype(np.uint8))
        values, valid = casting.to_numbers(
            column, whole=attribute.dtype == "integer", comma=comma, written=attribute.written
        )
        special = np.isin(values, attribute.special_values)
        return cls(attribute, values.copy(), np.where(valid, np.where(special, SPECIAL, PLAIN), BLANK).astype(np.uint8))

    @classmethod
    def of_codes(cls, codes: NDArray[np.int64], attribute: CategoricalAttribute) -> RuleColumn:
        """From codes of a category; -1 where a real cell has none."""
        state = np.where((codes >= 0) & (codes < len(attribute.values)), PLAIN, SPECIAL).astype(np.uint8)
        if attribute.missing:
            state[codes == attribute.size - 1] = BLANK
        return cls(attribute, codes, state)

    def __getitem__(self, rows: Rows) -> RuleColumn:
        """Some of its records, as a copy."""
        return RuleColumn(self.attribute, self.values[rows], self.state[rows])

    def holding(self, values: NDArray[Any]) -> RuleColumn:
        """The same cells with other values."""
        return RuleColumn(self.attribute, values, self.state)

    def put(self, rows: Rows, given: RuleColumn) -> None:
        """Takes the cells of these records from another."""
        self.values[rows], self.state[rows] = given.values, given.state

    def differs(self, other: RuleColumn) -> Bools:
        """Which cells are others; two blank ones never are."""
        return np.asarray((self.state != other.state) | ((self.values != other.values) & (self.state != BLANK)))

    def meets(self, condition: Condition) -> Bools:
        """Which cells meet a condition."""
        if condition.codes is not None:
            listed: Bools = condition.codes[self.values] & (self.values >= 0)
            return listed
        out: Bools = np.isin(self.values, condition.points) & (self.state != BLANK)
        for low, high in condition.spans:
            out |= (self.values >= low) & (self.values <= high) & (self.state == PLAIN)
        if condition.blank:
            out |= self.state == BLANK
        return ~out if condition.negated else out

    def holds(self, value: Any) -> Bools:
        """Which cells are blank, or hold a special or listed value; None: blank."""
        if value is None:
            return np.asarray(self.state == BLANK)
        if isinstance(self.attribute, CategoricalAttribute):
            listed: Bools = self.values == self.attribute.keys.index(canonical(value))
            return listed
        special: Bools = (self.values == value) & (self.state == SPECIAL)
        return special

    def all_of(self, value: Any) -> RuleColumn:
        """As many cells that are all blank, or all hold a special or listed value; None: blank."""
        n, a = len(self.values), self.attribute
        if isinstance(a, CategoricalAttribute):
            code = a.size - 1 if value is None else a.keys.index(canonical(value))
            return RuleColumn.of_codes(np.full(n, code, dtype=np.int64), a)
        state = np.full(n, BLANK if value is None else SPECIAL, dtype=np.uint8)
        return RuleColumn(a, np.full(n, 0 if value is None else value, dtype=self.values.dtype), state)

    @property
    def ends(self) -> tuple[Any, Any]:
        """Smallest and largest plain value."""
        return range_of(self.attribute)

    def bin_ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Least and largest value of the grid in the bin of each number or date."""
        binning = self.attribute.binning
        codes, (first, last) = binning.find(self.values), binning.bounds()
        if not isinstance(binning, WholeBins):  # the upper edge belongs to the next bin
            last = np.append(last[:-1] - self.step / 2, last[-1])
        return self.snapped(first[codes], np.ceil), self.snapped(last[codes], np.floor)

    @property
    def step(self) -> float:
        """Distance of neighbouring values: the resolution of the record."""
        a = self.attribute
        if isinstance(a, DatetimeAttribute):
            return a.binning.step
        if a.dtype == "integer":
            return int(a.step or 1)
        if a.step is not None:
            return float(a.step)
        return float(10.0 ** -(amounts.form(a.written).digits if a.written else a.binning.grid_digits()))

    @property
    def only(self) -> NDArray[np.int64] | None:
        """The only values that a column of dates with a rhythm can hold, as days since 1970; None: no rhythm."""
        return self.attribute.binning.only if isinstance(self.attribute, DatetimeAttribute) else None

    def allows(self, values: NDArray[Any]) -> Bools:
        """Which values lie in the declared domain as plain ones."""
        if isinstance(self.attribute, CategoricalAttribute):
            listed: Bools = (values >= 0) & (values < len(self.attribute.values))
            return listed
        (low, high), step = self.ends, self.step
        out: Bools = (values >= low) & (values <= high)
        if getattr(self.attribute, "special_values", ()):
            out &= ~np.isin(values, self.attribute.special_values)
        if self.only is not None:
            out &= np.isin(values, self.only)
        if step != 1:
            out &= np.abs(values / step - np.round(values / step)) < 1e-6
        return out

    def snapped(self, values: NDArray[Any], how: Any = np.round) -> NDArray[Any]:
        """Values of the grid; how: round, or floor or ceil with a little slack."""
        if isinstance(self.attribute, CategoricalAttribute):
            return values
        if self.only is None and self.step == 1 and values.dtype.kind in "iu":
            return values
        if self.only is not None:
            return self._among(values, how)
        slack = {np.ceil: -1e-9, np.floor: 1e-9}.get(how, 0.0)
        places = how(values / self.step + slack)
        if self.values.dtype.kind != "f":
            return np.asarray(places * self.step).astype(np.int64)
        digits = max(0, -int(np.floor(np.log10(self.step)))) + 2 if self.step < 1 else 0
        return np.asarray(np.round(places * self.step, digits))

    def _among(self, values: NDArray[Any], how: Any) -> NDArray[Any]:
        """The day of the rhythm at a value, or the next one before or after it, or the nearer of the two."""
        days = self.only if self.only is not None else np.zeros(1, dtype=np.int64)
        after = np.minimum(np.searchsorted(days, values), len(days) - 1)
        before = np.maximum(np.searchsorted(days, values, side="right") - 1, 0)
        if how is np.round:
            return np.where(days[after] - values < values - days[before], days[after], days[before])
        return days[after] if how is np.ceil else days[before]

    def nearest(self, values: NDArray[Any], *, up: bool) -> NDArray[Any]:
        """The next value of the grid, upwards or downwards, kept inside the range."""
        inside: NDArray[Any] = np.clip(self.snapped(values, np.ceil if up else np.floor), *self.ends)
        return inside


Group = dict[str, RuleColumn]


def range_of(attribute: Any) -> tuple[float, float]:
    """Smallest and largest plain value, dates as days or seconds."""
    if isinstance(attribute, DatetimeAttribute):
        bins = attribute.binning
        return (int(bins.starts[0]), bins.last) if bins.only is None else (int(bins.only[0]), int(bins.only[-1]))
    return attribute.min, attribute.max


def size_of(group: Group) -> int:
    """Number of records."""
    return len(next(iter(group.values())).values)


def part(group: Group, rows: Rows) -> Group:
    """Some records, as copies."""
    return {n: c[rows] for n, c in group.items()}


def put(group: Group, rows: Rows, given: Group) -> None:
    """Takes the cells of these records from others, in the columns that these have."""
    for name, column in given.items():
        group[name].put(rows, column)


def plain_in(names: Sequence[str], group: Group) -> Bools:
    """Which records have plain values in all these columns."""
    out: Bools = np.logical_and.reduce([group[n].state == PLAIN for n in names])
    return out


def any_broken(rules: Iterable[RecordRule], group: Group) -> Bools:
    """Which records break at least one rule."""
    none = np.zeros(size_of(group), dtype=bool)
    out: Bools = np.logical_or.reduce([none, *(rule.broken(group) for rule in rules)])
    return out


def faults(rules: Iterable[RecordRule], group: Group) -> NDArray[np.int64]:
    """How many rules each record breaks."""
    return sum((rule.broken(group).astype(np.int64) for rule in rules), np.zeros(size_of(group), dtype=np.int64))


def empty_columns(names: Iterable[str], attributes: Mapping[str, Any]) -> Group:
    """Columns without records, for what follows from attributes alone."""
    none = np.zeros(0)
    return {n: RuleColumn(attributes[n], none, none.astype(np.uint8)) for n in names}


def read_columns(table: Any, schema: Schema, names: Sequence[str], *, comma: bool = False) -> Group:
    """Columns of a pyarrow table by name; comma: whether a comma is its decimal mark."""
    at = locate(table.column_names, list(names))
    return {n: RuleColumn.read(table.column(i), schema[n], comma=comma) for n, i in zip(names, at, strict=True)}
