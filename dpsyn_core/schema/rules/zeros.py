"""Cells of tables that rules make impossible: known without the data, so that they hold no noise and no records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.rules.date_parts import parts_in
from dpsyn_core.schema.rules.formulas import AdditionRule, DifferenceRule, OrderRule
from dpsyn_core.schema.rules.lookups import Lookup
from dpsyn_core.schema.rules.meant import Meant
from dpsyn_core.schema.rules.ruled import RuledColumn, meanings, tolerance, weights_of
from dpsyn_core.schema.rules.rules import AnyRule, BlankRule, FollowsRule, ImpossibleRule, table_wide

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Maps = Mapping[str, NDArray[np.integer]]  # for each attribute of a table the position of each code on its axis
LARGEST = 4_000_000  # cells of a table of codes, up to which what follows is told cell by cell


@dataclass(frozen=True, slots=True)
class _Axis:
    """One attribute of a table, at the resolution of the table: map sends each code to one of `size` positions."""

    attribute: Any
    map: NDArray[np.integer]
    size: int

    def all(self, codes: Bools) -> Bools:
        """Of which positions all codes are among these."""
        out = np.ones(self.size, dtype=bool)
        np.logical_and.at(out, self.map, codes)
        return out

    def any(self, codes: Bools) -> Bools:
        """Of which positions some code is among these."""
        out = np.zeros(self.size, dtype=bool)
        np.logical_or.at(out, self.map, codes)
        return out

    def ends(self) -> tuple[Floats, Floats]:
        """Least and largest number of each position."""
        first, last = _bounds(self.attribute)
        low, high = np.full(self.size, np.inf), np.full(self.size, -np.inf)
        np.minimum.at(low, self.map, first)
        np.maximum.at(high, self.map, last)
        return low, high


class KnownZeros:
    """Which cells of a table can hold no record, by the rules of a schema."""

    def __init__(self, rules: Sequence[AnyRule], attributes: Mapping[str, Any]) -> None:
        """Of public knowledge alone."""
        self._rules = [r for r in rules if not table_wide(r)]
        self._attributes = attributes

    def cells(self, names: Sequence[str], maps: Maps | None = None) -> Bools | None:
        """Impossible cells, one axis an attribute; None where there are none.

        Args:
            names: of the attributes.
            maps: from code to position on the axis; None, or without an attribute: each code is a position.
        """
        axes = {}
        for n in names:
            a = self._attributes[n]
            mapped = np.arange(a.size) if maps is None or n not in maps else maps[n]
            axes[n] = _Axis(a, mapped, int(mapped.max()) + 1)
        out: Bools | None = None
        for rule in self._rules:
            found = self._of_rule(rule, axes)
            if found is not None and found.any():
                out = found if out is None else out | found
        return None if out is None else np.broadcast_to(out, [a.size for a in axes.values()])

    def emptied(self, values: Floats, names: Sequence[str], maps: Maps | None = None) -> Floats:
        """A table with nothing in its impossible cells; the others share what these held, so that its sum stays.

        The very table where there are none, or where it is over other attributes than those of the schema.
        """
        zeros = self.cells(names, maps) if names and all(n in self._attributes for n in names) else None
        if zeros is None or zeros.shape != values.shape:
            return values
        kept = np.where(zeros, 0.0, values)
        held, moved = float(np.clip(kept, 0, None).sum()), float(values.sum()) - float(kept.sum())
        if held <= 0 or held + moved <= 0:
            return kept
        return np.where(kept > 0, kept * ((held + moved) / held), kept)

    def _of_rule(self, rule: AnyRule, axes: Mapping[str, _Axis]) -> Bools | None:
        here = [n for n in rule.columns if n in axes]
        if isinstance(rule, OrderRule | DifferenceRule | AdditionRule):
            absent = [self._attributes[n] for n in rule.columns if n not in axes]
            if not here or any(a.special for a in absent):  # of a record without one of them the rule says nothing
                return None
            return self._of_numbers(rule, axes)
        if len(here) < len(rule.columns):
            return None
        if isinstance(rule, ImpossibleRule):
            return _all_of([_along(axes, n, axes[n].all(m)) for n, m in _met(rule, self._attributes, every=True)])
        if isinstance(rule, BlankRule):
            return self._of_blanks(rule, axes)
        return self._of_map(rule, axes) if isinstance(rule, FollowsRule) else None

    def _of_numbers(self, rule: OrderRule | DifferenceRule | AdditionRule, axes: Mapping[str, _Axis]) -> Bools:
        """Cells whose intervals hold no numbers that agree with the rule."""
        empty = np.zeros(0)
        group = {n: RuledColumn(self._attributes[n], empty, empty.astype(np.uint8)) for n in rule.columns}
        if isinstance(rule, OrderRule):
            weights: tuple[float, ...] = (1, -1)  # the lower one minus the upper one is at most 0
        else:
            weights = weights_of(rule, group)
        least, most = np.zeros((1,) * len(axes)), np.zeros((1,) * len(axes))
        ends = {
            n: [_along(axes, n, e) for e in axes[n].ends()] if n in axes else [np.float64(e) for e in group[n].ends]
            for n in rule.columns
        }
        if isinstance(rule, DifferenceRule) and rule.completed:
            from dpsyn_core.schema.rules.completed import reach

            fewest, longest = reach(rule, ends, self._attributes[rule.of].unit_seconds)
            return np.asarray((ends[rule.column][0] > longest) | (ends[rule.column][1] < fewest))
        for weight, name in zip(weights, rule.columns, strict=True):
            low, high = ends[name]
            least = least + weight * (low if weight > 0 else high)
            most = most + weight * (high if weight > 0 else low)
        if isinstance(rule, OrderRule):
            return np.asarray(least >= 0 if rule.strict else least > 0)
        slack = tolerance(rule, group)
        return np.asarray((least > slack) | (most < -slack))

    def _of_blanks(self, rule: BlankRule, axes: Mapping[str, _Axis]) -> Bools:
        column = self._attributes[rule.column]
        blank = _blank_codes(column, rule.value)
        met = [_along(axes, n, axes[n].all(m)) for n, m in _met(rule, self._attributes, every=True)]
        out = _all_of([*met, _along(axes, rule.column, ~axes[rule.column].any(blank))])
        if rule.only:
            may = _all_of([_along(axes, n, axes[n].any(m)) for n, m in _met(rule, self._attributes, every=False)])
            out = out | (~may & _along(axes, rule.column, axes[rule.column].all(blank)))
        return out

    def _of_map(self, rule: FollowsRule, axes: Mapping[str, _Axis]) -> Bools | None:
        of, column = self._attributes[rule.of[0]], self._attributes[rule.column]
        if of.size * column.size > LARGEST:
            return None
        lookup = Lookup.public(rule, of, column)
        codes, which = np.asarray(lookup.keys), np.arange(len(lookup.keys))
        if rule.part is not None:
            dates, parts = parts_in(rule.part, of, rule.on)
            which = np.searchsorted(lookup.keys, parts)
            known = np.isin(parts, lookup.keys)
            codes, which = np.unique(np.stack([of.binning.find(dates)[known], which[known]]), axis=1)
        listed = isinstance(column, CategoricalAttribute)
        targets = lookup.targets if listed else column.binning.find(lookup.targets)
        plain = np.arange(column.size) < column.size - column.special
        may = np.ones((of.size, column.size), dtype=bool)
        may[codes if rule.part is None else np.arange(of.size - of.special)] = ~plain
        may[codes, targets[which]] = True
        rows, columns = axes[rule.of[0]], axes[rule.column]
        seen = np.zeros((rows.size, column.size), dtype=bool)
        np.logical_or.at(seen, rows.map, may)
        possible = np.zeros((rows.size, columns.size), dtype=bool)
        np.logical_or.at(possible.T, columns.map, seen.T)
        places = [list(axes).index(rule.of[0]), list(axes).index(rule.column)]
        shape = [1] * len(axes)
        for place, size in zip(places, possible.shape, strict=True):
            shape[place] = size
        return ~(possible if places[0] < places[1] else possible.T).reshape(shape)


def _along(axes: Mapping[str, _Axis], name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Values of one axis, to be broadcast over the table."""
    shape = [1] * len(axes)
    shape[list(axes).index(name)] = len(values)
    return values.reshape(shape)


