"""Orders: one number or date is at most another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field, StrictBool

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.rules.base import Bools, Change, Name, RecordRule, Rows, Rule, RuleProposal
from dpsyn_core.schema.rules.columns import Group, any_broken, part, plain_in, range_of
from dpsyn_core.schema.rules.comparable import check_comparable
from dpsyn_core.schema.rules.exchange import PARTNERS, WIDER, swap, together
from dpsyn_core.schema.rules.zeros import CodeTable


class OrderRule(Rule):
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

    @property
    def orders(self) -> bool:
        """Yes."""
        return True

    def __str__(self) -> str:
        """For people."""
        return f"{self.lower} {'<' if self.strict else '<='} {self.upper}"

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns cannot be compared, or no two values agree with the rule."""
        low, high = attributes[self.lower], attributes[self.upper]
        check_comparable(low, high)
        if self.close is not None and not isinstance(low, DatetimeAttribute):
            msg = f"'close' is about two dates, and '{self.lower}' holds numbers; leave it out"
            raise SchemaError(msg)
        least, most = range_of(low)[0], range_of(high)[1]
        if least > most or (self.strict and least >= most):
            msg = f"no values can meet it: '{self.lower}' begins at {low.min} and '{self.upper}' ends at {high.max}"
            raise SchemaError(msg)

    def broken(self, group: Group) -> Bools:
        """Records in the wrong order; those that lack one of both keep the rule."""
        low, high = (group[name].values for name in (self.lower, self.upper))
        wrong: Bools = (low >= high) if self.strict else (low > high)
        return plain_in((self.lower, self.upper), group) & wrong

    def zeros(self, table: CodeTable) -> Bools | None:
        """Cells whose intervals hold no two values in order."""
        if not table.known(self.columns):
            return None
        least, _ = table.reach(self.columns, (1, -1))  # the lower one minus the upper one is at most 0
        return np.asarray(least >= 0 if self.strict else least > 0)

    def inside_bins(self, rows: Group, rng: Generator, still: Collection[str] = ()) -> Iterator[Group]:
        """Values on both sides of a place that lies in both bins, where they share one."""
        if not {self.lower, self.upper} & {*still}:
            low, high = rows[self.lower], rows[self.upper]
            (low_least, low_most), (high_least, high_most) = low.bin_ends(), high.bin_ends()
            least, most = np.maximum(low_least, high_least), np.minimum(low_most, high_most)
            place = least + (most - least) * rng.random(len(least))
            gap = max(low.step, high.step) if self.strict else 0
            below = np.maximum(low.nearest(np.minimum(low.values, place), up=False), low_least)
            above = np.minimum(high.nearest(np.maximum(high.values, below + gap), up=True), high_most)
            yield {self.lower: low.holding(below), self.upper: high.holding(above)}

    def exchanges(self, rules: Sequence[RecordRule], columns: Group, rng: Generator) -> Iterator[RuleProposal]:
        """Swaps of one side with a record that keeps all rules; then records without a partner, sorted in place."""
        for name in sorted((self.lower, self.upper), key=lambda n: sum(n in r.columns for r in rules)):
            for turn in range(PARTNERS):
                left = np.flatnonzero(self.broken(columns))
                others = np.flatnonzero(~any_broken(rules, columns))
                if not min(len(left), len(others)):
                    break
                yield swap(columns, [name], *self.partners(name, turn, left, others, columns, rng))
        yield self._in_order(columns)

    def partners(
        self, name: str, turn: int, left: Rows, others: Rows, columns: Group, rng: Generator
    ) -> tuple[Rows, Rows]:
        """Records and a partner for each: by turns one whose cell they can take, and one that can take theirs."""
        other = self.lower if name == self.upper else self.upper
        mine, theirs = (other, name) if turn % 2 else (name, other)
        value, limits = columns[theirs].values, columns[mine].values[left]
        others = others[np.argsort(value[others], kind="stable")]
        if theirs == self.upper:
            first = np.searchsorted(value[others], limits)
            at = first + rng.random(len(left)) * (len(others) - first)
        else:
            at = rng.random(len(left)) * np.searchsorted(value[others], limits, side="right")
        chosen = others[np.minimum(at.astype(np.intp), len(others) - 1)]
        once = np.unique(chosen, return_index=True)[1]
        return left[once], chosen[once]

    def _in_order(self, columns: Group) -> RuleProposal:
        """The upper values of the broken records and of those with most room, in the order of the lower ones."""
        wrong = self.broken(columns)
        others = np.flatnonzero(plain_in((self.lower, self.upper), columns) & ~wrong)
        room = columns[self.upper].values[others] - columns[self.lower].values[others]
        left = np.flatnonzero(wrong)
        rows = np.concatenate([left, others[np.argsort(-room, kind="stable")[: WIDER * len(left)]]])
        here = part({n: columns[n] for n in (self.lower, self.upper)}, rows)
        values = here[self.upper].values.copy()
        values[np.argsort(here[self.lower].values, kind="stable")] = np.sort(values)
        return together(rows, {self.upper: here[self.upper].holding(values)})

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """Both exchanged; else one at another record's distance, or next to the other."""
        del rules
        low, high = rows[self.lower], rows[self.upper]
        yield {self.lower: high.values.astype(low.values.dtype), self.upper: low.values.astype(high.values.dtype)}
        plain = np.flatnonzero(plain_in((self.lower, self.upper), keepers))
        if len(plain):
            at = plain[rng.integers(0, len(plain), len(low.values))]
            gap = keepers[self.upper].values[at] - keepers[self.lower].values[at]
            yield {self.upper: high.nearest(low.values + gap, up=True)}
            yield {self.lower: low.nearest(high.values - gap, up=False)}
        extra = max(low.step, high.step) if self.strict else 0
        yield {self.upper: high.nearest(low.values + extra, up=True)}
        yield {self.lower: low.nearest(high.values - extra, up=False)}
