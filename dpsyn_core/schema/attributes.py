"""Attributes of the schema document: what is declared public about each column, and the cells it makes."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
)
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.binning import MAX_BINS, RealBins, WholeBins
from dpsyn_core.schema.domain import CodedAttribute
from dpsyn_core.schema.grids import FINE, calendar_width, declared_step, exact, fine_starts
from dpsyn_core.tables import amounts, instants
from dpsyn_core.tables.canonical import canonical

KEPT_BINS = 10_000  # of a column, up to which bins are kept for the next schema with the same range
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


class Part(BaseModel):
    """Frozen, and nothing beside the declared fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=(), populate_by_name=True
    )


class BaseAttribute(Part):
    """What every column has."""

    coded: ClassVar[bool] = True

    name: StrictStr = Field(min_length=1, description="Header of the column")
    source: Source = Field(
        "public",
        description="Where this knowledge comes from: public, bought with budget, read from the data (NOT PRIVATE), or "
        "bought for a kind that was read from the data (NOT PRIVATE until a person confirms the kind)",
    )
    label: StrictStr | None = Field(None, description="Short name for figures")
    description: StrictStr | None = Field(None, description="What the column means")
    notes: dict[StrictStr, JsonValue] = Field(default_factory=dict, description="Facts kept from an imported file")

    def __eq__(self, other: object) -> bool:
        """The same declaration. Binnings that one of the two has built and kept are arrays, and are not compared."""
        if not isinstance(other, BaseAttribute) or type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, f) == getattr(other, f) for f in type(self).model_fields)

    __hash__ = Part.__hash__

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
        )

    @abstractmethod
    def labels(self) -> list[str]:
        """One text a cell, for figures and tables."""

    def middles(self) -> NDArray[np.float64] | None:
        """A number a cell (NaN for special cells), or None when the column holds no numbers."""
        return None

    def _tail(self) -> list[str]:
        return ["(missing)"] if self.missing else []


