"""Derived attributes: columns that follow from a categorical one by a public map."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.base import BaseAttribute, Value
from dpsyn_core.tables.cells.canonical import canonical


class DerivedAttribute(BaseAttribute):
    """A column that follows from a categorical one by a public map: not synthesized, filled in when decoding."""

    coded: ClassVar[bool] = False
    kind: Literal["derived"] = "derived"
    origin: StrictStr = Field(alias="from", description="The categorical column that it follows from")
    map: tuple[tuple[Value, Value], ...] = Field(
        min_length=1, description="Pairs of a value of that column and the value here; every value of it once"
    )

    @validator(mode="after")
    def _values_differ(self) -> DerivedAttribute:
        keys = [canonical(k) for k, _ in self.map]
        if len(set(keys)) != len(keys):
            msg = "the map lists a value twice; list every value of the other column once"
            raise ValueError(msg)
        return self

    def targets(self, keys: tuple[str, ...]) -> list[Value]:
        """The value here for each key of the other column. Raises SchemaError when one is not listed."""
        listed = {canonical(k): v for k, v in self.map}
        lacking = [k for k in keys if k not in listed]
        if lacking:
            msg = f"attribute '{self.name}': the map does not list the value {lacking[0][:80]!r} of '{self.origin}'"
            raise SchemaError(msg)
        return [listed[k] for k in keys]
