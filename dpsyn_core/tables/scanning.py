"""Walks delimited bytes by the rules of RFC 4180, to find the records that break them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.tables.notices import Notice

NAMES: tuple[Literal["ragged", "unclosed", "trailing", "long"], ...] = ("ragged", "unclosed", "trailing", "long")
FOREVER = 1 << 62


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A record that breaks the rules: its first line (from 1), and its cells when they are too many or too few."""

    what: Literal["ragged", "unclosed", "trailing", "long"]
    line: int
    cells: int = 0

    def sentence(self, columns: int) -> Notice:
        """What is wrong, in a table of so many columns."""
        if self.what != "ragged":
            return Notice(self.what, line=self.line)
        key = "ragged_one" if self.cells == 1 else "ragged"
        return Notice(key, line=self.line, cells=self.cells, columns=columns)

    def moved(self, lines: int) -> Fault:
        """The same fault so many lines further down."""
        return replace(self, line=self.line + lines)

    def error(self, columns: int) -> TableError:
        """The fault as a refusal, with its remedy."""
        remedy = {
            "unclosed": "close or double it, or read the table with multiline where cells hold line ends",
            "trailing": "double the quotation marks inside cells",
            "long": "shorten its cells",
            "ragged": "give every line as many cells as there are headers, or name another delimiter",
        }
        return TableError(f"{self.sentence(columns)}; {remedy[self.what]}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Faults:
    """All records that break the rules. starts, ends: int64, their bytes. longest: bytes of the longest good record."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    first: Fault | None
    longest: int

    def __len__(self) -> int:
        """How many there are."""
        return len(self.starts)

    def without(self, body: memoryview) -> bytes:
        """The bytes without these records."""
        keep_from, keep_to = np.append(0, self.ends), np.append(self.starts, len(body))
        return b"".join(body[a:b] for a, b in zip(keep_from.tolist(), keep_to.tolist(), strict=True))


def faults(
    body: memoryview, delimiter: str, columns: int, *, multiline: bool = True, longest: int = FOREVER
) -> Faults:  # fmt: skip
    """The records that break the rules.

    Args:
        body: the records, UTF-8, with LF as their line end (`lines.normalised`).
        delimiter: one ASCII character.
        columns: cells that every record must have; 0: do not count cells. Blank lines are passed over, except in a
            table of one column.
        multiline: a quoted cell may hold line ends; else a line is a record, whatever its quotation marks.
        longest: bytes that a record may have.
    """
    # numba takes half a second to load, and most files need none of this
    from dpsyn_core.tables.scanning_kernel import RAGGED, walk

    data = np.frombuffer(body, dtype=np.uint8)
    found, longest_good = walk(data, ord(delimiter), columns, multiline, longest)
    first = None
    if len(found):
        what, line, cells = (int(v) for v in found[0, 2:])
        first = Fault(what=NAMES[what - 1], line=line, cells=cells if what == RAGGED else 0)
    return Faults(starts=found[:, 0], ends=found[:, 1], first=first, longest=int(longest_good))


def first_fault(body: memoryview, delimiter: str, columns: int, *, multiline: bool = True) -> Fault | None:
    """The first fault of a delimited text, or None; see `faults`."""
    return faults(body, delimiter, columns, multiline=multiline).first


def record_end(text: memoryview, delimiter: str, *, first: bool) -> int:
    """Where the first or the last record ends that ends in a text whose cells may hold line ends; 0 where none does.

    The text begins with a record. One at its end that has no line end does not count.
    """
    from dpsyn_core.tables.scanning_kernel import record_end as walked

    return int(walked(np.frombuffer(text, dtype=np.uint8), ord(delimiter), first))
