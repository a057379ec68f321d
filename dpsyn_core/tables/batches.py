"""Batches: a table that is read part by part, as often as asked, so that it never has to fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpsyn_core.errors import SizeError
from dpsyn_core.tables import canonical
from dpsyn_core.tables.headers import locate

RECORDS = 1 << 17  # of a batch
LEAST = 2  # bytes of a cell in a text file, with its delimiter
CELLS = 1 << 22  # of a batch: wide tables have shorter ones


def batch_records(columns: int) -> int:
    """How many records a batch of so many columns has."""
    return max(1 << 10, min(RECORDS, CELLS // max(1, columns)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Batches:
    """A table in parts. A record becomes the same as where the table is read whole, whatever part it stands in.

    columns: names, in their order. read: starts from the beginning at every call; gives pyarrow tables of these
    columns, typed or text, with the metadata of `tables.read`. size: bytes where the table lies, for estimates; 0
    where that is not known. records: how many there are, where that is known before reading; private. notices:
    sentences on what was assumed, none of which depends on a record. odd: sentences on what could not be read, for the
    owner only; complete once a reading has ended.
    """

    columns: tuple[str, ...]
    read: Callable[[], Iterator[Any]]
    size: int = 0
    records: int | None = None
    notices: tuple[str, ...] = ()
    odd: list[str] = field(default_factory=list)

    @property
    def likely_records(self) -> int:
        """About how many records there are, or more; private."""
        return self.records if self.records is not None else self.size // LEAST // max(1, len(self.columns))


def gathered(batches: Batches, names: Sequence[str], *, most: int) -> Any:
    """Some columns of all records, as one pyarrow table; in the order of the table, whatever that of `names`. Private.

    Text is kept as dictionaries. A column that has another type in another part becomes canonical text.

    Args:
        batches: the records.
        names: of columns, each of which is there once.
        most: bytes that they may take.

    Raises:
        TableError: a column is missing.
        SizeError: they take more; an exact answer about the table, for the owner only.
    """
    import pyarrow as pa

    at, held, metadata = sorted(locate(batches.columns, names)), 0, None
    columns: list[list[Any]] = [[] for _ in at]
    for table in batches.read():
        metadata = metadata or table.schema.metadata
        for chunks, i in zip(columns, at, strict=True):
            column = table.column(i)
            column = column.dictionary_encode() if canonical.is_text(column.type) else column
            chunks.extend(column.chunks)
            held += column.nbytes
        if held > most:
            msg = (
                f"the columns {', '.join(names)} take more than {most / 1e9:.3g} GB of memory (for the owner only); "
                "name fewer of them at a time, or allow more with --memory"
            )
            raise SizeError(msg)
    made = [
        pa.chunked_array(_of_one_type(chunks)) if chunks else pa.chunked_array([[]], pa.string()) for chunks in columns
    ]
    return pa.table(made, names=[batches.columns[i] for i in at]).replace_schema_metadata(metadata)


def _of_one_type(chunks: list[Any]) -> list[Any]:
    import pyarrow as pa

    if all(chunk.type == chunks[0].type for chunk in chunks):
        return chunks
    out = []
    for chunk in chunks:
        entries, index = canonical.uniques(chunk)
        out.append(pa.DictionaryArray.from_arrays(pa.array(index, mask=index < 0), canonical.to_text(entries)))
    return out


@dataclass(frozen=True, slots=True)
class Share:
    """One of the shares into which a file is cut, for processes that read it together: number 0..of-1."""

    number: int = 0
    of: int = 1

    def slice(self, size: int) -> slice:
        """The part of a range of this size that belongs to the share."""
        return slice(size * self.number // self.of, size * (self.number + 1) // self.of)


WHOLE = Share()


def of_frame(table: Any) -> Batches:
    """A pandas, polars or pyarrow table, which is in memory, in parts."""
    from dpsyn_core.tables.frames import to_arrow

    whole = to_arrow(table)
    step = batch_records(whole.num_columns)

    def read() -> Iterator[Any]:
        return (whole.slice(start, step) for start in range(0, whole.num_rows, step))

    return Batches(columns=tuple(whole.column_names), read=read, size=whole.nbytes, records=whole.num_rows)
