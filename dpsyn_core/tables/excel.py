"""Workbooks (.xlsx, .ods): one sheet as text cells, the first row holding the headers."""

from __future__ import annotations

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import reduce
from itertools import compress
from typing import Any, NoReturn

from dpsyn_core.errors import DPSynError, TableError
from dpsyn_core.extras import require
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import Batches, of_table
from dpsyn_core.tables.cells import objects as cells
from dpsyn_core.tables.cells.canonical_text import to_text
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.open_document import CONTENT, is_spreadsheet
from dpsyn_core.tables.open_document import Sheet as OpenSheet
from dpsyn_core.tables.read_form import EXCEL, ReadForm
from dpsyn_core.tables.text import dialect
from dpsyn_core.tables.text.inflation import FREE, MAX_RATIO
from dpsyn_core.tables.totals import totals

MAX_BYTES = 2 << 30
MAX_ROW = 2**20  # of a sheet, by its format
PIECE = 1 << 20  # bytes of a sheet that are looked through for merged cells at a time
MERGED = re.compile(rb'<(?:\w+:)?mergeCell [^>]*?ref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')
PADDED = re.compile("0{2,20}")  # a number format that writes zeros in front, as that of postal codes does: 02134
# what else is a zip archive, by a name in it
ARCHIVES = {
    CONTENT: "an OpenDocument file that is no spreadsheet; copy its table to one, or save it as CSV",
    "word/document.xml": "a Word document; copy its table to a spreadsheet and save that as .xlsx or CSV",
    "ppt/presentation.xml": "a presentation; copy its table to a spreadsheet and save that as .xlsx or CSV",
    "Index/Document.iwa": "an Apple file (.numbers); export it as .xlsx or CSV",
}


def parse(data: memoryview, form: ReadForm) -> Batches:
    """Reads a sheet of an .xlsx or .ods file."""
    import pyarrow as pa

    names, chosen, rows = _sheet(bytes(data), form.sheet)
    notices: tuple[Notice, ...] = ()
    if form.sheet is None and len(names) > 1:
        rest = [f"'{n}'" for n in names if n != chosen]
        others = ", ".join(rest[:5]) + (" ..." if len(rest) > 5 else "")
        notices = (Notice("sheet", sheet=chosen, sheets=len(names), others=others),)
    looked = [["" if c is None else str(c) for c in row] for row in rows[: dialect.LOOKED]]
    first = form.header is None and form.header_row == form.header_lines == 1
    hint = dialect.header_hint(looked) if first else None
    headless = first and bool(looked) and dialect.looks_like_a_record(looked[0])
    if form.header is None:
        rows = rows[form.header_row - 1 :]
        if form.header_lines > max(len(rows), 1):
            msg = f"the headers are said to take {form.header_lines} lines, and the file has fewer; say how many"
            raise TableError(msg)
        if form.header_lines > 1:
            top = [["" if c is None else cell(c) for c in row] for row in rows[: form.header_lines]]
            rows = [tuple(headers.over(top)), *rows[form.header_lines :]]
    else:
        given = dialect.rows_of(form.header, dialect.find_delimiter(form.header), 1)
        rows = [tuple(given[0] if given else ()), *rows]
        notices += (Notice("headers_given"),)
    if len(rows) < (2 if form.strict else 1):
        what = "records below its headers" if rows else "cells"
        msg = f"the sheet '{chosen}' has no {what}; give a table with its headers in row {form.header_row}"
        raise TableError(msg)
    table, said = _table(rows, pa, strict=form.strict)
    return of_table(
        table,
        kind=EXCEL,
        form=form.model_copy(update={"sheet": chosen}),
        sheets=tuple(names),
        header_hint=hint,
        headless=headless,
        notices=notices + said,
        odd=totals(table),
    )


def _sheet(raw: bytes, wanted: str | None) -> tuple[list[str], str, list[tuple[Any, ...]]]:
    """The names of all sheets, that of the one that is read, and its rows that have a cell."""
    if _is_open_document(raw):
        sheet = OpenSheet(raw, wanted)
        if sheet.name not in sheet.names:
            _refuse_sheet(wanted, sheet.names)
        return sheet.names, str(sheet.name), sheet.rows
    with _opened(raw) as book:
        names = book.sheetnames
        if wanted is not None and wanted not in names:
            _refuse_sheet(wanted, names)
        # what nobody sees in Excel, and charts, are read when they are asked for by name
        shown = [n for n in names if book[n].sheet_state == "visible" and hasattr(book[n], "iter_rows")]
        chosen = wanted or (shown or names)[0]
        page = book[chosen]
        if not hasattr(page, "iter_rows"):
            msg = f"the sheet '{chosen}' holds a chart and no cells; choose another sheet"
            raise TableError(msg)
        # openpyxl hands out rows one by one; there is no column access in its streaming reader
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of cells that are no dates, and shows them
            page.reset_dimensions()  # each row as wide as its own cells: one far away makes no wide sheet
            return names, chosen, _spread(page, _rows(book, page))


def _rows(book: Any, page: Any) -> list[tuple[Any, ...]]:
    """All rows of a sheet; whole numbers with zeros in front are text, by the format of their own cell."""
    if not any(map(PADDED.fullmatch, getattr(book, "_number_formats", ()))):
        return list(page.iter_rows(max_row=MAX_ROW, values_only=True))
    return [tuple(map(_padded, row)) for row in page.iter_rows(max_row=MAX_ROW)]


