"""Queries of a real PostgreSQL server read each record by itself, or are refused before anything is read."""

import random

import psycopg
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.databases import database as databases
from dpsyn_core.tables.databases.batches import database_batches
from dpsyn_core.tables.databases.database import Database, read_database
from tests.postgresql import Postgresql
from tests.tables.longest import GROWING, check, refused
from tests.tables.query_cases import (
    HARMLESS,
    HARMLESS_OF,
    HOSTILE,
    HOSTILE_OF,
    MADE,
    READ_VIEWS,
    REFUSED_VIEWS,
    ROWS,
    VIEWS,
)
from tests.tables.random_queries import HARD, Maker, check_additive
from tests.tables.reading import of_database

pytestmark = pytest.mark.postgresql
ODD = """
CREATE MATERIALIZED VIEW kept AS SELECT * FROM people;
CREATE EXTENSION IF NOT EXISTS file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE passwords (line text) SERVER files OPTIONS (filename '/etc/passwd');
CREATE TABLE guarded (id integer, town text);
INSERT INTO guarded VALUES (1, 'Cádiz'), (2, 'Málaga');
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY mean ON guarded USING (id >= (SELECT avg(age) FROM people));
CREATE ROLE bob LOGIN PASSWORD 'bob';
GRANT SELECT ON ALL TABLES IN SCHEMA public TO bob;
CREATE TABLE parts (id integer, town text) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
INSERT INTO parts VALUES (1, 'Cádiz');
CREATE TABLE mixed (line text);
CREATE FOREIGN TABLE mixed_far () INHERITS (mixed) SERVER files OPTIONS (filename '/etc/passwd');
CREATE SEQUENCE counter;
CREATE TABLE documents (id integer, body jsonb, born date, span interval, tag uuid);
INSERT INTO documents VALUES (1, '{}', 'infinity', '1 day', '00000000-0000-0000-0000-000000000001');
CREATE VIEW casted AS SELECT id FROM people WHERE town::char(2) = 'Cá';
CREATE VIEW listed AS SELECT id, town FROM people WHERE town IN ('Cádiz', 'Málaga') AND pay > 1 AND town LIKE '%d%';
CREATE SCHEMA other; CREATE TABLE other.people AS SELECT 7 AS id;
"""
HIJACK = """
CREATE FUNCTION public.length(varchar) RETURNS integer LANGUAGE sql AS 'SELECT avg(age)::integer FROM people';
CREATE FUNCTION public.alike(varchar, varchar) RETURNS boolean LANGUAGE sql
  AS 'SELECT $1::text >= (SELECT min(town) FROM people)';
CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.alike);
CREATE TABLE hijacked (id integer, town varchar(20));
INSERT INTO hijacked VALUES (1, 'Cádiz'), (2, 'Málaga');
CREATE VIEW through_own AS SELECT id FROM hijacked WHERE town OPERATOR(public.=) 'Cádiz'::varchar;
"""


def filled(connection, rows):
    connection.execute("DROP TABLE IF EXISTS people CASCADE")
    connection.execute(MADE.format(text="text", real="double precision"))
    for row in rows:
        connection.execute("INSERT INTO people VALUES (%s, %s, %s, %s)", row)
    for view in VIEWS:
        connection.execute(view)


@pytest.fixture(scope="module")
def server():
    made = Postgresql()
    with made.connect() as connection:
        filled(connection, ROWS)
        connection.execute(ODD)
        connection.execute("CREATE DATABASE alone")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def base(server):
    return Database.of(server.address)


def numbers(table):
    name = "number" if "number" in table.column_names and "id" not in table.column_names else table.column_names[0]
    return sorted(map(int, table.column(name).to_pylist()))


@pytest.mark.parametrize("query", [*HARMLESS, *HARMLESS_OF["postgresql"]])
def test_a_query_that_reads_each_record_by_itself_is_read(query, base):
    assert numbers(read_database(base, query=query)) == {**HARMLESS, **HARMLESS_OF["postgresql"]}[query]


def test_what_a_query_gives_of_a_record_does_not_depend_on_the_others(server, base):
    queries = [*HARMLESS, *HARMLESS_OF["postgresql"], *(f"SELECT * FROM {view}" for view in READ_VIEWS)]
    lonely = Database.of(server.address.replace("/shop", "/alone"))
    alone = {query: [] for query in queries}
    for rows in [*([row] for row in ROWS), []]:
        with server.connect("alone") as connection:
            filled(connection, rows)
        for query in queries:
            alone[query] += read_database(lonely, query=query).to_pylist()
    for query in queries:
        together = read_database(base, query=query).to_pylist()
        assert sorted(map(repr, together)) == sorted(map(repr, alone[query])), query


