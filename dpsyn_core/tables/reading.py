"""What a reader hands on: a table as read, with what was assumed; and the mapped file that it came from."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A table as read. notices: sentences on what was assumed, none of which shows a cell or depends on a record.

    odd: sentences on what could not be read; they tell about the records, for the owner only.

    table: pyarrow table, all text for text formats and Excel, typed for Parquet; its schema's metadata says when a
    comma is a decimal mark. decimal: the mark that was seen in the first lines. sheet, sheets: of a workbook, the one
    that was read and all of them. header_row: the line or row of the headers, counted from 1 without blank ones.
    header_hint: the one that may hold them where the first ones look like a title; it tells about the records, for the
    owner only. header: the line of headers that was given for a file that has none. headless: whether the first line
    looks like a record rather than headers, for the owner only. records: how many the whole table has, where `table`
    holds some of them, drawn by chance; None where it holds all.
    """

    table: Any
    kind: str
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str = "."
    notices: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    header_row: int = 1
    header_hint: int | None = None
    header: str | None = None
    headless: bool = False
    records: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A mapped file that can be read a second time as a stream, so that its pages need not stay in memory."""

    path: Path
    pages: mmap.mmap

    def stream(self, at: int = 0) -> Any:
        """A pyarrow stream from a byte on; the pages mapped so far are given back."""
        import pyarrow as pa

        self.give_back()
        stream = pa.OSFile(str(self.path))
        stream.seek(at)
        return stream

    def give_back(self) -> None:
        """Gives back the pages mapped so far; they are read again where somebody looks at them again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.pages.madvise(mmap.MADV_DONTNEED)
