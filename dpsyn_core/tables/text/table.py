"""Delimited text: every cell stays the text that was written, through pyarrow's CSV reader.

How a record is read depends on that record and the public form alone: the header line, what the person declared, and
the rules of this file. A record that breaks the rules changes no other one.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import Batches, of_table
from dpsyn_core.tables.cells.canonical import COMMA, UNREADABLE
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.read_form import TEXT, ReadForm
from dpsyn_core.tables.text import encodings as sniffing
from dpsyn_core.tables.text import lines

BLOCK = 1 << 22
LONGEST = 1 << 26  # bytes of a record


@dataclass(frozen=True, kw_only=True, slots=True)
class Top:
    """What stands above the records of a text, or was declared in its stead.

    written: the headers as they stand. start, size: bytes above the headers, and above the records. above, lines: the
    same in lines.
    """

    written: list[str]
    delimiter: str
    start: int = 0
    size: int = 0
    above: int = 0
    lines: int = 0


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


def parse(data: memoryview, name: str, form: ReadForm, file: File | None = None) -> Batches:
    """Reads a whole delimited file.

    Args:
        data: its bytes, inflated.
        name: of the file, for its ending.
        form: what is declared about it.
        file: the same bytes, where they can be read a second time.
    """
    strict = form.strict
    found = sniffing.find_encoding(data, form.encoding, headed=form.header is None)
    notices: list[Notice] = [found.notice] if found.notice else []
    odd: list[str] = []
    body, at = data[found.skip :], found.skip
    if strict:
        _refuse(data, found.name, found.skip)
    repaired = sniffing.repaired(data, found.name, found.skip)
    if repaired is not None:
        body, file = memoryview(repaired), None
        if UNREADABLE.encode() in repaired:
            odd.append(Notice("undecoded", encoding=found.name.upper()))
    text = lines.normalised(body)
    if file is not None and text is not body:  # a copy, so that the file is no longer needed
        file.give_back()
        file = None
    top = top_of(text, name, form, notices)
    names, said = headers.named(top.written, strict=strict)
    notices += said
    comma = decimal_comma(text[top.size :], top.delimiter, form, odd)
    stream = None if file is None else partial(file.stream, at + top.size)
    table, faults = cells_of(
        text[top.size :], top.written, top.delimiter, multiline=form.multiline, strict=strict, stream=stream,
        before=top.lines,
    )  # fmt: skip
    table = table.rename_columns(names) if said else table
    if strict and table.num_rows == 0:
        msg = "the file has headers but no records; give a table with at least one record"
        raise TableError(msg)
    if faults is not None and faults.first is not None:
        odd.append(unfit(len(faults), faults.first.moved(top.lines), len(names), multiline=form.multiline))
    return of_table(
        table.replace_schema_metadata(COMMA) if comma else table,
        notices=tuple(notices), odd=odd, **facts(text, top, found.name, form),
    )  # fmt: skip


def facts(text: memoryview, top: Top, encoding: str, form: ReadForm) -> dict[str, Any]:
    """What is known of a text by its beginning: the form it was read in, and what else its first lines look like."""
    first = form.header is None and form.header_row == form.header_lines == 1
    shown = sniffing.rows_of(_head(text[top.start :]), top.delimiter, sniffing.LOOKED) if first else []
    return {
        "kind": TEXT,
        "form": form.model_copy(update={"delimiter": top.delimiter, "encoding": encoding}),
        "header_hint": sniffing.header_hint(shown) if first else None,
        "headless": first and sniffing.looks_like_a_record(top.written),
    }


def holds_headers(text: memoryview, form: ReadForm) -> bool:
    """Whether the end of the line of the headers stands in the beginning of a text."""
    if form.header is not None:
        return True
    return sum(bool(line) for line in bytes(text).split(b"\n")[:-1]) >= form.header_row + form.header_lines - 1


def top_of(text: memoryview, name: str, form: ReadForm, notices: list[Notice]) -> Top:
    """What stands above the records, which is public: the headers, blank lines above them, and a title.

    Args:
        text: `lines.normalised`, at least to the end of the headers.
        name: of the file, for its ending.
        form: may say that the text has no headers: then all of it is records.
        notices: gets sentences on what was assumed.
    """
    if form.header is not None:
        notices.append(Notice("headers_given"))
        line = memoryview(form.header.encode() + b"\n")
        written, chosen, _ = names_of(line, name, form.delimiter, form.multiline, notices)
        return Top(written=written, delimiter=chosen)
    start, above = lines.above(text, form.header_row)
    written, chosen, size = names_of(text[start:], name, form.delimiter, form.multiline, notices)
    if form.header_lines > 1:
        from dpsyn_core.tables.headings import over  # few files have them

        rows = [written]
        for _ in range(form.header_lines - 1):
            if not lines.first_line(text[start + size :]):
                msg = f"the headers are said to take {form.header_lines} lines, and the file has fewer; say how many"
                raise TableError(msg)
            size += lines.above(text[start + size :], 1)[0]
            more, _, taken = names_of(text[start + size :], name, chosen, form.multiline, notices)
            rows.append(more)
            size += taken
        written = over(rows)
    own = bytes(text[start : start + size])
    return Top(
        written=written, delimiter=chosen, start=start, size=start + size, above=above,
        lines=above + own.count(b"\n") + (not own.endswith(b"\n")),
    )  # fmt: skip


def unfit(lines: int, first: lines.Fault, columns: int, *, multiline: bool) -> Notice:
    """What to tell of the lines that break the rules."""
    return Notice("unfit" if multiline else "unfit_multiline", lines=lines, first=first.sentence(columns))


def _refuse(data: memoryview, encoding: str, skip: int) -> None:
    """Raises TableError for the first byte that does not decode, or is NUL."""
    wide = encoding.startswith(("utf-16", "utf-32"))
    if not wide:
        sniffing.refuse_binary(data)
    bad = sniffing.first_invalid(data, encoding, skip)
    if bad is not None:
        msg = f"byte {bad[0]} is not valid {encoding.upper()}; repair the file, or name another encoding"
        raise TableError(msg)
    nul = None if wide else sniffing.find_nul(data)
    if nul is not None:
        msg = f"byte {nul} is NUL, which no text table holds; repair the file, or name its encoding"
        raise TableError(msg)


def _head(body: memoryview) -> str:
    """The first lines as text, cut at a line's end: to tell the person about, for nothing else."""
    text = bytes(body[: sniffing.SAMPLE]).decode("utf-8", errors="ignore")
    return sniffing.sample_lines(text, len(body) <= sniffing.SAMPLE)