@pytest.mark.parametrize("query", [*HOSTILE, *HOSTILE_OF["postgresql"]])
def test_a_query_that_does_anything_else_is_refused_before_a_record_is_read(query, base, monkeypatch):
    def reading(*_):
        raise AssertionError(query)

    monkeypatch.setattr(databases.postgresql, "text_batches", reading)
    with pytest.raises(TableError) as error:
        read_database(base, query=query)
    said = str(error.value)
    assert "\n" not in said
    assert "each record by itself" in said or "one SELECT" in said or "no such" in said or "without a name" in said, (
        said
    )


@pytest.mark.parametrize("view", [*READ_VIEWS, *REFUSED_VIEWS])
def test_a_view_is_read_where_its_definition_reads_each_record_by_itself(view, base):
    for what in ({"table": view}, {"query": f"SELECT * FROM {view}"}):
        if view in READ_VIEWS:
            assert numbers(read_database(base, **what)) == READ_VIEWS[view]
            batches = database_batches(base, of_database(**what), counted=True)
            assert batches.records == len(READ_VIEWS[view])
            assert sorted(n for part in batches.read() for n in numbers(part)) == READ_VIEWS[view]
            continue
        with pytest.raises(TableError, match="is a view, which has"):
            read_database(base, **what)
        assert read_database(base, **what, vouched=True).num_rows >= 1


def test_definitions_are_read_as_the_server_writes_them(base):
    assert numbers(read_database(base, table="listed")) == [1]
    with pytest.raises(TableError, match="is a view, which has a conversion into char"):
        read_database(base, table="casted")


@pytest.mark.parametrize(
    ("table", "what"),
    [("kept", "stored result"), ("passwords", "another server"), ("mixed", "another server"), ("counter", "a sequence"),
     ("pg_catalog.pg_class", "PostgreSQL itself"), ("pg_class", "PostgreSQL itself"), ("pg_stats", "PostgreSQL itself"),
     ("information_schema.tables", "PostgreSQL itself")],
)  # fmt: skip
def test_what_only_looks_like_a_table_is_refused(table, what, base):
    for asked in ({"table": table}, {"query": f"SELECT * FROM {table}"}):
        with pytest.raises(TableError, match=what):
            read_database(base, **asked)


def test_rules_on_who_sees_which_record_are_queries_too(server, base):
    """The owner of the table sees all of it; for others the rule reads the whole table `people`."""
    bob = Database.of(f"postgresql://bob:bob@127.0.0.1:{server.port}/shop")
    assert read_database(base, table="guarded").num_rows == 2
    with pytest.raises(TableError, match="rules on who sees which record"):
        read_database(bob, table="guarded")
    assert read_database(bob, table="guarded", vouched=True).num_rows == 0
    assert read_database(bob, table="people").num_rows == len(ROWS)


def test_parts_of_a_table_are_the_table(base):
    assert read_database(base, table="parts").to_pydict() == {"id": ["1"], "town": ["Cádiz"]}


def test_conditions_take_the_usual_types_alone(base):
    names = "SELECT id, born, span, tag FROM documents"
    assert read_database(base, query=f"{names} WHERE born > '2020-01-01' AND tag IS NOT NULL").num_rows == 1
    with pytest.raises(TableError, match="one of the usual ones"):
        read_database(base, query=f"{names} WHERE body IS NOT NULL")


def test_names_are_folded_and_schemas_are_found_as_the_server_does(server, base):
    assert read_database(base, table="other.people").to_pydict() == {"id": ["7"]}
    assert read_database(base, query="SELECT ID FROM Other.People").to_pydict() == {"id": ["7"]}
    for query in ('SELECT "ID" FROM people', 'SELECT id FROM "People"'):
        with pytest.raises(TableError, match="no such"):
            read_database(base, query=query)
    elsewhere = Database.of(server.address + "?options=-c%20search_path%3Dother")
    assert read_database(elsewhere, table="people").to_pydict() == {"id": ["7"]}


def test_functions_and_operators_of_others_are_not_found(server, base):
    """A function length(varchar) of the schema public fits a varchar better than the server's own length(text)."""
    with server.connect() as connection:
        connection.execute(HIJACK)
    assert read_database(base, query="SELECT id FROM hijacked WHERE length(town) = 5").to_pydict() == {"id": ["1"]}
    with pytest.raises(TableError, match="is a view, which has"):
        read_database(base, table="through_own")
    first = Database.of(server.address + "?options=-c%20search_path%3Dpublic%2Cpg_catalog")
    assert read_database(first, query="SELECT id FROM hijacked WHERE town = 'Málaga'").to_pydict() == {"id": ["2"]}


