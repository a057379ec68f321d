"""What rules with conditions share: `impossible` and `blank`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.rules.base import Change, RecordRule, Rows, Rule
from dpsyn_core.schema.rules.columns import PLAIN, Group, RuleColumn, size_of
from dpsyn_core.schema.rules.condition import Condition, meanings, met_by_column

DRAWS = 3  # of each number or date inside its bin, and of a value for a cell that must not be blank


class ConditionalRule(Rule):
    """A rule on records that meet conditions."""

    if TYPE_CHECKING:
        where: str

    def givers(self, whole: Group) -> Rows:
        """All records, since single cells are taken."""
        return np.arange(size_of(whole))

    def inside_bins(self, rows: Group, rng: Generator, still: Collection[str] = ()) -> Iterator[Group]:
        """Each number or date of the conditions drawn again inside its bin, some times."""
        for name in met_by_column(self.where, rows):
            column = rows[name]
            if name in still or isinstance(column.attribute, CategoricalAttribute):
                continue
            for _ in range(DRAWS):
                binning = column.attribute.binning
                drawn = binning.draw(binning.find(column.values), rng)
                yield {name: column.holding(np.where(column.state == PLAIN, drawn, column.values))}

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """One cell of a column, from records that fail its condition: those first that meet the other conditions.

        Where no record fails it, a value next to what the condition names.
        """
        met = met_by_column(self.where, keepers)
        pools = []
        for name, mask in met.items():
            others = np.logical_and.reduce([np.ones_like(mask), *(m for n, m in met.items() if n != name)])
            used = sum(name in r.columns for r in rules)
            for rest, free in ((0, ~mask & others), (1, ~mask)):
                pools.append((rest, used, -int(free.sum()), name, np.flatnonzero(free)))
        for *_, name, pool in sorted(pools, key=lambda p: p[:4]):
            if len(pool):
                yield {name: drawn_from(keepers[name], pool, size_of(rows), rng)}
        for name, listed in meanings(self.where, {n: rows[n].attribute for n in met}).items():
            yield from ({name: values} for condition in listed for values in _next_to(condition, rows[name]))


def drawn_from(column: RuleColumn, pool: Rows, n: int, rng: Generator) -> RuleColumn:
    """Cells (n,) of a column, drawn among some of its records."""
    return column[pool[rng.integers(0, len(pool), n)]]


def _next_to(condition: Condition, column: RuleColumn) -> Iterator[NDArray[Any]]:
    """The numbers or dates next to each interval and value of a condition; of one with `not`, its ends themselves."""
    if condition.codes is not None:  # a category has no neighbours
        return
    beyond = 0 if condition.negated else column.step
    for low, high in (*condition.spans, *((p, p) for p in condition.points)):
        for place, up in ((low - beyond, condition.negated), (high + beyond, not condition.negated)):
            if np.isfinite(place):
                values = column.nearest(np.full(len(column.values), place), up=up)
                yield np.where(column.state == PLAIN, values, column.values)
