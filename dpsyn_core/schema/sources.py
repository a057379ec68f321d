"""Tables that live in a database: a table or a query of DuckDB, SQLite or PostgreSQL, over a read-only connection."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from dpsyn_core.errors import TableError
from dpsyn_core.schema import columnar, headers
from dpsyn_core.schema.frames import checked

System = Literal["duckdb", "sqlite", "postgresql"]
BATCH = 50_000  # records fetched at a time
EXTRA = "pip install 'dpsyn-studio[databases]'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Database:
    """Where a database is.

    system: its kind. place: a file's path, or a PostgreSQL address (which may hold a password and is never shown).
    """

    system: System
    place: str

    @classmethod
    def of(cls, address: str | Path) -> Database:
        """From duckdb:///PATH, sqlite:///PATH, postgresql://..., or the path of a database file.

        Raises TableError when the address is of no known kind, or the file does not exist.
        """
        text = str(address)
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
        with path.open("rb") as file:
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
        if self.system != "postgresql":
            return self.place
        parts = urlsplit(self.place)
        return f"postgresql://{parts.hostname or 'localhost'}{parts.path}"


def list_tables(database: Database) -> list[str]:
    """Names of tables and views, with their schema where that is not the default one."""
    with _connected(database) as connection:
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


def read_database(database: Database, *, table: str | None = None, query: str | None = None) -> Any:
    """A pyarrow table with typed columns.

    Args:
        database: where it is.
        table: name of a table or view, schema.name where that is not the default schema.
        query: one SELECT instead of a table.

    Raises:
        TableError: driver not installed, no connection, no such table, a query that is refused or not a SELECT, no
            records, nested columns. Passwords and cells are not shown.
    """
    if (table is None) == (query is None):
        msg = "name either a table or a query of the database"
        raise TableError(msg)
    statement = _select_all(table) if table is not None else _one_select(query or "")
    with _connected(database) as connection:
        if database.system == "duckdb":
            return checked(_plain(connection.sql(statement).to_arrow_table()))
        if database.system == "sqlite":
            cursor = connection.execute(statement)
        else:
            cursor = connection.cursor(name="dpsyn")  # on the server, so that records come in batches
            cursor.execute(statement)
        return checked(_fetched(cursor))


def _existing(path: Path) -> Path:
    if not path.is_file():
        msg = f"the database '{path}' does not exist; check the path"
        raise TableError(msg)
    return path


def _select_all(table: str) -> str:
    parts = table.split(".", 1) if "." in table and '"' not in table else [table]
    return "SELECT * FROM " + ".".join('"' + p.replace('"', '""') + '"' for p in parts)  # noqa: S608 quoted names


def _one_select(query: str) -> str:
    text = query.strip().rstrip(";").strip()
    if not re.match(r"(?is)^(select|with|from|table|values)\b", text) or ";" in text:
        msg = "the query must be one SELECT, without a semicolon inside"
        raise TableError(msg)
    return text


@contextmanager
def _connected(database: Database) -> Iterator[Any]:
    """A read-only connection; what goes wrong inside becomes one sentence without cells or passwords."""
    if database.system == "duckdb":
        opened, faults = _open_duckdb(database)
    elif database.system == "sqlite":
        opened, faults = _open_sqlite(database)
    else:
        opened, faults = _open_postgresql(database)
    try:
        yield opened
    except faults as error:
        msg = (
            f"{database.shown} refused the request ({type(error).__name__}); "
            "check the table's name or the query, and that it only reads"
        )
        raise TableError(msg) from error
    finally:
        opened.close()


def _open_duckdb(database: Database) -> tuple[Any, type[Exception]]:
    duckdb = _driver("duckdb")
    options = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "lock_configuration": True,
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
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.Error as error:
        raise _no_connection(database, error) from error
    return connection, sqlite3.Error


def _open_postgresql(database: Database) -> tuple[Any, type[Exception]]:
    psycopg = _driver("psycopg")
    try:
        connection = psycopg.connect(database.place, connect_timeout=10, options="-c default_transaction_read_only=on")
        connection.read_only = True
    except (psycopg.Error, ValueError) as error:
        raise _no_connection(database, error) from error
    return connection, psycopg.Error


def _driver(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        msg = f"reading this database needs the package {name}; install it with {EXTRA}"
        raise TableError(msg) from error


def _no_connection(database: Database, error: Exception) -> TableError:
    return TableError(
        f"{database.shown} cannot be opened ({type(error).__name__}); check that it is there, readable and not locked"
    )


def _fetched(cursor: Any) -> Any:
    """All records of a DB-API cursor as a pyarrow table, batch by batch."""
    import pyarrow as pa

    first = cursor.fetchmany(BATCH)
    names = [d[0] for d in cursor.description]
    headers.check(names)
    pieces: list[list[tuple[Any, ...]]] = [[] for _ in names]
    rows = first
    while rows:
        for piece, values in zip(pieces, zip(*rows, strict=True), strict=True):
            piece.append(values)
        if len(pieces) * len(pieces[0]) * BATCH > columnar.MAX_CELLS:
            msg = f"the table has more cells than {columnar.MAX_CELLS}; read part of it by a query"
            raise TableError(msg)
        rows = cursor.fetchmany(BATCH)
    return pa.table([_column(piece, name) for piece, name in zip(pieces, names, strict=True)], names=names)


def _column(pieces: list[tuple[Any, ...]], name: str) -> Any:
    """One column from its batches; text where the types of its cells differ, as SQLite allows."""
    import pyarrow as pa

    values = list(itertools.chain.from_iterable(pieces))
    try:
        column = pa.array(values)
        if not isinstance(column.type, pa.BaseExtensionType):  # such as UUIDs, which are text to us
            return column
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        if any(isinstance(v, bytes | memoryview | list | dict | tuple) for v in values):
            msg = f"column '{headers.short(name)}' holds binary or nested cells; leave it out by a query"
            raise TableError(msg) from error
    return pa.array([None if v is None else str(v) for v in values], pa.string())


def _plain(table: Any) -> Any:
    """Enumerations of DuckDB as text."""
    import pyarrow as pa
    import pyarrow.types as t

    for i, field in enumerate(table.schema):
        if t.is_dictionary(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
    return table
