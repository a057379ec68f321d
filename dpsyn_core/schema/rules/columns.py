"""Columns that rules name, as numbers, and the records that break a rule. Of a real table, for its owner only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.binning import WholeBins
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.condition import Condition
from dpsyn_core.schema.rules.date_parts import part_of
from dpsyn_core.schema.rules.formula import AdditionRule, DifferenceRule, OrderRule, RatioRule, range_of
from dpsyn_core.schema.rules.lookup import Lookup, joined
from dpsyn_core.schema.rules.registry import AnyRule, BlankRule, FollowsRule, ImpossibleRule, UniqueRule
from dpsyn_core.tables.cells import amounts
from dpsyn_core.tables.cells import numbers as casting
from dpsyn_core.tables.cells.canonical import canonical
from dpsyn_core.tables.clauses import clauses
from dpsyn_core.tables.headers import locate

BLANK, SPECIAL, PLAIN = 0, 1, 2
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]


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

    def put(self, rows: Rows, given: RuleColumn) -> None:
        """Takes the cells of these records from another."""
        self.values[rows], self.state[rows] = given.values, given.state

    def meets(self, meant: Condition) -> Bools:
        """Which cells meet a condition."""
        if meant.codes is not None:
            listed: Bools = meant.codes[self.values] & (self.values >= 0)
            return listed
        out: Bools = np.isin(self.values, meant.points) & (self.state != BLANK)
        for low, high in meant.spans:
            out |= (self.values >= low) & (self.values <= high) & (self.state == PLAIN)
        if meant.blank:
            out |= self.state == BLANK
        return ~out if meant.negated else out

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

    def in_bins(self) -> tuple[NDArray[Any], NDArray[Any]]:
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


def meanings(rule: ImpossibleRule | BlankRule, group: Group) -> dict[str, list[Condition]]:
    """What the conditions of a rule say of each of its columns."""
    out: dict[str, list[Condition]] = {}
    for clause in clauses(rule.where):
        out.setdefault(clause.attribute, []).append(Condition.of(group[clause.attribute].attribute, clause))
    return out


Ready = ImpossibleRule | BlankRule | Lookup | DifferenceRule | AdditionRule | RatioRule | OrderRule


def _lookup(rule: FollowsRule, group: Group) -> Lookup:
    column, of = group[rule.column], [group[n] for n in rule.of]
    if rule.public:
        return Lookup.public(rule, of[0].attribute, column.attribute)
    plain = plain_in(rule.columns, group)
    return Lookup.commonest(rule, keys_of_lookup(of)[plain], column.values[plain])


def keys_of_lookup(of: Sequence[RuleColumn]) -> NDArray[np.int64]:
    """The columns that another follows from, as one number a record."""
    return joined([c.values for c in of], [c.attribute.size for c in of])


def follow(lookup: Lookup, group: Group) -> tuple[NDArray[Any], Bools]:
    """What the map or the date gives for each record, and whether it gives anything."""
    of, part = [group[n] for n in lookup.rule.of], lookup.rule.part
    if part is None:
        return lookup.find(keys_of_lookup(of))
    return lookup.find(part_of(part, of[0].values, of[0].attribute.unit_seconds, lookup.rule.on))


def plain_in(names: Sequence[str], group: Group) -> Bools:
    """Which records have plain values in all these columns."""
    out: Bools = np.logical_and.reduce([group[n].state == PLAIN for n in names])
    return out


def broken(rule: AnyRule | Lookup, group: Group) -> Bools:
    """Which records break a rule; one on numbers or dates says nothing of a record that lacks one of them.

    Of what is unique, those that repeat an earlier record; of what follows without a map, those that differ from most.
    """
    if isinstance(rule, ImpossibleRule):
        return where(rule, group)
    if isinstance(rule, BlankRule):
        met, blank = where(rule, group), group[rule.column].holds(rule.value)
        return met != blank if rule.only else met & ~blank
    if isinstance(rule, UniqueRule):
        return repeats(rule, group)
    plain = plain_in(rule.columns, group)
    if isinstance(rule, FollowsRule):
        rule = _lookup(rule, group)
    if isinstance(rule, Lookup):
        target, known = follow(rule, group)
        return plain & np.where(known, target != group[rule.rule.column].values, rule.closed)
    if isinstance(rule, OrderRule):
        low, high = (group[name].values for name in rule.columns)
        wrong: Bools = (low >= high) if rule.strict else (low > high)
        return plain & wrong
    if isinstance(rule, RatioRule):
        exact, known = ratio(rule, group)
        column = group[rule.column]
        return plain & known & (np.abs(column.values - exact) >= column.step * (1 + 1e-9))
    uneven: Bools = np.abs(excess_of(rule, group)) >= tolerance(rule, group)
    return plain & uneven


def where(rule: ImpossibleRule | BlankRule, group: Group) -> Bools:
    """Which records meet all conditions of a rule."""
    met: Bools = np.logical_and.reduce([group[n].meets(m) for n, said in meanings(rule, group).items() for m in said])
    return met


def any_broken(rules: Iterable[AnyRule | Lookup], group: Group) -> Bools:
    """Which records break at least one rule."""
    none = np.zeros(len(next(iter(group.values())).values), dtype=bool)
    out: Bools = np.logical_or.reduce([none, *(broken(rule, group) for rule in rules)])
    return out


def weights_of(rule: DifferenceRule | AdditionRule, group: Group) -> tuple[float, ...]:
    """So that the columns of a rule times these add up to 0."""
    return rule.weights({n: group[n].attribute for n in rule.columns})


def excess_of(rule: DifferenceRule | AdditionRule, group: Group) -> NDArray[Any]:
    """By how much the weighted columns do not add up to 0."""
    if isinstance(rule, DifferenceRule) and rule.completed:
        from dpsyn_core.schema.rules.anniversaries import excess

        return excess(rule, group)
    terms = [w * group[n].values for w, n in zip(weights_of(rule, group), rule.columns, strict=True)]
    out: NDArray[Any] = np.add.reduce(terms)
    return out


def tolerance(rule: DifferenceRule | AdditionRule, group: Group) -> float:
    """From which excess on a rule is broken: one step of a time between dates, else half of the finest step."""
    first = group[rule.column]
    if isinstance(rule, DifferenceRule) and rule.completed:
        return 0.5
    if isinstance(rule, DifferenceRule) and isinstance(group[rule.of].attribute, DatetimeAttribute):
        return abs(weights_of(rule, group)[0]) * first.step * (1 - 1e-9)
    return min(group[n].step for n in rule.columns) / 2


def ratio(rule: RatioRule, group: Group) -> tuple[NDArray[np.float64], Bools]:
    """The exact ratio of each record, and whether there is one: nothing is divided by 0."""
    by = np.multiply.reduce([group[n].values.astype(np.float64) for n in rule.by])
    known: Bools = by != 0
    return rule.times * group[rule.of].values / np.where(known, by, 1.0), known


def keys_of(rule: UniqueRule, group: Group) -> tuple[NDArray[np.int64], Bools]:
    """A number for each record, equal where the columns agree; and which records the rule speaks of."""
    keys = np.zeros(len(group[rule.together[0]].values), dtype=np.int64)
    for name in rule.together:
        column = group[name]
        numeric = column.values.dtype.kind == "f"
        values = np.round(column.values / column.step) if numeric else column.values
        found = np.unique(values, return_inverse=True)[1].astype(np.int64)
        keys = np.unique(keys * (int(found.max(initial=0)) + 1) + found, return_inverse=True)[1].astype(np.int64)
    return keys, plain_in(rule.together, group)


def repeats(rule: UniqueRule, group: Group) -> Bools:
    """Which records agree with an earlier one in all columns of the rule."""
    keys, spoken = keys_of(rule, group)
    at = np.flatnonzero(spoken)
    out = np.zeros(len(keys), dtype=bool)
    again = np.ones(len(at), dtype=bool)
    again[np.unique(keys[at], return_index=True)[1]] = False
    out[at] = again
    return out


def read_columns(table: Any, schema: Schema, names: Sequence[str], *, comma: bool = False) -> Group:
    """Columns of a pyarrow table by name; comma: whether a comma is its decimal mark."""
    at = locate(table.column_names, list(names))
    return {n: RuleColumn.read(table.column(i), schema[n], comma=comma) for n, i in zip(names, at, strict=True)}
