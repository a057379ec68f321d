"""Tables of databases for the Data page: DuckDB and SQLite files, PostgreSQL; read-only, one query, in a child."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from dpsyn_core.errors import TableError
from dpsyn_core.runs import ReadSpec
from dpsyn_core.tables import POSTGRESQL_ADDRESS, Database, ReadForm
from ui.data.reading import Tell, limits, readers
from ui.shared.access import shared

if TYPE_CHECKING:
    from dpsyn_core.schema import Schema
    from dpsyn_core.tables import Batches

DATABASES = ("DuckDB", "SQLite", "PostgreSQL")
MOST_ROWS = 5_000_000  # rows fetched into the app
LONGEST = 20_000  # characters of a query
NAME = re.compile(r"^[^\W\d][\w$]*(\.[^\W\d][\w$]*)?$")
HOSTS = "DPSYN_DATABASE_HOSTS"  # PostgreSQL hosts that visitors of a shared server may reach, separated by commas


def fetch(
    kind: str,
    target: str,
    query: str,
    *,
    columns: str = "",
    where: str = "",
    vouched: bool = False,
    tell: Tell = lambda _: None,
) -> tuple[Batches, Schema | None]:
    """Reads a table, or the rows of one query, and drafts a schema. columns, where: see `ReadForm`; empty: all.

    A query may run without end or fill the memory, so it runs in a child under the limits of a reading. Its address
    goes there over a pipe: it stands on no command line and in no file. vouched: the visitor gives their word that the
    query, or the view, reads each record by itself.

    Raises:
        DPSynError: names the database and never a cell or a password.
    """
    if not target.strip():
        msg = f"no {kind} database was given; write the path of its file, or a connection address for PostgreSQL"
        raise TableError(msg)
    database, text = _database(kind, target.strip()), query.strip()
    if len(text) > LONGEST:
        msg = f"the query has {len(text):,} characters; at most {LONGEST:,} are sent: make it a view of the database"
        raise TableError(msg)
    form = ReadForm.of(
        query_vouched=vouched,
        sql_columns=columns.strip() or None,
        sql_where=where.strip() or None,
        **{"sql_table" if NAME.match(text) else "sql_query": text},
    )
    place = database.place if database.system == "postgresql" else str(Path(database.place).absolute())
    return readers().read(
        ReadSpec(name=named(kind, text), path=place, form=form, most=MOST_ROWS, **limits()), None, tell
    )


def named(kind: str, query: str) -> str:
    """What the table is called: the table's own name, or the kind of the database for a query."""
    return query.replace('"', "") if re.fullmatch(r"[\w.\"]{1,80}", query) else kind


def _database(kind: str, target: str) -> Database:
    if kind == DATABASES[2]:
        if not target.startswith(("postgresql://", "postgres://")):
            msg = "a PostgreSQL database is given by its address: postgresql://user@host/name"
            raise TableError(msg)
        return Database.of(_reachable(target))
    from ui.data.places import allowed, within

    path = allowed(target)
    with within():
        database = Database.of(path)
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
    got = POSTGRESQL_ADDRESS.fullmatch(address)
    if got is None or got["host"] not in hosts:
        msg = "this server does not reach that database; upload the table, or ask its operator to allow the host"
        raise TableError(msg)
    if not re.fullmatch(r"\w+://[^:@]+:[^:@]+@[^?]*", address):
        msg = "this server needs your own user and password and no options: postgresql://user:password@host/name"
        raise TableError(msg)
    return address
