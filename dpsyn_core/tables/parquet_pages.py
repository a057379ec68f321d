"""Parquet in batches: pages are read as they are needed, and each batch is checked as a whole table would be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import WHOLE, Batches, Share, batch_records
from dpsyn_core.tables.cells import canonical_text as canonical
from dpsyn_core.tables.confines import steady
from dpsyn_core.tables.parquet import TEXT_READ, flat_names, readable

PAGES = 1 << 20  # bytes of a column that are read from the file at a time


def parquet_batches(path: Path, *, strict: bool = False, share: Share = WHOLE) -> Batches:
    """A Parquet file in batches. The footer is checked here, the records when they are read.

    share: of the file's groups of rows; the shares of one number hold each record once.

    Raises:
        TableError: no such file, damaged, no flat columns, blank or repeated headers; with `strict` text that is not
            UTF-8 when it is read.
    """
    import pyarrow.parquet as pq

    with _readable(), steady(path) as here, pq.ParquetFile(here) as file:
        columns = file.schema_arrow
        groups = range(file.num_row_groups)[share.slice(file.num_row_groups)]
        records = sum(file.metadata.row_group(i).num_rows for i in groups)
    headers.check(columns.names)
    names, notices = flat_names(columns, strict=strict)
    texts = [column.name for column in columns if canonical.is_text(column.type)]

    def read() -> Iterator[Any]:
        import pyarrow as pa

        with (
            _readable(),
            steady(path) as here,
            pq.ParquetFile(here, read_dictionary=texts, buffer_size=PAGES, pre_buffer=False) as opened,
        ):
            size, chosen = batch_records(len(names)), names if notices else None
            for batch in opened.iter_batches(
                batch_size=size, row_groups=list(groups), columns=chosen, use_threads=False
            ):
                table = pa.Table.from_batches([batch]).select(names)
                yield readable(table, strict=strict).replace_schema_metadata(TEXT_READ)

    return Batches(
        columns=tuple(names), read=read, size=path.stat().st_size, records=records, notices=notices, kind="parquet"
    )


def cells_of(path: Path) -> int:
    """Records times columns of a Parquet file, by its footer."""
    import pyarrow.parquet as pq

    with _readable(), steady(path) as here, pq.ParquetFile(here) as file:
        return int(file.metadata.num_rows) * int(file.metadata.num_columns)


def row_groups(path: Path) -> int:
    """Groups of rows of a Parquet file, which can be read apart."""
    import pyarrow.parquet as pq

    with _readable(), steady(path) as here, pq.ParquetFile(here) as file:
        return int(file.num_row_groups)


@contextmanager
def _readable() -> Iterator[None]:
    """Turns what Arrow says of a damaged file into one sentence; what others raise while a batch is out passes."""
    import pyarrow as pa

    try:
        yield
    except (TableError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        msg = "the Parquet file is damaged (its footer or a column cannot be read); write it again"
        raise TableError(msg) from error
