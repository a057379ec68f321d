"""Reads tables: CSV, TSV (gzip too), Parquet and Excel; every cell of a text format stays the text that was written."""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import columnar, delimited, excel, inflate
from dpsyn_core.tables.reading import File, Reading

MAX_FILE = 8 << 30  # bytes, by path
MAX_UPLOAD = 200 << 20  # bytes, through a browser
MAX_TEXT = 16 << 30  # bytes after inflating
ADDRESS = re.compile(r"\w{2,}:/")

Source = str | os.PathLike[str] | bytes


def read_table(
    source: Source, *, delimiter: str | None = None, encoding: str | None = None, decimal: str | None = None
) -> Any:
    """The table alone of `read`."""
    return read(source, delimiter=delimiter, encoding=encoding, decimal=decimal).table


def read(
    source: Source,
    *,
    name: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    max_bytes: int | None = None,
) -> Reading:
    """Reads a table strictly: nothing is dropped, renamed, padded or recast.

    Args:
        source: a path, or the bytes of an upload.
        name: file name of an upload, for its ending.
        delimiter: one character; None: found among comma, semicolon, tab and pipe.
        encoding: None: found among UTF-8, UTF-16 and Latin-1.
        decimal: '.' or ','; None: cells may have either, unless a comma separates them.
        sheet: of an Excel file; None: the first.
        max_bytes: largest file accepted; default 8 GiB by path, 200 MiB for bytes.

    Raises:
        TableError: no such file, empty, too large, not a table, blank or repeated headers, ragged rows (with the
            first such line), NUL bytes, bytes that do not decode, damaged or nested files. No cell is shown.
    """
    if isinstance(source, bytes):
        return _dispatch(memoryview(source), name or "", max_bytes or MAX_UPLOAD, delimiter, encoding, decimal, sheet)
    if ADDRESS.match(os.fspath(source)):  # which may hold a password, so that nothing of it is shown
        msg = "this is the address of a database, not a file; name a table or a query of it (--sql-table, --sql-query)"
        raise TableError(msg)
    path = Path(source)
    cap = max_bytes or MAX_FILE
    try:
        size = path.stat().st_size
        if path.is_dir():
            msg = f"'{path}' is a folder; give a CSV, TSV, Parquet or Excel file"
            raise TableError(msg)
        _check_size(size, cap)
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # freed with its last view
        return _dispatch(
            memoryview(mapped), path.name, cap, delimiter, encoding, decimal, sheet, file=File(path=path, pages=mapped)
        )
    except (OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        reason = getattr(error, "strerror", None) or "no reason given"
        msg = f"'{path}' cannot be read ({reason}); check the path"
        raise TableError(msg) from error


def _check_size(size: int, cap: int) -> None:
    if size == 0:
        msg = "the file is empty (0 bytes); give a table with a header line and at least one record"
        raise TableError(msg)
    if size > cap:
        msg = f"the file has {size} bytes and the limit is {cap}; give a smaller file, or Parquet by its path"
        raise TableError(msg)


def _dispatch(
    data: memoryview,
    name: str,
    cap: int,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    sheet: str | None,
    *,
    file: File | None = None,
) -> Reading:
    _check_size(len(data), cap)
    head = bytes(data[:8])
    if head.startswith(b"\x1f\x8b"):
        plain = inflate.gunzip(data, min(MAX_TEXT, inflate.MAX_RATIO * cap))
        name = name.removesuffix(".gz")
        _check_size(len(plain), MAX_TEXT)
        return delimited.parse(memoryview(plain), name, delimiter, encoding, decimal)
    if head.startswith(b"PAR1"):
        return columnar.parse(data)
    if head.startswith(b"PK\x03\x04"):
        return excel.parse(data, sheet)
    for mark, what in (
        (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls); save it as .xlsx"),
        (b"BZh", "compressed by bzip2; inflate it first"),
        (b"\xfd7zXZ", "compressed by xz; inflate it first"),
        (b"\x28\xb5\x2f\xfd", "compressed by zstd; inflate it first"),
        (b"ARROW1", "an Arrow file; save it as Parquet"),
        (b"SQLite", "an SQLite database; name one of its tables as the source"),
        (b"%PDF", "a PDF; give CSV, TSV, Parquet or Excel"),
    ):
        if head.startswith(mark):
            msg = f"the file is {what}"
            raise TableError(msg)
    return delimited.parse(data, name, delimiter, encoding, decimal, file=file)
