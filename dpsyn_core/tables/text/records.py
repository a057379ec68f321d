"""Records of a text as columns of text, by pyarrow's CSV reader; one that breaks the rules changes no other one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables.cells.canonical_text import COMMA, UNREADABLE
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text import lines
from dpsyn_core.tables.text.dialect import Dialect

BLOCK = 1 << 22
LONGEST = 1 << 26  # bytes of a record


def table_of(
    records: memoryview, dialect: Dialect, form: ReadForm, *, stream: Callable[[], Any] | None = None, before: int = 0
) -> tuple[Any, lines.Faults | None]:
    """The records as text columns, and what was wrong with those that break the rules.

    A line is a record. One that is blank is none where there are several columns, and a record with a blank cell where
    there is one. No cell of a record that breaks the rules is read: each is the replacement character. They come last.

    Args:
        records: all that stands below the headers, `lines.normalised`.
        dialect: of the text.
        form: `multiline`: quoted cells may hold line ends; `strict`: refuse a record that breaks the rules.
        stream: opens the same bytes as a pyarrow stream, where they can be read a second time.
        before: lines of the file that stand above, for the refusal.
    """
    import pyarrow as pa

    names, delimiter, multiline = dialect.written, dialect.delimiter, form.multiline
    block = max(BLOCK, 4 * sum(map(len, names)))
    longest = max(LONGEST, 2 * block)
    faults = None
    if lines.holds(records, b'"'):  # pyarrow would join what a stray quotation mark pulls together
        faults = lines.faults(records, delimiter, len(names), multiline=multiline, longest=longest)
    if not faults:
        try:
            return _named(_parsed(records, names, delimiter, multiline, block, stream), dialect), faults
        except pa.ArrowInvalid:  # some record has more or fewer cells than the header, or is longer than two blocks
            faults = lines.faults(records, delimiter, len(names), multiline=multiline, longest=longest)
    if form.strict and faults.first is not None:
        raise faults.first.moved(before).error(len(names))
    sound = memoryview(faults.without(records)) if len(faults) else records
    block = min(max(block, faults.longest + 1), (1 << 31) - 1)
    try:
        table = _parsed(sound, names, delimiter, multiline, block, None)
    except pa.ArrowInvalid as error:
        msg = "the text cannot be split into cells; check its quotation marks and line ends"
        raise TableError(msg) from error
    lost = pa.array([UNREADABLE] * len(faults), pa.string())
    return _named(pa.concat_tables([table, pa.table([lost] * len(names), names=table.column_names)]), dialect), faults


def _named(table: Any, dialect: Dialect) -> Any:
    table = table.rename_columns(list(dialect.names))
    return table.replace_schema_metadata(COMMA) if dialect.comma else table


def _parsed(
    records: memoryview, names: list[str], delimiter: str, multiline: bool, block: int, stream: Callable[[], Any] | None
) -> Any:
    """The records by pyarrow, which is handed no line end but LF, no header, and no type to guess."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    if not len(records):  # pyarrow refuses no bytes at all
        return pa.table([pa.array([], pa.string())] * len(names), names=names)
    return pacsv.read_csv(
        pa.BufferReader(pa.py_buffer(records)) if stream is None else stream(),
        read_options=pacsv.ReadOptions(block_size=block, use_threads=True, column_names=names),
        parse_options=pacsv.ParseOptions(
            delimiter=delimiter, newlines_in_values=multiline, ignore_empty_lines=len(names) > 1
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=False,
            null_values=[],
            check_utf8=stream is not None,  # bytes in memory have been decoded before; a file may have changed
        ),
    )


def unfit(lines: int, first: lines.Fault, columns: int, *, multiline: bool) -> Notice:
    """What to tell of the lines that break the rules."""
    return Notice("unfit" if multiline else "unfit_multiline", lines=lines, first=first.sentence(columns))
