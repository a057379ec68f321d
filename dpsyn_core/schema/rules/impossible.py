"""Impossible combinations: no record meets all conditions of the rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.rules.base import Bools, Narrowing, RecordRule, Rule, RuleProposal, Where
from dpsyn_core.schema.rules.columns import Group, any_broken
from dpsyn_core.schema.rules.condition import meanings, met, met_by_column, named
from dpsyn_core.schema.rules.conditional import ConditionalRule
from dpsyn_core.schema.rules.exchange import PARTNERS, swap
from dpsyn_core.schema.rules.zeros import CodeTable, all_of
from dpsyn_core.tables import clauses, written


class ImpossibleRule(ConditionalRule):
    """No record meets all conditions."""

    kind: Literal["impossible"] = "impossible"
    where: Where = Field(description="Conditions as in questions: age in [0, 15] and marital = married")

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the conditions, each once."""
        return named(self.where)

    def __str__(self) -> str:
        """For people."""
        return f"impossible: {self.where}"

    def words(self) -> tuple[str, dict[str, Any]]:
        """The conditions, as they are written."""
        return "rules.says_impossible", {"where": self.where}

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError for a value that the schema does not have."""
        for column, listed in meanings(self.where, attributes).items():
            codes = [c.codes for c in listed if c.codes is not None]
            categorical = isinstance(attributes[column], CategoricalAttribute)
            if not categorical or not np.logical_and.reduce(codes).all():
                break
        else:
            msg = "every value that the schema has meets its conditions, so that no record would be left; narrow them"
            raise SchemaError(msg)

    def broken(self, group: Group) -> Bools:
        """Records that meet all conditions."""
        return met(self.where, group)

    def zeros(self, table: CodeTable) -> Bools | None:
        """Cells all of whose values meet the conditions."""
        if not table.has(self.columns):
            return None
        return all_of([table.along(n, table.axes[n].all(m)) for n, m in table.met(self.where, every=True)])

    def exchanges(self, rules: Sequence[RecordRule], columns: Group, rng: Generator) -> Iterator[RuleProposal]:
        """One cell exchanged with a record that fails its condition and can take the other cell."""
        for name in sorted(self.columns, key=lambda n: sum(n in r.columns for r in rules)):
            for _ in range(PARTNERS):
                by_column, fine = met_by_column(self.where, columns), ~any_broken(rules, columns)
                apart = ~np.logical_and.reduce([np.ones_like(fine), *(m for n, m in by_column.items() if n != name)])
                left = np.flatnonzero(self.broken(columns))
                others = np.flatnonzero(~by_column[name] & apart & fine)
                n = min(len(left), len(others))
                if not n:
                    break
                yield swap(columns, [name], rng.permutation(left)[:n], rng.choice(others, n, replace=False))

    def within(self, narrowing: Narrowing) -> Iterator[Rule]:
        """The conditions among the values that are left."""
        parts = [narrowing.clause(c) for c in clauses(self.where)]
        if all(c.values for c in parts):
            yield ImpossibleRule(where=" and ".join(written(c) for c in parts))
