"""Columns that rules name, as numbers, and the records that break a rule. Of a real table, for its owner only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.categorical import CategoricalAttribute
from dpsyn_core.schema.codec import encode_column
from dpsyn_core.schema.conditions import clauses
from dpsyn_core.schema.datetimes import DatetimeAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules import AdditionRule, AnyRule, DifferenceRule, ImpossibleRule, Meant, OrderRule
from dpsyn_core.tables import amounts, casting
from dpsyn_core.tables.canonical import has_decimal_comma
from dpsyn_core.tables.headers import locate

BLANK, SPECIAL, PLAIN = 0, 1, 2
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]


@dataclass(slots=True)
class RuledColumn:
    """A column that a rule names, as numbers.

    values: (n,) codes of categories, else numbers, or days or seconds since 1970. state: (n,) whether a cell is blank,
    a special value, or plain.
    """

    attribute: Any
    values: NDArray[Any]
    state: NDArray[np.uint8]

    @classmethod
    def read(cls, column: Any, attribute: Any, *, comma: bool = False) -> RuledColumn:
        """From a pyarrow column, synthetic or real; numbers outside the declared range stay as they are."""
        if isinstance(attribute, CategoricalAttribute):
            codes = encode_column(column, attribute)
            return cls(attribute, codes.astype(np.int64), np.full(len(codes), PLAIN, dtype=np.uint8))
        if isinstance(attribute, DatetimeAttribute):
            values, valid = casting.to_instants(column, attribute.formats)
            return cls(attribute, values // attribute.unit_seconds, np.where(valid, PLAIN, BLANK).astype(np.uint8))
        values, valid = casting.to_numbers(
            column, whole=attribute.dtype == "integer", comma=comma, written=attribute.written
        )
        special = np.isin(values, attribute.special_values)
        return cls(attribute, values.copy(), np.where(valid, np.where(special, SPECIAL, PLAIN), BLANK).astype(np.uint8))

    def __getitem__(self, rows: Rows) -> RuledColumn:
        """Some of its records, as a copy."""
        return RuledColumn(self.attribute, self.values[rows], self.state[rows])

    def put(self, rows: Rows, given: RuledColumn) -> None:
        """Takes the cells of these records from another."""
        self.values[rows], self.state[rows] = given.values, given.state

    def meets(self, meant: Meant) -> Bools:
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

    @property
    def ends(self) -> tuple[Any, Any]:
        """Smallest and largest plain value."""
        a = self.attribute
        return (int(a.binning.starts[0]), a.binning.last) if isinstance(a, DatetimeAttribute) else (a.min, a.max)

    @property
    def step(self) -> float:
        """Distance of neighbouring values: the resolution of the record."""
        a = self.attribute
        if isinstance(a, DatetimeAttribute):
            return 1
        if a.dtype == "integer":
            return int(a.step or 1)
        if a.step is not None:
            return float(a.step)
        return float(10.0 ** -(amounts.form(a.written).digits if a.written else a.binning.grid_digits()))

    def allows(self, values: NDArray[Any]) -> Bools:
        """Which values lie in the declared domain as plain ones."""
        (low, high), step = self.ends, self.step
        out: Bools = (values >= low) & (values <= high)
        if getattr(self.attribute, "special_values", ()):
            out &= ~np.isin(values, self.attribute.special_values)
        if step != 1:
            out &= np.abs(values / step - np.round(values / step)) < 1e-6
        return out

    def nearest(self, values: NDArray[Any], *, up: bool) -> NDArray[Any]:
        """The next value of the grid, upwards or downwards, kept inside the range."""
        step, (low, high) = self.step, self.ends
        if step != 1:
            places = np.ceil(values / step - 1e-9) if up else np.floor(values / step + 1e-9)
            digits = max(0, -int(np.floor(np.log10(step)))) + 2 if step < 1 else 0
            values = np.round(places * step, digits) if self.values.dtype.kind == "f" else (places * step).astype(int)
        inside: NDArray[Any] = np.clip(values, low, high)
        return inside


Group = dict[str, RuledColumn]


def meanings(rule: ImpossibleRule, group: Group) -> dict[str, list[Meant]]:
    """What the conditions of a rule say of each of its columns."""
    out: dict[str, list[Meant]] = {}
    for clause in clauses(rule.where):
        out.setdefault(clause.attribute, []).append(Meant.of(group[clause.attribute].attribute, clause))
    return out


def broken(rule: AnyRule, group: Group) -> Bools:
    """Which records break a rule; one on numbers or dates says nothing of a record that lacks one of them."""
    columns = [group[name] for name in rule.columns]
    if isinstance(rule, ImpossibleRule):
        met = [group[name].meets(m) for name, listed in meanings(rule, group).items() for m in listed]
        both: Bools = np.logical_and.reduce(met)
        return both
    plain: Bools = np.logical_and.reduce([c.state == PLAIN for c in columns])
    if isinstance(rule, OrderRule):
        low, high = (c.values for c in columns)
        wrong: Bools = (low >= high) if rule.strict else (low > high)
        return plain & wrong
    uneven: Bools = excess_of(rule, group) != 0
    return plain & uneven


def any_broken(rules: Iterable[AnyRule], group: Group) -> Bools:
    """Which records break at least one rule."""
    out: Bools = np.logical_or.reduce([broken(rule, group) for rule in rules])
    return out


def excess_of(rule: DifferenceRule | AdditionRule, group: Group) -> NDArray[np.int64]:
    """By how much the signed columns do not add up to 0."""
    terms = [s * group[n].values for s, n in zip(rule.signs, rule.columns, strict=True)]
    out: NDArray[np.int64] = np.add.reduce(terms)
    return out


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleBreaks:
    """A rule in words, and the share of records that break it, in the real (None: not read) and a synthetic table."""

    rule: str
    real: float | None
    synthetic: float


def rule_breaks(schema: Schema, synthetic: Any, real: Any = None) -> tuple[RuleBreaks, ...]:
    """For each rule of the schema, of pyarrow tables with at least one record; private where real is given."""
    theirs = broken_counts(synthetic, schema)
    ours = [None] * len(theirs) if real is None else [count / real.num_rows for _, count in broken_counts(real, schema)]
    return tuple(
        RuleBreaks(rule=str(rule), real=share, synthetic=count / synthetic.num_rows)
        for (rule, count), share in zip(theirs, ours, strict=True)
    )


def broken_counts(table: Any, schema: Schema) -> list[tuple[AnyRule, int]]:
    """How many records of a pyarrow table break each rule: of a real table this is private, for its owner only."""
    comma = has_decimal_comma(table)
    out = []
    for rule in schema.rules:
        group = read_ruled(table, schema, rule.columns, comma=comma)
        out.append((rule, int(broken(rule, group).sum())))
    return out


def read_ruled(table: Any, schema: Schema, names: Sequence[str], *, comma: bool = False) -> Group:
    """Columns of a pyarrow table by name; comma: whether a comma is its decimal mark."""
    at = locate(table.column_names, list(names))
    return {n: RuledColumn.read(table.column(i), schema[n], comma=comma) for n, i in zip(names, at, strict=True)}
