"""DuckDB: the tables of a file, with the types that they have there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dpsyn_core.tables.databases.connection import (
    VIEW,
    Connection,
    NoTableError,
    ascii_lower,
    driver,
    no_connection,
    quoted,
    refused,
)

OPTIONS = {
    "enable_external_access": False,
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class DuckDB(Connection):
    """A DuckDB file, from which no other file, extension or setting can be reached."""

    home = "main"

    @classmethod
    def open(cls, place: str) -> DuckDB:
        """Opens a file. Raises TableError where it cannot be opened, ExtraError without the driver."""
        duckdb = driver("duckdb")
        try:
            opened = duckdb.connect(place, read_only=True, config=OPTIONS)
            opened.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            raise no_connection(place, error) from error
        return cls(opened, duckdb.Error)

    def rows(self, statement: str, values: list[Any] | None = None) -> list[Any]:
        """See `Connection`."""
        return list(self.opened.execute(statement, values or []).fetchall())

    def table(self, schema: str | None, name: str) -> str:
        """See `Connection`."""
        database = self.rows("SELECT current_database()")[0][0]

        def listed(what: str, title: str) -> list[Any]:
            rows = self.rows(
                f"SELECT database_name, schema_name, {title}, internal, sql FROM system.main.duckdb_{what}()"  # noqa: S608
            )
            key = (ascii_lower(schema or self.home), ascii_lower(name))
            return [r for r in rows if r[0] == database and (ascii_lower(r[1]), ascii_lower(r[2])) == key and not r[3]]

        tables = listed("tables", "table_name")
        if not tables and listed("views", "view_name"):
            raise refused(name, VIEW)
        if not tables:
            raise NoTableError
        _, home, real, _, sql = tables[0]
        if re.search(r"\bGENERATED\b", sql, re.IGNORECASE):
            raise refused(name, "a table with computed columns")
        return f"{quoted(database)}.{quoted(home)}.{quoted(real)}"

    def headers(self, statement: str) -> list[str]:
        """See `Connection`."""
        return list(self.opened.sql(statement).columns)

    def columns(self, statement: str) -> tuple[str, ...]:
        """See `Connection`."""
        from dpsyn_core.tables.frames import checked

        return tuple(checked(plain(self.opened.sql(statement).limit(0).to_arrow_table())).column_names)

    def batches(self, statement: str, step: int) -> Iterator[Any]:
        """See `Connection`."""
        import pyarrow as pa

        for batch in self.opened.sql(statement).to_arrow_reader(step):
            yield plain(pa.Table.from_batches([batch]))


def plain(table: Any) -> Any:
    """Enumerations of DuckDB as text."""
    import pyarrow as pa
    import pyarrow.types as t

    for i, column in enumerate(table.schema):
        if t.is_dictionary(column.type):
            table = table.set_column(i, column.name, table.column(i).cast(pa.string()))
    return table
