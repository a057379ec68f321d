"""Database: where a database is, by the path of its file or its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dpsyn_core.errors import TableError
from dpsyn_core.tables import confines
from dpsyn_core.tables.databases.connection import Connection
from dpsyn_core.tables.databases.duckdb import DuckDB
from dpsyn_core.tables.databases.postgresql import PostgreSQL, shown
from dpsyn_core.tables.databases.sqlite import SQLite

System = Literal["duckdb", "sqlite", "postgresql"]
KINDS: dict[str, type[DuckDB | SQLite | PostgreSQL]] = {"duckdb": DuckDB, "sqlite": SQLite, "postgresql": PostgreSQL}
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

        Raises TableError when the address is of no supported kind, or the file does not exist.
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
        return shown(self.place) if self.system == "postgresql" else self.place

    def tables(self) -> list[str]:
        """Names of tables and views, with their schema where that is not the default one."""
        with self.connected() as connection:
            return connection.tables()

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A read-only connection; what goes wrong inside becomes one sentence without cells or passwords."""
        before = confines.open_files()
        if self.system != "postgresql":
            confines.check(Path(self.place))
        connection = KINDS[self.system].open(self.place)
        try:
            confines.check_opened(before)
            yield connection
        except connection.faults as error:
            raise self.refusal(type(error).__name__) from error
        finally:
            connection.close()

    def refusal(self, why: str) -> TableError:
        """The refusal of a request."""
        return TableError(
            f"{self.shown} refused the request ({why}); check the names of table and columns or the query, and that it "
            "only reads"
        )


def _existing(path: Path) -> Path:
    confines.check(path)
    if not path.is_file():
        msg = f"the database '{path}' does not exist; check the path"
        raise TableError(msg)
    return path
