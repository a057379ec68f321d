"""Queries of databases read each record by itself, or are refused before anything is read."""

import random
import sqlite3

import duckdb
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.databases import database as databases
from dpsyn_core.tables.databases import relations
from dpsyn_core.tables.databases.batches import database_batches
from dpsyn_core.tables.databases.database import Database, read_database
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

BASES = ("sqlite", "duckdb")


def made(path, system, rows, more=()):
    connect = sqlite3.connect if system == "sqlite" else duckdb.connect
    connection = connect(str(path))
    connection.execute(MADE.format(text="TEXT", real="DOUBLE"))
    if rows:
        marks, cells = ", ".join(["(?, ?, ?, ?)"] * len(rows)), [cell for row in rows for cell in row]
        connection.execute(f"INSERT INTO people VALUES {marks}", cells)
    for statement in more:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return Database(system=system, place=str(path))


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bases")
    return {system: made(folder / system, system, ROWS, VIEWS) for system in BASES}


def numbers(table):
    """The numbers of the records, which the first column has, or that with the name of one."""
    name = "number" if "number" in table.column_names and "id" not in table.column_names else table.column_names[0]
    return sorted(table.column(name).to_pylist())


def cases(shared, own):
    return [pytest.param(s, q, id=f"{s}: {q[:70]!r}") for s in BASES for q in (*shared, *own[s])]


@pytest.mark.parametrize(("system", "query"), cases(HARMLESS, HARMLESS_OF))
def test_a_query_that_reads_each_record_by_itself_is_read(system, query, bases):
    expected = {**HARMLESS, **HARMLESS_OF[system]}[query]
    assert numbers(read_database(bases[system], query=query)) == expected


def answers(base, queries):
    """What the database answers to what it is sent for each query."""
    found = {}
    with databases.connected(base) as connection:
        if base.system == "duckdb":
            connection.execute("PRAGMA disable_optimizer")  # as `databases.statement_of` does, once
        for query in queries:
            asked = databases.asked_of(base, None, query, vouched=False)
            found[query] = connection.execute(relations.written(base.system, connection, asked).sql).fetchall()
    return found


@pytest.mark.parametrize("system", BASES)
def test_what_a_query_gives_of_a_record_does_not_depend_on_the_others(system, bases, tmp_path):
    """The claim itself: the answer on a table is that on each of its records alone, put together."""
    queries = [*HARMLESS, *HARMLESS_OF[system], *(f"SELECT * FROM {view}" for view in READ_VIEWS)]
    together = answers(bases[system], queries)
    alone = [answers(made(tmp_path / f"{row[0]}", system, [row], VIEWS), queries) for row in ROWS]
    for query in queries:
        apart = [record for found in alone for record in found[query]]
        assert sorted(map(repr, together[query])) == sorted(map(repr, apart)), query
    assert not any(answers(made(tmp_path / "none", system, [], VIEWS), queries).values())


@pytest.mark.parametrize(("system", "query"), cases(HOSTILE, HOSTILE_OF))
def test_a_query_that_does_anything_else_is_refused_before_a_record_is_read(system, query, bases, monkeypatch):
    def reading(*_):
        raise AssertionError(query)

    monkeypatch.setattr(databases, "_from_sqlite", reading)
    monkeypatch.setattr(databases, "plain", reading)
    with pytest.raises(TableError) as error:
        read_database(bases[system], query=query)
    said = str(error.value)
    assert "\n" not in said
    assert "each record by itself" in said or "one SELECT" in said or "no such" in said or "without a name" in said
    with pytest.raises(TableError):
        database_batches(bases[system], of_database(query=query), counted=True)


