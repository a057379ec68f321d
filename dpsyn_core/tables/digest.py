"""Digests of tables: SHA-256 of a file's bytes, and of a table's content, which is the same in every format we write.

The content digest is taken over the header and, column by column, over the cells as CSV shows them, so that CSV, TSV,
gzip and Parquet of one table have one digest. Excel keeps 16 digits of a number, and has another digest.
docs/manifest.md says how to compute both without this program.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpsyn_core.errors import ExtraError, TableError
from dpsyn_core.tables.cells import canonical_text as canonical
from dpsyn_core.tables.write import EXCEL_ROWS, as_written, digits, escape

_BLOCK = 1 << 20
HEADER = 1 << 20  # bytes in which a header line ends
_EXACT = 1e15  # numbers below it have at most 15 digits before the point


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file, as hex. Raises TableError when it cannot be read."""
    hashed = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while part := file.read(_BLOCK):
                hashed.update(part)
    except OSError as error:
        msg = f"'{Path(path).name}' cannot be read ({error.strerror}); check the path"
        raise TableError(msg) from error
    return hashed.hexdigest()


def content_digest(table: Any, *, escaped: bool = False) -> str:
    """SHA-256 of a table's content, as hex.

    Args:
        table: pyarrow.
        escaped: whether cells that a spreadsheet would run are harmless already, as in a CSV that we wrote.
    """
    digest = ContentDigest(escaped=escaped)
    digest.update(table)
    return digest.hexdigest()


class ContentDigest:
    """The content digest of a table that comes in parts, one after the other; at least one part."""

    def __init__(self, *, escaped: bool = False) -> None:
        """escaped: as for `content_digest`."""
        self._escaped = escaped
        self._names: list[str] = []
        self._records = 0
        self._columns: list[tuple[Any, Any]] = []  # of each column the digests of the cells' lengths, and of the cells

    def update(self, table: Any) -> None:
        """Adds a pyarrow table with the same columns."""
        if not self._columns:
            self._names = table.column_names if self._escaped else escape(table.slice(0, 0)).column_names
            self._columns = [(hashlib.sha256(), hashlib.sha256()) for _ in self._names]
        self._records += table.num_rows
        for column, (lengths, cells) in zip(table.columns, self._columns, strict=True):
            _feed(column, lengths, cells, escaped=self._escaped)

    def hexdigest(self) -> str:
        """SHA-256 of all parts together, as hex."""
        whole = hashlib.sha256(f"{len(self._names)} {self._records}\n".encode())
        for name, (lengths, cells) in zip(self._names, self._columns, strict=True):
            whole.update(hashlib.sha256(name.encode()).digest() + lengths.digest() + cells.digest())
        return whole.hexdigest()


def excel_digest(table: Any, content: str) -> str | None:
    """The content digest of what Excel keeps of a table: 16 digits of a number; None for more records than it holds.

    content: the table's content digest, which it is where no number has more digits.
    """
    if table.num_rows > EXCEL_ROWS:
        return None
    columns = [_sixteen(c) for c in table.columns]
    return content if all(c is None for c in columns) else content_digest(_replaced(table, columns))


def digests_of_file(path: str | Path) -> tuple[str, bool]:
    """The content digest of a file that we may have written, and whether it is Excel's.

    Raises:
        TableError: the file has another ending, or does not read as one of ours would.
    """
    path = Path(path)
    name = path.name.lower()
    try:
        if name.endswith(".parquet"):
            import pyarrow.parquet as pq

            return content_digest(pq.read_table(path)), False
        if name.endswith(".xlsx"):
            return content_digest(_excel(path), escaped=True), True
        if name.endswith((".csv", ".tsv", ".csv.gz")):
            return content_digest(_text(path, "\t" if name.endswith(".tsv") else ","), escaped=True), False
    except (TableError, ExtraError):
        raise
    except Exception as error:  # whatever a parser says of a file that somebody edited
        msg = f"'{path.name}' does not read as a table that this program wrote"
        raise TableError(msg) from error
    msg = f"'{path.name}' is no CSV, TSV, Parquet or Excel file; name the released table"
    raise TableError(msg)


