"""Excel: one sheet as text cells, the first row holding the headers."""

from __future__ import annotations

import datetime
import io
import zipfile
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.inflate import FREE, MAX_RATIO
from dpsyn_core.tables.reading import Reading

MAX_BYTES = 2 << 30


def parse(data: memoryview, sheet: str | None) -> Reading:
    """Reads a sheet of an .xlsx file; see `read`."""
    raw = bytes(data)
    _check_archive(raw)
    import pyarrow as pa
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(io.BytesIO(raw), read_only=True, data_only=True, keep_links=False)
    except (InvalidFileException, KeyError, ValueError, zipfile.BadZipFile, OSError, SyntaxError) as error:
        msg = "the Excel file is damaged or not an .xlsx workbook; save it again as .xlsx, or as CSV"
        raise TableError(msg) from error
    try:
        names = book.sheetnames
        if not names or (sheet is not None and sheet not in names):
            msg = f"the workbook has no sheet '{sheet}'; it has {', '.join(names) or 'none'}"
            raise TableError(msg)
        chosen = sheet or names[0]
        page = book[chosen]
        if not hasattr(page, "iter_rows"):
            msg = f"the sheet '{chosen}' holds a chart and no cells; choose another sheet"
            raise TableError(msg)
        # openpyxl hands out rows one by one; there is no column access in its streaming reader
        rows = [row for row in page.iter_rows(values_only=True) if any(c is not None for c in row)]
    finally:
        book.close()
    notices = (f"read the sheet '{chosen}', the first of {len(names)}",) if sheet is None and len(names) > 1 else ()
    if len(rows) < 2:
        msg = f"the sheet '{chosen}' has no records below its headers; give a table with at least one record"
        raise TableError(msg)
    return Reading(table=_table(rows, pa), kind="excel", notices=notices)


def _table(rows: list[tuple[Any, ...]], pa: Any) -> Any:
    width = max(map(len, rows))
    columns = list(zip(*(r + (None,) * (width - len(r)) for r in rows), strict=True))
    while columns and all(c is None for c in columns[-1]):
        columns.pop()
    names = ["" if c[0] is None else cell(c[0]) for c in columns]
    headers.check(names)
    return pa.table([pa.array([cell(v) for v in c[1:]], pa.string()) for c in columns], names=names)


def cell(value: object) -> str:
    """A cell as text: 3 for 3.0, true, ISO dates, nothing for a blank."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _check_archive(raw: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            inflated = sum(i.file_size for i in archive.infolist())
            workbook = "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile as error:
        msg = "the file is a damaged archive; save it again as .xlsx, or as CSV"
        raise TableError(msg) from error
    if not workbook:
        msg = "the file is a zip archive and not an Excel workbook; unpack it and give the table inside"
        raise TableError(msg)
    if inflated > min(MAX_BYTES, max(FREE, MAX_RATIO * len(raw))):
        msg = f"the workbook inflates to more than {MAX_RATIO} times its size or {MAX_BYTES} bytes; save it as CSV"
        raise TableError(msg)
