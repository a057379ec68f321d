"""Tables and views as a database itself describes them, so that a query on a view is a query on the table beneath.

The definition of a view is metadata, and public. A view whose definition reads each record by itself is written out as
the SELECT that it is; any other one is refused, and so is what only looks like a table: tables of another server or of
a module of the database, stored results of queries, tables with rules on who sees which record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables import query_grammar
from dpsyn_core.tables.databases import vouched_query as queries
from dpsyn_core.tables.databases.vouched_query import (
    ODD,
    REMEDY,
    Columns,
    Kinds,
    Name,
    NotByRecordError,
    Query,
    Written,
    ascii_lower,
    quoted,
)

DEEPEST = 8  # views upon views


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """What a name stands for.

    source: the table in SQL. definition: of a view. fault: why it is not read, where it is neither table nor view.
    columns: with what their types forbid to compute.
    """

    source: str
    columns: Columns = field(default_factory=dict)
    definition: str | None = None
    fault: str | None = None


class NoTableError(LookupError):
    """The database has no table of this name."""


def written(system: str, connection: Any, query: Query) -> Written:
    """The query on the tables beneath all views, as SQL.

    Args:
        system: sqlite, duckdb or postgresql.
        connection: to the database.
        query: what `query_grammar.parse` took in.

    Raises:
        TableError: what is read is no plain table and no view that reads each record by itself.
        NoTableError: there is no such table.
        queries.NoColumnError: there is no such column.
    """
    find = {"sqlite": _of_sqlite, "duckdb": _of_duckdb, "postgresql": _of_postgresql}[system]
    _check_functions[system](connection)
    return _written(system, connection, query, find, 0)


def _written(system: str, connection: Any, query: Query, find: Any, depth: int) -> Written:
    found: Relation = find(connection, query.table)
    name = query.table[-1].text
    if found.fault is not None:
        msg = f"'{name}' is {found.fault}; {REMEDY}"
        raise TableError(msg)
    if depth > DEEPEST:
        what = f"more than {DEEPEST} views below it"
        raise NotByRecordError(what, where=f"'{name}'")
    if found.definition is not None:
        try:
            inner = query_grammar.parse_view(found.definition, system)
        except NotByRecordError as error:
            raise NotByRecordError(error.what, where=f"'{name}' is a view, which") from error
        except TableError as error:
            what = "a definition that is not read here"
            raise NotByRecordError(what, where=f"'{name}' is a view, which") from error
        below = _written(system, connection, inner, find, depth + 1)
        above = queries.write(query, f"({below.sql}) AS {quoted(f'view {depth}')}", below.columns, system)
        return replace(above, tried=above.tried or below.tried)
    return queries.write(query, found.source, found.columns, system)


def _alone(table: Sequence[Name], default: str) -> tuple[str, str]:
    """Schema and name."""
    return (default, table[0].text) if len(table) == 1 else (table[0].text, table[1].text)


# ---- SQLite


def _of_sqlite(connection: Any, table: tuple[Name, ...]) -> Relation:
    schema, name = _alone(table, "main")
    rows = connection.execute("SELECT type, name, sql, rootpage FROM main.sqlite_master").fetchall()
    found = [row for row in rows if row[0] in ("table", "view") and ascii_lower(row[1]) == ascii_lower(name)]
    if not found or ascii_lower(schema) != "main":
        raise NoTableError
    kind, real, sql, page = found[0]
    source = f'"main".{quoted(real)}'
    if kind == "view":
        return Relation(source=source, definition=sql)
    modules = [row[1] for row in rows if row[0] == "table" and not row[3]]
    if not page or any(ascii_lower(real).startswith(ascii_lower(m) + "_") for m in modules):
        return Relation(source=source, fault="a table of a module of SQLite, which decides what its records are")
    if ascii_lower(real).startswith("sqlite_"):
        return Relation(source=source, fault="a table of SQLite itself, which tells of all records")
    described = connection.execute(f"PRAGMA main.table_xinfo({quoted(real)})").fetchall()
    if any(column[6] not in (0, 3) for column in described):
        return Relation(source=source, fault="a table with computed columns that are not stored")
    return Relation(source=source, columns={column[1]: frozenset() for column in described})


# ---- DuckDB

# whose values as text are no longer than a public bound, or no longer than they are; a list or bytes grow
USUAL = re.compile(
    r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|DATE|INTERVAL|UUID|"
    r"(TIME|TIMESTAMP(_S|_MS|_NS)?)( WITH TIME ZONE)?|ENUM\(.*\)",
    re.DOTALL,
)


def _check_duckdb(connection: Any) -> None:
    """Macros of the database's own come before the functions and operators of DuckDB that have the same name."""
    functions = "FROM system.main.duckdb_functions() SELECT function_name WHERE "
    made = {ascii_lower(name) for (name,) in connection.execute(functions + "NOT internal").fetchall()}
    if not made:
        return
    internal = {ascii_lower(name) for (name,) in connection.execute(functions + "internal").fetchall()}
    if any(name in internal or not name.isidentifier() for name in made):
        what = "macros in the place of functions of DuckDB"
        raise NotByRecordError(what, where="the database")


