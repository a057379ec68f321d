"""Blank cells: a cell is blank, or says that it does not apply, where conditions hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field, StrictBool

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.base import Value
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.rules.base import Bools, Change, Key, Name, Narrowing, RecordRule, Rule, Where
from dpsyn_core.schema.rules.columns import PLAIN, Group, size_of
from dpsyn_core.schema.rules.condition import check_where, meanings, met, named
from dpsyn_core.schema.rules.conditional import DRAWS, ConditionalRule, drawn_from
from dpsyn_core.schema.rules.impossible import ImpossibleRule
from dpsyn_core.schema.rules.zeros import CodeTable, all_of, blank_codes
from dpsyn_core.tables import Clause, canonical, clauses, written


class BlankRule(ConditionalRule):
    """A cell is blank where the conditions hold; with `only`, blank nowhere else."""

    kind: Literal["blank"] = "blank"
    column: Name = Field(description="Column whose cell is blank")
    where: Where = Field(description="Conditions as in questions: pregnant = no")
    value: Value | None = Field(
        None, description="A special or listed value that says 'does not apply' in place of a blank; null: blank"
    )
    only: StrictBool = Field(False, description="Whether the cell is blank (or holds that value) nowhere else")

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, then those of the conditions."""
        return (self.column, *named(self.where))

    def __str__(self) -> str:
        """For people."""
        cell = "blank" if self.value is None else canonical(self.value)
        return f"{self.column} is {cell} {'exactly ' * self.only}where {self.where}"

    def words(self) -> tuple[str, dict[str, Any]]:
        """The column, the cell and the conditions."""
        cell = Key("rules.blank_cell") if self.value is None else str(self.value)
        key = "rules.says_blank_only" if self.only else "rules.says_blank"
        return key, {"column": self.column, "cell": cell, "where": self.where}

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the column has no such cell, or a condition a value that the schema lacks."""
        check_where(self.where, attributes)
        attribute = attributes[self.column]
        if self.value is None and not attribute.missing:
            msg = f"'{self.column}' has no blank cells; declare missing: true for it"
            raise SchemaError(msg)
        if self.value is not None and not _has_cell(attribute, self.value):
            msg = f"'{canonical(self.value)[:80]}' is no listed or special value of '{self.column}'; declare it there"
            raise SchemaError(msg)

    def broken(self, group: Group) -> Bools:
        """Records that meet the conditions and are not blank; with `only`, also those that are blank elsewhere."""
        where, blank = met(self.where, group), group[self.column].holds(self.value)
        return where != blank if self.only else where & ~blank

    def zeros(self, table: CodeTable) -> Bools | None:
        """Cells that meet the conditions and are not blank; with `only`, also blank ones that cannot meet them."""
        if not table.has(self.columns):
            return None
        axis = table.axes[self.column]
        blank = blank_codes(axis.attribute, self.value)
        where = [table.along(n, table.axes[n].all(m)) for n, m in table.met(self.where, every=True)]
        out = all_of([*where, table.along(self.column, ~axis.any(blank))])
        if self.only:
            may = all_of([table.along(n, table.axes[n].any(m)) for n, m in table.met(self.where, every=False)])
            out = out | (~may & table.along(self.column, axis.all(blank)))
        return out

    def inside_bins(self, rows: Group, rng: Generator, still: Collection[str] = ()) -> Iterator[Group]:
        """Numbers and dates of the conditions moved to the nearest values that meet them; else drawn again."""
        out: Group = {}
        for name, listed in meanings(self.where, {n: rows[n].attribute for n in named(self.where)}).items():
            column = rows[name]
            if name in still or isinstance(column.attribute, CategoricalAttribute):
                continue
            (least, most), values = column.bin_ends(), column.values
            for condition in listed:
                for low, high in (*condition.spans, *((p, p) for p in condition.points)):
                    near = np.clip(column.nearest(np.clip(column.values, low, high), up=True), least, most)
                    fits = (near >= low) & (near <= high) & (not condition.negated) & (column.state == PLAIN)
                    values = np.where(fits, near, values)
            out[name] = column.holding(values.astype(column.values.dtype))
        if out and self.only:
            yield out
        yield from super().inside_bins(rows, rng, still)

    def moves(self, rules: Sequence[RecordRule], rows: Group, keepers: Group, rng: Generator) -> Iterator[Change]:
        """Changes that blank the cell, fill it from records that are filled, or change the cells of the conditions."""
        yield {self.column: rows[self.column].all_of(self.value)}
        filled = np.flatnonzero(~keepers[self.column].holds(self.value))
        for _ in range(DRAWS if len(filled) else 0):
            yield {self.column: drawn_from(keepers[self.column], filled, size_of(rows), rng)}
        yield from super().moves(rules, rows, keepers, rng)
        where = np.flatnonzero(met(self.where, keepers))
        if len(where):
            at = where[rng.integers(0, len(where), size_of(rows))]
            yield {n: keepers[n][at] for n in self.columns[1:]}

    def within(self, narrowing: Narrowing) -> Iterator[Rule]:
        """Among the values that are left; where no such cell is left, its conditions cannot be."""
        parts = [narrowing.clause(c) for c in clauses(self.where)]
        possible, where = all(c.values for c in parts), " and ".join(written(c) for c in parts if c.values)
        cell = Clause(attribute=self.column, values=("(missing)" if self.value is None else canonical(self.value),))
        column = narrowing.attribute(self.column)
        lost = column is not None and not _has_cell(column, self.value)
        if lost and possible:
            yield ImpossibleRule(where=where)
        elif possible:
            yield self.model_copy(update={"where": where})
        elif self.only and not lost:
            yield ImpossibleRule(where=written(cell))


def _has_cell(attribute: Any, value: Any) -> bool:
    """Whether a column can be blank (None), or has a listed or special value."""
    if value is None:
        return bool(attribute.missing)
    listed = getattr(attribute, "keys", ()) or [canonical(v) for v in getattr(attribute, "special_values", ())]
    return canonical(value) in listed
