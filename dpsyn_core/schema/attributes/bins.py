"""How a schema declares the bins of numbers and dates: by their count, by their edges, or by the calendar."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StrictInt, Tag
from pydantic import model_validator as validator

from dpsyn_core.schema.attributes.base import Number, SchemaPart
from dpsyn_core.schema.binning import MAX_BINS


class CountBins(SchemaPart):
    """K bins of equal width."""

    count: StrictInt = Field(ge=1, le=MAX_BINS)


class EdgeBins(SchemaPart):
    """Own boundaries, rising, within min and max (which are added at the ends when they are not listed)."""

    edges: tuple[Number, ...] = Field(min_length=1, max_length=MAX_BINS)

    @validator(mode="after")
    def _rising(self) -> EdgeBins:
        if any(b <= a for a, b in zip(self.edges, self.edges[1:], strict=False)):
            msg = "edges must rise from each to the next"
            raise ValueError(msg)
        return self


class EveryBins(SchemaPart):
    """Calendar bins."""

    every: Literal["day", "month", "quarter", "year"]


def _bins_tag(bins: Any) -> str | None:
    """Which kind of bins is meant, by its only key; None when it is no object."""
    if isinstance(bins, CountBins | EdgeBins | EveryBins):
        return type(bins).__name__
    if not isinstance(bins, dict):
        return None
    return "EdgeBins" if "edges" in bins else "EveryBins" if "every" in bins else "CountBins"


NumericBins = Annotated[
    Annotated[CountBins, Tag("CountBins")] | Annotated[EdgeBins, Tag("EdgeBins")], Discriminator(_bins_tag)
]
CalendarBins = Annotated[
    Annotated[CountBins, Tag("CountBins")] | Annotated[EveryBins, Tag("EveryBins")], Discriminator(_bins_tag)
]