def _of_duckdb(connection: Any, table: tuple[Name, ...]) -> Relation:
    schema, name = _alone(table, "main")
    ((database,),) = connection.execute("SELECT current_database()").fetchall()

    def here(what: str, title: str) -> list[Any]:
        rows = connection.execute(
            f"SELECT database_name, schema_name, {title}, internal, sql FROM system.main.duckdb_{what}()"  # noqa: S608
        ).fetchall()
        wanted = (ascii_lower(schema), ascii_lower(name))
        return [r for r in rows if r[0] == database and (ascii_lower(r[1]), ascii_lower(r[2])) == wanted and not r[3]]

    tables, views = here("tables", "table_name"), here("views", "view_name")
    if not tables and not views:
        raise NoTableError
    _, schema, name, _, sql = (tables or views)[0]
    source = f"{quoted(database)}.{quoted(schema)}.{quoted(name)}"
    if not tables:
        return Relation(source=source, definition=sql)
    if re.search(r"\bGENERATED\b", sql, re.IGNORECASE):
        return Relation(source=source, fault="a table with computed columns")
    columns = connection.execute(
        "SELECT database_name, schema_name, table_name, column_name, data_type FROM system.main.duckdb_columns() "
        "ORDER BY column_index"
    ).fetchall()
    mine = [c[3:] for c in columns if c[:3] == (database, schema, name)]
    return Relation(
        source=source, columns={c: frozenset() if USUAL.fullmatch(kind) else frozenset({ODD}) for c, kind in mine}
    )


# ---- PostgreSQL

# types by their object identifiers; every other one is odd, but for enumerations
TYPES = {
    16: "BOOLEAN", 20: "BIGINT", 21: "SMALLINT", 23: "INTEGER", 25: "TEXT", 700: "REAL", 701: "DOUBLE", 1042: "CHAR",
    1043: "VARCHAR", 1082: "DATE", 1083: "TIME", 1114: "TIMESTAMP", 1184: "TIMESTAMPTZ", 1186: "INTERVAL",
    1700: "NUMERIC", 2950: "UUID",
}  # fmt: skip
DEFAULT = 100  # the collation of columns that name none
OWN = 16384  # the first object identifier that is not the server's own
KINDS = {"f": "a table of another server", "m": "a stored result of a query", "S": "a sequence"}


def _check_postgresql(connection: Any) -> None:
    """Conversions between the server's own types that somebody has added would take part in every comparison."""
    added = connection.execute(
        "SELECT 1 FROM pg_catalog.pg_cast WHERE oid >= %s::oid AND castsource < %s::oid AND casttarget < %s::oid",
        [OWN, OWN, OWN],
    ).fetchall()
    if added:
        what = "conversions of its own between types of PostgreSQL"
        raise NotByRecordError(what, where="the database")


def _of_postgresql(connection: Any, table: tuple[Name, ...]) -> Relation:
    name = ".".join(quoted(part.text if part.exact else ascii_lower(part.text)) for part in table)
    ((found,),) = connection.execute(
        "SELECT pg_catalog.to_regclass(pg_catalog.convert_from(%s, 'UTF8'))::pg_catalog.oid::pg_catalog.int8",
        [name.encode()],
    ).fetchall()
    if found is None:
        raise NoTableError
    # from here on only the server's own functions and operators are found, and names of tables are written in full
    connection.execute("SET LOCAL search_path = pg_catalog")
    ((schema, real, kind, guarded),) = connection.execute(
        "SELECT n.nspname, c.relname, c.relkind::text, row_security_active(c.oid) "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s::oid",
        [found],
    ).fetchall()
    source = f"{quoted(schema)}.{quoted(real)}"
    if schema in ("pg_catalog", "information_schema", "pg_toast"):
        return Relation(source=source, fault="a table of PostgreSQL itself, which tells of all records")
    if kind == "v":
        ((definition,),) = connection.execute("SELECT pg_get_viewdef(%s::oid)", [found]).fetchall()
        return Relation(source=source, definition=definition)
    beneath = connection.execute(
        "WITH RECURSIVE below(oid) AS (SELECT %s::oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN below b "
        "ON i.inhparent = b.oid) SELECT c.relkind::text FROM pg_class c JOIN below b ON c.oid = b.oid",
        [found],
    ).fetchall()
    odd = sorted({k for (k,) in beneath} - {"r", "p"})
    if odd:
        return Relation(source=source, fault=KINDS.get(odd[0], "no table"))
    if guarded:
        return Relation(source=source, fault="a table with rules on who sees which record")
    described = connection.execute(
        "SELECT a.attname, a.attgenerated::text, t.typtype::text, t.oid::int8, a.attcollation::int8, "
        "coalesce(c.collisdeterministic, true) FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
        "LEFT JOIN pg_collation c ON c.oid = a.attcollation "
        "WHERE a.attrelid = %s::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        [found],
    ).fetchall()
    if any(generated == "v" for _, generated, *_ in described):
        return Relation(source=source, fault="a table with computed columns that are not stored")
    return Relation(source=source, columns={name: _kinds_of(*kind) for name, _, *kind in described})


def _kinds_of(form: str, oid: int, collation: int, exact: bool) -> Kinds:
    """What the type and the collation of a column forbid: two collations beside each other fail when they compare."""
    if not exact or (form != "e" and oid not in TYPES):
        return frozenset({ODD})
    own = {("collations", f"collation {collation}")} if collation not in (0, DEFAULT) else set()
    return queries.group_of(TYPES.get(oid, "")) | own


_check_functions = {"sqlite": lambda _: None, "duckdb": _check_duckdb, "postgresql": _check_postgresql}
