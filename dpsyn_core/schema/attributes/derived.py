"""Derived attributes: columns that follow from a categorical one by a public map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.base import BaseAttribute, Value, array_of, common_type
from dpsyn_core.tables import canonical


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

    @property
    def origins(self) -> tuple[str, ...]:
        """The column that it follows from."""
        return (self.origin,)

    def check_origins(self, attributes: Mapping[str, Any]) -> None:
        """Checks that it follows from a column with listed values, each of which its map has."""
        parent = attributes.get(self.origin)
        if parent is None or not parent.listed:
            msg = f"'{self.name}' follows from '{self.origin}', which is no categorical attribute of the schema"
            raise ValueError(msg)
        self.targets(parent.keys)

    def declared(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the map."""
        parent = attributes[self.origin]
        values = tuple(dict.fromkeys(self.targets(parent.keys)))
        return {"values": values, "listed": True, "blank": parent.missing}

    def fill(self, codes: NDArray[Any], parent: Any) -> Any:
        """The mapped value of each record as a pyarrow array (n,); null where the other column is other or missing.

        Args:
            codes: (n,), of the other column.
            parent: the attribute of that column.
        """
        import pyarrow as pa

        targets: list[Any] = [*self.targets(parent.keys), *[None] * parent.special]
        values = array_of(targets, common_type(v for v in targets if v is not None))
        return values.take(pa.array(codes.astype(np.int32)))