def _feed(column: Any, lengths: Any, cells: Any, *, escaped: bool) -> None:
    """Adds the cells' lengths in bytes (int64, little-endian) to one digest, and the cells, UTF-8, to the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        for start in range(0, len(chunk), _BLOCK):
            text = pc.fill_null(_canonical(chunk.slice(start, _BLOCK), escaped=escaped), "").cast(pa.large_string())
            offsets = np.frombuffer(text.buffers()[1], np.int64)[text.offset : text.offset + len(text) + 1]
            lengths.update(np.diff(offsets).astype("<i8", copy=False).data)
            data = text.buffers()[2]
            if data is not None and offsets[-1] > offsets[0]:
                cells.update(memoryview(data)[int(offsets[0]) : int(offsets[-1])])


def _canonical(cells: Any, *, escaped: bool) -> Any:
    """Cells as CSV shows them, but for 3.0 and 3, which are one number, and midnight, which is one day."""
    import pyarrow.types as t

    if t.is_floating(cells.type):
        return digits(cells)  # whole numbers without a point
    few = cells if t.is_dictionary(cells.type) else cells.dictionary_encode()  # each value is put into words once
    return _words(few.dictionary, escaped=escaped).take(few.indices)


def _words(values: Any, *, escaped: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    if t.is_floating(values.type):
        return digits(values)
    words = as_written(values if escaped else escape(pa.table({"": values})).column(0).combine_chunks())
    return pc.replace_substring_regex(words, r"^(-?\d+)\.0$|^(\d{4}-\d\d-\d\d)[T ]00:00:00$", r"\1\2")


def _sixteen(column: Any) -> Any:
    """A column of numbers as Excel gives them back; None for other columns and for numbers that it keeps."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    if not (t.is_floating(column.type) or t.is_integer(column.type)):
        return None
    if t.is_integer(column.type) and not (pc.max(pc.abs(column.cast(pa.float64(), safe=False))).as_py() or 0) >= _EXACT:
        return None
    few = pa.chunked_array(column.chunks, column.type).combine_chunks().dictionary_encode()
    if t.is_floating(column.type) and not _cut(few.dictionary.cast(pa.float64()).cast(pa.string())):
        return None
    return _kept(few.dictionary.to_pylist()).take(few.indices)


def _cut(words: Any) -> bool:
    """Whether Excel may show some of these numbers, as text, otherwise: 17 digits, or large whole numbers."""
    import pyarrow.compute as pc

    kept = pc.utf8_length(pc.replace_substring_regex(words, r"^-?[0.]*|[eE].*$|\.", ""))
    return bool(pc.any(pc.or_(pc.greater(kept, 16), pc.match_substring_regex(words, r"e\+?\d"))).as_py())


def _kept(values: list[float]) -> Any:
    """Numbers as the writer of Excel files puts them, and as they read back: a pyarrow array of text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [f"{v:.16g}" for v in values]
    whole = pa.array(["." not in text and "e" not in text for text in texts], pa.bool_())
    return pc.if_else(whole, pa.array(texts, pa.string()), as_written(pa.array(map(float, texts), pa.float64())))


def _replaced(table: Any, columns: list[Any]) -> Any:
    import pyarrow as pa

    kept = [new if new is not None else old for new, old in zip(columns, table.columns, strict=True)]
    return pa.table(kept, names=table.column_names)


def _text(path: Path, delimiter: str) -> Any:
    """Every cell of a delimited file as the text that it is, by the rules that our writer keeps.

    Where semicolons separate cells, numbers have a decimal comma, which becomes a point again.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pacsv

    with pa.input_stream(str(path)) as file:  # inflates by the ending
        header = file.read(HEADER).split(b"\n")[0]
    semicolons = b";" in header and b"," not in header
    delimiter = ";" if semicolons and delimiter == "," else delimiter
    parse = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False)
    read = pacsv.ReadOptions(block_size=1 << 24)
    with pacsv.open_csv(path, parse_options=parse, read_options=read) as head:
        names = head.schema.names
    convert = pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    table = pacsv.read_csv(path, parse_options=parse, read_options=read, convert_options=convert)
    for i, column in enumerate(table.columns if semicolons else ()):
        few = pc.unique(column)
        if pc.all(pc.match_substring_regex(few, r"^(-?\d+,\d+(e[-+]?\d+)?)?$")).as_py():
            table = table.set_column(i, table.column_names[i], pc.replace_substring(column, ",", "."))
    return table


def _excel(path: Path) -> Any:
    """Every cell of the first sheet as text."""
    import pyarrow as pa

    from dpsyn_core.extras import require

    require("excel", "an Excel file")
    from openpyxl import load_workbook

    book = load_workbook(path, read_only=True)
    try:
        rows = list(book.worksheets[0].iter_rows(values_only=True))
    finally:
        book.close()
    names = [str(n) for n in rows[0]]
    # a sheet leaves out empty cells at the end of a row; what stands beyond the header makes the rows unequal
    padded = [(*row, *(None,) * (len(names) - len(row))) for row in rows[1:]]
    columns = zip(*padded, strict=True) if padded else ([] for _ in names)
    return pa.table([_cells(c) for c in columns], names=names)


def _cells(values: Sequence[Any]) -> Any:
    """The cells of a column of a sheet as a pyarrow array of text; each kind of cell is put into words at once."""
    import pyarrow as pa

    out = ["" if v is None else v for v in values]
    kinds = {type(v) for v in out} - {str}
    for kind in kinds:
        at = [i for i, v in enumerate(out) if type(v) is kind]
        cells = pa.array([out[i] for i in at])
        words = as_written(cells) if kind is float else canonical.to_text(cells)
        for i, word in zip(at, words.to_pylist(), strict=True):
            out[i] = word
    return pa.array(out, pa.string())
