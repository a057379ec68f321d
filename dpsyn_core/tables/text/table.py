"""A whole delimited text: bytes, encoding, lines, dialect, records; every cell stays the text that was written.

How a record is read depends on that record and the public form alone: the header line, what the person declared, and
the rules of this file. A record that breaks the rules changes no other one.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.platforms import give_back
from dpsyn_core.tables.batches import Batches, of_table
from dpsyn_core.tables.cells.canonical_text import UNREADABLE
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text import encodings, records
from dpsyn_core.tables.text.dialect import dialect_of
from dpsyn_core.tables.text.lines import normalised
from dpsyn_core.tables.totals import totals


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
        give_back(self.pages)


def parse(data: memoryview, name: str, form: ReadForm, file: File | None = None) -> Batches:
    """Reads a whole delimited file.

    Args:
        data: its bytes, inflated.
        name: of the file, for its ending.
        form: what is declared about it.
        file: the same bytes, where they can be read a second time.
    """
    encoding = encodings.find_encoding(data, form.encoding, headed=form.header is None)
    odd: list[str] = []
    body, at = data[encoding.skip :], encoding.skip
    if form.strict:
        encodings.refuse_undecodable(data, encoding.name, encoding.skip)
    other = encodings.repaired(data, encoding.name, encoding.skip)
    if other is not None:
        body, file = memoryview(other), None
        if UNREADABLE.encode() in other:
            odd.append(Notice("undecoded", encoding=encoding.name.upper()))
    text = normalised(body)
    if file is not None and text is not body:  # a copy, so that the file is no longer needed
        file.give_back()
        file = None
    dialect = dialect_of(text, name, form, encoding, odd)
    stream = None if file is None else partial(file.stream, at + dialect.size)
    table, faults = records.table_of(text[dialect.size :], dialect, form, stream=stream, before=dialect.lines)
    if form.strict and table.num_rows == 0:
        msg = "the file has headers but no records; give a table with at least one record"
        raise TableError(msg)
    if faults is not None and faults.first is not None:
        first = faults.first.moved(dialect.lines)
        odd.append(records.unfit(len(faults), first, len(dialect.names), multiline=form.multiline))
    odd += totals(table)
    return of_table(table, odd=odd, **dialect.facts)
