"""Delimited text: strict cells, strict columns, all text, through pyarrow's CSV reader."""

from __future__ import annotations

import codecs
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers, scanning, sniffing
from dpsyn_core.tables.reading import File, Reading

BLOCK = 1 << 22
HEADER_LIMIT = 1 << 25


def parse(
    data: memoryview,
    name: str,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    *,
    file: File | None = None,
) -> Reading:
    """Reads a whole delimited file; see `read`."""
    found = sniffing.find_encoding(data, encoding)
    notices = [found.notice] if found.notice else []
    body = data[found.skip :]
    if found.name != "utf-8":
        body = memoryview(_recoded(body, found.name))
    nul = sniffing.find_nul(body)
    if nul is not None:
        msg = f"byte {nul + found.skip} is NUL, which no text table holds; repair the file, or name its encoding"
        raise TableError(msg)
    text = _head(body, sniffing.SAMPLE)
    if not text.strip("\r\n"):
        msg = "the file holds no text; give a table with a header line and at least one record"
        raise TableError(msg)
    chosen = _delimiter(text, name, delimiter, notices)
    rows = sniffing.rows_of(text, chosen, 200)
    mark = _decimal(rows, chosen, decimal, notices)
    names = _names(body, chosen)
    headers.check(names)
    table = _cells(body, names, chosen, file if found.name == "utf-8" else None)
    if table.num_rows == 0:
        msg = "the file has headers but no records; give a table with at least one record"
        raise TableError(msg)
    if mark == "," or (decimal is None and chosen != ","):
        # never by looking at the cells: one odd cell must not change how those of other individuals are read
        table = table.replace_schema_metadata({b"dpsyn.decimal": b","})
    return Reading(
        table=table, kind="text", delimiter=chosen, encoding=found.name, decimal=mark, notices=tuple(notices)
    )


def _recoded(body: memoryview, name: str) -> bytes:
    decoder = codecs.getincrementaldecoder(name)()
    parts = [
        decoder.decode(bytes(body[i : i + sniffing.STEP])).encode("utf-8") for i in range(0, len(body), sniffing.STEP)
    ]
    return b"".join(parts)


def _head(body: memoryview, size: int) -> str:
    """The first lines as text, cut at a line's end."""
    text = bytes(body[:size]).decode("utf-8", errors="ignore")
    return sniffing.sample_lines(text, len(body) <= size)


def _delimiter(text: str, name: str, wanted: str | None, notices: list[str]) -> str:
    if wanted is not None:
        if len(wanted) != 1 or wanted in '"\r\n' or not wanted.isascii():
            msg = f"the delimiter {wanted!r} must be one character other than a quotation mark or line end"
            raise TableError(msg)
        return wanted
    prefer = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    chosen = sniffing.find_delimiter(text, prefer=prefer)
    if chosen != prefer:
        notices.append(f"cells are separated by a {sniffing.DELIMITERS[chosen]}")
    return chosen


def _decimal(rows: list[list[str]], delimiter: str, wanted: str | None, notices: list[str]) -> str:
    if wanted is not None:
        if wanted not in (".", ","):
            msg = f"the decimal mark {wanted!r} must be '.' or ','"
            raise TableError(msg)
        return wanted
    if delimiter != "," and sniffing.uses_decimal_comma(rows):
        notices.append("numbers are read with a decimal comma (12,5 is twelve and a half)")
        return ","
    return "."


def _names(body: memoryview, delimiter: str) -> list[str]:
    """The headers: the first line that is not blank, which a quoted line end may prolong."""
    size = sniffing.SAMPLE
    while True:
        rows = sniffing.rows_of(_head(body, size), delimiter, 2)
        if len(rows) > 1 or size >= len(body):
            if not rows:
                msg = "the headers cannot be read; give a table whose first line holds short column names"
                raise TableError(msg)
            return rows[0]
        if size > HEADER_LIMIT:
            msg = "the first line is longer than 32 MiB; give a table whose first line holds the headers"
            raise TableError(msg)
        size *= 4


def _cells(body: memoryview, names: list[str], delimiter: str, file: File | None) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    quoted = _holds(body, b'"')
    if quoted:  # pyarrow would join what a stray quotation mark pulls together
        fault = scanning.first_fault(body, delimiter, 0)
        if fault is not None:
            raise fault.error(len(names))
    lone_return = not _holds(body, b"\n")
    try:
        return pacsv.read_csv(
            pa.BufferReader(pa.py_buffer(body)) if file is None else file.stream(),
            read_options=pacsv.ReadOptions(block_size=max(BLOCK, 4 * sum(map(len, names))), use_threads=True),
            parse_options=pacsv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=quoted or lone_return,
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
                null_values=[],
                check_utf8=file is not None,  # bytes in memory have been decoded before; a file may have changed
            ),
        )
    except pa.ArrowInvalid as error:
        if lone_return and not _holds(body, b"\r"):
            msg = "the file has headers but no records; give a table with at least one record"
            raise TableError(msg) from error
        fault = scanning.first_fault(body, delimiter, len(names))
        if fault is not None:
            raise fault.error(len(names)) from error
        msg = "the text cannot be split into cells; check its quotation marks and line ends"
        raise TableError(msg) from error


def _holds(body: memoryview, byte: bytes) -> bool:
    return any(byte in bytes(body[i : i + sniffing.STEP]) for i in range(0, len(body), sniffing.STEP))