@pytest.mark.parametrize("system", BASES)
def test_the_neighbours_of_the_average_cannot_be_told_apart(system, tmp_path):
    """239 records with one rich person in the table and 3 without: the case that showed the fault."""
    query = "SELECT * FROM people WHERE age >= (SELECT avg(age) FROM people)"
    rows = [(i, "x", 30, 1.0) for i in range(239)]
    for name, some in (("a", rows), ("b", [*rows, (239, "x", 10_000, 1.0)])):
        with pytest.raises(TableError, match="a SELECT inside another; a query must read each record by itself"):
            read_database(made(tmp_path / name, system, some), query=query)
    with_word = [
        read_database(made(tmp_path / f"{n}-word", system, some), query=query, vouched=True).num_rows
        for n, some in (("a", rows), ("b", [*rows, (239, "x", 10_000, 1.0)]))
    ]
    assert with_word == [239, 1]


@pytest.mark.parametrize("system", BASES)
@pytest.mark.parametrize("view", [*READ_VIEWS, *REFUSED_VIEWS])
def test_a_view_is_read_where_its_definition_reads_each_record_by_itself(system, view, bases):
    for what in ({"table": view}, {"query": f"SELECT * FROM {view}"}):
        if view in READ_VIEWS:
            assert numbers(read_database(bases[system], **what)) == READ_VIEWS[view]
            batches = database_batches(bases[system], of_database(**what), counted=True)
            assert batches.records == len(READ_VIEWS[view])
            assert sorted(n for part in batches.read() for n in numbers(part)) == READ_VIEWS[view]
            continue
        with pytest.raises(TableError, match=r"is a view, which has .*each record by itself"):
            read_database(bases[system], **what)
        with pytest.raises(TableError, match="is a view"):
            database_batches(bases[system], of_database(**what))
        assert read_database(bases[system], **what, vouched=True).num_rows >= 1


@pytest.mark.parametrize("system", BASES)
def test_views_that_call_each_other_or_are_piled_up_end(system, tmp_path):
    piled = [f"CREATE VIEW v{i} AS SELECT * FROM {f'v{i - 1}' if i else 'people'}" for i in range(12)]
    base = made(tmp_path / "piled", system, ROWS, piled)
    assert read_database(base, table="v7").num_rows == len(ROWS)
    with pytest.raises(TableError, match="views below it"):
        read_database(base, table="v11")


def test_tables_of_modules_of_sqlite_are_no_tables(tmp_path):
    base = made(
        tmp_path / "x", "sqlite", ROWS,
        ["CREATE VIRTUAL TABLE found USING fts5(town)", "INSERT INTO found SELECT town FROM people",
         "CREATE TABLE made (a INTEGER, b INTEGER GENERATED ALWAYS AS (abs(a)))",
         "CREATE TABLE kept (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1) STORED)", "INSERT INTO kept VALUES (1)",
         "CREATE TABLE counted (a INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO counted VALUES (1)"],
    )  # fmt: skip
    for table, what in (
        ("found", "a module of SQLite"), ("found_data", "a module of SQLite"), ("found_content", "a module of SQLite"),
        ("made", "computed columns"), ("sqlite_sequence", "SQLite itself"),
    ):  # fmt: skip
        with pytest.raises(TableError, match=what):
            read_database(base, table=table)
        with pytest.raises(TableError, match=what):
            read_database(base, query=f"SELECT * FROM {table}")
    assert read_database(base, table="kept").to_pydict() == {"a": [1], "b": [2]}
    assert read_database(base, table="found", vouched=True).num_rows == len(ROWS)


@pytest.mark.parametrize(
    "macro", ["length(x) AS (SELECT avg(age) FROM people)", '"="(a, b) AS true', '"~~"(a, b) AS (SELECT 1 = 1)']
)
def test_macros_of_a_duckdb_file_do_not_take_the_place_of_functions(macro, tmp_path):
    base = made(tmp_path / "x", "duckdb", ROWS, [f"CREATE MACRO {macro}"])
    for what in (
        {"table": "people"},
        {"query": "SELECT length(town) AS t FROM people WHERE id = 1 AND town LIKE 'C%'"},
    ):
        with pytest.raises(TableError, match="macros in the place of functions"):
            read_database(base, **what)
    other = made(tmp_path / "y", "duckdb", ROWS, ["CREATE MACRO mine(x) AS (SELECT avg(age) FROM people)"])
    assert read_database(other, table="people").num_rows == len(ROWS)
    with pytest.raises(TableError, match=r"the function mine\(\)"):
        read_database(other, query="SELECT mine(town) AS t FROM people")


