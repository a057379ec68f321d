"""Connection: an open database that is only read, with the same few verbs for each kind."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from dpsyn_core.errors import TableError
from dpsyn_core.extras import absent

REMEDY = (
    "name a table, its columns and a condition on each record (--sql-table, --sql-columns, --sql-where), or give your "
    "word that each record is read by itself (--query-vouched, or the box on the Data page); the manifest then says so"
)


class NoTableError(LookupError):
    """The database has no table of this name."""


class Connection(ABC):
    """A read-only connection.

    home: the schema whose tables need not name it. faults: what its driver raises, of which no word is shown.
    """

    home: ClassVar[str]

    def __init__(self, opened: Any, faults: type[Exception]) -> None:
        """opened: what the driver gave."""
        self.opened, self.faults = opened, faults

    @abstractmethod
    def rows(self, statement: str, values: list[Any] | None = None) -> list[Any]:
        """All rows of a statement about the database itself."""

    @abstractmethod
    def table(self, schema: str | None, name: str) -> str:
        """A table as SQL names it, with its schema; None: where the database looks for tables by default.

        Raises:
            NoTableError: there is none.
            TableError: it is a view, or only looks like a table: tables of another server or of a module, stored
                results, computed columns, rules on who sees which record.
        """

    @abstractmethod
    def headers(self, statement: str) -> list[str]:
        """Names of the columns of a SELECT, whatever they hold."""

    @abstractmethod
    def batches(self, statement: str, step: int) -> Iterator[Any]:
        """The records of a SELECT as pyarrow tables. Raises TableError for columns that hold nested or binary cells."""

    def columns(self, statement: str) -> tuple[str, ...]:
        """Names of the columns of a SELECT, which are read as a flat table. Raises TableError as `batches`."""
        return tuple(self.headers(statement))

    def tables(self) -> list[str]:
        """Names of tables and views, with their schema where that is not `home`."""
        listed = self.rows(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2"
        )
        return [name if schema == self.home else f"{schema}.{name}" for schema, name in listed]

    def count(self, statement: str) -> int:
        """The number of records of a SELECT; private."""
        return int(self.rows(f"SELECT count(*) FROM ({statement}) AS counted")[0][0])  # noqa: S608 checked before

    def limit(self, seconds: int) -> None:
        """Lets a server end each statement after so many seconds; a database in this process ends with it."""
        del seconds

    def close(self) -> None:
        """Closes it."""
        self.opened.close()


def refused(name: str, what: str) -> TableError:
    """The refusal of what only looks like a table."""
    return TableError(f"'{name}' is {what}; {REMEDY}")


VIEW = "a view, and its query is not checked"


def quoted(name: str) -> str:
    """A name between quotation marks."""
    return '"' + name.replace('"', '""') + '"'


def ascii_lower(text: str) -> str:
    """Small letters for A to Z alone, as databases fold names."""
    return "".join(c.lower() if c.isascii() else c for c in text)


def driver(name: str) -> Any:
    """The package that speaks with a database. Raises ExtraError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        what = f"reading this database by the package {name}"
        raise absent(what, extra="databases") from error


def no_connection(place: str, error: Exception) -> TableError:
    """The refusal where a database file cannot be opened."""
    why = type(error).__name__
    return TableError(f"{place} cannot be opened ({why}); check that it is there, readable and not locked")
