"""PostgreSQL: a read-only connection, and records as the text that the server itself writes, batch by batch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers

ADDRESS = re.compile(
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
UNCHANGED = ("UTF8", "SQL_ASCII")  # text in these encodings reaches us as the server keeps it
NESTED = ("A", "C")  # arrays and composite values, by PostgreSQL's own category of types
BINARY, JSON, JSONB = 17, 114, 3802  # object identifiers of types


def shown(address: str) -> str:
    """Host and name of the database. An address that is not written as it should be may show a password: none of it."""
    got = ADDRESS.fullmatch(address)
    if got is None:
        return "the PostgreSQL database"
    return f"postgresql://{got['host'] or 'localhost'}" + (f"/{got['name']}" if got["name"] else "")


def connect(psycopg: Any, address: str) -> Any:
    """A connection whose transactions only read. Raises TableError, without user and password."""
    try:
        connection = psycopg.connect(address, connect_timeout=WAIT, client_encoding="utf8", autocommit=True)
        for setting in SETTINGS:
            connection.execute(setting)
        connection.autocommit = False
        connection.read_only = True
    except (psycopg.Error, ValueError) as error:
        msg = (
            f"{shown(address)} cannot be opened ({type(error).__name__}); "
            "check that it is there, and the name, user and password"
        )
        raise TableError(msg) from None  # the driver's own words may quote the address
    return connection


def limit(connection: Any, seconds: int) -> None:
    """Lets the server end each statement after so many seconds: it would not notice that its client was ended."""
    connection.execute(f"SET statement_timeout = {1000 * int(seconds)}")


def text_batches(psycopg: Any, connection: Any, statement: str, batch: int) -> tuple[list[str], Iterator[list[Any]]]:
    """Names of the columns, and batches of records as text (None for NULL).

    Text, because numbers without a value, endless dates and decimals of any length have no common type, and because
    a table then reads like its CSV export. Raises TableError for nested and binary columns, and for a server whose
    encoding Python does not know.
    """
    plain = _loader(psycopg, connection)
    cursor = connection.cursor(name="dpsyn")  # on the server, so that records come in batches
    for known in connection.adapters.types:
        cursor.adapters.register_loader(known.oid, plain)
        cursor.adapters.register_loader(known.array_oid, plain)
    cursor.execute(statement)
    names = [column.name for column in cursor.description]
    headers.check(names)
    kinds = [column.type_code for column in cursor.description]
    found = connection.execute("SELECT oid::int8, typcategory::text FROM pg_type WHERE oid = ANY(%s)", [kinds])
    categories = dict(found.fetchall())
    for name, kind in zip(names, kinds, strict=True):
        if categories.get(kind) in NESTED or kind in (BINARY, JSON, JSONB):
            msg = f"column '{headers.short(name)}' holds binary or nested cells; leave it out by a query"
            raise TableError(msg)
    kept = connection.info.parameter_status("server_encoding")
    if kept not in UNCHANGED:  # or one byte that it cannot convert would end the whole request
        connection.execute(f"SET LOCAL client_encoding = '{kept}'")
    return names, iter(lambda: cursor.fetchmany(batch), [])


def _loader(psycopg: Any, connection: Any) -> Any:
    """How cells become text: the bytes that the server keeps; what does not decode is U+FFFD, in that cell alone."""
    from psycopg.types.string import TextLoader

    kept = connection.info.parameter_status("server_encoding")
    if kept == "UTF8":
        return TextLoader
    codec = "utf-8" if kept == "SQL_ASCII" else _codec(psycopg, connection, kept)

    class Decoded(psycopg.adapt.Loader):  # type: ignore[misc]
        """Text of a server that keeps it in another encoding, or in any."""

        def load(self, data: Any) -> str:
            return bytes(data).decode(codec, "replace")

    return Decoded


def _codec(psycopg: Any, connection: Any, name: str) -> str:
    """Python's name for an encoding of a server. Raises TableError where there is none."""
    connection.execute(f"SET LOCAL client_encoding = '{name}'")
    try:
        codec = str(connection.info.encoding)
    except psycopg.NotSupportedError as error:
        msg = f"the server keeps its text in {name}, which cannot be read here; export the table as CSV in UTF-8"
        raise TableError(msg) from error
    connection.execute("SET LOCAL client_encoding = 'UTF8'")
    return codec
