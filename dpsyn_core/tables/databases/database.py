"""Tables that live in a database: a table or a query of DuckDB, SQLite or PostgreSQL, over a read-only connection."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dpsyn_core.errors import TableError
from dpsyn_core.extras import absent
from dpsyn_core.tables import confines, headers
from dpsyn_core.tables import parquet as columnar
from dpsyn_core.tables.cells import objects as cells
from dpsyn_core.tables.databases import postgresql, relations
from dpsyn_core.tables.databases import vouched_query as queries
from dpsyn_core.tables.databases.vouched_query import NoColumnError, Query, Written, quoted, whole
from dpsyn_core.tables.frames import checked
from dpsyn_core.tables.query_grammar import parse

System = Literal["duckdb", "sqlite", "postgresql"]
BATCH = 50_000  # records fetched at a time
KEYWORDS = re.compile(r"\s*(host|hostaddr|port|dbname|user|password|service|passfile)\s*=")  # of libpq


@dataclass(frozen=True, kw_only=True, slots=True)
class Database:
    """Where a database is.

    system: its kind. place: a file's path, or a PostgreSQL address (which may hold a password and is never shown).
    """

    system: System
    place: str = field(repr=False)

    @classmethod
    def of(cls, address: str | Path) -> Database:
        """From duckdb:///PATH, sqlite:///PATH, postgresql://..., or the path of a database file.

        Raises TableError when the address is of no known kind, or the file does not exist.
        """
        text = str(address)
        if KEYWORDS.match(text):
            msg = "a connection is given as an address: postgresql://user@host/name"
            raise TableError(msg)
        scheme, mark, rest = text.partition("://")
        if mark and scheme in ("postgresql", "postgres"):
            return cls(system="postgresql", place=text)
        if mark and scheme in ("duckdb", "sqlite"):
            path = Path(rest[1:] if rest.startswith("/") else rest)  # sqlite:///a.db is relative, sqlite:////a.db not
            return cls(system=scheme, place=str(_existing(path)))  # type: ignore[arg-type]
        if mark:
            msg = f"'{scheme}://' is no known database; use duckdb:///, sqlite:/// or postgresql://"
            raise TableError(msg)
        path = _existing(Path(text))
        with confines.steady(path) as here, here.open("rb") as file:
            head = file.read(16)
        if head.startswith(b"SQLite format 3"):
            return cls(system="sqlite", place=str(path))
        if head[8:12] == b"DUCK":
            return cls(system="duckdb", place=str(path))
        msg = f"'{path}' is no DuckDB or SQLite database"
        raise TableError(msg)

    @property
    def shown(self) -> str:
        """The address without user, password and options."""
        return postgresql.shown(self.place) if self.system == "postgresql" else self.place


def list_tables(database: Database) -> list[str]:
    """Names of tables and views, with their schema where that is not the default one."""
    with connected(database) as connection:
        if database.system == "sqlite":
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
            ).fetchall()
            return [name for (name,) in rows]
        home = "main" if database.system == "duckdb" else "public"
        rows = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2"
        ).fetchall()
        return [name if schema == home else f"{schema}.{name}" for schema, name in rows]


def read_database(
    database: Database,
    *,
    table: str | None = None,
    query: str | None = None,
    vouched: bool = False,
    most: int | None = None,
    seconds: int | None = None,
) -> Any:
    """A pyarrow table: typed columns of DuckDB, cells of SQLite each by its own type, text of PostgreSQL.

    Args:
        database: where it is.
        table: name of a table or view, schema.name where that is not the default schema.
        query: one SELECT instead of a table, which reads each record by itself (`tables.query_grammar`).
        vouched: the owner gives their word that the query or view reads each record by itself: it is not checked, and
            the manifest of a run must say so.
        most: records above which the table is refused.
        seconds: after which a PostgreSQL server gives the query up by itself, even when its client is gone.

    Raises:
        TableError: driver not installed, no connection, no such table, a query that is refused, is no SELECT or does
            more than read each record by itself, too many records, columns of a nested type. Passwords and cells are
            not shown.
    """
    asked = asked_of(database, table, query, vouched=vouched)
    with connected(database) as connection:
        statement = statement_of(database, connection, asked)
        if database.system == "postgresql" and seconds is not None:
            postgresql.limit(connection, seconds)
        if database.system == "duckdb":
            found = connection.sql(statement)
            return checked(_few(plain((found.limit(most + 1) if most else found).to_arrow_table()), most))
        if database.system == "sqlite":
            return checked(_from_sqlite(connection, statement, most))
        names, batches = postgresql.text_batches(driver("psycopg"), connection, statement, BATCH)
        return checked(_texts(names, _counted(batches, len(names), most)))


def _existing(path: Path) -> Path:
    confines.check(path)
    if not path.is_file():
        msg = f"the database '{path}' does not exist; check the path"
        raise TableError(msg)
    return path


def asked_of(database: Database, table: str | None, query: str | None, *, vouched: bool) -> Query | str:
    """What is asked of the database, taken in by rules; SQL as it was given where the owner vouches for it.

    Raises TableError, before anything is opened, unless exactly one of table and query is named, and for a query that
    does more than read each record by itself.
    """
    if (table is None) == (query is None):
        msg = "name either a table or a query of the database"
        raise TableError(msg)
    if table is not None:
        parts = table.split(".", 1) if "." in table and '"' not in table else [table]
        return "SELECT * FROM " + ".".join(map(quoted, parts)) if vouched else whole(*parts)  # noqa: S608 quoted names
    return queries.vouched(query or "") if vouched else parse(query or "", database.system)


def statement_of(database: Database, connection: Any, asked: Query | str) -> str:
    """The SELECT for what is asked, on tables alone. Raises TableError for what is neither table nor readable view."""
    if isinstance(asked, str):
        found = Written(sql=asked, columns={})
    else:
        try:
            found = relations.written(database.system, connection, asked)
        except (relations.NoTableError, NoColumnError) as error:
            what = "no such table" if isinstance(error, relations.NoTableError) else "no such column"
            raise _refused(database, what) from error
    if database.system == "duckdb":
        if found.tried:
            # it calculates with the least and largest values of a column, so that whether TRY fails on one record
            # would depend on the others
            connection.execute("PRAGMA disable_optimizer")
        connection.execute("SET lock_configuration = true")
    return found.sql


@contextmanager
def connected(database: Database) -> Iterator[Any]:
    """A read-only connection; what goes wrong inside becomes one sentence without cells or passwords."""
    before = confines.open_files()
    if database.system != "postgresql":
        confines.check(Path(database.place))
    if database.system == "duckdb":
        opened, faults = _open_duckdb(database)
    elif database.system == "sqlite":
        opened, faults = _open_sqlite(database)
    else:
        opened, faults = _open_postgresql(database)
    try:
        confines.check_opened(before)
        yield opened
    except faults as error:
        raise _refused(database, type(error).__name__) from error
    finally:
        opened.close()


def _refused(database: Database, why: str) -> TableError:
    return TableError(
        f"{database.shown} refused the request ({why}); check the names of table and columns or the query, and that it "
        "only reads"
    )


def _open_duckdb(database: Database) -> tuple[Any, type[Exception]]:
    duckdb = driver("duckdb")
    options = {
        "enable_external_access": False,
        "allow_persistent_secrets": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    try:
        return duckdb.connect(database.place, read_only=True, config=options), duckdb.Error
    except duckdb.Error as error:
        raise _no_connection(database, error) from error


def _open_sqlite(database: Database) -> tuple[Any, type[Exception]]:
    import sqlite3

    try:
        address = Path(database.place).resolve().as_uri() + "?mode=ro"
        connection = sqlite3.connect(address, uri=True)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")  # views may call functions of SQLite alone
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.Error as error:
        raise _no_connection(database, error) from error
    return connection, sqlite3.Error


def _open_postgresql(database: Database) -> tuple[Any, type[Exception]]:
    psycopg = driver("psycopg")
    return postgresql.connect(psycopg, database.place), psycopg.Error


def driver(name: str) -> Any:
    """The package that speaks with a database. Raises ExtraError where it is not installed."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        what = f"reading this database by the package {name}"
        raise absent(what, extra="databases") from error


