"""Walks delimited bytes by the rules of RFC 4180, to find the first line that breaks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numba as nb
import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError

FINE, RAGGED, UNCLOSED, TRAILING = 0, 1, 2, 3
QUOTE, LF, CR = 34, 10, 13


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """The first line that breaks the rules: its number (from 1), and its cells when they are too many or too few."""

    what: Literal["ragged", "unclosed", "trailing"]
    line: int
    cells: int = 0

    def error(self, columns: int) -> TableError:
        """The fault as a sentence."""
        if self.what == "unclosed":
            return TableError(f"line {self.line} opens a quotation mark that is never closed; close or double it")
        if self.what == "trailing":
            return TableError(
                f"line {self.line} has text after a closing quotation mark; double the quotation marks inside cells"
            )
        return TableError(
            f"line {self.line} has {self.cells} cell{'s' * (self.cells != 1)} and the header has {columns}; "
            "give every line as many cells as there are headers, or name another delimiter"
        )


def first_fault(body: memoryview, delimiter: str, columns: int) -> Fault | None:
    """The first fault of a delimited text, or None.

    Args:
        body: the file, UTF-8.
        delimiter: one ASCII character.
        columns: cells that every line must have; 0: do not count cells. Blank lines are passed over, except in a
            table of one column.
    """
    state, line, cells = _walk(np.frombuffer(body, dtype=np.uint8), ord(delimiter), columns)
    if state == FINE:
        return None
    return Fault(what=("ragged", "unclosed", "trailing")[int(state) - 1], line=int(line), cells=int(cells))


@nb.njit(cache=True)  # type: ignore[untyped-decorator]
def _walk(data: NDArray[np.uint8], delimiter: int, columns: int) -> Any:
    line, start, cells = 1, 1, 1
    begin, quoted, closed, anything = True, False, False, False
    i, n = 0, len(data)
    while i < n:
        c = data[i]
        if quoted:
            if c == QUOTE:
                if i + 1 < n and data[i + 1] == QUOTE:
                    i += 1
                else:
                    quoted, closed = False, True
            elif c == LF or (c == CR and not (i + 1 < n and data[i + 1] == LF)):
                line += 1
        elif c in (LF, CR):
            if c == CR and i + 1 < n and data[i + 1] == LF:
                i += 1
            if columns > 0 and cells != columns and (anything or cells > 1):
                return RAGGED, start, cells
            line += 1
            start, cells, begin, closed, anything = line, 1, True, False, False
        elif c == delimiter:
            cells += 1
            begin, closed = True, False
        elif closed:
            return TRAILING, line, 0
        else:
            quoted = begin and c == QUOTE
            begin, anything = False, True
        if quoted and begin:
            begin = False
        i += 1
    if quoted:
        return UNCLOSED, start, 0
    if columns > 0 and cells != columns and (anything or cells > 1):
        return RAGGED, start, cells
    return FINE, 0, 0
