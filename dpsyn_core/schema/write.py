"""Writes tables: CSV, TSV, Parquet and Excel, atomically; cells that a spreadsheet would run are made harmless."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from dpsyn_core.errors import OutputError
from dpsyn_core.files import check_writable, replacing
from dpsyn_core.schema import casting

ENDINGS = (".csv", ".tsv", ".csv.gz", ".parquet", ".xlsx")
EXCEL_ROWS = 1_048_575
RUNS = r"^([=+\-@\t\r])"  # OWASP: what makes a spreadsheet read a text cell as a formula


def write_table(table: Any, path: str | Path) -> None:
    """Writes a pyarrow table; the ending chooses CSV, TSV, gzipped CSV, Parquet or Excel.

    In text columns of CSV, TSV and Excel a cell that starts with = + - @ TAB or CR is given a leading apostrophe;
    numbers keep their sign. Parquet keeps every cell. The file appears whole or not at all.

    Raises:
        OutputError: unknown ending, a folder that is missing or read-only, a full disk.
    """
    path = Path(path)
    check_target(path)
    name = path.name.lower()
    with replacing(path) as temporary:
        if name.endswith(".parquet"):
            import pyarrow.parquet as pq

            pq.write_table(table, temporary, compression="zstd")
        elif name.endswith(".xlsx"):
            _write_excel(escape(table), temporary)
        else:
            _write_text(escape(table), temporary, name)


def check_target(path: str | Path) -> None:
    """Raises OutputError, before anything is spent, for an output that cannot be written."""
    path = Path(path)
    if not path.name.lower().endswith(ENDINGS):
        msg = f"'{path.name}' has no known ending; use one of {', '.join(ENDINGS)}"
        raise OutputError(msg)
    check_writable(path)


def escape(table: Any) -> Any:
    """The table with harmless text columns and headers; other columns are untouched."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def harmless(column: Any) -> Any:
        if not casting.is_text(column.type):
            return column
        number = pc.match_substring_regex(column, casting.NUMBER)  # -1 runs nothing
        return pc.if_else(number, column, pc.replace_substring_regex(column, RUNS, r"'\1"))

    columns = [harmless(c) for c in table.columns]
    names = pc.replace_substring_regex(pa.array(table.column_names, pa.string()), RUNS, r"'\1").to_pylist()
    return pa.table(columns, names=names)


def _write_text(table: Any, path: Path, name: str) -> None:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    delimiter = "\t" if name.endswith(".tsv") else ","
    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    # pyarrow would put every name of the header in quotes, needed or not
    options = pacsv.WriteOptions(delimiter=delimiter, quoting_style="needed", include_header=False)
    plain = pa.table([_readable(c) for c in table.columns], names=table.column_names)
    with pa.CompressedOutputStream(str(path), "gzip") if name.endswith(".gz") else pa.OSFile(str(path), "wb") as out:
        out.write(header.getvalue().encode())
        pacsv.write_csv(plain, out, options)


def _readable(column: Any) -> Any:
    """Columns as text where pyarrow's own spelling is not ISO 8601 or does not round-trip."""
    import pyarrow.types as t

    if t.is_timestamp(column.type):
        return casting.to_text(column)
    return column


def _write_excel(table: Any, path: Path) -> None:
    from openpyxl import Workbook

    if table.num_rows > EXCEL_ROWS:
        msg = f"{table.num_rows} records are above Excel's {EXCEL_ROWS}; write CSV or Parquet"
        raise OutputError(msg)
    book = Workbook(write_only=True)
    page = book.create_sheet("synthetic")
    page.append(table.column_names)
    columns = [_without_zone(c).to_pylist() for c in table.columns]
    for row in zip(*columns, strict=True):  # openpyxl takes rows one by one
        page.append(row)
    book.save(path)


def _without_zone(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_timestamp(column.type) and column.type.tz:
        return column.cast(pa.timestamp(column.type.unit))
    return column