def test_computed_columns_of_duckdb_need_the_owners_word(tmp_path):
    base = made(tmp_path / "x", "duckdb", ROWS, ["CREATE TABLE made (a INTEGER, b DOUBLE AS (random()))"])
    with pytest.raises(TableError, match="computed columns"):
        read_database(base, table="made")


def test_a_record_that_a_calculation_fails_on_is_missing_there_and_stops_nobody(tmp_path):
    """A run that one record can stop tells that the record is there; so DuckDB is asked to TRY."""
    query = "SELECT id, age * age AS square, town::integer AS number FROM people WHERE age - 2147483600 < 50"
    base = made(tmp_path / "x", "duckdb", [*ROWS, (5, "7", -2147483647, 1.0)])
    assert read_database(base, query=query).to_pydict() == {
        "id": [1, 2, 3, 4], "square": [900, 1600, None, 25], "number": [None, None, None, None],
    }  # fmt: skip


@pytest.mark.parametrize("system", BASES)
def test_the_database_is_sent_what_was_taken_in_and_nothing_of_the_text(system, bases):
    """Names between quotation marks and known as columns: no word can mean more there than it did here."""
    asked = databases.asked_of(
        bases[system], None, "select ID,length( town )as X from people P where P.age>1", vouched=False
    )
    with databases.connected(bases[system]) as connection:
        sql = relations.written(system, connection, asked).sql
    source = '"main"."people"' if system == "sqlite" else '"duckdb"."main"."people"'
    value, condition = 'length ( "town" )', '"age" > 1'
    if system == "duckdb":
        value, condition = f"TRY({value})", f"TRY({condition})"
    assert sql == f'SELECT "id", {value} AS "X" FROM {source} WHERE {condition}'


@pytest.mark.parametrize(
    "query",
    ["SELECT pg_read_file('/etc/passwd')", "SELECT 1 FROM dblink('x') AS t(a int)", 'SELECT "lo_import"(\'x\')',
     "SELECT pg_catalog.lower('x')", "SELECT nextval('c')", "SELECT set_config('a', 'b', false)",
     "SELECT load_extension('x')", "SELECT * FROM read_csv('x')", "SELECT E'\\'' , pg_sleep(1) --'",
     "SELECT 1 /* */", "SELECT getenv('HOME')", "ATTACH 'x' AS y", "SELECT 1; SELECT 2", "PRAGMA x", ""],
)  # fmt: skip
@pytest.mark.parametrize("system", BASES)
def test_a_word_for_a_query_lends_nothing_beyond_the_tables_of_the_database(system, query, bases):
    with pytest.raises(TableError, match=r"stay inside|each record by itself|one SELECT"):
        read_database(bases[system], query=query, vouched=True)


@pytest.mark.parametrize(("system", "many", "least"), [("sqlite", 1500, 800), ("duckdb", 600, 200)])
def test_whatever_the_grammar_takes_in_reads_each_record_by_itself(system, many, least):
    def held(rows):
        connection = sqlite3.connect(":memory:") if system == "sqlite" else duckdb.connect(":memory:")
        connection.execute(MADE.format(text="TEXT", real="DOUBLE"))
        for row in rows:
            connection.execute("INSERT INTO people VALUES (?, ?, ?, ?)", row)
        if system == "duckdb":
            connection.execute("PRAGMA disable_optimizer")  # as `databases.statement_of` does
        return connection

    found = check_additive(
        system, Maker(system, random.Random(7)), many, whole=held(HARD), alone=[held([r]) for r in HARD], none=held([]),
        faults=(sqlite3.Error, duckdb.Error),
    )  # fmt: skip
    assert found > least


