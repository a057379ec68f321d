"""PostgreSQL: a session that only reads, and records as the text that the server itself writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.databases.connection import VIEW, Connection, NoTableError, driver, quoted, refused

POSTGRESQL_ADDRESS = re.compile(
    r"postgres(?:ql)?://(?:[^@/?#]*@)?(?P<host>\[[^]@]*\]|[^@/?#:]*)(?::\d+)?(?:/(?P<name>[^@/?#]*))?(?:\?[^@#]*)?"
)
# what the server writes must not depend on its settings; every transaction only reads
SETTINGS = (
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "SET DateStyle = 'ISO'",
    "SET extra_float_digits = 1",
    "SET standard_conforming_strings = on",  # a backslash in a text is a backslash, as in the other databases
)
WAIT = 10  # seconds for a connection
UNKNOWN = 0  # psycopg's number for all types that it does not know, such as those of extensions
NESTED = ("A", "C")  # arrays and composite values, by PostgreSQL's own category of types
BINARY, JSON, JSONB = 17, 114, 3802  # object identifiers of types
ODD = {"f": "a table of another server", "m": "a stored result of a query", "S": "a sequence"}


def shown(address: str) -> str:
    """Host and name of the database. An address that is not written as it should be may show a password: none of it."""
    got = POSTGRESQL_ADDRESS.fullmatch(address)
    if got is None:
        return "the PostgreSQL database"
    return f"postgresql://{got['host'] or 'localhost'}" + (f"/{got['name']}" if got["name"] else "")


class PostgreSQL(Connection):
    """A session whose transactions only read. Records come as the text that the server writes, as in its CSV export."""

    home = "public"

    @classmethod
    def open(cls, address: str) -> PostgreSQL:
        """Opens a session. Raises TableError, without user and password; ExtraError without the driver."""
        psycopg = driver("psycopg")
        try:
            opened = psycopg.connect(address, connect_timeout=WAIT, client_encoding="utf8", autocommit=True)
            for setting in SETTINGS:
                opened.execute(setting)
            opened.autocommit = False
            opened.read_only = True
        except (psycopg.Error, ValueError) as error:
            msg = (
                f"{shown(address)} cannot be opened ({type(error).__name__}); "
                "check that it is there, and the name, user and password"
            )
            raise TableError(msg) from None  # the driver's own words may quote the address
        return cls(opened, psycopg.Error)

    def limit(self, seconds: int) -> None:
        """Lets the server end each statement by itself: it would not notice that its client was ended."""
        self.opened.execute(f"SET statement_timeout = {1000 * int(seconds)}")

    def rows(self, statement: str, values: list[Any] | None = None) -> list[Any]:
        """See `Connection`."""
        return list(self.opened.execute(statement, values).fetchall())

    def table(self, schema: str | None, name: str) -> str:
        """See `Connection`. Without a schema the server looks for the table as it does for everybody."""
        full = ".".join(quoted(part) for part in (schema, name) if part)
        oid = self.rows(
            "SELECT pg_catalog.to_regclass(pg_catalog.convert_from(%s, 'UTF8'))::pg_catalog.oid::pg_catalog.int8",
            [full.encode()],
        )[0][0]
        if oid is None:
            raise NoTableError
        # from here on only the server's own functions and operators are found, and names of tables are written in full
        self.opened.execute("SET LOCAL search_path = pg_catalog")
        ((home, real, kind, guarded),) = self.rows(
            "SELECT n.nspname, c.relname, c.relkind::text, row_security_active(c.oid) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s::oid",
            [oid],
        )
        if home in ("pg_catalog", "information_schema", "pg_toast"):
            raise refused(name, "a table of PostgreSQL itself, which tells of all records")
        if kind == "v":
            raise refused(name, VIEW)
        beneath = self.rows(
            "WITH RECURSIVE below(oid) AS (SELECT %s::oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN below b "
            "ON i.inhparent = b.oid) SELECT c.relkind::text FROM pg_class c JOIN below b ON c.oid = b.oid",
            [oid],
        )
        odd = sorted({k for (k,) in beneath} - {"r", "p"})
        if odd:
            raise refused(name, ODD.get(odd[0], "no table"))
        if guarded:
            raise refused(name, "a table with rules on who sees which record")
        computed = "SELECT 1 FROM pg_attribute WHERE attrelid = %s::oid AND attgenerated = 'v' AND NOT attisdropped"
        if self.rows(computed, [oid]):
            raise refused(name, "a table with computed columns that are not stored")
        return f"{quoted(home)}.{quoted(real)}"

    def headers(self, statement: str) -> list[str]:
        """See `Connection`."""
        asked = f"SELECT * FROM ({statement}) AS asked LIMIT 0"  # noqa: S608 one SELECT that was checked
        return [column.name for column in self.opened.execute(asked).description or ()]

    def columns(self, statement: str) -> tuple[str, ...]:
        """See `Connection`."""
        with self._cursor() as cursor:
            return tuple(self._ask(cursor, statement))

    def batches(self, statement: str, step: int) -> Iterator[Any]:
        """See `Connection`. All is text (null for NULL).

        Text, because numbers without a value, endless dates and decimals of any length have no common type, and because
        a table then reads like its CSV export. Raises TableError for nested and binary columns, and for a server whose
        encoding Python does not know.
        """
        import pyarrow as pa

        with self._cursor() as cursor:
            names = self._ask(cursor, statement)
            encoding = self.opened.info.parameter_status("server_encoding")
            if encoding != "UTF8":  # or one byte that cannot be converted, or is no UTF-8, would end the whole request
                self.opened.execute(f"SET LOCAL client_encoding = '{encoding}'")
            while rows := cursor.fetchmany(step):
                yield pa.table([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], names=names)

    def _cursor(self) -> Any:
        """A cursor on the server, so that records come in batches; its cells are text."""
        loader = self._loader()
        cursor = self.opened.cursor(name="dpsyn")
        for kind in self.opened.adapters.types:
            cursor.adapters.register_loader(kind.oid, loader)
            cursor.adapters.register_loader(kind.array_oid, loader)
        cursor.adapters.register_loader(UNKNOWN, loader)
        return cursor

    def _ask(self, cursor: Any, statement: str) -> list[str]:
        """Sends a SELECT and returns the names of its columns. Raises TableError for those that are not flat text."""
        cursor.execute(statement)
        names = [column.name for column in cursor.description or ()]
        headers.check(names)
        kinds = [column.type_code for column in cursor.description]
        categories = dict(
            self.rows("SELECT oid::int8, typcategory::text FROM pg_catalog.pg_type WHERE oid = ANY(%s)", [kinds])
        )
        for name, kind in zip(names, kinds, strict=True):
            if categories.get(kind) in NESTED or kind in (BINARY, JSON, JSONB):
                msg = f"column '{headers.short(name)}' holds binary or nested cells; leave it out by --sql-columns"
                raise TableError(msg)
        return names

    def _loader(self) -> Any:
        """What makes text of the bytes that the server keeps; what does not decode is U+FFFD, in that cell alone."""
        from psycopg.adapt import Loader
        from psycopg.types.string import TextLoader

        encoding = self.opened.info.parameter_status("server_encoding")
        if encoding == "UTF8":
            return TextLoader
        codec = "utf-8" if encoding == "SQL_ASCII" else self._codec(encoding)

        class Decoded(Loader):
            """Text of a server that keeps it in another encoding, or in any."""

            def load(self, data: Any) -> str:
                return bytes(data).decode(codec, "replace")

        return Decoded

    def _codec(self, name: str) -> str:
        """Python's name for an encoding of a server. Raises TableError where there is none."""
        from psycopg import NotSupportedError

        self.opened.execute(f"SET LOCAL client_encoding = '{name}'")
        try:
            codec = str(self.opened.info.encoding)
        except NotSupportedError as error:
            msg = f"the server keeps its text in {name}, which cannot be read here; export the table as CSV in UTF-8"
            raise TableError(msg) from error
        self.opened.execute("SET LOCAL client_encoding = 'UTF8'")
        return codec
