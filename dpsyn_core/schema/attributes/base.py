"""What all attributes of the schema document have in common, and what the coded ones must tell of their cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictFloat, StrictInt, StrictStr

from dpsyn_core.schema.domain import CodedAttribute

Number = Annotated[StrictInt, Field(ge=-(10**30), le=10**30)] | Annotated[StrictFloat, Field(ge=-1e300, le=1e300)]
Value = StrictBool | Number | StrictStr
Source = Literal["public", "bought", "data", "bought-unconfirmed"]
EXTRAS = (
    "label",
    "description",
    "group",
    "decimals",
    "step",
    "scale",
    "written",
    "formats",
    "special_values",
    "notes",
)  # written only where they are set


class SchemaPart(BaseModel):
    """Frozen, and nothing beside the declared fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=(), populate_by_name=True
    )


class BaseAttribute(SchemaPart):
    """What every column has."""

    coded: ClassVar[bool] = True

    name: StrictStr = Field(min_length=1, description="Header of the column")
    source: Source = Field(
        "public",
        description="Where this knowledge comes from: public, bought with budget, read from the data (NOT PRIVATE), or "
        "bought for a kind and a form that were read from the data (NOT PRIVATE until a person confirms them)",
    )
    label: StrictStr | None = Field(None, description="Short name for figures")
    description: StrictStr | None = Field(None, description="What the column means")
    notes: dict[StrictStr, JsonValue] = Field(default_factory=dict, description="Facts kept from an imported file")

    def __eq__(self, other: object) -> bool:
        """The same declaration. Binnings that one of the two has built and kept are arrays, and are not compared."""
        if not isinstance(other, BaseAttribute) or type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, f) == getattr(other, f) for f in type(self).model_fields)

    __hash__ = SchemaPart.__hash__

    def document(self) -> dict[str, Any]:
        """Plain JSON values; optional extras only where they are set."""
        values = self.model_dump(mode="json", by_alias=True)
        out = {"name": values.pop("name"), "kind": values.pop("kind")}
        source = values.pop("source")
        if values.get("bins", ...) is None:  # bins stand among the required fields where they are declared
            del values["bins"]
        extras = {k: v for k in EXTRAS if (v := values.pop(k, None)) not in (None, [], {})}
        return out | values | {"source": source} | extras


class CodedBase(BaseAttribute, ABC):
    """A column that is synthesized."""

    group: StrictStr | None = Field(None, description="Columns of one group are kept together by field groups")
    missing: StrictBool = Field(False, description="Whether blank cells have a cell of their own")

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of cells, the special ones included."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of a table that its codes follow from."""
        return (self.name,)

    @property
    def special(self) -> int:
        """Cells without order at the end: other, then missing."""
        return int(self.missing)

    @property
    def in_order(self) -> bool:
        """Whether neighbouring codes are neighbouring values."""
        return True

    @property
    def is_number(self) -> bool:
        """Whether codes are bins of a number or of a date, whose values have distances."""
        return True

    def coded_attribute(self) -> CodedAttribute:
        """This column in the engine's domain."""
        return CodedAttribute(
            name=self.name,
            size=self.size,
            ordered=self.in_order,
            special=self.special,
            group=self.group,
            number=self.is_number,
            round=self.round_codes(),
        )

    def round_codes(self) -> bytes:
        """How round a number each code in order holds; empty where that is not known."""
        return b""

    @abstractmethod
    def labels(self) -> list[str]:
        """One text a cell, for figures and tables."""

    def middles(self) -> NDArray[np.float64] | None:
        """A number a cell (NaN for special cells), or None when the column holds no numbers."""
        return None

    def _tail(self) -> list[str]:
        return ["(missing)"] if self.missing else []


def common_type(values: Iterable[Value]) -> Literal["text", "integer", "float", "boolean"]:
    """Type of a column that holds these values; text when they are mixed."""
    listed = list(values)
    kinds = {type(v) for v in listed}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer" if all(-(2**63) <= v < 2**63 for v in listed) else "float"  # type: ignore[operator]
    return "float" if kinds <= {int, float} else "text"
