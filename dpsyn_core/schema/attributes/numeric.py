"""Numeric attributes: columns of numbers with a public range, and the bins that follow from it."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictInt, StrictStr
from pydantic import model_validator as validator

from dpsyn_core.schema.attributes.base import CodedBase, Number
from dpsyn_core.schema.attributes.bins import CountBins, EdgeBins, NumericBins
from dpsyn_core.schema.binning import RealBins, WholeBins, roundness
from dpsyn_core.schema.grids import FINE, declared_step, exact, fine_starts
from dpsyn_core.tables.cells.canonical import canonical

KEPT_BINS = 10_000  # of a column, up to which bins are kept for the next schema with the same range


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


@lru_cache(maxsize=2000)
def _rounded(
    whole: bool, low: float, high: float, cut: CountBins | EdgeBins | None, step: float | None, decimals: int | None,
    scale: str | None,
) -> bytes:  # fmt: skip
    """How round the numbers are that the bins of a range hold; kept as the bins are."""
    bins = _binned(whole, low, high, cut, step, decimals, scale)
    first, last = bins.bounds()
    return roundness(first, last + 1 if isinstance(bins, WholeBins) else last)


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
        "1.234,5 €, or 00:12:33, which is a number of seconds",
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
        if self.written is not None and self.dtype == "integer" and _digits(self.written):
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

    def round_codes(self) -> bytes:
        """By the bins alone; not of more bins than are kept."""
        if self.binning.size > KEPT_BINS:
            return b""
        return _rounded(self.dtype == "integer", self.min, self.max, self.bins, self.step, self.decimals, self.scale)

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


def _digits(written: str) -> int:
    """Digits after the decimal mark of an amount."""
    from dpsyn_core.tables.cells import amounts

    return amounts.form(written).digits
