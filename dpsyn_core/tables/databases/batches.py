"""Tables and queries of databases in batches: some columns, and the records that meet a condition."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import parquet
from dpsyn_core.tables.batches import LEAST, Batches, batch_records, joined
from dpsyn_core.tables.databases.connection import REMEDY, Connection, NoTableError, quoted
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.databases.record_filter import RecordFilter, places
from dpsyn_core.tables.databases.vouched_query import vouched_query
from dpsyn_core.tables.frames import checked
from dpsyn_core.tables.read_form import ReadForm


def database_batches(
    place: Database | str | os.PathLike[str] | bytes,
    form: ReadForm,
    *,
    counted: bool = False,
    most: int | None = None,
    seconds: int | None = None,
) -> Batches:
    """A table or a query of a database; the names of its columns are asked for now, records when read.

    Columns are typed in DuckDB and text in PostgreSQL; a column of SQLite has one type where all its cells have it.

    Args:
        place: where it is: the path of a file, or an address.
        form: names the table (schema.name where that is not the default schema), its columns and a condition, or the
            query, and says whether the owner vouches that each record is read by itself: of a query, and of a view,
            that is not checked, and the manifest of a run must say so.
        counted, most, seconds: see `read.open_table`.

    Raises:
        TableError: driver not installed, no connection, no such table or column, a view or a query without the owner's
            word, what only looks like a table, too many records, columns of a nested type. Passwords and cells are not
            shown.
    """
    if isinstance(place, bytes):
        msg = "a database is read where it lies, by its path or address, and not as an upload"
        raise TableError(msg)
    selection = Selection.of(form)
    database = place if isinstance(place, Database) else Database.of(os.fspath(place))
    with database.connected() as connection:
        statement = selection.statement(database, connection)
        columns = selection.left(connection.columns(statement))
        records = connection.count(statement) if counted else None

    def read(limit: int | None = None) -> Iterator[Any]:
        with database.connected() as opened:
            if limit is not None:
                opened.limit(limit)
            current = selection.statement(database, opened)  # what is read is what was looked up now
            for table in opened.batches(current, batch_records(len(columns))):
                yield selection.kept(checked(table))

    below = selection.condition is not None  # the number of records is then a bound, as the size of a file gives
    return Batches(
        columns=columns,
        read=read,
        load=lambda: joined(list(_few(read(seconds), most)), columns),
        records=None if below else records,
        size=(records or 0) * len(columns) * LEAST if below else 0,
        kind=database.system,
        form=form,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What is read of a database. source: a table (schema, name), or a query; vouched: it is not checked."""

    source: tuple[str | None, str] | str
    vouched: bool
    columns: tuple[str, ...]
    condition: RecordFilter | None

    @classmethod
    def of(cls, form: ReadForm) -> Selection:
        """What a form asks for.

        Raises TableError, before anything is opened, unless exactly one of table and query is named, and for a query
        without the owner's word; QuestionError for a condition that cannot be read.
        """
        table, query = form.sql_table, form.sql_query
        if (table is None) == (query is None):
            msg = "name either a table or a query of the database"
            raise TableError(msg)
        if query is not None and not form.query_vouched:
            msg = f"a query in SQL can let one person decide about the records of others, and is not checked; {REMEDY}"
            raise TableError(msg)
        source: tuple[str | None, str] | str = vouched_query(query) if query is not None else (None, table or "")
        if table is not None and "." in table and '"' not in table:
            schema, name = table.split(".", 1)
            source = (schema, name)
        where = None if form.sql_where is None else RecordFilter.of(form.sql_where)
        return cls(source=source, vouched=form.query_vouched, columns=form.column_names, condition=where)

    def statement(self, database: Database, connection: Connection) -> str:
        """The SELECT for it, with the columns of the condition. Raises TableError where there is no such table."""
        if isinstance(self.source, str):
            return self.source
        try:
            table = ".".join(quoted(p) for p in self.source if p) if self.vouched else connection.table(*self.source)
        except NoTableError as error:
            what = "no such table"
            raise database.refusal(what) from error
        everything = f"SELECT * FROM {table}"  # noqa: S608 names between quotation marks
        if not self.columns:
            return everything
        names = connection.headers(everything)
        asked = [*self.columns, *([] if self.condition is None else self.condition.columns)]
        listed = dict.fromkeys(names[i] for i in places(names, asked))
        return f"SELECT {', '.join(map(quoted, listed))} FROM {table}"  # noqa: S608 names between quotation marks

    def left(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Of the columns that a statement gives, those that are handed out. Raises TableError for unknown columns."""
        if self.condition is not None:
            places(names, self.condition.columns)
        return tuple(names[i] for i in places(names, self.columns)) if self.columns else names

    def kept(self, table: Any) -> Any:
        """The records that meet the condition, with the columns that are handed out."""
        if self.condition is not None:
            table = self.condition.kept(table)
        return table.select(places(table.column_names, self.columns)) if self.columns else table


def _few(tables: Iterable[Any], most: int | None) -> Iterator[Any]:
    """The same tables; raises TableError as soon as there are too many records or cells."""
    records = 0
    for table in tables:
        records += table.num_rows
        if most is not None and records > most:
            msg = f"the database has more than {most:,} such records; read part of them by a condition (--sql-where)"
            raise TableError(msg)
        if records * table.num_columns > parquet.MAX_CELLS:
            msg = f"the table has more cells than {parquet.MAX_CELLS}; read part of it by --sql-columns or --sql-where"
            raise TableError(msg)
        yield table
