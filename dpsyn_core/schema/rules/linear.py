"""What sums and differences share: columns that, times their weights, add up to 0."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.base import Bools, Change, RecordRule
from dpsyn_core.schema.rules.columns import Group, empty_columns, plain_in, range_of
from dpsyn_core.schema.rules.formula import FormulaRule
from dpsyn_core.schema.rules.zeros import CodeTable

UNMET = "no values can meet it inside the declared ranges; widen the range of one of its columns"


class LinearRule(FormulaRule):
    """A weighted sum that is 0."""

    def weights(self, attributes: Mapping[str, Any]) -> tuple[float, ...]:
        """So that the columns times these add up to 0."""
        raise NotImplementedError

    def weights_in(self, group: Group) -> tuple[float, ...]:
        """The weights for the columns of a group."""
        return self.weights({n: group[n].attribute for n in self.columns})

    def excess(self, group: Group) -> NDArray[Any]:
        """By how much the weighted columns do not add up to 0, (n,)."""
        terms = [w * group[n].values for w, n in zip(self.weights_in(group), self.columns, strict=True)]
        out: NDArray[Any] = np.add.reduce(terms)
        return out

    def tolerance(self, group: Group) -> float:
        """The excess from which the rule is broken: half of the finest step."""
        return min(group[n].step for n in self.columns) / 2

    def open_part(self, group: Group, rng: Generator) -> Any:
        """What the rule leaves open of its columns, (n,) or 0."""
        del group, rng
        return 0

    def broken(self, group: Group) -> Bools:
        """Records whose columns do not add up; those that lack a number keep the rule."""
        uneven: Bools = np.abs(self.excess(group)) >= self.tolerance(group)
        return plain_in(self.columns, group) & uneven

    def check_balance(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where no values of the declared ranges add up."""
        ends = [(w, *range_of(attributes[n])) for w, n in zip(self.weights(attributes), self.columns, strict=True)]
        least = sum(w * (low if w > 0 else high) for w, low, high in ends)
        most = sum(w * (high if w > 0 else low) for w, low, high in ends)
        if least > 0 or most < 0:
            raise SchemaError(UNMET)

    def zeros(self, table: CodeTable) -> Bools | None:
        """Cells whose intervals hold no numbers that add up."""
        if not table.known(self.columns):
            return None
        least, most = table.reach(self.columns, self.weights(table.attributes))
        slack = self.tolerance(empty_columns(self.columns, table.attributes))
        return np.asarray((least > slack) | (most < -slack))

    def wanted(self, name: str, rows: Group) -> NDArray[Any]:
        """The value with which the columns add up."""
        weight = dict(zip(self.columns, self.weights_in(rows), strict=True))[name]
        return np.asarray(rows[name].values - self.excess(rows) / weight)

    def values(self, name: str, group: Group, rng: Generator) -> NDArray[Any]:
        """The value with which the columns add up, and a drawn part where the rule leaves one open."""
        weight = dict(zip(self.columns, self.weights_in(group), strict=True))[name]
        return np.asarray(group[name].values - weight * (self.excess(group) + self.open_part(group, rng)))

    def moved(self, rows: Group, still: Collection[str] = ()) -> Group:
        """Columns moved inside their bins, each by the same part of its room, then what rounding has left."""
        excess, weights = self.excess(rows), self.weights_in(rows)
        room = []
        for weight, name in zip(weights, self.columns, strict=True):
            (least, most), values = rows[name].bin_ends(), rows[name].values
            room.append(np.where((excess > 0) == (weight > 0), least - values, most - values) * (name not in still))
        whole = np.add.reduce([w * r for w, r in zip(weights, room, strict=True)])  # of the other sign than the excess
        share = np.clip(np.divide(-excess, whole, out=np.zeros(len(excess)), where=whole != 0), 0, 1)
        out: Group = {}
        for weight, name, more in zip(weights, self.columns, room, strict=True):
            values = rows[name].snapped(rows[name].values + share * more, np.trunc)
            excess = excess + weight * (values - rows[name].values)
            out[name] = rows[name].holding(values)
        for weight, name, more in zip(weights, self.columns, room, strict=True):
            ends = np.sort([rows[name].values, rows[name].values + more], axis=0)
            values = np.clip(rows[name].snapped(out[name].values - excess / weight), *ends)
            excess = excess + weight * (values - out[name].values)
            out[name] = rows[name].holding(values)
        return out

    def first_to_move(self, rows: Group) -> str:
        """The column that is computed first."""
        del rows
        return self.columns[0]

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """One column computed from the others; else as little as possible of several."""
        del rules, keepers
        excess, weights, first = self.excess(rows), self.weights_in(rows), self.first_to_move(rows)
        weighted = sorted(zip(weights, self.columns, strict=True), key=lambda w: w[1] != first)
        open_part = self.open_part(rows, rng)
        for weight, name in weighted:
            if name == self.columns[0]:
                yield {name: rows[name].snapped(rows[name].values - excess / weight, np.floor)}
            else:
                yield {name: rows[name].values - weight * (excess + open_part)}
                if isinstance(open_part, np.ndarray):
                    yield {name: rows[name].values - weight * excess}
        out: dict[str, NDArray[Any]] = {}
        for weight, name in zip(weights, self.columns, strict=True):
            column = rows[name]
            values = column.nearest(column.values - excess / weight, up=False)
            excess = excess + weight * (values - column.values)
            out[name] = values
        yield out
