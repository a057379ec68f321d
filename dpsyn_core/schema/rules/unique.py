"""Records that differ: no two of them agree in all columns of the rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Bools, Name, RecordRule, Rule
from dpsyn_core.schema.rules.columns import Group, RuleColumn, plain_in


class UniqueRule(Rule):
    """No two records of a synthetic table agree in all these columns; records with a blank among them are free."""

    kind: Literal["unique"] = "unique"
    together: tuple[Name, ...] = Field(min_length=1, max_length=20, description="Columns that tell records apart")

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.together

    @property
    def table_wide(self) -> bool:
        """All records are compared with each other."""
        return True

    @property
    def unique(self) -> bool:
        """Yes."""
        return True

    def __str__(self) -> str:
        """For people."""
        return f"unique together: {', '.join(self.together)}"

    def words(self) -> tuple[str, dict[str, Any]]:
        """The columns."""
        return "rules.says_unique", {"columns": ", ".join(self.together)}

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError for a column of numbers without a step: values that are drawn at random never repeat."""
        for name in self.together:
            a = attributes[name]
            if isinstance(a, NumericAttribute) and a.dtype == "float" and a.step is None and a.decimals is None:
                msg = f"'{name}' has no step, so that its values differ anyhow; declare its step or leave it out"
                raise SchemaError(msg)

    def per_record(self, group: Group, kept: Bools, rules: Sequence[Rule]) -> RecordRule | None:
        """None: it is about pairs of records."""
        del group, kept, rules
        return None

    def broken(self, group: Group) -> Bools:
        """Records that agree with an earlier one in all columns of the rule."""
        keys, complete = self._keys(group)
        at = np.flatnonzero(complete)
        out = np.zeros(len(keys), dtype=bool)
        again = np.ones(len(at), dtype=bool)
        again[np.unique(keys[at], return_index=True)[1]] = False
        out[at] = again
        return out

    def _keys(self, group: Group) -> tuple[NDArray[np.int64], Bools]:
        """A number for each record, equal where the columns agree; and which records lack none of them."""
        keys = np.zeros(len(group[self.together[0]].values), dtype=np.int64)
        for name in self.together:
            column = group[name]
            values = np.round(column.values / column.step) if column.values.dtype.kind == "f" else column.values
            number = np.unique(values, return_inverse=True)[1].astype(np.int64)
            keys = np.unique(keys * (int(number.max(initial=0)) + 1) + number, return_inverse=True)[1].astype(np.int64)
        return keys, plain_in(self.together, group)

    def combinations(self, schema: Schema) -> float:
        """How many records can differ, by the declared values; a blank cell makes it endless."""
        if any(schema[n].missing for n in self.together):
            return math.inf
        return math.prod(_number_of_values(schema[n]) for n in self.together)

    def redrawn(self, keepers: Group, turn: int) -> tuple[str, ...]:
        """Columns to draw again in a turn: one at a time, that of most values first; each fourth time all of them."""
        if turn % 4 == 3:
            return self.together
        by_values = sorted(self.together, key=lambda n: -len(np.unique(keepers[n].values[:4096])))
        return (by_values[turn % 4 % len(by_values)],)


def drawn_again(column: RuleColumn, keepers: RuleColumn, n: int, rng: Generator, *, uniform: bool) -> RuleColumn:
    """Cells (n,) of other records; or uniform on the domain, where those leave no combination free."""
    number = len(keepers.values)
    if number and not uniform:
        return keepers[rng.integers(0, number, n)]
    a = column.attribute
    return RuleColumn.read(a.decode(rng.integers(0, a.size - a.special, n), rng), a)


def _number_of_values(attribute: Any) -> float:
    one = attribute.decode(np.zeros(1, dtype=np.int64), np.random.default_rng(0))
    column = RuleColumn.read(one, attribute)
    if attribute.kind == "categorical":
        return math.inf if attribute.other else len(attribute.values)
    low, high = column.ends
    return math.inf if attribute.kind == "numeric" and attribute.special_values else (high - low) // column.step + 1