def _all_of(parts: Sequence[Bools]) -> Bools:
    out = parts[0]
    for part in parts[1:]:
        out = out & part
    return out


def _met(rule: ImpossibleRule | BlankRule, attributes: Mapping[str, Any], *, every: bool) -> list[tuple[str, Bools]]:
    """Of each column of the conditions, which codes surely meet what is said of it; not every: which may."""
    empty = np.zeros(0)
    group = {n: RuledColumn(attributes[n], empty, empty.astype(np.uint8)) for n in rule.columns}
    return [
        (n, _all_of([_codes_meeting(attributes[n], m, every=every) for m in said]))
        for n, said in meanings(rule, group).items()
    ]


def _codes_meeting(attribute: Any, meant: Meant, *, every: bool) -> Bools:
    if meant.codes is not None:
        return meant.codes
    if meant.negated:
        return ~_codes_meeting(attribute, replace(meant, negated=False), every=not every)
    low, high = _bounds(attribute)
    out = np.zeros(attribute.size, dtype=bool)
    finite = np.isfinite(low)
    for first, last in (*meant.spans, *((p, p) for p in meant.points)):
        inside = (low >= first) & (high <= last) if every else (high >= first) & (low <= last)
        out |= inside & finite
    plain = attribute.size - attribute.special
    for i, value in enumerate(getattr(attribute, "special_values", ())):
        out[plain + i] = value in meant.points
    if attribute.missing:
        out[-1] = meant.blank
    return out


def _bounds(attribute: Any) -> tuple[Floats, Floats]:
    """Least and largest number of each code; infinite for codes without one, of which no rule on numbers speaks."""
    first, last = attribute.binning.bounds()
    free = [np.inf] * attribute.special
    return np.append(first.astype(float), np.negative(free)), np.append(last.astype(float), free)


def _blank_codes(attribute: Any, value: Any) -> Bools:
    """Which codes are blank, or hold a special or listed value."""
    plain, out = attribute.size - attribute.special, np.zeros(attribute.size, dtype=bool)
    if value is None:
        out[-1] = True
    elif isinstance(attribute, CategoricalAttribute):
        one = RuledColumn(attribute, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint8)).all_of(value)
        out[one.values] = True
    else:
        out[plain + list(attribute.special_values).index(value)] = True
    return out
