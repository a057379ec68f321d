"""Cells of tables that rules make impossible: public, so that they contain no noise and no records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.rules.columns import RuleColumn, range_of
from dpsyn_core.schema.rules.condition import Condition, meanings

if TYPE_CHECKING:
    from dpsyn_core.schema.rules.base import Rule

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Maps = Mapping[str, NDArray[np.integer]]  # for each attribute of a table the position of each code on its axis


@dataclass(frozen=True, slots=True)
class ZeroAxis:
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


@dataclass(frozen=True, slots=True)
class CodeTable:
    """The axes of a table of codes by attribute, in their order; attributes: of the whole schema."""

    axes: Mapping[str, ZeroAxis]
    attributes: Mapping[str, Any]

    def has(self, names: Sequence[str]) -> bool:
        """Whether the table is over all of these."""
        return all(n in self.axes for n in names)

    def known(self, names: Sequence[str]) -> bool:
        """Whether the table is over some of these, and no record lacks one of the others."""
        absent = [self.attributes[n] for n in names if n not in self.axes]
        return len(absent) < len(names) and not any(a.special for a in absent)

    def along(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """Values of one axis, to be broadcast over the table."""
        shape = [1] * len(self.axes)
        shape[list(self.axes).index(name)] = len(values)
        return values.reshape(shape)

    def ends(self, names: Sequence[str]) -> dict[str, list[NDArray[Any]]]:
        """Least and largest number of each, along its axis, or of the whole range of one without an axis."""
        return {
            n: [self.along(n, e) for e in self.axes[n].ends()]
            if n in self.axes
            else [np.asarray(e, dtype=np.float64) for e in range_of(self.attributes[n])]
            for n in names
        }

    def reach(self, names: Sequence[str], weights: Sequence[float]) -> tuple[Floats, Floats]:
        """The least and the largest weighted sum of numbers in each cell."""
        least, most = np.zeros((1,) * len(self.axes)), np.zeros((1,) * len(self.axes))
        for (low, high), weight in zip(self.ends(names).values(), weights, strict=True):
            least = least + weight * (low if weight > 0 else high)
            most = most + weight * (high if weight > 0 else low)
        return least, most

    def met(self, where: str, *, every: bool) -> list[tuple[str, Bools]]:
        """For each column in conditions, codes all (every) or some (not every) of whose values meet its conditions."""
        return [
            (n, all_of([_codes_meeting(self.attributes[n], c, every=every) for c in listed]))
            for n, listed in meanings(where, self.attributes).items()
        ]

    def pairs(self, first: str, second: str, may: Bools) -> Bools:
        """Which cells have some of the pairs of codes of two attributes that may be, (first size, second size)."""
        rows, columns = self.axes[first], self.axes[second]
        seen = np.zeros((rows.size, may.shape[1]), dtype=bool)
        np.logical_or.at(seen, rows.map, may)
        possible = np.zeros((rows.size, columns.size), dtype=bool)
        np.logical_or.at(possible.T, columns.map, seen.T)
        places = [list(self.axes).index(n) for n in (first, second)]
        shape = [1] * len(self.axes)
        for place, size in zip(places, possible.shape, strict=True):
            shape[place] = size
        return (possible if places[0] < places[1] else possible.T).reshape(shape)


class KnownZeros:
    """Which cells of a table can hold no record, by the rules of a schema."""

    def __init__(self, rules: Sequence[Rule], attributes: Mapping[str, Any]) -> None:
        """Of public knowledge alone."""
        self._rules = [r for r in rules if not r.table_wide]
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
            axes[n] = ZeroAxis(a, mapped, int(mapped.max()) + 1)
        out: Bools | None = None
        for rule in self._rules:
            zeros = rule.zeros(CodeTable(axes, self._attributes))
            if zeros is not None and zeros.any():
                out = zeros if out is None else out | zeros
        return None if out is None else np.broadcast_to(out, [a.size for a in axes.values()])

    def emptied(self, values: Floats, names: Sequence[str], maps: Maps | None = None) -> Floats:
        """A table with 0 in its impossible cells; the others are scaled up in proportion, so that its sum stays.

        The table unchanged where there are none, or where it is over attributes that are not of the schema.
        """
        zeros = self.cells(names, maps) if names and all(n in self._attributes for n in names) else None
        if zeros is None or zeros.shape != values.shape:
            return values
        kept = np.where(zeros, 0.0, values)
        positive, moved = float(np.clip(kept, 0, None).sum()), float(values.sum()) - float(kept.sum())
        if positive <= 0 or positive + moved <= 0:
            return kept
        return np.where(kept > 0, kept * ((positive + moved) / positive), kept)


def all_of(parts: Sequence[Bools]) -> Bools:
    """Where all of these are."""
    out = parts[0]
    for part in parts[1:]:
        out = out & part
    return out


def _codes_meeting(attribute: Any, condition: Condition, *, every: bool) -> Bools:
    if condition.codes is not None:
        return condition.codes
    if condition.negated:
        return ~_codes_meeting(attribute, replace(condition, negated=False), every=not every)
    low, high = _bounds(attribute)
    out = np.zeros(attribute.size, dtype=bool)
    finite = np.isfinite(low)
    for first, last in (*condition.spans, *((p, p) for p in condition.points)):
        inside = (low >= first) & (high <= last) if every else (high >= first) & (low <= last)
        out |= inside & finite
    plain = attribute.size - attribute.special
    for i, value in enumerate(getattr(attribute, "special_values", ())):
        out[plain + i] = value in condition.points
    if attribute.missing:
        out[-1] = condition.blank
    return out


def _bounds(attribute: Any) -> tuple[Floats, Floats]:
    """Least and largest number of each code; infinite for codes without one, of which no rule on numbers speaks."""
    first, last = attribute.binning.bounds()
    free = [np.inf] * attribute.special
    return np.append(first.astype(float), np.negative(free)), np.append(last.astype(float), free)


def blank_codes(attribute: Any, value: Any) -> Bools:
    """Which codes are blank, or hold a special or listed value."""
    plain, out = attribute.size - attribute.special, np.zeros(attribute.size, dtype=bool)
    if value is None:
        out[-1] = True
    elif isinstance(attribute, CategoricalAttribute):
        one = RuleColumn(attribute, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint8)).all_of(value)
        out[one.values] = True
    else:
        out[plain + list(attribute.special_values).index(value)] = True
    return out
