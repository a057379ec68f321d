"""What rules share that give one number by others: differences, sums and ratios."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.rules.base import RecordRule, Rows, Rule, RuleProposal
from dpsyn_core.schema.rules.columns import Group, part, plain_in
from dpsyn_core.schema.rules.exchange import WIDER, together

SWEEPS = 3  # through the columns of a formula, while records go on to agree


class FormulaRule(Rule):
    """A number that others give."""

    def moved(self, rows: Group, still: Collection[str] = ()) -> Group:
        """The columns moved inside their bins towards the formula, but for those of `still`."""
        raise NotImplementedError

    def wanted(self, name: str, rows: Group) -> NDArray[Any]:
        """What a column should be by the others (n,), or a rising function of it; not finite where that is unknown."""
        raise NotImplementedError

    def stays_with(self, others: Sequence[RecordRule], columns: Group) -> set[str]:
        """Columns of other rules that are not handed out: dates in order with others, whose distance is kept."""
        outside = (r for r in others if r.orders and not {*r.columns} <= {*self.columns})
        dates = {n for r in outside for n in r.columns if isinstance(columns[n].attribute, DatetimeAttribute)}
        return dates if {*self.columns} - dates else set()

    def inside_bins(self, rows: Group, rng: Generator, still: Collection[str] = ()) -> Iterator[Group]:
        """All columns moved at once."""
        del rng
        yield self.moved(rows, still)

    def exchanges(self, rules: Sequence[RecordRule], columns: Group, rng: Generator) -> Iterator[RuleProposal]:
        """Each column handed out again in the order of what it should be, one column after the other.

        First among the records that break the rule, so that parts which were drawn apart become as alike as their sum
        is wide; then together with records that keep it, which have room inside their bins for what fits nowhere.
        """
        still = self.stays_with([r for r in rules if r is not self], columns)
        names = [n for n in self.columns if n not in still]
        before = left = int(self.broken(columns).sum())
        for _ in range(SWEEPS):
            for name in names:
                yield self.handed_out(name, columns, np.flatnonzero(self.broken(columns)))
            before, left = left, int(self.broken(columns).sum())
            if left >= before:
                break
        for name in names * SWEEPS:
            wrong = self.broken(columns)
            if not wrong.any():
                break
            others = rng.permutation(np.flatnonzero(~wrong & plain_in(self.columns, columns)))
            yield self.handed_out(
                name, columns, np.concatenate([np.flatnonzero(wrong), others[: WIDER * int(wrong.sum())]])
            )

    def handed_out(self, name: str, columns: Group, rows: Rows) -> RuleProposal:
        """The column's values among these records, in the order of what they should be."""
        targets = self.wanted(name, part({n: columns[n] for n in self.columns}, rows))
        finite = np.flatnonzero(np.isfinite(targets))
        column = columns[name][rows]
        column.values[finite[np.argsort(targets[finite], kind="stable")]] = np.sort(column.values[finite])
        return together(rows, {name: column})
