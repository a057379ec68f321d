"""SQLite: the tables of a file, each cell by its type."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from dpsyn_core.tables import headers
from dpsyn_core.tables.cells import objects
from dpsyn_core.tables.databases.connection import (
    VIEW,
    Connection,
    NoTableError,
    ascii_lower,
    no_connection,
    quoted,
    refused,
)


class SQLite(Connection):
    """A SQLite file. Text that is not UTF-8, which SQLite may hold, has U+FFFD where it does not decode."""

    home = "main"

    @classmethod
    def open(cls, place: str) -> SQLite:
        """Opens a file. Raises TableError where it cannot be opened."""
        import sqlite3

        try:
            opened = sqlite3.connect(Path(place).resolve().as_uri() + "?mode=ro", uri=True)
            opened.execute("PRAGMA query_only = ON")
            opened.execute("PRAGMA trusted_schema = OFF")  # views may call functions of SQLite alone
            opened.execute("SELECT 1 FROM sqlite_master LIMIT 1")
        except sqlite3.Error as error:
            raise no_connection(place, error) from error
        opened.text_factory = partial(str, encoding="utf-8", errors="replace")
        return cls(opened, sqlite3.Error)

    def rows(self, statement: str, values: list[Any] | None = None) -> list[Any]:
        """See `Connection`."""
        return list(self.opened.execute(statement, values or []).fetchall())

    def tables(self) -> list[str]:
        """See `Connection`."""
        listed = self.rows(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
        )
        return [name for (name,) in listed]

    def table(self, schema: str | None, name: str) -> str:
        """See `Connection`."""
        listed = self.rows("SELECT type, name, rootpage FROM main.sqlite_master")
        named = [r for r in listed if r[0] in ("table", "view") and ascii_lower(r[1]) == ascii_lower(name)]
        if not named or ascii_lower(schema or self.home) != self.home:
            raise NoTableError
        kind, real, page = named[0]
        if kind == "view":
            raise refused(name, VIEW)
        modules = [row[1] for row in listed if row[0] == "table" and not row[2]]
        if not page or any(ascii_lower(real).startswith(ascii_lower(m) + "_") for m in modules):
            raise refused(name, "a table of a module of SQLite, which decides what its records are")
        if ascii_lower(real).startswith("sqlite_"):
            raise refused(name, "a table of SQLite itself, which tells of all records")
        if any(column[6] not in (0, 3) for column in self.rows(f"PRAGMA main.table_xinfo({quoted(real)})")):
            raise refused(name, "a table with computed columns that are not stored")
        return f'"main".{quoted(real)}'

    def headers(self, statement: str) -> list[str]:
        """See `Connection`."""
        return [d[0] for d in self.opened.execute(statement).description]

    def columns(self, statement: str) -> tuple[str, ...]:
        """See `Connection`."""
        names = self.headers(statement)
        headers.check(names)
        return tuple(names)

    def batches(self, statement: str, step: int) -> Iterator[Any]:
        """See `Connection`."""
        import pyarrow as pa

        cursor = self.opened.execute(statement)
        names = [d[0] for d in cursor.description]
        while rows := cursor.fetchmany(step):
            yield pa.table([objects.column(list(values)) for values in zip(*rows, strict=True)], names=names)