def _padded(cell: Any) -> Any:
    if type(cell.value) is int and cell.value >= 0 and PADDED.fullmatch(cell.number_format or ""):
        return str(cell.value).zfill(len(cell.number_format))
    return cell.value


def _refuse_sheet(wanted: str | None, names: list[str]) -> NoReturn:
    others = ", ".join(names) or "none"
    msg = f"the workbook has no sheet '{wanted}'; it has {others}"
    if wanted is None:
        msg = f"the workbook has no sheet that is shown; it has {others}"
    raise TableError(msg)


def _spread(page: Any, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows of a sheet that have a cell of their own, where cells merged downwards hold what the uppermost shows."""
    filled = [any(c is not None for c in row) for row in rows]
    for merge in _merges(page):
        column, first, last = _column_number(merge[1].decode()) - 1, int(merge[2]), min(int(merge[3]), len(rows))
        for row in range(first, last) if first <= len(rows) and column < len(rows[first - 1]) else ():
            cells = [*rows[row], *[None] * (column + 1 - len(rows[row]))]
            cells[column] = rows[first - 1][column] if cells[column] is None else cells[column]
            rows[row] = tuple(cells)
    return list(compress(rows, filled))  # a record over merged rows is one record


def _merges(page: Any) -> Iterator[re.Match[bytes]]:
    """All merged cells of a sheet; openpyxl tells of them only where it keeps the whole sheet."""
    with page._get_source() as source:
        left = b""
        while part := source.read(PIECE):
            left += part
            whole = max(left.rfind(b"<"), 0)
            yield from MERGED.finditer(left, 0, whole)
            left = left[whole:]
        yield from MERGED.finditer(left)


def _column_number(letters: str) -> int:
    """1 for A, 27 for AA."""
    return reduce(lambda number, letter: 26 * number + ord(letter) - 64, letters, 0)


def sheets(raw: bytes) -> tuple[str, ...]:
    """The names of a workbook's sheets, in order. Raises TableError for what is no workbook."""
    if _is_open_document(raw):
        return tuple(OpenSheet(raw, None).names)
    with _opened(raw) as book:
        return tuple(book.sheetnames)


@contextmanager
def _opened(raw: bytes) -> Iterator[Any]:
    """The workbook, whose rows are read as they are asked for. Raises TableError, also for damage that shows then.

    A damaged workbook makes openpyxl raise errors of many kinds, some of which quote cells.
    """
    require("excel", "an Excel file")
    from openpyxl import load_workbook

    try:
        with closing(load_workbook(io.BytesIO(raw), read_only=True, data_only=True, keep_links=False)) as book:
            yield book
    except (DPSynError, MemoryError):
        raise
    except Exception as error:
        msg = "the Excel file is damaged or not an .xlsx workbook; save it again as .xlsx, or as CSV"
        raise TableError(msg) from error


def _table(rows: list[tuple[Any, ...]], pa: Any, *, strict: bool) -> tuple[Any, tuple[Notice, ...]]:
    """The columns that have a header, and notices about them; cells right of the last header are dropped."""
    header = list(rows[0])
    while header and header[-1] in (None, ""):
        header.pop()
    names = ["" if h is None else cell(h) for h in header]
    names, notices = headers.named(names, strict=strict)
    width = len(names)
    records = [(*row[:width], *(None,) * (width - len(row))) for row in rows[1:]]
    columns = zip(*records, strict=True) if records else [()] * width
    return pa.table([_column(list(c)) for c in columns], names=names), tuple(notices)


def _column(values: list[Any]) -> Any:
    """Cells as text; a time at midnight is a day, which is how Excel keeps days, and a duration reads 26:03:00."""
    shown = [_shown(v) if isinstance(v, datetime.datetime | datetime.timedelta) else v for v in values]
    return to_text(cells.column(shown)).fill_null("")


def _shown(value: datetime.datetime | datetime.timedelta) -> object:
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time() else value
    seconds = round(abs(value.total_seconds()))
    return f"{'-' * (value.days < 0)}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def cell(value: object) -> str:
    """One cell as text: 3 for 3.0, true, ISO dates, nothing for a blank."""
    return str(_column([value])[0])


def _is_open_document(raw: bytes) -> bool:
    """Whether a workbook is an .ods file. Raises TableError for what is no workbook, or inflates too far."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            inflated = sum(i.file_size for i in archive.infolist())
            names = set(archive.namelist())
            open_document = {CONTENT, "mimetype"} <= names and is_spreadsheet(archive)
    except Exception as error:  # zipfile raises errors of many kinds
        msg = "the file is a damaged archive; save it again as .xlsx, or as CSV"
        raise TableError(msg) from error
    if not open_document and "xl/workbook.xml" not in names:
        other = next((what for name, what in ARCHIVES.items() if name in names), None)
        if other is not None:
            msg = f"the file is {other}"
            raise TableError(msg)
        msg = "the file is a zip archive and not an Excel workbook; unpack it and give the table inside"
        raise TableError(msg)
    if inflated > min(MAX_BYTES, max(FREE, MAX_RATIO * len(raw))):
        msg = f"the workbook inflates to more than {MAX_RATIO} times its size or {MAX_BYTES} bytes; save it as CSV"
        raise TableError(msg)
    return open_document
