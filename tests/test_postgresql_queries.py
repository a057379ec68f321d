"""Tables of a real PostgreSQL server are read; views, and what only looks like a table, need the owner's word."""

import psycopg
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.databases.batches import database_batches
from dpsyn_core.tables.databases.database import Database
from tests.postgresql import Postgresql
from tests.tables.reading import of_database, read_database
from tests.tables.test_queries import CONDITIONS, MADE, ROWS, VIEWS

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
CREATE SCHEMA other; CREATE TABLE other.people AS SELECT 7 AS id;
"""
HIJACK = """
CREATE FUNCTION public.alike(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT $1 >= (SELECT min(town) FROM people)';
CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.alike);
CREATE FUNCTION f(text) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE CAST (text AS integer) WITH FUNCTION f(text) AS IMPLICIT;
"""


def filled(connection, rows):
    connection.execute("DROP TABLE IF EXISTS people CASCADE")
    connection.execute(MADE.format(text="text", real="double precision", time="timestamp"))
    for row in rows:
        connection.execute("INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s)", row)
    for view in VIEWS:
        connection.execute(view)


@pytest.fixture(scope="module")
def server():
    made = Postgresql()
    with made.connect() as connection:
        filled(connection, ROWS)
        connection.execute(ODD)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def base(server):
    return Database.of(server.address)


def test_a_condition_reads_the_records_that_meet_it(base):
    for where, expected in CONDITIONS.items():
        table = read_database(base, table="people", columns="id", where=where)
        assert table.to_pydict() == {"id": [str(i) for i in expected]}, where


@pytest.mark.parametrize("what", [{"table": "adults"}, {"table": "rich"}, {"query": "SELECT * FROM people"}])
def test_a_view_and_a_query_need_their_owners_word(what, base):
    with pytest.raises(TableError, match="not checked; name a table"):
        database_batches(base, of_database(**what, vouched=False), counted=True)
    assert read_database(base, **what, vouched=True).num_rows >= 1


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("kept", "stored result"),
        ("passwords", "another server"),
        ("mixed", "another server"),
        ("counter", "a sequence"),
        ("pg_catalog.pg_class", "PostgreSQL itself"),
        ("pg_class", "PostgreSQL itself"),
        ("pg_stats", "PostgreSQL itself"),
        ("information_schema.tables", "PostgreSQL itself"),
    ],
)
def test_what_only_looks_like_a_table_is_refused(table, what, base):
    with pytest.raises(TableError, match=what):
        read_database(base, table=table)


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


def test_names_are_those_of_the_server_and_schemas_are_found_as_it_does(server, base):
    assert read_database(base, table="other.people").to_pydict() == {"id": ["7"]}
    with pytest.raises(TableError, match="no such table"):
        read_database(base, table="People")
    with pytest.raises(TableError, match="no column 'ID'"):
        read_database(base, table="people", columns="ID")
    elsewhere = Database.of(server.address + "?options=-c%20search_path%3Dother")
    assert read_database(elsewhere, table="people").to_pydict() == {"id": ["7"]}


def test_operators_and_conversions_of_others_take_no_part(server, base):
    with server.connect() as connection:
        connection.execute(HIJACK)
    first = Database.of(server.address + "?options=-c%20search_path%3Dpublic%2Cpg_catalog")
    for database in (base, first):
        assert read_database(database, table="people", columns="id", where="town = Cádiz").to_pydict() == {"id": ["1"]}


def test_a_cell_of_300_megabytes_is_one_cell(server):
    with server.connect() as connection:
        connection.execute("CREATE TABLE long (id integer, cell text)")
        connection.execute("INSERT INTO long SELECT 1, repeat('x', 300000000)")
    base = Database.of(server.address)
    assert read_database(base, table="long", columns="id", where="id = 1").to_pydict() == {"id": ["1"]}
    assert len(read_database(base, table="long").column("cell")[0].as_py()) == 300_000_000


def test_every_transaction_only_reads(base):
    with base.connected() as connection, pytest.raises(psycopg.Error):
        connection.opened.execute("CREATE TABLE more (a integer)")