def test_conversions_that_somebody_added_are_refused(server):
    with server.connect() as connection:
        connection.execute("CREATE DATABASE casts")
    with server.connect("casts") as connection:
        connection.execute("CREATE TABLE people (id integer, town text)")
        connection.execute("CREATE FUNCTION f(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'")
        connection.execute("CREATE CAST (text AS integer) WITH FUNCTION f(text) AS IMPLICIT")
    with pytest.raises(TableError, match="conversions of its own"):
        read_database(Database.of(server.address.replace("/shop", "/casts")), table="people")


def test_a_backslash_in_a_text_is_a_backslash(server):
    """Where the server takes it for an escape, what stands behind it would not be the text that was checked."""
    loose = Database.of(server.address + "?options=-c%20standard_conforming_strings%3Doff")
    query = r"SELECT id FROM people WHERE town = '\' OR id = 1"
    assert read_database(loose, query=query).to_pydict() == {"id": ["1"]}


def test_whatever_the_grammar_takes_in_reads_each_record_by_itself(server):
    names = ["whole", "none", *(f"one{row[0]}" for row in HARD)]
    with server.connect() as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}")
    opened = {}
    for name, rows in zip(names, [HARD, [], *([row] for row in HARD)], strict=True):
        with server.connect(name) as connection:
            filled(connection, rows)
        opened[name] = server.connect(name)
        opened[name].autocommit = False
    whole, none, *alone = opened.values()
    found = check_additive(
        "postgresql", Maker("postgresql", random.Random(7)), 700, whole=whole, alone=alone, none=none,
        faults=psycopg.Error,
    )  # fmt: skip
    assert found > 50
    for connection in opened.values():
        connection.close()


def test_no_expression_makes_more_of_a_record_than_its_longest_cell_or_fails_on_it(server):
    """A cell of 300 MB: what works on letters needs more than the 1 GB that the server gives it."""
    form = "(id integer, long text, other text, age bigint)"
    source = '"public"."people"'
    assert refused("postgresql") == GROWING
    with server.connect() as connection:
        for name in ("long", "short", "empty"):
            connection.execute(f"CREATE DATABASE {name}")
    with server.connect("long") as long, server.connect("short") as short, server.connect("empty") as empty:
        for connection in (long, short, empty):
            connection.execute(f"CREATE TABLE people {form}")
        for connection, many in ((long, 300_000_000), (short, 5000)):
            connection.execute(f"INSERT INTO people SELECT 1, repeat('x', {many}), 'xyx', 9223372036854775807")
        with pytest.raises(psycopg.Error):
            long.execute("SELECT id FROM people WHERE lower(long) = 'x'")
        given = {"source": source, "empty": empty, "faults": psycopg.Error, "expected": 5000}
        assert check("postgresql", table=short, given="SELECT {} AS a FROM people", **given) > 80
        assert check("postgresql", table=long, given="SELECT id FROM people WHERE {} IS NULL", **given) > 80


ODD_TYPES = """
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE odd (id integer, many numeric, real double precision, born date, seen timestamp, heard timestamptz,
  body bytea, kind regclass, object oid, number bigint, free text, c text COLLATE "C", x text COLLATE "POSIX",
  loose text COLLATE loose);
CREATE VIEW seen AS SELECT id, many, real, kind FROM odd;
"""
EXTREME = "(1, 1e400, 1, '5874897-01-01', now(), now(), 'a', NULL, 1, -1, 'nobody', 'a', 'b', 'c')"


@pytest.mark.parametrize(
    "condition",
    ["many = real", "coalesce(many, real) > 1", "many > 1::double precision",
     "CASE WHEN id = 1 THEN many ELSE real END > 1",
     "coalesce(born, seen) > seen", "greatest(born, heard) IS NULL", "coalesce(born, TIMESTAMP '2020-01-01') IS NULL",
     "kind = free", "object = number", "body IS NULL", "c < x", "c = x", "loose LIKE 'a'"],
)  # fmt: skip
def test_types_that_fail_beside_each_other_on_one_record_are_not_computed_with(condition, server, base):
    with server.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS odd CASCADE; DROP COLLATION IF EXISTS loose")
        connection.execute(ODD_TYPES)
        connection.execute(f"INSERT INTO odd VALUES {EXTREME}")
    for table in ("odd", *(["seen"] if "many = real" in condition else [])):
        with pytest.raises(TableError, match="each record by itself"):
            read_database(base, query=f"SELECT id FROM {table} WHERE {condition}")
    usual = "many > 1.5 AND born > '2020-01-01' AND free = c AND real < 2"
    for part in usual.split(" AND "):
        assert read_database(base, query=f"SELECT id FROM odd WHERE {part} OR id = 1").num_rows == 1
