"""Sums: a number is the sum of others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from pydantic import Field, StrictBool

from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Name
from dpsyn_core.schema.rules.comparable import check_number
from dpsyn_core.schema.rules.linear import LinearRule


class AdditionRule(LinearRule):
    """A number is the sum of others."""

    kind: Literal["sum"] = "sum"
    column: Name = Field(description="Column of the sum; it is computed from the parts")
    parts: tuple[Name, ...] = Field(min_length=2, max_length=50, description="Columns that are added")
    measured: StrictBool = Field(
        False, description="Whether the column that others give is measured too, and not only computed from them"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The sum first."""
        return (self.column, *self.parts)

    def __str__(self) -> str:
        """For people."""
        return f"{self.column} = {' + '.join(self.parts)}"

    def weights(self, attributes: Mapping[str, Any]) -> tuple[float, ...]:
        """1 for the sum, -1 for each part."""
        del attributes
        return (1, *[-1] * len(self.parts))

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raises SchemaError where the columns hold no numbers, or no values agree with the rule."""
        for name in self.columns:
            check_number(attributes[name])
        self.check_balance(attributes)

    def computes(self, schema: Schema, computed: Collection[str]) -> str | None:
        """The sum, where no column can be blank or special."""
        del computed
        return None if self.measured or any(schema[n].special for n in self.columns) else self.column

    def implied(self, schema: Schema) -> tuple[str, ...]:
        """The sum."""
        del schema
        return (self.column,)