def test_whether_duckdb_fails_on_a_record_does_not_depend_on_the_others(tmp_path):
    """With its optimizer, the least and largest values of the table decide what a conversion inside TRY gives."""
    queries = [
        "SELECT id FROM people WHERE (age >= '%a_') OR (id <> '7')",
        "SELECT id, (-age BETWEEN '2020-01-01' AND age) AS a FROM people",
        "SELECT id, (age + age) AS a FROM people WHERE (age + age) IS NOT NULL",
        "SELECT CASE WHEN NOT (id BETWEEN '' AND pay) OR (town IN (town)) THEN pay ELSE pay END AS a FROM people",
    ]
    whole = made(tmp_path / "whole", "duckdb", HARD)
    alone = [made(tmp_path / f"{row[0]}", "duckdb", [row]) for row in HARD]
    for query in queries:
        together = read_database(whole, query=query).to_pylist()
        apart = [record for base in alone for record in read_database(base, query=query).to_pylist()]
        assert sorted(map(repr, together)) == sorted(map(repr, apart)), query


def longest(system):
    """A table with a record that is as long as the database takes; and one without records."""
    if system == "duckdb":
        table, empty = duckdb.connect(":memory:"), duckdb.connect(":memory:")
        size = 100_000
    else:
        table, empty = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
        size = 10_000
    for base in (table, empty):
        base.execute("CREATE TABLE people (id INTEGER, long TEXT, other TEXT, age BIGINT)")
        if system == "duckdb":
            base.execute("PRAGMA disable_optimizer")  # as `databases.statement_of` does
        else:
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, size)
    while True:
        try:
            table.execute("INSERT INTO people VALUES (1, ?, 'xyx', 9223372036854775807)", ("x" * size,))
        except sqlite3.DataError:
            size -= 1
        else:
            return table, empty, size


@pytest.mark.parametrize("system", BASES)
def test_no_expression_makes_more_of_a_record_than_its_longest_cell_or_fails_on_it(system):
    table, empty, size = longest(system)
    source, faults = '"people"', (sqlite3.Error, duckdb.Error)
    assert refused(system) == GROWING
    for given, least in (("SELECT {} AS a FROM people", 250), ("SELECT id FROM people WHERE {} IS NOT NULL", 250)):
        assert check(system, source, table, empty, faults, given=given, expected=size) > least


@pytest.mark.parametrize("system", BASES)
def test_one_record_does_not_decide_whether_a_query_runs(system, tmp_path):
    """What showed the fault: replace() made one record too long for the database, and the run of its table failed."""
    query = "SELECT replace(town, 'Anna', '{}') AS t FROM people".format("x" * 1000)
    for name, rows in (("with", [*ROWS, (5, "Anna" * 1_000_000, 1, 1.0)]), ("without", ROWS)):
        with pytest.raises(TableError, match=r"the function replace\(\); a query must read each record by itself"):
            read_database(made(tmp_path / name, system, rows), query=query)


def test_types_of_duckdb_whose_text_is_longer_than_they_are_are_not_computed_with(tmp_path):
    base = made(tmp_path / "x", "duckdb", ROWS, [
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        "CREATE TABLE odd (id INTEGER, raw BLOB, several INTEGER[], flags BIT, mood mood, pay DECIMAL(9, 2))",
        "INSERT INTO odd VALUES (1, '\\x00'::BLOB, [1, 2], '101'::BIT, 'good', 1.5)",
        "CREATE VIEW seen AS SELECT id, raw, mood FROM odd",
    ])  # fmt: skip
    for made_of in ("raw::text", "CAST(several AS text)", "flags::varchar", "coalesce(raw, raw)", "length(several)"):
        with pytest.raises(TableError, match="whose type is not one of the usual ones"):
            read_database(base, query=f"SELECT {made_of} AS a FROM odd")
    with pytest.raises(TableError, match="whose type is not one of the usual ones"):
        read_database(base, query="SELECT raw::text AS a FROM seen")
    found = read_database(base, query="SELECT mood::text AS mood, pay::text AS pay FROM odd WHERE mood = 'good'")
    assert found.to_pydict() == {"mood": ["good"], "pay": ["1.50"]}
