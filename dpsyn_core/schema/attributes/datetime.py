"""Attributes of dates and times with a public range, and the bins that follow from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.ranges import CalendarBins, CountBins, RangeAttribute
from dpsyn_core.schema.binning import WholeBins
from dpsyn_core.schema.grids import OF_TIMES, Rhythm, calendar_width


class DatetimeAttribute(RangeAttribute):
    """A column of dates, or of times when min and max carry a time of day; values outside are clamped."""

    dated: ClassVar[bool] = True
    values_are: ClassVar[str] = "dates"
    remedy: ClassVar[str] = ", declare how its dates are written (formats)"

    kind: Literal["datetime"] = "datetime"
    min: StrictStr = Field(description="First public day or time, ISO 8601")
    max: StrictStr = Field(description="Last public day or time, ISO 8601")
    bins: CalendarBins | None = Field(
        None, description="{'every': 'day'|'month'|'quarter'|'year'} or {'count': K}; absent: days, or about 1,000 bins"
    )
    rhythm: Rhythm | None = Field(
        None,
        description="The only days that can be: weekdays, mondays to sundays, or the start or the end of each month, "
        "quarter or year (month-end); of times of day: minutes, five-minutes, ten-minutes, quarter-hours, half-hours, "
        "hours; absent: every day, or second",
    )
    formats: tuple[StrictStr, ...] = Field(
        (),
        description="How cells are written, e.g. %d/%m/%Y, or %-d.%-m.%Y without zeros in front, tried in order; "
        "empty: ISO 8601",
    )

    @validator(mode="after")
    def _range(self) -> DatetimeAttribute:
        from dpsyn_core.tables import instants

        first, last = instants.parse_one(self.min), instants.parse_one(self.max)
        if first is None or last is None:
            msg = "min and max must be written as 2020-01-31 or 2020-01-31T13:00:00 (optionally with Z or +01:00)"
            raise ValueError(msg)
        if first > last:
            msg = f"min {self.min} is after max {self.max}"
            raise ValueError(msg)
        for f in self.formats:
            instants.pattern(f)
        if self.formats and self.precise and not {"%H", "%I"} & set(re.findall("%.", instants.plain(self.formats[0]))):
            msg = f"formats[0] {self.formats[0]!r} has no hour, but min or max has a time of day; add %H:%M"
            raise ValueError(msg)
        if self.rhythm is not None and (timed := self.rhythm in OF_TIMES) != self.precise:
            if timed:
                msg = f"rhythm '{self.rhythm}' is of times, but min and max are days; write them as 2020-01-31T13:00:00"
            else:
                msg = f"rhythm '{self.rhythm}' is of days, but min or max has a time of day; write them as 2020-01-31"
            raise ValueError(msg)
        self._build()
        return self

    @cached_property
    def precise(self) -> bool:
        """Whether cells are times rather than days."""
        from dpsyn_core.tables import instants

        return instants.has_time(self.min) or instants.has_time(self.max)

    @cached_property
    def zoned(self) -> bool:
        """Whether cells are times in UTC."""
        from dpsyn_core.tables import instants

        return instants.has_zone(self.min) or instants.has_zone(self.max)

    def seconds_of(self, column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """A column as seconds since 1970, and which cells are dates.

        31 December 9999 is none where the range ends before it and a cell may be blank: it says that there is no end.
        """
        from dpsyn_core.tables import instants

        seconds, valid = instants.to_instants(column, self.formats)
        ends = self.missing and self.binning.last * self.unit_seconds < instants.NEVER
        return seconds, valid & (seconds < instants.NEVER) if ends else valid

    @property
    def unit_seconds(self) -> int:
        """Seconds in one step of the binning: a second or a day."""
        return 1 if self.precise else 86_400

    def _build(self) -> WholeBins:
        from dpsyn_core.tables import instants

        step = self.unit_seconds
        low, high = (instants.parse_one(t) for t in (self.min, self.max))
        if low is None or high is None:  # the validator has refused this before
            msg = f"attribute '{self.name}' has a range that is not ISO 8601"
            raise SchemaError(msg)
        low, high = low // step, high // step
        if self.rhythm is not None:
            from dpsyn_core.schema.rhythm import bins_of, timed_bins  # a run without one does not need it

            declared = None if self.bins is None else self._cut(low, high)
            return (timed_bins if self.precise else bins_of)(self.rhythm, low, high, declared)
        return self._cut(low, high)

    def _cut(self, low: int, high: int) -> WholeBins:
        """Bins of the range as declared, in days or seconds."""
        step = self.unit_seconds
        if self.bins is None:
            width = calendar_width(high - low + 1, seconds=self.precise)
            # boundaries on whole hours and days, not on the first second of the range
            first = low if not self.precise else low // width * width
            return WholeBins(np.unique(np.maximum(np.arange(first, high + 1, width, dtype=np.int64), low)), high)
        if isinstance(self.bins, CountBins):
            return WholeBins.equal(low, high, self.bins.count)
        from dpsyn_core.tables import instants

        return WholeBins(instants.calendar_starts(low * step, high * step, self.bins.every) // step, high)

    @cached_property
    def binning(self) -> WholeBins:
        """The bins, in days or seconds since 1970."""
        return self._build()

    @property
    def whole(self) -> bool:
        """Always: dates are counted in whole days or seconds."""
        return True

    @property
    def constant(self) -> bool:
        """Whether the range is a single date."""
        return self.min == self.max

    def labels(self) -> list[str]:
        """First day (or time) of each bin, or the month or the year."""
        unit: Literal["D", "s"] = "s" if self.precise else "D"
        every = getattr(self.bins, "every", "")
        cut = {"day": 10, "month": 7, "year": 4}.get(every, 19)
        binning = self.binning
        days = binning.starts if binning.only is None or self.bins is not None else binning.only[binning.places()[0]]
        starts = days.astype(f"datetime64[{unit}]")
        if every == "quarter":
            return [f"{str(t)[:4]}-Q{(int(str(t)[5:7]) + 2) // 3}" for t in starts] + self._tail()
        return [str(t)[:cut] for t in starts] + self._tail()

    def numbers(self) -> None:
        """None: dates cannot be added up."""
        return

    def describe(self) -> str:
        """The range."""
        return f"date from {self.min} to {self.max}"

    def declared(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Range and formats."""
        del attributes
        kind = "datetime" if self.precise else "date"
        return {"kind": kind, "low": self.min, "high": self.max, "formats": self.formats, "blank": self.missing}

    def read(self, column: Any, *, comma: bool = False) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Days or seconds (n,) since 1970, and which cells are dates."""
        del comma
        seconds, valid = self.seconds_of(column)
        return seconds // self.unit_seconds, valid

    def typed(self, values: NDArray[Any], blank: NDArray[np.bool_] | None) -> Any:
        """Dates or times as a pyarrow array (n,); text where the schema declares how they are written."""
        import pyarrow as pa

        if self.precise:
            moments = pa.array(values, mask=blank).cast(pa.timestamp("s", tz="UTC" if self.zoned else None))
        else:
            moments = pa.array(values.astype(np.int32), mask=blank).cast(pa.date32())
        if not self.formats:
            return moments
        from dpsyn_core.tables import instants

        return instants.written(moments, self.formats[0])

    def _outside(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        out: NDArray[np.bool_] = (values < int(self.binning.starts[0])) | (values > self.binning.last)
        return out

    def _off_rhythm(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which dates inside the range the declared rhythm does not have."""
        if self.rhythm is None:
            return np.zeros(len(values), dtype=bool)
        from dpsyn_core.schema.rhythm import keeps

        return ~self._outside(values) & ~keeps(self.rhythm, values)

    def _mend(self, column: Any, unread: NDArray[np.bool_]) -> str:
        del column, unread
        return "declare how its dates are written (formats)"
