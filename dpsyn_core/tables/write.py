"""Writes tables as text, Parquet, Excel, SPSS, Stata and SAS, atomically; cells that run in a spreadsheet do not."""

from __future__ import annotations

import base64
import datetime
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import OutputError
from dpsyn_core.files import check_writable, replacing
from dpsyn_core.tables import headers
from dpsyn_core.tables.cells import canonical_text as canonical
from dpsyn_core.tables.cells import numbers as casting

if TYPE_CHECKING:
    from dpsyn_core.tables.declarations import DeclaredColumn

LABELLED = (".sav", ".dta", ".xpt")  # files that carry labels of codes
ENDINGS = (".csv", ".tsv", ".csv.gz", ".parquet", ".xlsx", *LABELLED)
EXCEL_ROWS = 1_048_575
EXCEL_DATE = datetime.datetime(1980, 1, 1)
TOLD_EVERY = 500  # records of a workbook between two words on how far it is
Told = Callable[[int, int], object]
LINES = 65_536  # records that are put together at a time
RUNS = f"^{headers.BEGINS}"
HARMLESS = rf"{casting.NUMBER}|{casting.AMOUNT}|^[+-]+$"  # -1, -$1.50, and marks such as - and ++, run nothing


def write_table(
    table: Any, path: str | Path, declared: Mapping[str, DeclaredColumn] | None = None, *, told: Told | None = None
) -> None:
    """Writes a pyarrow table; the ending chooses CSV, TSV, gzipped CSV, Parquet, Excel, SPSS, Stata or SAS.

    In text columns of CSV, TSV and Excel a cell that a spreadsheet may run (`headers.FORMULA`) is given a leading
    apostrophe; numbers keep their sign. Parquet keeps every cell. SPSS, Stata and SAS get what is declared of the
    columns, by name. The file appears whole or not at all. told: called with (records written, of all) for an Excel
    file.

    Raises:
        OutputError: unknown ending, a folder that is missing or read-only, a full disk.
    """
    with staged_table(table, path, declared, told=told):
        pass


@contextmanager
def staged_table(
    table: Any, path: str | Path, declared: Mapping[str, DeclaredColumn] | None = None, *, told: Told | None = None
) -> Iterator[Path]:
    """As `write_table`, but gives the whole file before it has its name: it gets it when the block ends well."""
    path = Path(path)
    check_target(path)
    name = path.name.lower()
    with replacing(path) as temporary:
        if name.endswith(".parquet"):
            _write_parquet([table], temporary)
        elif name.endswith(".xlsx"):
            _write_excel(escape(table), temporary, told)
        elif name.endswith(LABELLED):
            from dpsyn_core.tables.labelled_write import write_labelled

            write_labelled(table, temporary, path.suffix.lower(), declared or {})
        else:
            _write_text([escape(table)], temporary, name)
        yield temporary


@contextmanager
def staged_parts(parts: Iterable[Any], path: str | Path) -> Iterator[Path]:
    """As `staged_table`, for CSV or Parquet and tables that follow each other; at least one, of equal columns."""
    path = Path(path)
    check_target(path)
    with replacing(path) as temporary:
        if path.name.lower().endswith(".parquet"):
            _write_parquet(parts, temporary)
        else:
            _write_text((escape(part) for part in parts), temporary, path.name.lower())
        yield temporary


def _write_parquet(parts: Iterable[Any], path: Path) -> None:
    writer: Any = None
    try:
        for part in parts:
            writer = writer or parquet_writer(path, part.schema)
            writer.write_table(part)
    finally:
        if writer is not None:
            writer.close()


