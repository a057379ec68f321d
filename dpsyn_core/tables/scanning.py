"""Walks delimited bytes by the rules of RFC 4180, to find the records that break them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numba as nb
import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError

FINE, RAGGED, UNCLOSED, TRAILING, LONG = 0, 1, 2, 3, 4
NAMES: tuple[Literal["ragged", "unclosed", "trailing", "long"], ...] = ("ragged", "unclosed", "trailing", "long")
QUOTE, LF, CR = 34, 10, 13
FOREVER = 1 << 62


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A record that breaks the rules: its first line (from 1), and its cells when they are too many or too few."""

    what: Literal["ragged", "unclosed", "trailing", "long"]
    line: int
    cells: int = 0

    def sentence(self, columns: int) -> str:
        """What is wrong, in a table of so many columns."""
        if self.what == "unclosed":
            return f"line {self.line} opens a quotation mark that it does not close"
        if self.what == "trailing":
            return f"line {self.line} has text after a closing quotation mark"
        if self.what == "long":
            return f"line {self.line} is longer than 64 MiB"
        return f"line {self.line} has {self.cells} cell{'s' * (self.cells != 1)} and the header has {columns}"

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
        body: the file, UTF-8.
        delimiter: one ASCII character.
        columns: cells that every record must have; 0: do not count cells. Blank lines are passed over, except in a
            table of one column.
        multiline: a quoted cell may hold line ends; else a line is a record, whatever its quotation marks.
        longest: bytes that a record may have.
    """
    data = np.frombuffer(body, dtype=np.uint8)
    found, longest_good = _walk(data, ord(delimiter), columns, multiline, longest)
    first = None
    if len(found):
        what, line, cells = (int(v) for v in found[0, 2:])
        first = Fault(what=NAMES[what - 1], line=line, cells=cells if what == RAGGED else 0)
    return Faults(starts=found[:, 0], ends=found[:, 1], first=first, longest=int(longest_good))


def first_fault(body: memoryview, delimiter: str, columns: int, *, multiline: bool = True) -> Fault | None:
    """The first fault of a delimited text, or None; see `faults`."""
    return faults(body, delimiter, columns, multiline=multiline).first


def last_end(body: memoryview, delimiter: str, *, multiline: bool) -> int:
    """Where the last record ends that ends in these bytes, which begin with a record; 0 where none does.

    A line end that is the last byte counts only where nothing can follow that belongs to it (LF after CR).
    """
    if not multiline:
        data = bytes(body)
        return max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
    return int(_last_end(np.frombuffer(body, dtype=np.uint8), ord(delimiter)))


@nb.njit(cache=True)  # type: ignore[untyped-decorator]
def _last_end(data: NDArray[np.uint8], delimiter: int) -> int:
    """The rules of `_walk` for cells that hold line ends."""
    end = 0
    begin, quoted = True, False
    i, n = 0, len(data)
    while i < n:
        c = data[i]
        if quoted:
            if c == QUOTE:
                if i + 1 < n and data[i + 1] == QUOTE:
                    i += 1
                else:
                    quoted = False
        elif c in (LF, CR):
            if c == CR and i + 1 == n:
                return end
            if c == CR and data[i + 1] == LF:
                i += 1
            end = i + 1
            begin = True
        elif c == delimiter:
            begin = True
        else:
            quoted = begin and c == QUOTE
            begin = False
        i += 1
    return end


@nb.njit(cache=True)  # type: ignore[untyped-decorator]
def _walk(data: NDArray[np.uint8], delimiter: int, columns: int, multiline: bool, longest: int) -> Any:
    found = np.empty((16, 5), dtype=np.int64)  # start, end, what, first line, cells
    n_found, most = 0, 0
    line, start_line, start, cells, what = 1, 1, 0, 1, FINE
    begin, quoted, closed, anything = True, False, False, False
    i, n = 0, len(data)
    while i <= n:
        at_end = i == n
        c = LF if at_end else data[i]
        ends = at_end or (c in (LF, CR) and not (quoted and multiline))
        if ends:
            if not at_end and c == CR and i + 1 < n and data[i + 1] == LF:
                i += 1
            if quoted:
                what = UNCLOSED
            end = min(i + 1, n)
            if what == FINE and columns > 0 and cells != columns and (anything or cells > 1):
                what = RAGGED
            if what == FINE and end - start > longest:
                what = LONG
            if what == FINE:
                most = max(most, end - start)
            else:
                if n_found == len(found):
                    more = np.empty((2 * n_found, 5), dtype=np.int64)
                    more[:n_found] = found
                    found = more
                found[n_found] = (start, end, what, start_line, cells)
                n_found += 1
            line += 1
            start, start_line, cells, what = end, line, 1, FINE
            begin, quoted, closed, anything = True, False, False, False
        elif quoted:
            if c == QUOTE:
                if i + 1 < n and data[i + 1] == QUOTE:
                    i += 1
                else:
                    quoted, closed = False, True
            elif c == LF or (c == CR and not (i + 1 < n and data[i + 1] == LF)):
                line += 1
        elif c == delimiter:
            cells += 1
            begin, closed = True, False
        elif closed:
            if what == FINE:
                what = TRAILING
        else:
            quoted = begin and c == QUOTE
            begin, anything = False, True
        i += 1
    return found[:n_found], most
