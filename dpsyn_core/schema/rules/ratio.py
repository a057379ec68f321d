"""Ratios: a number is one number divided by others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, StrictFloat, StrictInt

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Bools, Change, Name, RecordRule
from dpsyn_core.schema.rules.columns import Group, plain_in
from dpsyn_core.schema.rules.comparable import check_number
from dpsyn_core.schema.rules.formula import FormulaRule

Floats = NDArray[np.float64]


class RatioRule(FormulaRule):
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
            check_number(attributes[name])

    def implied(self, schema: Schema) -> tuple[str, ...]:
        """All columns: a ratio of computed ones is coarse."""
        del schema
        return self.columns

    def divisor(self, group: Group) -> Floats:
        """The product of what the ratio is divided by, (n,)."""
        out: Floats = np.multiply.reduce([group[n].values.astype(np.float64) for n in self.by])
        return out

    def exact(self, group: Group) -> tuple[Floats, Bools]:
        """The exact ratio of each record, and whether there is one: nothing is divided by 0."""
        by = self.divisor(group)
        defined: Bools = by != 0
        return self.times * group[self.of].values / np.where(defined, by, 1.0), defined

    def broken(self, group: Group) -> Bools:
        """Records whose ratio is a step or more from the exact one; those that lack a number keep the rule."""
        exact, defined = self.exact(group)
        column = group[self.column]
        return plain_in(self.columns, group) & defined & (np.abs(column.values - exact) >= column.step * (1 + 1e-9))

    def stays_with(self, others: Sequence[RecordRule], columns: Group) -> set[str]:
        """All columns of other rules."""
        del columns
        return {n for r in others for n in r.columns}

    def _logarithms(self, rows: Group) -> tuple[dict[str, int], dict[str, Floats], Floats]:
        """By column its power in the rule and its logarithms; and the logarithm by which the rule is exceeded.

        Not finite where a value is not positive.
        """
        powers = {self.column: 1, self.of: -1, **{n: self.by.count(n) for n in self.by}}
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = {n: np.log(rows[n].values.astype(np.float64)) for n in powers}
            return powers, logs, np.add.reduce([w * logs[n] for n, w in powers.items()]) - np.log(self.times)

    def wanted(self, name: str, rows: Group) -> NDArray[Any]:
        """The logarithm of what the column should be."""
        powers, logs, excess = self._logarithms(rows)
        with np.errstate(invalid="ignore"):
            return np.asarray(logs[name] - excess / powers[name])

    def moved(self, rows: Group, still: Collection[str] = ()) -> Group:
        """Columns moved inside their bins, on a log scale by the same part of their room. Only positive ones move."""
        powers, logs, excess = self._logarithms(rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = {}
            for name, power in powers.items():
                # a bin that begins at 0 has room down to its first step, since 0 has no logarithm
                ends = (np.maximum(end, rows[name].step) for end in rows[name].bin_ends())
                least, most = (np.log(end.astype(np.float64)) for end in ends)
                room[name] = np.where((excess > 0) == (power > 0), least, most) - logs[name]
                room[name] *= name not in still
            share = np.clip(-excess / np.add.reduce([w * room[n] for n, w in powers.items()]), 0, 1)
            moved = {n: np.exp(logs[n] + share * room[n]) for n in powers}
        out: Group = {}
        for name in powers:
            column = rows[name]
            target = np.where(np.isfinite(moved[name]), moved[name], column.values)
            values = column.values if name in still else np.clip(column.snapped(target), *column.bin_ends())
            out[name] = column.holding(values)
        if self.column not in still:
            column, by = rows[self.column], self.divisor(out)
            last = np.divide(self.times * out[self.of].values, by, out=column.values.astype(np.float64), where=by != 0)
            out[self.column] = column.holding(np.clip(column.snapped(last), *column.bin_ends()))
        return out

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """The ratio computed, or, of half of the records, what is divided; else both."""
        del rules, keepers
        column, of = rows[self.column], rows[self.of]
        exact, defined = self.exact(rows)
        exact, by = np.where(defined, exact, column.values), self.divisor(rows)
        half = rng.random(len(by)) < 0.5  # so that neither column alone bears what does not fit
        yield {self.column: np.where(half, column.snapped(exact), column.values)}
        yield {self.of: of.snapped(column.values * by / self.times)}
        nearest = column.nearest(exact, up=False)
        yield {self.column: nearest, self.of: of.snapped(nearest * by / self.times)}
        divided = of.nearest(nearest * by / self.times, up=False)
        again = np.where(defined, self.times * divided / np.where(defined, by, 1.0), column.values)
        yield {self.column: column.nearest(again, up=False), self.of: divided}
