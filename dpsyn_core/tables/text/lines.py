"""Lines of a text: LF, CR LF and CR each end one, by the bytes alone; whatever reads on sees LF as the only line end.

Byte order marks at the beginning of a line belong to no cell, so that they stand wherever files were put together.
A walk over the bytes by the rules of RFC 4180 finds the records that break them (`faults`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.tables.notices import Notice

STEP = 1 << 24  # bytes that are looked at together
WINDOW = 1 << 16  # bytes that are first looked at for the end of a line
HEADER_LIMIT = 1 << 25  # bytes within which the header line must end
END = re.compile(rb"\r\n|\n|\r")
MARK = codecs.BOM_UTF8
MARKS = re.compile(rb"(\A|\n)(?:\xef\xbb\xbf)+")


def normalised(text: memoryview) -> memoryview:
    """The text with LF as its only line end, and without marks at the beginning of a line; itself where it is so.

    A line end inside a quoted cell is LF too: pyarrow drops an LF after a CR where one of its blocks ends between them,
    so that what one record holds would change a cell of another.

    Args:
        text: UTF-8, from the beginning of a line; not cut between CR and LF.
    """
    marked = holds(text, MARK)
    if not marked and not holds(text, b"\r"):
        return text
    out = bytearray()
    at = 0
    while at < len(text):
        part = bytes(text[at : at + STEP])
        if part.endswith(b"\r") and bytes(text[at + len(part) : at + len(part) + 1]) == b"\n":
            part += b"\n"
        at += len(part)
        out += part.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if marked:
        plain = MARKS.sub(rb"\1", out)
        alone = not out.endswith(b"\n") and (not plain or plain.endswith(b"\n"))  # a last line of marks is a line still
        return memoryview(plain + b"\n" if alone else plain)
    return memoryview(out)


def whole_lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A text that comes in parts, cut anywhere, as parts of whole lines, `normalised`; the last may lack its end."""
    held: list[bytes] = []
    for data in parts:
        after_return = bool(held) and held[-1].endswith(b"\r")
        if data:
            held.append(data)
        if not after_return and not _last_end(data):
            continue
        joined = b"".join(held)
        end = _last_end(joined)
        held = [joined[end:]] if end < len(joined) else []
        if end:
            yield bytes(normalised(memoryview(joined)[:end]))
    if held:
        yield bytes(normalised(memoryview(b"".join(held))))


def _last_end(data: bytes) -> int:
    """Behind the last line end, 0 where there is none. A CR that is the last byte does not count: LF may follow."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1) if data else -1) + 1


def below(parts: Iterable[bytes], lines: int) -> Iterator[bytes]:
    """What `whole_lines` gave, without its first lines."""
    left = lines
    for data in parts:
        ends = data.count(b"\n")
        if left > ends:
            left -= ends
            continue
        at = 0
        for _ in range(left):
            at = data.index(b"\n", at) + 1
        left = 0
        if at < len(data):
            yield data[at:]


def behind(data: bytes, lines: int) -> int:
    """The byte behind the first lines of a text with any line ends; all of it where it has no more than these."""
    at = 0
    for _ in range(lines):
        match = END.search(data, at)
        if match is None:
            return len(data)
        at = match.end()
    return at


def first_line(data: memoryview) -> bytes:
    """The first line that is not blank, without its end. Raises TableError where it has no end for 32 MiB."""
    size = WINDOW
    while True:
        head = bytes(data[:size]).lstrip(b"\r\n")
        match = END.search(head)
        if match:
            return head[: match.start()]
        if size >= len(data):
            return head
        if size > HEADER_LIMIT:
            msg = "the first line is longer than 32 MiB; give a table whose first line holds the headers"
            raise TableError(msg)
        size *= 4


def above(text: memoryview, row: int) -> tuple[int, int]:
    """Bytes and lines that stand above the headers: blank lines, and whatever else is above the line that is declared.

    Args:
        text: `normalised`.
        row: the line of the headers, counted from 1 without the blank ones.

    Raises:
        TableError: the text has fewer lines.
    """
    at = lines = 0
    for left in range(row, 0, -1):
        line = first_line(text[at:])
        if not line:
            msg = f"the headers are said to stand in line {row}, and the file has fewer; give a smaller number"
            if row == 1:
                msg = "the file holds no text; give a table with a header line, or name its headers with --header"
            raise TableError(msg)
        blank = _blanks(text, at)
        lines, at = lines + blank, at + blank
        if left > 1:
            at += len(line)
    return at, lines


def _blanks(text: memoryview, at: int) -> int:
    """How many line ends stand from here on."""
    size = WINDOW
    while True:
        part = bytes(text[at : at + size])
        count = len(part) - len(part.lstrip(b"\n"))
        if count < len(part) or at + size >= len(text):
            return count
        size *= 4


def holds(text: memoryview, what: bytes) -> bool:
    """Whether these bytes stand anywhere in the text."""
    return any(what in bytes(text[i : i + STEP + len(what) - 1]) for i in range(0, len(text), STEP))


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
            "unclosed": "close or double it, or say that cells may hold line ends (multiline)",
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


def faults(body: memoryview, delimiter: str, columns: int, *, multiline: bool = True, longest: int = FOREVER) -> Faults:
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
    from dpsyn_core.tables.text.kernel import RAGGED, walk

    data = np.frombuffer(body, dtype=np.uint8)
    errors, longest_good = walk(data, ord(delimiter), columns, multiline, longest)
    first = None
    if len(errors):
        what, line, cells = (int(v) for v in errors[0, 2:])
        first = Fault(what=NAMES[what - 1], line=line, cells=cells if what == RAGGED else 0)
    return Faults(starts=errors[:, 0], ends=errors[:, 1], first=first, longest=int(longest_good))


def first_fault(body: memoryview, delimiter: str, columns: int, *, multiline: bool = True) -> Fault | None:
    """The first fault of a delimited text, or None; see `faults`."""
    return faults(body, delimiter, columns, multiline=multiline).first


def record_end(text: memoryview, delimiter: str, *, first: bool) -> int:
    """Where the first or the last record ends that ends in a text whose cells may hold line ends; 0 where none does.

    The text begins with a record. One at its end that has no line end does not count.
    """
    from dpsyn_core.tables.text.kernel import record_end as walked

    return int(walked(np.frombuffer(text, dtype=np.uint8), ord(delimiter), first))
