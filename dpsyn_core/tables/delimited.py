"""Delimited text: every cell stays the text that was written, through pyarrow's CSV reader.

How a record is read depends on that record and the public form alone: the header line, what the person declared, and
the rules of this file. A record that breaks the rules changes no other one.
"""

from __future__ import annotations

from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers, scanning, sniffing
from dpsyn_core.tables.canonical import UNREADABLE
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.reading import File, Reading

BLOCK = 1 << 22
LONGEST = 1 << 26  # bytes of a record


def parse(
    data: memoryview,
    name: str,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    *,
    multiline: bool = False,
    strict: bool = False,
    header_row: int = 1,
    header: str | None = None,
    file: File | None = None,
) -> Reading:
    """Reads a whole delimited file; see `read`."""
    found = sniffing.find_encoding(data, encoding, headed=header is None)
    notices: list[Notice] = [found.notice] if found.notice else []
    odd: list[str] = []
    body = data[found.skip :]
    if strict:
        _refuse(data, found.name, found.skip)
    repaired = sniffing.repaired(data, found.name, found.skip)
    if repaired is not None:
        body, file = memoryview(repaired), None
        if UNREADABLE.encode() in repaired:
            odd.append(Notice("undecoded", encoding=found.name.upper()))
    if not _head(body, sniffing.SAMPLE).strip("\r\n"):
        msg = "the file holds no text; give a table with a header line"
        raise TableError(msg)
    if header is None:
        top, above = sniffing.above(body, header_row)
        body, file = body[top:], None if top else file
    else:
        body, file, above = memoryview(header_line(header) + bytes(body)), None, -1
        notices.append(Notice("headers_given"))
    text = _head(body, sniffing.SAMPLE)
    written, chosen = names_of(body, name, delimiter, multiline, notices)
    names, said = headers.named(written, strict=strict)
    notices += said
    mark = decimal_of(sniffing.rows_of(text, chosen, 200), chosen, decimal, odd)
    table, faults = cells_of(
        body, written, chosen, multiline=multiline, strict=strict, file=file, before=above
    )  # fmt: skip
    table = table.rename_columns(names) if said else table
    if strict and table.num_rows == 0:
        msg = "the file has headers but no records; give a table with at least one record"
        raise TableError(msg)
    if faults is not None and faults.first is not None:
        odd.append(unfit(len(faults), faults.first.moved(above), len(names), multiline=multiline))
    shown = sniffing.rows_of(text, chosen, sniffing.LOOKED)
    if mark == "," or (decimal is None and chosen != ","):
        # never by looking at the cells: one odd cell must not change how those of other individuals are read
        table = table.replace_schema_metadata({b"dpsyn.decimal": b","})
    return Reading(
        table=table,
        kind="text",
        delimiter=chosen,
        encoding=found.name,
        decimal=mark,
        header_row=header_row,
        header_hint=None if header is not None else sniffing.header_hint(shown),
        header=header,
        headless=header is None and sniffing.looks_like_a_record(written),
        notices=tuple(notices),
        odd=tuple(odd),
    )


def header_line(header: str) -> bytes:
    """The headers that a file lacks as its first line. Raises TableError for none, or for several lines."""
    line = header.strip("\r\n")
    if not line.strip() or "\n" in line or "\r" in line:
        msg = "the headers that the file lacks must be one line, with the delimiter of the file between the names"
        raise TableError(msg)
    return line.encode() + b"\n"


def unfit(lines: int, first: scanning.Fault, columns: int, *, multiline: bool) -> Notice:
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


def _head(body: memoryview, size: int) -> str:
    """The first lines as text, cut at a line's end."""
    text = bytes(body[:size]).decode("utf-8", errors="ignore")
    return sniffing.sample_lines(text, len(body) <= size)


def _delimiter(header: str, name: str, wanted: str | None, notices: list[Notice]) -> str:
    if wanted is not None:
        if len(wanted) != 1 or wanted in '"\r\n' or not wanted.isascii():
            msg = f"the delimiter {wanted!r} must be one character other than a quotation mark or line end"
            raise TableError(msg)
        return wanted
    prefer = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    chosen = sniffing.find_delimiter(header, prefer=prefer)
    if chosen != prefer:
        notices.append(Notice(f"by_{sniffing.DELIMITERS[chosen]}"))
    return chosen


def decimal_of(rows: list[list[str]], delimiter: str, wanted: str | None, odd: list[str]) -> str:
    """The decimal mark that was declared, else the one that the person is told of; `odd` gets that sentence."""
    if wanted is not None:
        if wanted not in (".", ","):
            msg = f"the decimal mark {wanted!r} must be '.' or ','"
            raise TableError(msg)
        return wanted
    if delimiter != "," and sniffing.uses_decimal_comma(rows):
        odd.append(Notice("decimal_comma"))
        return ","
    return "."


