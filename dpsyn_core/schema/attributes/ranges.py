"""Attributes with a public range, and how a schema declares their bins: by count, by edges, or by the calendar."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Discriminator, Field, StrictInt, Tag
from pydantic import model_validator as validator

from dpsyn_core.errors import TableError
from dpsyn_core.schema.attributes.base import NO_MISSING, CodedBase, Number, SchemaPart, Unfit
from dpsyn_core.schema.binning import MAX_BINS, RealBins, WholeBins
from dpsyn_core.tables import as_written, blanks, is_text, short, to_text, uniques

REDRAWS = 32  # of a value that would be taken for a special one: of two values in a bin, it comes out once in 2^32


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


class RangeAttribute(CodedBase):
    """A column of values between two public ends, in bins; values outside are clamped."""

    values_are: ClassVar[str] = "numbers"
    remedy: ClassVar[str] = ""  # beside a cell for blanks, where cells cannot be read

    @property
    @abstractmethod
    def binning(self) -> WholeBins | RealBins:
        """The bins of the range."""

    @abstractmethod
    def read(self, column: Any, *, comma: bool = False) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The values (n,) of a pyarrow column in the unit of the bins, and which cells hold one."""

    @abstractmethod
    def typed(self, values: NDArray[Any], blank: NDArray[np.bool_] | None) -> Any:
        """As `cells`, whatever the schema declares in place of a null."""

    def cells(self, values: NDArray[Any], blank: NDArray[np.bool_] | None) -> Any:
        """A pyarrow array (n,) of values in the unit of the bins, as the schema declares them; blank: nulls.

        Where a word stands for a blank cell all cells are text, whether or not one is blank.
        """
        cells = self.typed(values, blank)
        if self.blank_word is None:
            return cells
        import pyarrow.compute as pc

        text = as_written(cells)
        if self.decimal_comma and not is_text(cells.type):
            text = pc.replace_substring(text, ".", ",")
        return pc.fill_null(text, self.blank_word)

    @property
    def size(self) -> int:
        """Bins, special values, missing."""
        return self.binning.size + self.special

    @property
    def special(self) -> int:
        """Special values, then missing."""
        return len(self.single_values) + int(self.missing)

    def middles(self) -> NDArray[np.float64]:
        """Mean value of each bin, in its unit."""
        return np.append(self.binning.middles(), [np.nan] * self.special)

    def encode(self, *columns: Any, comma: bool = False, strict: bool = False) -> NDArray[np.signedinteger]:
        """Codes (n,) of one column, as `CodedBase.encode`; values outside the range have those of its ends."""
        [column] = columns
        values, valid = self.read(column, comma=comma)
        codes = self.binning.find(values)
        for i, value in enumerate(self.single_values):
            codes[values == value] = self.binning.size + i
        if valid.all():
            return codes
        if strict and not self.missing:
            msg = f"column '{short(self.name)}' holds cells that are not {self.values_are}; {NO_MISSING}{self.remedy}"
            raise TableError(msg)
        codes[~valid] = self.size - 1 if self.missing else -1
        return codes

    def draw(self, codes: NDArray[Any], rng: Generator, *, scores: NDArray[np.floating] | None = None) -> NDArray[Any]:
        """Values (n,) inside the bins of codes, in their unit; special values where codes say so, any where blank."""
        special = codes >= self.plain
        bins = np.where(special, 0, codes).astype(np.intp)
        drawn = self.binning.draw(bins, rng)
        if scores is not None:
            by_value, by_score = np.lexsort((drawn, bins)), np.lexsort((scores, bins))
            drawn[by_score] = drawn[by_value]
        self._redraw(drawn, bins, special, rng)
        for i, value in enumerate(self.single_values):
            drawn[codes == self.plain + i] = value
        return drawn

    def _redraw(self, drawn: NDArray[Any], bins: NDArray[np.intp], special: NDArray[np.bool_], rng: Generator) -> None:
        """Draws values of a bin anew, in place, that would be taken for special ones.

        A bin may hold special values alone: they stay, but for real numbers without a step, which get its middle. All
        numbers of a small bin of a wide range may be rounded to one.
        """
        for left in reversed(range(REDRAWS if self.single_values else 0)):
            met = ~special & np.isin(drawn, self.single_values)
            if not met.any():
                return
            if left:
                drawn[met] = self.binning.draw(bins[met], rng)
            elif isinstance(self.binning, RealBins) and self.binning.step is None:
                drawn[met] = self.binning.middles()[bins[met]]

    def decode(
        self, codes: NDArray[Any], rng: Generator, *, scores: NDArray[np.floating] | None = None, listed: bool = False
    ) -> Any:
        """A pyarrow array (n,), as `CodedBase.decode`."""
        del listed
        blank = codes >= self.plain + len(self.single_values)
        return self.cells(self.draw(codes, rng, scores=scores), blank if blank.any() else None)

    def unfit(self, column: Any, *, comma: bool = False) -> Unfit:
        """Cells that hold no value, and values outside the range."""
        values, valid = self.read(column, comma=comma)
        entries, index = uniques(column)
        blank = ~valid & np.append(blanks(to_text(entries)), True)[index]
        unread = ~valid & ~blank
        return Unfit(
            blank=blank,
            unread=unread,
            outside=valid & self._outside(values),
            off_rhythm=valid & self._off_rhythm(values),
            unread_are=f"cells that are not {self.values_are}",
            mend=self._mend(column, unread),
        )

    def values_of(self, column: Any, codes: NDArray[Any], *, comma: bool = False) -> NDArray[np.float64]:
        """The values (n,) in the unit of the bins, NaN where a cell holds none."""
        del codes
        values, valid = self.read(column, comma=comma)
        return np.where(valid, values.astype(np.float64), np.nan)

    def _outside(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        low, high = self.binning.bounds()
        out: NDArray[np.bool_] = (values < low[0]) | (values > high[-1])
        return out

    def _off_rhythm(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        return np.zeros(len(values), dtype=bool)

    def _mend(self, column: Any, unread: NDArray[np.bool_]) -> str:
        """What would describe the cells that cannot be read."""
        del column, unread
        return "declare how its cells are written"
