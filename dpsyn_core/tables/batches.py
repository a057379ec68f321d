"""Batches: a table as it was read: part by part, as often as asked, so that it never has to fit in memory; or whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.tables.cells import canonical_text as canonical
from dpsyn_core.tables.headers import locate
from dpsyn_core.tables.read_form import AS_FOUND, ReadForm

RECORDS = 1 << 17  # of a batch
SMALL = 64 << 20  # bytes of a file that is read into memory without asking how large its table is
MAX_FILE = 8 << 30  # bytes of what is read into memory at once
LEAST = 2  # bytes of a cell in a text file, with its delimiter
CELLS = 1 << 22  # of a batch: wide tables have shorter ones


def batch_records(columns: int) -> int:
    """How many records a batch of so many columns has."""
    return max(1 << 10, min(RECORDS, CELLS // max(1, columns)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Batches:
    """A table in parts. A record becomes the same as where the table is read whole, whatever part it stands in.

    columns: names, in their order. read: starts from the beginning at every call; gives pyarrow tables of these
    columns: all text for text formats and Excel, typed else; the metadata says when a comma is a decimal mark. load:
    reads all records at once, where that is quicker than part by part. size: bytes where the table lies, for estimates;
    0 where unknown. records: how many there are, or None before reading; private.

    form: how it was read: what was declared, with the delimiter, encoding and sheet that were detected where nothing
    was. notices: sentences on what was assumed, none of which shows a cell or depends on a record.

    For the owner only, since they tell about the records: odd, sentences on what could not be read, complete once a
    reading has ended; header_hint, the line that may hold the headers where the first ones look like a title; headless,
    whether the first line looks like a record; drawn_from, how many records the whole table has, where these were drawn
    from it by chance.
    """

    columns: tuple[str, ...]
    read: Callable[[], Iterator[Any]]
    load: Callable[[], Any] | None = None
    size: int = 0
    records: int | None = None
    kind: str = "table"
    form: ReadForm = AS_FOUND
    sheets: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    odd: list[str] = field(default_factory=list)
    header_hint: tuple[int, int, bool] | None = None
    headless: bool = False
    drawn_from: int | None = None

    @property
    def likely_records(self) -> int:
        """About how many records there are, or more; private."""
        return self.records if self.records is not None else self.size // LEAST // max(1, len(self.columns))

    @property
    def small(self) -> bool:
        """Whether it is one file that is read into memory without asking how large its table is."""
        return self.load is not None and 0 < self.size <= SMALL

    def whole(self) -> Any:
        """All records, as one pyarrow table. Raises TableError for what is too large, or cannot stand in one table."""
        if self.load is not None:
            return self.load()
        if self.size > MAX_FILE:
            msg = f"the files are too large (for the owner only), the limit is {MAX_FILE} bytes; name fewer of them"
            raise TableError(msg)
        return joined(list(self.read()), self.columns)

    def holding(self, table: Any, *, drawn_from: int | None = None) -> Batches:
        """The same table in memory, with these records."""
        whole = of_table(table)
        return replace(
            self,
            columns=whole.columns,
            read=whole.read,
            load=whole.load,
            size=whole.size,
            records=whole.records,
            drawn_from=drawn_from,
        )

    def mapped(self, work: Callable[[Any], Any], columns: Sequence[str]) -> Batches:
        """The same table with something done to each of its parts, a pyarrow table, which then has these columns."""
        load = self.load
        return replace(
            self,
            columns=tuple(columns),
            read=lambda: map(work, self.read()),
            load=None if load is None else lambda: work(load()),
        )


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

    at, size, metadata = sorted(locate(batches.columns, names)), 0, None
    columns: list[list[Any]] = [[] for _ in at]
    for table in batches.read():
        metadata = metadata or table.schema.metadata
        for chunks, i in zip(columns, at, strict=True):
            column = table.column(i)
            column = column.dictionary_encode() if canonical.is_text(column.type) else column
            chunks.extend(column.chunks)
            size += column.nbytes
        if size > most:
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


def of_table(table: Any, **more: Any) -> Batches:
    """A pyarrow table in parts, with further fields of `Batches`."""
    step = batch_records(table.num_columns)

    def read() -> Iterator[Any]:
        return (table.slice(start, step) for start in range(0, table.num_rows, step))

    return Batches(
        columns=tuple(table.column_names),
        read=read,
        load=lambda: table,
        size=table.nbytes,
        records=table.num_rows,
        **more,
    )


def joined(parts: Sequence[Any], columns: Sequence[str]) -> Any:
    """Parts as one table; a column that has several types in them (files of a folder may differ) as text."""
    import pyarrow as pa

    if not parts:
        return pa.table({name: pa.array([], pa.string()) for name in columns})
    if any(part.schema.metadata != parts[0].schema.metadata for part in parts):
        msg = (
            "the files have different decimal marks, so that their records cannot stand in one table; name fewer files"
        )
        raise TableError(msg)
    kinds = [[part.schema.field(i).type for part in parts] for i in range(len(columns))]
    mixed = [i for i, some in enumerate(kinds) if any(kind != some[0] for kind in some)]
    texts = []
    for part in parts:
        out = part
        for i in mixed:
            out = out.set_column(i, columns[i], _as_text(out.column(i)))
        texts.append(out)
    whole = pa.concat_tables(texts)
    return whole.unify_dictionaries().replace_schema_metadata(parts[0].schema.metadata)


def _as_text(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as t

    plain = column.cast(column.type.value_type) if t.is_dictionary(column.type) else column
    chunks = [canonical.to_text(chunk).cast(pa.large_string()) for chunk in plain.chunks]
    return pa.chunked_array(chunks, pa.large_string())