def names_of(
    body: memoryview, name: str, delimiter: str | None, multiline: bool, notices: list[Notice]
) -> tuple[list[str], str]:  # fmt: skip
    """The headers and the delimiter, from the first line that is not blank alone.

    Where the table is read as multiline, a quoted line end may prolong it.
    """
    line = sniffing.first_line(body)
    sniffing.refuse_markup(line[: sniffing.SAMPLE].decode("utf-8", "replace"))
    chosen = _delimiter(line.decode("utf-8", "replace"), name, delimiter, notices)
    size = sniffing.SAMPLE
    rows = sniffing.rows_of(line.decode("utf-8", "replace"), chosen, 1)
    while multiline:
        rows = sniffing.rows_of(_head(body, size), chosen, 2)
        if len(rows) > 1 or size >= len(body):
            break
        if size > sniffing.HEADER_LIMIT:
            msg = "the header is longer than 32 MiB; give a table whose first line holds the headers"
            raise TableError(msg)
        size *= 4
    quoted = not multiline and b'"' in bytes(line)  # a header can be broken by its quotation marks alone
    fault = scanning.first_fault(memoryview(line), chosen, 0, multiline=False) if quoted else None
    if fault is not None:
        raise fault.error(0)
    if not rows:
        msg = "the headers cannot be read; give a table whose first line holds short column names"
        raise TableError(msg)
    return rows[0], chosen


def cells_of(
    body: memoryview,
    names: list[str],
    delimiter: str,
    *,
    multiline: bool,
    strict: bool,
    file: File | None = None,
    before: int = 0,
) -> tuple[Any, scanning.Faults | None]:
    """The records as text columns, and what was wrong with those that break the rules.

    No cell of such a record is read: each of its cells is the replacement character. They come last.

    Args:
        body: the headers and the records, UTF-8.
        names: headers, as the first line has them.
        delimiter: one character.
        multiline: quoted cells may hold line ends.
        strict: refuse a record that breaks the rules.
        file: of the body, where it can be read a second time.
        before: lines of the file that stand above, for the refusal.
    """
    import pyarrow as pa

    block = max(BLOCK, 4 * sum(map(len, names)))
    longest = max(LONGEST, 2 * block)
    faults = None
    if _holds(body, b'"'):  # pyarrow would join what a stray quotation mark pulls together
        faults = scanning.faults(body, delimiter, len(names), multiline=multiline, longest=longest)
    if not faults:
        try:
            return _parsed(body, names, delimiter, multiline, block, file), faults
        except pa.ArrowInvalid:  # some record has more or fewer cells than the header, or is longer than two blocks
            faults = scanning.faults(body, delimiter, len(names), multiline=multiline, longest=longest)
    if strict and faults.first is not None:
        raise faults.first.moved(before).error(len(names))
    sound = memoryview(faults.without(body)) if len(faults) else body
    block = min(max(block, faults.longest + 1), (1 << 31) - 1)
    try:
        table = _parsed(sound, names, delimiter, multiline, block, None)
    except pa.ArrowInvalid as error:
        msg = "the text cannot be split into cells; check its quotation marks and line ends"
        raise TableError(msg) from error
    lost = pa.array([UNREADABLE] * len(faults), pa.string())
    return pa.concat_tables([table, pa.table([lost] * len(names), names=table.column_names)]), faults


def _parsed(
    body: memoryview, names: list[str], delimiter: str, multiline: bool, block: int, file: File | None
) -> Any:  # fmt: skip
    import pyarrow as pa
    import pyarrow.csv as pacsv

    lone_return = not _holds(body, b"\n")
    if lone_return and len(bytes(body[: sniffing.HEADER_LIMIT]).strip(b"\r").split(b"\r", 1)) == 1:  # headers alone
        return pa.table([pa.array([], pa.string())] * len(names), names=names)
    return pacsv.read_csv(
        pa.BufferReader(pa.py_buffer(body)) if file is None else file.stream(),
        read_options=pacsv.ReadOptions(block_size=block, use_threads=True),
        parse_options=pacsv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=multiline or lone_return,
            ignore_empty_lines=len(names) > 1,
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=False,
            null_values=[],
            check_utf8=file is not None,  # bytes in memory have been decoded before; a file may have changed
        ),
    )


def _holds(body: memoryview, byte: bytes) -> bool:
    return any(byte in bytes(body[i : i + sniffing.STEP]) for i in range(0, len(body), sniffing.STEP))
