"""Reads tables: CSV, TSV (gzip too), Parquet and Excel; every cell of a text format stays the text that was written."""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from dpsyn_core.errors import TableError
from dpsyn_core.tables import columnar, confines, delimited, excel, inflate
from dpsyn_core.tables.kinds import HEAD, kind_of
from dpsyn_core.tables.reading import File, Reading

MAX_FILE = 8 << 30  # bytes, by path
MAX_UPLOAD = 200 << 20  # bytes, through a browser
MAX_TEXT = 16 << 30  # bytes after inflating
ADDRESS = re.compile(r"\w{2,}:/")

Source = str | os.PathLike[str] | bytes


class Form(NamedTuple):
    """What a person said about a file; see `read`."""

    delimiter: str | None
    encoding: str | None
    decimal: str | None
    sheet: str | None
    multiline: bool
    strict: bool
    header_row: int
    header: str | None


def read_table(
    source: Source,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    multiline: bool = False,
    strict: bool = False,
    header_row: int = 1,
    header: str | None = None,
) -> Any:
    """The table alone of `read`."""
    return read(
        source, delimiter=delimiter, encoding=encoding, decimal=decimal, sheet=sheet, multiline=multiline,
        strict=strict, header_row=header_row, header=header,
    ).table  # fmt: skip


def read(
    source: Source,
    *,
    name: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    multiline: bool = False,
    strict: bool = False,
    header_row: int = 1,
    header: str | None = None,
    max_bytes: int | None = None,
) -> Reading:
    """Reads a table; no cell is padded or recast.

    Headers that repeat get numbers (`headers.named`).

    Guarantee: what a record becomes depends on that record and the public form alone: the header, and the arguments
    (docs/proofs/encoding.md). A cell that does not decode holds U+FFFD there; a line that has another number of cells
    than the header, or breaks the rules of quotation marks, becomes a record of which no cell is read. LF, CR LF and CR
    each end a line. Below the headers a blank line is a record with a blank cell in a text of one column, and no record
    in one of several.

    Args:
        source: a path, or the bytes of an upload.
        name: file name of an upload, for its ending.
        delimiter: one character; None: the one among comma, semicolon, tab and pipe that splits the header most.
        encoding: None: UTF-8, or what the header line says (UTF-16, or Windows-1252 where it is not UTF-8).
        decimal: '.' or ','; None: cells may have either, unless a comma separates them.
        sheet: of an Excel file; None: the first.
        multiline: quoted cells of a text may hold line ends. Then a quotation mark that one record forgets to close
            swallows the records after it, so that this needs the owner's word that none does.
        strict: refuse a table without records, lines that break the rules (naming the first), bytes that do not
            decode, and NUL bytes. Such a refusal is an exact answer about the data.
        header_row: the line of a text, or the row of a sheet, that holds the headers; blank ones do not count, and what
            stands above belongs to nothing.
        header: the line of headers that a text or a sheet lacks, with its delimiter between the names; the first line
            is a record then, and decides nothing about how the file is read: `.gz` in its name says that it is
            compressed, `.xlsx` that it is a workbook, all else is text, UTF-8 unless `encoding` says otherwise.
        max_bytes: largest file accepted; default 8 GiB by path, 200 MiB for bytes.

    Raises:
        TableError: no such file, empty, too large, not a table, blank headers, damaged or nested files;
            with `strict`, the above and repeated headers. No cell is shown.
    """
    if header_row < 1:
        msg = f"the headers are said to stand in line {header_row}; the first line is 1"
        raise TableError(msg)
    if header is not None and header_row != 1:
        msg = f"headers are given, and said to stand in line {header_row} as well; say one of the two"
        raise TableError(msg)
    form = Form(delimiter, encoding, decimal, sheet, multiline, strict, header_row, header)
    if isinstance(source, bytes):
        return _dispatch(memoryview(source), name or "", max_bytes or MAX_UPLOAD, form)
    if ADDRESS.match(os.fspath(source)):  # which may hold a password, so that nothing of it is shown
        msg = "this is the address of a database, not a file; name a table or a query of it (--sql-table, --sql-query)"
        raise TableError(msg)
    path = Path(source)
    cap = max_bytes or MAX_FILE
    try:
        confines.check(path)
        size = path.stat().st_size
        if path.is_dir():
            msg = f"'{path}' is a folder; give a CSV, TSV, Parquet or Excel file"
            raise TableError(msg)
        _check_size(size, cap, headed=header is None)
        if size == 0:  # which cannot be mapped
            return _dispatch(memoryview(b""), path.name, cap, form)
        with confines.steady(path) as here:
            with here.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # freed with its last view
            return _dispatch(memoryview(mapped), path.name, cap, form, file=File(path=here, pages=mapped))
    except (OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        reason = getattr(error, "strerror", None) or "no reason given"
        msg = f"'{path}' cannot be read ({reason}); check the path"
        raise TableError(msg) from error


def _check_size(size: int, cap: int, *, headed: bool) -> None:
    if size == 0 and headed:  # without the headers that the file should hold; where they are given it has no record
        msg = "the file is empty (0 bytes); give a table with a header line and at least one record"
        raise TableError(msg)
    if size > cap:
        msg = f"the file is too large (for the owner only), the limit is {cap} bytes; give a smaller one, or Parquet"
        raise TableError(msg)


def _dispatch(data: memoryview, name: str, cap: int, form: Form, *, file: File | None = None) -> Reading:
    headed = form.header is None
    _check_size(len(data), cap, headed=headed)
    kind = kind_of(name, bytes(data[:HEAD]), headed=headed)
    if kind == "gzip":
        plain = inflate.gunzip(data, min(MAX_TEXT, inflate.MAX_RATIO * cap))
        _check_size(len(plain), MAX_TEXT, headed=headed)
        return _text(memoryview(plain), name.removesuffix(".gz"), form, None)
    if kind == "parquet":
        return columnar.parse(data, strict=form.strict)
    if kind == "excel":
        return excel.parse(data, form.sheet, strict=form.strict, header_row=form.header_row, header=form.header)
    return _text(data, name, form, file)


def _text(data: memoryview, name: str, form: Form, file: File | None) -> Reading:
    return delimited.parse(
        data,
        name,
        form.delimiter,
        form.encoding,
        form.decimal,
        multiline=form.multiline,
        strict=form.strict,
        header_row=form.header_row,
        header=form.header,
        file=file,
    )
