"""Tables of databases for the Data page: DuckDB and SQLite files, PostgreSQL; read-only, one query."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from dpsyn_core.errors import TableError
from dpsyn_core.tables.databases import Database, read_database
from dpsyn_core.tables.postgresql import ADDRESS
from ui.shared.access import shared

if TYPE_CHECKING:
    import pyarrow as pa

DATABASES = ("DuckDB", "SQLite", "PostgreSQL")
MOST_ROWS = 5_000_000  # rows fetched into the app
NAME = re.compile(r"^[^\W\d][\w$]*(\.[^\W\d][\w$]*)?$")
HOSTS = "DPSYN_DATABASE_HOSTS"  # PostgreSQL hosts that visitors of a shared server may reach, separated by commas


def fetch(kind: str, target: str, query: str) -> pa.Table:
    """Reads a table, or the rows of one query. Raises TableError that names the database and never a cell."""
    if not target.strip():
        msg = f"no {kind} database was given; write the path of its file, or a connection address for PostgreSQL"
        raise TableError(msg)
    database, text = _database(kind, target.strip()), query.strip()
    if NAME.match(text):
        return read_database(database, table=text, most=MOST_ROWS)
    return read_database(database, query=text, most=MOST_ROWS)


def _database(kind: str, target: str) -> Database:
    if kind == DATABASES[2]:
        if not target.startswith(("postgresql://", "postgres://")):
            msg = "a PostgreSQL database is given by its address: postgresql://user@host/name"
            raise TableError(msg)
        return Database.of(_reachable(target))
    from ui.data.places import allowed

    database = Database.of(allowed(target))
    if database.system != kind.lower():
        msg = f"'{database.place}' is no {kind} database; choose the other kind"
        raise TableError(msg)
    return database


def _reachable(address: str) -> str:
    """The address, when visitors of this server may use it.

    On one's own machine any. A shared server stands in another network than its visitors, and has passwords and
    sockets of its own: there only named hosts, with the visitor's own user and password and no further option.
    """
    if not shared():
        return address
    hosts = {h.strip() for h in os.environ.get(HOSTS, "").split(",") if h.strip()}
    got = ADDRESS.fullmatch(address)
    if got is None or got["host"] not in hosts:
        msg = "this server does not reach that database; upload the table, or ask its operator to allow the host"
        raise TableError(msg)
    if not re.fullmatch(r"\w+://[^:@]+:[^:@]+@[^?]*", address):
        msg = "this server needs your own user and password and no options: postgresql://user:password@host/name"
        raise TableError(msg)
    return address