def _delimiter(header: str, name: str, wanted: str | None, notices: list[Notice]) -> str:
    if wanted is not None:
        return wanted
    prefer = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    chosen = sniffing.find_delimiter(header, prefer=prefer)
    if chosen != prefer:
        notices.append(Notice(f"by_{sniffing.DELIMITERS[chosen]}"))
    return chosen


def decimal_comma(records: memoryview, delimiter: str, form: ReadForm, odd: list[str]) -> bool:
    """Whether a comma is read as a decimal mark; `odd` gets a sentence where one is seen and none was declared.

    Never by looking at the cells: one odd cell must not change how those of other individuals are read.
    """
    if form.decimal is not None:
        return form.decimal == ","
    if delimiter != "," and sniffing.uses_decimal_comma(sniffing.rows_of(_head(records), delimiter, 200)):
        odd.append(Notice("decimal_comma"))
    return delimiter != ","


def names_of(
    text: memoryview, name: str, delimiter: str | None, multiline: bool, notices: list[Notice]
) -> tuple[list[str], str, int]:  # fmt: skip
    """The headers, the delimiter, and how many bytes the headers take with their line end.

    They are the first line of the text, which is not blank. Where the table is read as multiline, a quoted line end
    may prolong it.
    """
    line = lines.first_line(text)
    sniffing.refuse_markup(line[: sniffing.SAMPLE].decode("utf-8", "replace"))
    chosen = _delimiter(line.decode("utf-8", "replace"), name, delimiter, notices)
    size = len(line) + 1
    if b'"' in line:  # a header can be broken by its quotation marks alone
        size = _quoted_size(text, chosen) if multiline else size
        fault = lines.first_fault(text[:size], chosen, 0, multiline=multiline)
        if fault is not None:
            raise fault.error(0)
    rows = sniffing.rows_of(bytes(text[:size]).decode("utf-8", "replace"), chosen, 1)
    if not rows:
        msg = "the headers cannot be read; give a table whose first line holds short column names"
        raise TableError(msg)
    return rows[0], chosen, min(size, len(text))


