"""Numeric attributes: columns of numbers with a public range, and the bins that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictInt, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.schema.attributes.base import FAR, Number, Places, Value
from dpsyn_core.schema.attributes.ranges import CountBins, EdgeBins, NumericBins, RangeAttribute
from dpsyn_core.schema.binning import RealBins, WholeBins, lengths, roundness
from dpsyn_core.schema.grids import FINE, declared_step, exact, fine_starts
from dpsyn_core.tables import COMMA, canonical, places_of, to_text, uniques
from dpsyn_core.tables import numbers as cell_numbers

KEPT_BINS = 10_000  # of a column, up to which bins are kept for the next schema with the same range


@lru_cache(maxsize=2000)
def _binned(
    whole: bool,
    low: float,
    high: float,
    cut: CountBins | EdgeBins | None,
    step: float | None,
    decimals: int | None,
    scale: str | None,
) -> WholeBins | RealBins:
    """The bins of a range. Kept, for a page with a schema of 200 columns makes the same ones on every move."""
    every = None if step is None else exact(step)
    width = int(every) if whole and every is not None else 1
    if isinstance(cut, EdgeBins):
        if whole:
            return WholeBins.edged(int(low), int(high), cut.edges, width)
        return RealBins.edged(low, high, cut.edges, decimals, every)
    if isinstance(cut, CountBins) and scale != "log":
        if whole:
            return WholeBins.equal(int(low), int(high), cut.count, width)
        return RealBins.equal(low, high, cut.count if high > low else 1, decimals, every)
    if every is None and (whole or decimals is not None):
        every = exact(1) if whole else 1 / exact(10 ** (decimals or 0))
    starts = fine_starts(low, high, every, scale, FINE if cut is None else cut.count)
    return WholeBins.fine(int(low), int(high), starts, width) if whole else RealBins.fine(low, high, starts, every)


@lru_cache(maxsize=2000)
def _round_and_lengths(
    whole: bool,
    low: float,
    high: float,
    cut: CountBins | EdgeBins | None,
    step: float | None,
    decimals: int | None,
    scale: str | None,
) -> tuple[bytes, bytes]:
    """How round the numbers are that the bins of a range hold, and how long the bins; kept as the bins are."""
    bins = _binned(whole, low, high, cut, step, decimals, scale)
    first, last = bins.bounds()
    end = last + 1 if isinstance(bins, WholeBins) else last
    return roundness(first, end), lengths(first, end)


class NumericAttribute(RangeAttribute):
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
        None, description="How bins grow where no edges are declared: linear, log, or absent for half of each"
    )
    written: StrictStr | None = Field(
        None,
        max_length=60,
        description="An example of how cells are written, where they are not plain numbers: $1,234.56, 12.5 %, "
        "1.234,5 €, or 00:12:33, which is a number of seconds",
    )
    places: Places = None
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
        if self.places is not None and self.dtype == "integer":
            msg = f"places {self.places} is about digits after the mark, and the column is of whole numbers; drop it"
            raise ValueError(msg)
        if self.written is not None and _digits(self.written) and self.dtype == "integer":
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
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.dtype == "integer"

    @property
    def single_values(self) -> tuple[Value, ...]:
        """The special values."""
        return self.special_values

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest public number."""
        return float(self.min), float(self.max)

    @property
    def constant(self) -> bool:
        """Whether the range is a single number."""
        return self.min == self.max

    def round_codes(self) -> bytes:
        """By the bins alone; not of more bins than are kept."""
        return self._facts_of_bins()[0]

    def lengths(self) -> bytes:
        """By the bins alone; not of more bins than are kept."""
        return self._facts_of_bins()[1]

    def _facts_of_bins(self) -> tuple[bytes, bytes]:
        if self.binning.size > KEPT_BINS:
            return b"", b""
        whole = self.dtype == "integer"
        return _round_and_lengths(whole, self.min, self.max, self.bins, self.step, self.decimals, self.scale)

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

    def describe(self) -> str:
        """The range and the special values."""
        special = f", and {', '.join(map(str, self.special_values))}" if self.special_values else ""
        return f"{self.dtype} from {self.min} to {self.max}{special}"

    def declared(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Range, step, decimals and special values."""
        del attributes
        return {
            "kind": self.dtype,
            "low": self.min,
            "high": self.max,
            "step": self.step,
            "decimals": self.decimals,
            "listed": False,
            "codes_missing": self.special_values,
            "blank": self.missing,
        }

    @property
    def decimal_comma(self) -> bool:
        """Whether cells are written as amounts with a decimal comma."""
        if self.written is None:
            return False
        from dpsyn_core.tables import amounts

        return amounts.form(self.written).mark == ","

    @property
    def marks(self) -> dict[bytes, bytes]:
        """A decimal comma for the table, and how many digits its cells have."""
        places = {} if self.places is None else places_of(self.name, self.places)
        return {**(COMMA if self.decimal_comma else {}), **places}

    def read(self, column: Any, *, comma: bool = False) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Numbers (n,), and which cells are some."""
        return cell_numbers.to_numbers(column, whole=self.whole, comma=comma, written=self.written)

    def typed(self, values: NDArray[Any], blank: NDArray[np.bool_] | None) -> Any:
        """Numbers as a pyarrow array (n,); amounts as text."""
        if self.written is not None:
            from dpsyn_core.tables import amounts

            return amounts.written(values, amounts.form(self.written), blank)
        import pyarrow as pa

        return pa.array(values, mask=blank)

    def values_of(self, column: Any, codes: NDArray[Any], *, comma: bool = False) -> NDArray[np.float64]:
        """The numbers as they are written; only those whose squares have no float are clamped to the range."""
        del codes
        numbers, valid = cell_numbers.to_numbers(column, whole=False, comma=comma, written=self.written)
        out = np.where(valid, numbers.astype(np.float64), np.nan)
        return np.asarray(np.where(np.abs(out) > FAR, np.clip(out, *self.limits), out))

    def _outside(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        special = np.isin(values, self.special_values)
        out: NDArray[np.bool_] = ~special & ((values < self.min) | (values > self.max))
        return out

    def _mend(self, column: Any, unread: NDArray[np.bool_]) -> str:
        if self.written is None and unread.any():
            import pyarrow as pa

            from dpsyn_core.tables import amounts

            entries, _ = uniques(column.filter(pa.array(unread)))
            if amounts.recognised(to_text(entries)) is not None:
                return "declare how its numbers are written (written)"
        return "list special codes as special_values"


def _digits(written: str) -> int:
    """Digits after the decimal mark of an amount. Raises SchemaError where the text shows none."""
    from dpsyn_core.tables import amounts

    return amounts.form(written).digits