def _no_connection(database: Database, error: Exception) -> TableError:
    return TableError(
        f"{database.shown} cannot be opened ({type(error).__name__}); check that it is there, readable and not locked"
    )


def _few(table: Any, most: int | None) -> Any:
    if most is not None and table.num_rows > most:
        raise _too_many(most)
    return table


def _too_many(most: int) -> TableError:
    return TableError(f"the database has more than {most:,} such records; read part of them by a query with a WHERE")


def _counted(batches: Iterator[list[Any]], columns: int, most: int | None) -> Iterator[list[Any]]:
    """The same batches; raises TableError as soon as there are too many records or cells."""
    got = 0
    for rows in batches:
        got += len(rows)
        if most is not None and got > most:
            raise _too_many(most)
        if got * columns > columnar.MAX_CELLS:
            msg = f"the table has more cells than {columnar.MAX_CELLS}; read part of it by a query"
            raise TableError(msg)
        yield rows


def _texts(names: list[str], batches: Iterator[list[Any]]) -> Any:
    """Records of text as a pyarrow table; a batch is packed before the next one is fetched."""
    import pyarrow as pa

    pieces = [[pa.array(column, pa.string()) for column in zip(*rows, strict=True)] for rows in batches]
    columns = [pa.chunked_array([p[i] for p in pieces], pa.string()) for i in range(len(names))]
    return pa.table(columns, names=names)


def _from_sqlite(connection: Any, statement: str, most: int | None) -> Any:
    """The records of a SELECT. Text that is not UTF-8, which SQLite may hold, has U+FFFD where it does not decode."""
    import sqlite3

    cursor = connection.execute(statement)
    names = [d[0] for d in cursor.description]
    headers.check(names)
    try:
        return _typed(names, _counted(iter(lambda: cursor.fetchmany(BATCH), []), len(names), most))
    except sqlite3.OperationalError:  # its words for this; all else raises again below, and the driver is faster above
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        cursor = connection.execute(statement)
        return _typed(names, _counted(iter(lambda: cursor.fetchmany(BATCH), []), len(names), most))


def _typed(names: list[str], batches: Iterator[list[Any]]) -> Any:
    """Records of any types as a pyarrow table: SQLite keeps a type for each cell, and so are its cells read."""
    import pyarrow as pa

    pieces: list[list[tuple[Any, ...]]] = [[] for _ in names]
    for rows in batches:
        for piece, values in zip(pieces, zip(*rows, strict=True), strict=True):
            piece.append(values)
    columns = [cells.column(list(itertools.chain.from_iterable(piece))) for piece in pieces]
    return pa.table(columns, names=names)


def plain(table: Any) -> Any:
    """Enumerations of DuckDB as text."""
    import pyarrow as pa
    import pyarrow.types as t

    for i, column in enumerate(table.schema):
        if t.is_dictionary(column.type):
            table = table.set_column(i, column.name, table.column(i).cast(pa.string()))
    return table
