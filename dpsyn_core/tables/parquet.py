"""Parquet: flat columns only, chosen by the footer before any column is read."""

from __future__ import annotations

from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import Batches, of_table
from dpsyn_core.tables.cells import canonical_text as canonical
from dpsyn_core.tables.notices import Notice

MAX_CELLS = 1 << 32
MAX_BYTES = 16 << 30
SHOWN = 5  # names of columns in a notice
# of the schema of a table that was read: its text stands in dictionaries, and in columns of no type where all is blank,
# so that neither type was declared by anybody
TEXT_READ = {b"dpsyn.text": b"in dictionaries"}


def parse(data: memoryview, *, strict: bool = False) -> Batches:
    """Reads a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(pa.py_buffer(data))) as file:
            columns, metadata = file.schema_arrow, file.metadata
        headers.check(columns.names)
        names, notices = flat_names(columns, strict=strict)
        _check_size(metadata)
        texts = [field.name for field in columns if canonical.is_text(field.type)]
        # repeated texts stay dictionaries, as they are in the file: a third of the memory
        with pq.ParquetFile(pa.BufferReader(pa.py_buffer(data)), read_dictionary=texts) as file:
            table = file.read(columns=names if notices else None, use_threads=True).select(names)
        table = readable(table, strict=strict)
    except (TableError, MemoryError):  # Arrow's want of memory is one of its own errors as well
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        msg = "the Parquet file is damaged (its footer or a column cannot be read); write it again"
        raise TableError(msg) from error
    if strict and table.num_rows == 0:
        msg = "the file has columns but no records; give a table with at least one record"
        raise TableError(msg)
    return of_table(table.replace_schema_metadata(TEXT_READ), kind="parquet", notices=notices)


def readable(table: Any, *, strict: bool = False) -> Any:
    """The table, checked whole; text that is not UTF-8 holds U+FFFD where it does not decode.

    Raises pyarrow's ArrowInvalid for a damaged table, and for such text when `strict`.
    """
    if strict:
        table.validate(full=True)
    table = decoded(table)
    table.validate(full=True)
    return table


def decoded(table: Any) -> Any:
    """The table with U+FFFD in its text where it is not UTF-8, which files, frames and Spark's strings may hold."""
    import pyarrow as pa
    import pyarrow.types as t

    for i, field in enumerate(table.schema):
        kind = field.type.value_type if t.is_dictionary(field.type) else field.type
        if not canonical.is_text(kind):
            continue
        column = table.column(i)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            decoded_column = pa.chunked_array([_decoded(chunk) for chunk in column.chunks])
            if not t.is_dictionary(field.type):  # a cell that does not decode must not change the type of its column
                decoded_column = decoded_column.cast(field.type)
            table = table.set_column(i, field.name, decoded_column)
    return table


def _decoded(chunk: Any) -> Any:
    """Text of which some is not UTF-8, each distinct one decoded by itself (a file seldom holds any)."""
    import pyarrow as pa
    import pyarrow.types as t

    if not t.is_dictionary(chunk.type):
        chunk = chunk.view(pa.large_binary() if t.is_large_string(chunk.type) else pa.binary()).dictionary_encode()
        entries, wide = chunk.dictionary, chunk
    else:
        chunk.validate()  # lengths and offsets
        entries, wide = chunk.dictionary.view(pa.binary()), chunk
    texts = [None if v is None else v.decode("utf-8", "replace") for v in entries.to_pylist()]
    return pa.DictionaryArray.from_arrays(wide.indices.cast(pa.int32()), pa.array(texts, pa.string()))


def flat_names(columns: Any, *, strict: bool) -> tuple[list[str], tuple[Notice, ...]]:
    """The columns of a file that can be read, and what to tell of the others; decided by their types alone.

    Raises TableError where no column can be read, and with `strict` where one cannot.
    """
    flat = [field.name for field in columns if is_flat(field.type)]
    others = [field for field in columns if not is_flat(field.type)]
    if others and (strict or not flat):
        check_type(others[0])
    shown = ", ".join(f"'{headers.short(field.name)}'" for field in others[:SHOWN])
    if len(others) > SHOWN:
        shown += ", ..."
    return flat, (Notice("nested", columns=shown),) if others else ()


def check_type(field: Any) -> None:
    """Raises TableError unless the column is flat."""
    if not is_flat(field.type):
        msg = (
            f"column '{headers.short(field.name)}' has the type {str(field.type)[:60]}, which is not flat; "
            "give text, numbers, booleans or dates, or leave the column out"
        )
        raise TableError(msg)


def is_flat(kind: Any) -> bool:
    """Whether a type is text, numbers, booleans, dates, times, or a dictionary of those."""
    import pyarrow.types as t

    kind = kind.value_type if t.is_dictionary(kind) else kind
    return bool(
        t.is_boolean(kind)
        or t.is_integer(kind)
        or t.is_floating(kind)
        or t.is_decimal(kind)
        or t.is_string(kind)
        or t.is_large_string(kind)
        or t.is_string_view(kind)
        or t.is_date(kind)
        or t.is_timestamp(kind)
        or t.is_time(kind)
        or t.is_null(kind)
    )


def _check_size(metadata: Any) -> None:
    cells = metadata.num_rows * metadata.num_columns
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if cells > MAX_CELLS or size > MAX_BYTES:
        msg = f"the Parquet file has {metadata.num_columns} columns and more cells than {MAX_CELLS}; split it"
        raise TableError(msg)
