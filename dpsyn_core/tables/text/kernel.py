"""Compiled walk over delimited bytes; `lines` calls it for files that hold quotation marks or uneven records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.loading import compiled

FINE, RAGGED, UNCLOSED, TRAILING, LONG = 0, 1, 2, 3, 4
QUOTE, LF = 34, 10


@compiled()
def walk(data: NDArray[np.uint8], delimiter: int, columns: int, multiline: bool, longest: int) -> Any:  # noqa: PLR0912 one loop, compiled
    """Records that break the rules: int64 (faults, 5) with start, end, kind, line, cells; and the longest good one."""
    out = np.empty((16, 5), dtype=np.int64)  # start, end, what, first line, cells
    n_found, most = 0, 0
    line, start_line, start, cells, what = 1, 1, 0, 1, FINE
    begin, quoted, closed, anything = True, False, False, False
    i, n = 0, len(data)
    while i <= n:
        at_end = i == n
        c = LF if at_end else data[i]
        ends = at_end or (c == LF and not (quoted and multiline))
        if ends:
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
                if n_found == len(out):
                    more = np.empty((2 * n_found, 5), dtype=np.int64)
                    more[:n_found] = out
                    out = more
                out[n_found] = (start, end, what, start_line, cells)
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
            elif c == LF:
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
    return out[:n_found], most


@compiled()
def record_end(data: NDArray[np.uint8], delimiter: int, first: bool) -> int:
    """Where the first or the last whole record ends, where cells may hold line ends; 0: nowhere."""
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
        elif c == LF:
            end = i + 1
            if first:
                return end
            begin = True
        elif c == delimiter:
            begin = True
        else:
            quoted = begin and c == QUOTE
            begin = False
        i += 1
    return end
