"""Tables of databases for the Data page: DuckDB and SQLite files, PostgreSQL; read-only, one query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

DATABASES = ("DuckDB", "SQLite", "PostgreSQL")
MOST_ROWS = 5_000_000  # rows fetched into the app
NAME = re.compile(r"^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)?$")


def statement(query: str) -> str:
    """A SELECT from a table's name or a query. Raises TableError for anything else."""
    text = query.strip().rstrip(";").strip()
    if NAME.match(text):
        quoted = ".".join(f'"{p}"' for p in text.split("."))
        return f"SELECT * FROM {quoted}"  # noqa: S608 the name holds letters, digits and _ only
    if re.match(r"(?is)^(select|with)\b", text) and ";" not in text:
        return text
    msg = "give the name of a table, or one SELECT query without a semicolon"
    raise TableError(msg)


def fetch(kind: str, target: str, query: str) -> pa.Table:
    """Runs one query and returns its rows. Raises TableError that names the database and never a cell."""
    sql = statement(query)
    if not target.strip():
        msg = f"no {kind} database was given; write the path of its file, or a connection address for PostgreSQL"
        raise TableError(msg)
    readers = dict(zip(DATABASES, (_duckdb, _sqlite, _postgres), strict=True))
    table = readers[kind](target.strip(), sql)
    if table.num_rows > MOST_ROWS:
        msg = f"the query has more than {MOST_ROWS:,} rows; add a WHERE, or use the command 'dpsyn synth'"
        raise TableError(msg)
    return table


def _refused(kind: str) -> TableError:
    return TableError(f"the {kind} database refused the query; check the path, the table's name and your rights")


def _duckdb(target: str, sql: str) -> pa.Table:
    try:
        import duckdb
    except ImportError as error:
        msg = "DuckDB is not installed; install the extra: pip install 'dpsyn-studio[databases]'"
        raise TableError(msg) from error
    from ui.loading import allowed

    path = allowed(target)
    try:
        with duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"}) as link:
            return link.execute(sql).to_arrow_table()
    except duckdb.Error as error:
        raise _refused(DATABASES[0]) from error


def _sqlite(target: str, sql: str) -> pa.Table:
    import sqlite3

    from ui.loading import allowed

    path = allowed(target).absolute()
    try:
        link = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        try:
            cursor = link.execute(sql)
            return _columns([c[0] for c in cursor.description], cursor.fetchmany(MOST_ROWS + 1))
        finally:
            link.close()
    except sqlite3.Error as error:
        raise _refused(DATABASES[1]) from error


def _postgres(target: str, sql: str) -> pa.Table:
    try:
        import psycopg
    except ImportError as error:
        msg = "the PostgreSQL driver is not installed; install the extra: pip install 'dpsyn-studio[databases]'"
        raise TableError(msg) from error
    try:
        with psycopg.connect(target, connect_timeout=10) as link:
            link.read_only = True
            cursor = link.execute(sql)
            return _columns([c.name for c in cursor.description or []], cursor.fetchmany(MOST_ROWS + 1))
    except psycopg.Error as error:
        raise _refused(DATABASES[2]) from error


def _columns(names: list[str], rows: list[tuple[Any, ...]]) -> pa.Table:
    """Rows as a table; columns of mixed kinds become text."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = []
    for column in columns:
        try:
            arrays.append(pa.array(column))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            arrays.append(pa.array([None if v is None else str(v) for v in column], pa.string()))
    return pa.table(arrays, names=names)