class CategoricalAttribute(CodedBase):
    """A column with a public list of values."""

    kind: Literal["categorical"] = "categorical"
    values: tuple[Value, ...] = Field(min_length=1, description="All public values; compared after casting")
    ordered: StrictBool = Field(False, description="Whether the values have an order")
    other: StrictBool = Field(False, description="Whether values outside the list have a cell of their own")

    @validator(mode="after")
    def _values_differ(self) -> CategoricalAttribute:
        if len(self.values) > MAX_BINS:
            msg = f"{len(self.values)} values are above the cap of {MAX_BINS}"
            raise ValueError(msg)
        keys = self.keys
        if len(set(keys)) != len(keys):
            seen: set[str] = set()
            repeated = next(k for k in keys if k in seen or seen.add(k))  # type: ignore[func-returns-value]
            msg = f"the value {repeated!r} stands twice in the domain (values are compared as text); remove one"
            raise ValueError(msg)
        if self.missing and "" in self.values:
            msg = "the value '' and a missing cell cannot both be declared: a blank cell could be either; drop one"
            raise ValueError(msg)
        return self

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Each value as canonical text: what cells are compared with."""
        return tuple(canonical(v) for v in self.values)

    @property
    def type(self) -> Literal["text", "integer", "float", "boolean"]:
        """Type of the decoded column: that of the values, text when they are mixed."""
        return common_type(self.values)

    @property
    def size(self) -> int:
        """Values, other, missing."""
        return len(self.values) + self.special

    @property
    def special(self) -> int:
        """Other, then missing."""
        return int(self.other) + int(self.missing)

    @property
    def is_number(self) -> bool:
        """Never: listed values have at most an order."""
        return False

    @property
    def in_order(self) -> bool:
        """As declared."""
        return self.ordered

    def labels(self) -> list[str]:
        """The values as text, or the words for them that a data dictionary gave (`notes.labels`)."""
        found = self.notes.get("labels")
        given = found if isinstance(found, dict) else {}
        words = [str(given.get(k, k)) for k in self.keys]
        if len(set(words)) < len(words):  # two codes of one word must still be told apart
            words = [w if w == k else f"{k}: {w}" for k, w in zip(self.keys, words, strict=True)]
        return [*words, *(["(other)"] if self.other else []), *self._tail()]

    def middles(self) -> NDArray[np.float64] | None:
        """The values themselves when they are numbers."""
        if self.type not in ("integer", "float"):
            return None
        return np.array([*map(float, self.values), *[np.nan] * self.special])


class CountBins(Part):
    """K bins of equal width."""

    count: StrictInt = Field(ge=1, le=MAX_BINS)


class EdgeBins(Part):
    """Own boundaries, rising, within min and max (which are added at the ends when they are not listed)."""

    edges: tuple[Number, ...] = Field(min_length=1, max_length=MAX_BINS)

    @validator(mode="after")
    def _rising(self) -> EdgeBins:
        if any(b <= a for a, b in zip(self.edges, self.edges[1:], strict=False)):
            msg = "edges must rise from each to the next"
            raise ValueError(msg)
        return self


class EveryBins(Part):
    """Calendar bins."""

    every: Literal["day", "month", "year"]


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


@lru_cache(maxsize=2000)
def _binned(
    whole: bool, low: float, high: float, cut: CountBins | EdgeBins | None, step: float | None, decimals: int | None,
    scale: str | None,
) -> WholeBins | RealBins:  # fmt: skip
    """The bins of a range. Kept, for a page with a schema of 200 columns makes the same ones on every move."""
    every = None if step is None else exact(step)
    own = int(every) if whole and every is not None else 1
    if isinstance(cut, EdgeBins):
        if whole:
            return WholeBins.edged(int(low), int(high), cut.edges, own)
        return RealBins.edged(low, high, cut.edges, decimals, every)
    if isinstance(cut, CountBins) and scale != "log":
        if whole:
            return WholeBins.equal(int(low), int(high), cut.count, own)
        return RealBins.equal(low, high, cut.count if high > low else 1, decimals, every)
    if every is None and (whole or decimals is not None):
        every = exact(1) if whole else 1 / exact(10 ** (decimals or 0))
    starts = fine_starts(low, high, every, scale, FINE if cut is None else cut.count)
    return WholeBins.fine(int(low), int(high), starts, own) if whole else RealBins.fine(low, high, starts, every)


class NumericAttribute(CodedBase):
    """A column of numbers with a public range; values outside it are clamped."""

    kind: Literal["numeric"] = "numeric"
    dtype: Literal["integer", "float"] = Field("float", description="Whether the numbers are whole")
    min: Number = Field(description="Smallest public value; smaller ones are clamped to it")
    max: Number = Field(description="Largest public value; larger ones are clamped to it")
    bins: NumericBins | None = Field(
        None,
        description="{'count': K} bins of equal width, or {'edges': [...]}; absent: as fine as range and step ask, up "
        "to about 1,000",
    )
    decimals: Annotated[StrictInt, Field(ge=0, le=15)] | None = Field(
        None, description="Digits after the point of decoded floats"
    )
    step: Number | None = Field(
        None, description="Distance of neighbouring values, which are its multiples: 0.01 for cents, 5, 1000"
    )
    scale: Literal["linear", "log"] | None = Field(
        None,
        description="How bins grow where no edges are declared: linear, log, or absent for half of each",
    )
    written: StrictStr | None = Field(
        None,
        max_length=60,
        description="An example of how cells are written, where they are not plain numbers: $1,234.56, 12.5 %, "
        "1.234,5 €",
    )
    special_values: tuple[Number, ...] = Field(
        (), max_length=1000, description="Codes such as 999998 for 'not applicable': each has a cell of its own"
    )

    @validator(mode="after")
    def _range(self) -> NumericAttribute:
        if self.dtype == "integer" and not (float(self.min).is_integer() and float(self.max).is_integer()):
            msg = f"min {self.min} and max {self.max} of an integer column must be whole numbers"
            raise ValueError(msg)
        if self.min > self.max:
            msg = f"min {self.min} is above max {self.max}"
            raise ValueError(msg)
        if isinstance(self.bins, EdgeBins) and not (self.min <= self.bins.edges[0] and self.bins.edges[-1] <= self.max):
            msg = f"bins.edges must lie between min {self.min} and max {self.max}"
            raise ValueError(msg)
        if len(set(self.special_values)) != len(self.special_values):
            msg = "special_values repeat; list each once"
            raise ValueError(msg)
        if self.dtype == "integer" and not all(float(v).is_integer() for v in self.special_values):
            msg = "special_values of an integer column must be whole numbers"
            raise ValueError(msg)
        if self.step is not None and self.decimals is not None:
            msg = "step and decimals both say how numbers are written; keep step and drop decimals"
            raise ValueError(msg)
        if self.written is not None and self.dtype == "integer" and amounts.form(self.written).digits:
            msg = f"written {self.written!r} has digits after the mark, and the column is of whole numbers; drop them"
            raise ValueError(msg)
        if self.scale is not None and isinstance(self.bins, EdgeBins):
            msg = "bins.edges say where bins begin, so that scale has nothing to decide; drop one of them"
            raise ValueError(msg)
        if self.step is not None:
            declared_step(self.min, self.max, self.step, whole=self.dtype == "integer")
        self._build()
        return self

    def _build(self) -> WholeBins | RealBins:
        """Bins as declared; else round ones as fine as range, step and scale ask. See `grids.fine_starts`."""
        few = self.bins is None or (isinstance(self.bins, CountBins) and self.bins.count <= KEPT_BINS)
        make = _binned if few else _binned.__wrapped__
        return make(self.dtype == "integer", self.min, self.max, self.bins, self.step, self.decimals, self.scale)

    @cached_property
    def binning(self) -> WholeBins | RealBins:
        """The bins, ready to use."""
        return self._build()

    @property
    def size(self) -> int:
        """Bins, special values, missing."""
        return self.binning.size + self.special

    @property
    def special(self) -> int:
        """Special values, then missing."""
        return len(self.special_values) + int(self.missing)

    def _tail(self) -> list[str]:
        return [*(canonical(v) for v in self.special_values), *super()._tail()]

    def labels(self) -> list[str]:
        """'14-21' for whole bins, '[0.5, 1)' for real ones, '14' or '0.5' where a bin holds that value alone."""
        low, high = self.binning.bounds()
        if isinstance(self.binning, WholeBins):
            texts = [f"{a}-{b}" for a, b in zip(low, high, strict=True)]
        else:
            texts = [f"[{a:.6g}, {b:.6g})" for a, b in zip(low, high, strict=True)]
            texts[-1] = texts[-1][:-1] + "]"
        alone, middles = self.binning.alone(), self.binning.middles()
        if isinstance(self.binning, WholeBins):
            values = (low if self.binning.step == 1 else middles.astype(np.int64)).tolist()
        else:
            values = [f"{v:.10g}" for v in middles]
        return [str(v) if one else t for t, v, one in zip(texts, values, alone, strict=True)] + self._tail()

    def middles(self) -> NDArray[np.float64]:
        """Mean value of each bin."""
        return np.append(self.binning.middles(), [np.nan] * self.special)


class DatetimeAttribute(CodedBase):
    """A column of dates, or of times when min and max carry a time of day; values outside are clamped."""

    kind: Literal["datetime"] = "datetime"
    min: StrictStr = Field(description="First public day or time, ISO 8601")
    max: StrictStr = Field(description="Last public day or time, ISO 8601")
    bins: CalendarBins | None = Field(
        None, description="{'every': 'day'|'month'|'year'} or {'count': K}; absent: days, or up to about 1,000 bins"
    )
    formats: tuple[StrictStr, ...] = Field(
        (), description="How cells are written, e.g. %d/%m/%Y, tried in order; empty: ISO 8601"
    )

    @validator(mode="after")
    def _range(self) -> DatetimeAttribute:
        first, last = instants.parse_one(self.min), instants.parse_one(self.max)
        if first is None or last is None:
            msg = "min and max must be written as 2020-01-31 or 2020-01-31T13:00:00 (optionally with Z or +01:00)"
            raise ValueError(msg)
        if first > last:
            msg = f"min {self.min} is after max {self.max}"
            raise ValueError(msg)
        for f in self.formats:
            instants.pattern(f)
        if self.formats and self.precise and not {"%H", "%I"} & set(re.findall("%.", self.formats[0])):
            msg = f"formats[0] {self.formats[0]!r} has no hour, but min or max has a time of day; add %H:%M"
            raise ValueError(msg)
        self._build()
        return self

    @property
    def precise(self) -> bool:
        """Whether cells are times rather than days."""
        return instants.has_time(self.min) or instants.has_time(self.max)

    @property
    def zoned(self) -> bool:
        """Whether cells are times in UTC."""
        return instants.has_zone(self.min) or instants.has_zone(self.max)

    @property
    def unit_seconds(self) -> int:
        """Seconds in one step of the binning: a second or a day."""
        return 1 if self.precise else 86_400

    def _build(self) -> WholeBins:
        step = self.unit_seconds
        low, high = (instants.parse_one(t) for t in (self.min, self.max))
        if low is None or high is None:  # the validator has refused this before
            msg = f"attribute '{self.name}' has a range that is not ISO 8601"
            raise SchemaError(msg)
        low, high = low // step, high // step
        if self.bins is None:
            width = calendar_width(high - low + 1, seconds=self.precise)
            # boundaries on whole hours and days, not on the first second of the range
            first = low if not self.precise else low // width * width
            return WholeBins(np.unique(np.maximum(np.arange(first, high + 1, width, dtype=np.int64), low)), high)
        if isinstance(self.bins, CountBins):
            return WholeBins.equal(low, high, self.bins.count)
        return WholeBins(instants.calendar_starts(low * step, high * step, self.bins.every) // step, high)

    @cached_property
    def binning(self) -> WholeBins:
        """The bins, in days or seconds since 1970."""
        return self._build()

    @property
    def size(self) -> int:
        """Bins, missing."""
        return self.binning.size + self.special

    def labels(self) -> list[str]:
        """First day (or time) of each bin, or the month or the year."""
        unit: Literal["D", "s"] = "s" if self.precise else "D"
        cut = {"day": 10, "month": 7, "year": 4}.get(getattr(self.bins, "every", ""), 19)
        starts = self.binning.starts.astype(f"datetime64[{unit}]")
        return [str(t)[:cut] for t in starts] + self._tail()

    def middles(self) -> NDArray[np.float64]:
        """Middle of each bin in days or seconds since 1970."""
        return np.append(self.binning.middles(), [np.nan] * self.special)


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


class IdentifierAttribute(BaseAttribute):
    """A column that names individuals; it never leaves."""

    coded: ClassVar[bool] = False
    kind: Literal["identifier"] = "identifier"


class IgnoredAttribute(BaseAttribute):
    """A column that is not synthesized and does not appear in the output."""

    coded: ClassVar[bool] = False
    kind: Literal["ignored"] = "ignored"


Attribute = Annotated[
    CategoricalAttribute
    | NumericAttribute
    | DatetimeAttribute
    | DerivedAttribute
    | IdentifierAttribute
    | IgnoredAttribute,
    Field(discriminator="kind"),
]
CodedColumn = CategoricalAttribute | NumericAttribute | DatetimeAttribute


def common_type(values: Iterable[Value]) -> Literal["text", "integer", "float", "boolean"]:
    """Type of a column that holds these values; text when they are mixed."""
    listed = list(values)
    kinds = {type(v) for v in listed}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer" if all(-(2**63) <= v < 2**63 for v in listed) else "float"  # type: ignore[operator]
    return "float" if kinds <= {int, float} else "text"