def parquet_writer(path: Path, schema: Any) -> Any:
    """A pyarrow ParquetWriter; columns that come as dictionaries read back as columns of their values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not any(pa.types.is_dictionary(kind) for kind in schema.types):
        return pq.ParquetWriter(path, schema, compression="zstd")
    writer = pq.ParquetWriter(path, schema, compression="zstd", store_schema=False)
    fields = [f.with_type(f.type.value_type) if pa.types.is_dictionary(f.type) else f for f in schema]
    plain = pa.schema(fields, metadata=schema.metadata)
    stored = base64.b64encode(plain.serialize().to_pybytes()).decode("ascii")
    writer.add_key_value_metadata({"ARROW:schema": stored})  # where Arrow keeps the types that Parquet does not have
    return writer


def check_target(path: str | Path) -> None:
    """Raises OutputError, before anything is spent, for an output that cannot be written."""
    path = Path(path)
    if not path.name.lower().endswith(ENDINGS):
        msg = f"'{path.name}' has no known ending; use one of {', '.join(ENDINGS)}"
        raise OutputError(msg)
    if path.name.lower().endswith(LABELLED):
        from dpsyn_core.extras import require

        require("codebooks", f"a {path.suffix} file")
    elif path.name.lower().endswith(".xlsx"):
        from dpsyn_core.extras import require

        require("excel", "an Excel file")
    check_writable(path)


def escape(table: Any) -> Any:
    """The table with harmless text columns and headers; other columns are untouched."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def harmless(column: Any) -> Any:
        if pa.types.is_dictionary(column.type) and canonical.is_text(column.type.value_type):
            column = column.cast(column.type.value_type)
        if not canonical.is_text(column.type):
            return column
        if not pc.any(pc.match_substring_regex(column, RUNS)).as_py():
            return column
        number = pc.match_substring_regex(column, HARMLESS)
        return pc.if_else(number, column, pc.replace_substring_regex(column, RUNS, r"'\1"))

    columns = [harmless(c) for c in table.columns]
    names = pc.replace_substring_regex(pa.array(table.column_names, pa.string()), RUNS, r"'\1").to_pylist()
    return pa.table(columns, names=names, metadata=table.schema.metadata)


def csv_bytes(table: Any) -> bytes:
    """A small pyarrow table as the CSV file that `write_table` makes of it."""
    return b"".join(_text_of([escape(table)], ","))


def _write_text(parts: Iterable[Any], path: Path, name: str) -> None:
    import pyarrow as pa

    delimiter = "\t" if name.endswith(".tsv") else ","
    with pa.CompressedOutputStream(str(path), "gzip") if name.endswith(".gz") else pa.OSFile(str(path), "wb") as out:
        for lines in _text_of(parts, delimiter):
            out.write(lines)


def _text_of(parts: Iterable[Any], delimiter: str) -> Iterator[bytes]:
    """The file piece by piece: cells in quotation marks only where they need them, which pyarrow's writer cannot do."""
    import pyarrow as pa

    for number, table in enumerate(parts):
        if not number:
            comma, places = canonical.has_decimal_comma(table), canonical.places_in(table)
            delimiter = ";" if comma and delimiter == "," else delimiter
            header = pa.table([pa.array([n], pa.string()) for n in table.column_names], names=table.column_names)
            yield _lines(header, delimiter, comma, places)
        for start in range(0, table.num_rows, LINES):
            yield _lines(table.slice(start, LINES), delimiter, comma, places)


def _lines(table: Any, delimiter: str, comma: bool, places: Mapping[str, int]) -> bytes:
    """The records of a table as delimited lines, UTF-8.

    comma: the decimal mark of its numbers. places: columns whose numbers have at least as many decimals.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    needs = rf'["\r\n{delimiter}]' if table.num_columns > 1 else rf'^$|["\r\n{delimiter}]'
    cells = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        text = as_written(column)
        if name in places and pa.types.is_floating(column.type):
            text = pc.replace_substring_regex(text, r"^(-?\d+\.\d+)$", rf"\1{'0' * places[name]}")
            text = pc.replace_substring_regex(text, rf"^(-?\d+\.\d{{{places[name]},}}?)0*$", r"\1")
        text = pc.fill_null(text, "")
        if comma and pa.types.is_floating(column.type):
            text = pc.replace_substring(text, ".", ",")
        if canonical.is_text(column.type) or table.num_columns == 1:
            wrap = pc.match_substring_regex(text, needs)
            if pc.any(wrap).as_py():
                quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
                text = pc.if_else(wrap, quoted, text)
        cells.append(text)
    lines = pa.chunked_array(pc.binary_join_element_wise(*cells, delimiter)).combine_chunks()
    offsets = pa.array([0, len(lines)], pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, lines), "\n")
    return str(joined[0]).encode() + b"\n"


def digits(column: Any) -> Any:
    """Reals as text without an exponent, but for those of more than 22 zeros: 10000000000 and 0.0000001."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.string())
    odd = pc.fill_null(pc.match_substring_regex(text, r"e[+-]?(\d|1\d|2[0-2])$"), False)
    if not pc.any(odd).as_py():
        return text
    whole = pa.concat_arrays(text.chunks) if isinstance(text, pa.ChunkedArray) else text
    mask = pa.array(odd.to_numpy(zero_copy_only=False))
    plain = [format(Decimal(v), "f") for v in whole.filter(mask).to_pylist()]
    return pc.replace_with_mask(whole, mask, pa.array(plain, pa.string()))


