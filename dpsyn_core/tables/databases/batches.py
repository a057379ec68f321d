"""Tables and queries of databases in batches, over the same read-only connections as where they are read whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import Batches, batch_records
from dpsyn_core.tables.cells import objects as cells
from dpsyn_core.tables.databases import database as databases
from dpsyn_core.tables.databases import postgresql
from dpsyn_core.tables.databases.database import Database
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

    Args:
        place: where it is: the path of a file, or an address.
        form: names the table (schema.name where that is not the default schema) or the query, and says whether the
            owner vouches for it.
        counted, most, seconds: see `read.open_table`.

    Raises:
        TableError: as for `databases.read_database`.
    """
    if isinstance(place, bytes):
        msg = "a database is read where it lies, by its path or address, and not as an upload"
        raise TableError(msg)
    database = place if isinstance(place, Database) else Database.of(os.fspath(place))
    table, query, vouched = form.sql_table, form.sql_query, form.query_vouched
    asked = databases.asked_of(database, table, query, vouched=vouched)
    with databases.connected(database) as connection:
        statement = databases.statement_of(database, connection, asked)
        columns = _columns(database, connection, statement)
        records = _count(database, connection, statement) if counted else None

    def read() -> Iterator[Any]:
        step = batch_records(len(columns))
        with databases.connected(database) as opened:
            statement = databases.statement_of(database, opened, asked)  # what is read is what was looked up now
            if database.system == "duckdb":
                yield from _duckdb(opened, statement, step)
            elif database.system == "sqlite":
                yield from _sqlite(opened, statement, step)
            else:
                yield from _postgresql(opened, statement, step)

    def load() -> Any:
        return databases.read_database(
            database, table=table, query=query, vouched=vouched, most=most, seconds=seconds
        )  # fmt: skip

    return Batches(columns=columns, read=read, load=load, records=records, kind=database.system, form=form)


def _count(database: Database, connection: Any, statement: str) -> int:
    """How many records there are; private."""
    asked = f"SELECT count(*) FROM ({statement}) AS counted"  # noqa: S608 one SELECT that was checked
    answer = connection.sql(asked) if database.system == "duckdb" else connection.execute(asked)
    return int(answer.fetchall()[0][0])


def _columns(database: Database, connection: Any, statement: str) -> tuple[str, ...]:
    """Names of the columns, from no record at all."""
    if database.system == "duckdb":
        found = checked(databases.plain(connection.sql(statement).limit(0).to_arrow_table()))
        return tuple(found.column_names)
    if database.system == "sqlite":
        names = [d[0] for d in connection.execute(statement).description]
        headers.check(names)
        return tuple(names)
    names, _ = postgresql.text_batches(databases.driver("psycopg"), connection, statement, 1)
    return tuple(names)


def _duckdb(connection: Any, statement: str, step: int) -> Iterator[Any]:
    import pyarrow as pa

    for batch in connection.sql(statement).to_arrow_reader(step):
        yield checked(databases.plain(pa.Table.from_batches([batch])))


def _sqlite(connection: Any, statement: str, step: int) -> Iterator[Any]:
    """Cells each by its own type; text that is not UTF-8 holds U+FFFD where it does not decode."""
    import pyarrow as pa

    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    cursor = connection.execute(statement)
    names = [d[0] for d in cursor.description]
    while rows := cursor.fetchmany(step):
        yield checked(pa.table([cells.column(list(values)) for values in zip(*rows, strict=True)], names=names))


def _postgresql(connection: Any, statement: str, step: int) -> Iterator[Any]:
    import pyarrow as pa

    names, batches = postgresql.text_batches(databases.driver("psycopg"), connection, statement, step)
    for rows in batches:
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        yield checked(pa.table(columns, names=names))