def _quoted_size(text: memoryview, delimiter: str) -> int:
    """Bytes of headers whose cells may hold line ends. Raises TableError where they have no end for 32 MiB."""
    size = lines.record_end(text[: lines.HEADER_LIMIT], delimiter, first=True)
    if not size and len(text) > lines.HEADER_LIMIT:
        msg = "the header is longer than 32 MiB; give a table whose first line holds the headers"
        raise TableError(msg)
    return size or len(text)


def cells_of(
    records: memoryview,
    names: list[str],
    delimiter: str,
    *,
    multiline: bool,
    strict: bool,
    stream: Callable[[], Any] | None = None,
    before: int = 0,
) -> tuple[Any, lines.Faults | None]:
    """The records as text columns, and what was wrong with those that break the rules.

    A line is a record. One that is blank is none where there are several columns, and a record with a blank cell where
    there is one. No cell of a record that breaks the rules is read: each is the replacement character. They come last.

    Args:
        records: all that stands below the headers, `lines.normalised`.
        names: headers, as the first line has them.
        delimiter: one character.
        multiline: quoted cells may hold line ends.
        strict: refuse a record that breaks the rules.
        stream: opens the same bytes as a pyarrow stream, where they can be read a second time.
        before: lines of the file that stand above, for the refusal.
    """
    import pyarrow as pa

    block = max(BLOCK, 4 * sum(map(len, names)))
    longest = max(LONGEST, 2 * block)
    faults = None
    if lines.holds(records, b'"'):  # pyarrow would join what a stray quotation mark pulls together
        faults = lines.faults(records, delimiter, len(names), multiline=multiline, longest=longest)
    if not faults:
        try:
            return _parsed(records, names, delimiter, multiline, block, stream), faults
        except pa.ArrowInvalid:  # some record has more or fewer cells than the header, or is longer than two blocks
            faults = lines.faults(records, delimiter, len(names), multiline=multiline, longest=longest)
    if strict and faults.first is not None:
        raise faults.first.moved(before).error(len(names))
    sound = memoryview(faults.without(records)) if len(faults) else records
    block = min(max(block, faults.longest + 1), (1 << 31) - 1)
    try:
        table = _parsed(sound, names, delimiter, multiline, block, None)
    except pa.ArrowInvalid as error:
        msg = "the text cannot be split into cells; check its quotation marks and line ends"
        raise TableError(msg) from error
    lost = pa.array([UNREADABLE] * len(faults), pa.string())
    return pa.concat_tables([table, pa.table([lost] * len(names), names=table.column_names)]), faults


def _parsed(
    records: memoryview, names: list[str], delimiter: str, multiline: bool, block: int,
    stream: Callable[[], Any] | None,
) -> Any:  # fmt: skip
    """The records by pyarrow, which is handed no line end but LF, no header, and no type to guess."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    if not len(records):  # pyarrow refuses no bytes at all
        return pa.table([pa.array([], pa.string())] * len(names), names=names)
    return pacsv.read_csv(
        pa.BufferReader(pa.py_buffer(records)) if stream is None else stream(),
        read_options=pacsv.ReadOptions(block_size=block, use_threads=True, column_names=names),
        parse_options=pacsv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=multiline,
            ignore_empty_lines=len(names) > 1,
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=False,
            null_values=[],
            check_utf8=stream is not None,  # bytes in memory have been decoded before; a file may have changed
        ),
    )