def as_written(column: Any) -> Any:
    """A column as text that reads back to the same values: whole reals keep their point, dates are ISO 8601."""
    import pyarrow.compute as pc
    import pyarrow.types as t

    if t.is_floating(column.type):
        return pc.replace_substring_regex(digits(column), r"^(-?\d+)$", r"\1.0")
    return canonical.to_text(column)


def _write_excel(table: Any, path: Path, told: Told | None = None) -> None:
    _write_workbook({"synthetic": table}, path, told)


@contextmanager
def staged_workbook(tables: Mapping[str, Any], path: Path) -> Iterator[Path]:
    """As `staged_table`, for an Excel file with a sheet for each table; sheets are named by the first 31 characters."""
    with replacing(path) as temporary:
        _write_workbook({name: escape(table) for name, table in tables.items()}, temporary)
        yield temporary


def sheet_name(table: str) -> str:
    """What a table's sheet is called: Excel takes 31 characters, and not all of them."""
    return re.sub(r"[\[\]:*?/\\]", "-", table)[:31]


def _write_workbook(tables: Mapping[str, Any], path: Path, told: Told | None = None) -> None:
    from openpyxl import Workbook
    from openpyxl.utils.exceptions import IllegalCharacterError
    from openpyxl.writer.excel import ExcelWriter

    book = Workbook(write_only=True)
    for name, table in tables.items():
        if table.num_rows > EXCEL_ROWS:
            msg = f"{table.num_rows} records are above Excel's {EXCEL_ROWS}; write CSV or Parquet"
            raise OutputError(msg)
        page = book.create_sheet(sheet_name(name))
        columns = [_without_zone(c).to_pylist() for c in table.columns]
        try:
            page.append(table.column_names)
            for i, row in enumerate(zip(*columns, strict=True)):  # openpyxl takes rows one by one
                page.append(row)
                if told is not None and i % TOLD_EVERY == 0:
                    told(i, table.num_rows)
        except IllegalCharacterError:
            msg = "the table has texts with control characters, which Excel files cannot hold; write CSV or Parquet"
            raise OutputError(msg) from None  # the library's message quotes the cell
    book.properties.created = book.properties.modified = EXCEL_DATE
    with _UndatedZip(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        ExcelWriter(book, archive).write_data()


class _UndatedZip(zipfile.ZipFile):
    """A zip whose entries carry no time, so that a table that is written twice has the same bytes, and one digest."""

    def writestr(self, zinfo_or_arcname: Any, data: Any, *args: Any, **kwargs: Any) -> None:
        """As of ZipFile, for a name."""
        super().writestr(self._undated(str(zinfo_or_arcname)), data, *args, **kwargs)

    def write(self, filename: Any, arcname: Any = None, *args: Any, **kwargs: Any) -> None:
        """As of ZipFile, in pieces: a sheet need not fit in memory."""
        del args, kwargs
        entry = self._undated(str(arcname or filename))
        with Path(filename).open("rb") as source, self.open(entry, "w", force_zip64=True) as target:
            shutil.copyfileobj(source, target)

    @staticmethod
    def _undated(name: str) -> zipfile.ZipInfo:
        entry = zipfile.ZipInfo(name)  # dated 1980
        entry.compress_type = zipfile.ZIP_DEFLATED
        return entry


def _without_zone(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_timestamp(column.type) and column.type.tz:
        return column.cast(pa.timestamp(column.type.unit))
    return column
