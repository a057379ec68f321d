"""Views and queries of databases need the owner's word; a condition keeps or drops each record by its own cells."""

import sqlite3

import duckdb
import pytest

from dpsyn_core.errors import QuestionError, TableError
from dpsyn_core.tables.databases.batches import database_batches
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.read_form import ReadForm
from tests.tables.reading import of_database, read_database

BASES = ("sqlite", "duckdb")
MADE = "CREATE TABLE people (id integer, town {text}, age integer, pay {real}, born {text}, seen {time})"
ROWS = [
    (1, "Cádiz", 30, 1.5, "2020-01-31", "2020-01-31 10:00:00"),
    (2, "Málaga", 40, None, "2021", "2021-12-31 23:59:59"),
    (3, None, 2147483647, 0.0, None, None),
    (4, "x'; --", -5, 99.25, "never", "1999-01-01 00:00:00"),
    (5, "7", 7, -0.5, "2020-02", "2020-02-01 00:00:00"),
]
VIEWS = (
    "CREATE VIEW adults AS SELECT id, town FROM people WHERE age >= 18",
    "CREATE VIEW rich AS SELECT * FROM people WHERE pay >= (SELECT avg(pay) FROM people)",
)


def made(path, system, rows, more=()):
    connect = sqlite3.connect if system == "sqlite" else duckdb.connect
    connection = connect(str(path))
    connection.execute(MADE.format(text="TEXT", real="DOUBLE", time="TIMESTAMP" if system == "duckdb" else "TEXT"))
    for row in rows:
        connection.execute(f"INSERT INTO people VALUES ({', '.join(['?'] * len(row))})", row)
    for statement in more:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return Database(system=system, place=str(path))


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bases")
    return {system: made(folder / system, system, ROWS, VIEWS) for system in BASES}


CONDITIONS = {
    "age >= 30": [1, 2, 3],
    "age > 30": [2, 3],
    "age between 7 and 40": [1, 2, 5],
    "age = 30.0": [1],
    "pay in {1.5, 99.25}": [1, 4],
    "pay < 0": [5],
    "not pay < 0": [1, 3, 4],
    "not pay between 0 and 2": [2, 4, 5],
    "town = Cádiz": [1],
    "town != Cádiz": [2, 3, 4, 5],
    'town = ""': [3],
    'town != "" and age < 40': [1, 4, 5],
    'town = "x\'; --"': [4],
    "town = 7": [5],
    "town >= 7": [5],
    "born >= 2020-01-01": [1, 5],
    "born between 2020-02 and 2020-02": [5],
    "seen between 2020-01-31 and 2020-01-31": [1],
    "seen > 2020-01-31": [2, 5],
    "seen > 2021-12": [],
    "seen <= 2021": [1, 2, 4, 5],
    "seen < 2020-02-01": [1, 4],
    "id in [1, 3] and age in {30}": [1],
}


@pytest.mark.parametrize("system", BASES)
@pytest.mark.parametrize("where", CONDITIONS)
def test_a_condition_reads_the_records_that_meet_it(system, where, bases):
    expected = CONDITIONS[where]
    assert read_database(bases[system], table="people", where=where).column("id").to_pylist() == expected
    batches = database_batches(bases[system], of_database(table="people", columns="id", where=where), counted=True)
    assert batches.columns == ("id",) and batches.records is None and batches.likely_records >= len(expected)
    assert [i for part in batches.read() for i in part.column("id").to_pylist()] == expected


@pytest.mark.parametrize("system", BASES)
def test_whether_a_record_is_read_does_not_depend_on_the_others(system, bases, tmp_path):
    alone = [made(tmp_path / f"{row[0]}", system, [row]) for row in ROWS]
    for where, expected in CONDITIONS.items():
        apart = [i for base in alone for i in read_database(base, table="people", where=where).column("id").to_pylist()]
        assert [int(i) for i in apart] == expected, where


@pytest.mark.parametrize("system", BASES)
def test_columns_are_chosen_in_their_order_and_a_condition_may_be_about_others(system, bases):
    table = read_database(bases[system], table="people", columns='pay, "town"', where="age = 30")
    assert table.to_pydict() == {"pay": [1.5], "town": ["Cádiz"]}
    assert database_batches(bases[system], of_database(table="people", columns="town,id")).columns == ("town", "id")
    for wrong in ({"columns": "pay,salary"}, {"where": "salary > 1"}, {"columns": "pay", "where": "salary > 1"}):
        with pytest.raises(TableError, match="the table has no column 'salary'"):
            database_batches(bases[system], of_database(table="people", **wrong))
        with pytest.raises(TableError, match="the table has no column 'salary'"):
            database_batches(bases[system], of_database(table="rich", vouched=True, **wrong))
    assert read_database(bases[system], table="adults", vouched=True, where="id = 2").to_pydict() == {
        "id": [2],
        "town": ["Málaga"],
    }


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("age", "cannot be read"),
        ("age >", "no value after"),
        ("town > Cádiz", "two numbers, or two dates"),
        ("age between 40 and 30", "the lower one first"),
        ("age >= (SELECT avg(age) FROM people)", "two numbers, or two dates"),
    ],
)
def test_what_is_no_condition_is_refused_before_the_database_is_opened(where, said, tmp_path):
    missing = Database(system="sqlite", place=str(tmp_path / "none"))
    with pytest.raises(QuestionError, match=said):
        database_batches(missing, of_database(table="people", where=where))


def test_columns_and_conditions_are_for_tables_of_databases():
    for wrong in ({"sql_where": "a = 1"}, {"sql_query": "SELECT 1", "sql_columns": "a"}):
        with pytest.raises(TableError, match="are for a table of a database"):
            ReadForm.of(**wrong)
    for names in ("", " ", "a,,b"):
        with pytest.raises(TableError, match="names with commas between them"):
            ReadForm.of(sql_table="t", sql_columns=names)


@pytest.mark.parametrize("system", BASES)
def test_a_query_needs_its_owners_word_whatever_it_asks(system, bases, tmp_path):
    for query in ("SELECT * FROM people", "SELECT * FROM people WHERE pay >= (SELECT avg(pay) FROM people)"):
        missing = Database(system=system, place=str(tmp_path / "none"))
        with pytest.raises(TableError, match=r"not checked; name a table.*--query-vouched"):
            database_batches(missing, of_database(query=query, vouched=False), counted=True)
        assert read_database(bases[system], query=query, vouched=True).num_rows >= 1


@pytest.mark.parametrize("system", BASES)
@pytest.mark.parametrize("view", ["adults", "rich"])
def test_a_view_needs_its_owners_word(system, view, bases):
    with pytest.raises(TableError, match=rf"'{view}' is a view, and its query is not checked; name a table"):
        database_batches(bases[system], of_database(table=view), counted=True)
    assert read_database(bases[system], table=view, vouched=True).num_rows >= 1


def test_tables_of_modules_of_sqlite_are_no_tables(tmp_path):
    base = made(
        tmp_path / "x",
        "sqlite",
        ROWS,
        [
            "CREATE VIRTUAL TABLE found USING fts5(town)",
            "INSERT INTO found SELECT town FROM people",
            "CREATE TABLE made (a INTEGER, b INTEGER GENERATED ALWAYS AS (abs(a)))",
            "CREATE TABLE kept (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1) STORED)",
            "INSERT INTO kept VALUES (1)",
            "CREATE TABLE counted (a INTEGER PRIMARY KEY AUTOINCREMENT)",
            "INSERT INTO counted VALUES (1)",
        ],
    )
    for table, what in (
        ("found", "a module of SQLite"),
        ("found_data", "a module of SQLite"),
        ("found_content", "a module of SQLite"),
        ("made", "computed columns"),
        ("sqlite_sequence", "SQLite itself"),
    ):
        with pytest.raises(TableError, match=what):
            read_database(base, table=table)
    assert read_database(base, table="kept").to_pydict() == {"a": [1], "b": [2]}
    assert read_database(base, table="found", vouched=True).num_rows == len(ROWS)


def test_computed_columns_of_duckdb_need_the_owners_word(tmp_path):
    base = made(tmp_path / "x", "duckdb", ROWS, ["CREATE TABLE made (a INTEGER, b DOUBLE AS (random()))"])
    with pytest.raises(TableError, match="computed columns"):
        read_database(base, table="made")


def test_macros_of_a_duckdb_file_take_no_part_in_reading_a_table(tmp_path):
    macros = ["length(x) AS (SELECT avg(age) FROM people)", '"="(a, b) AS true', '">="(a, b) AS (SELECT 1 = 1)']
    base = made(tmp_path / "x", "duckdb", ROWS, [f"CREATE MACRO {macro}" for macro in macros])
    assert read_database(base, table="people", where="age >= 40").column("id").to_pylist() == [2, 3]


@pytest.mark.parametrize("system", BASES)
def test_names_that_hold_sql_are_names(system, tmp_path):
    odd = 'a" FROM people; --'
    base = made(tmp_path / "x", system, ROWS, ["CREATE TABLE odd (" + '"a"" FROM people; --" INTEGER)'])
    assert read_database(base, table="odd", columns='"' + odd.replace('"', '""') + '"').column_names == [odd]
    with pytest.raises(TableError, match="no such table"):
        read_database(base, table='people" --')


@pytest.mark.parametrize(
    "query",
    [
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT 1 FROM dblink('x') AS t(a int)",
        "SELECT \"lo_import\"('x')",
        "SELECT pg_catalog.lower('x')",
        "SELECT nextval('c')",
        "SELECT set_config('a', 'b', false)",
        "SELECT load_extension('x')",
        "SELECT * FROM read_csv('x')",
        "SELECT E'\\'' , pg_sleep(1) --'",
        "SELECT 1 /* */",
        "SELECT getenv('HOME')",
        "ATTACH 'x' AS y",
        "SELECT 1; SELECT 2",
        "PRAGMA x",
        "",
    ],
)
@pytest.mark.parametrize("system", BASES)
def test_a_word_for_a_query_lends_nothing_beyond_the_tables_of_the_database(system, query, bases):
    with pytest.raises(TableError, match=r"stay inside|a comment|cannot be read here|one SELECT"):
        read_database(bases[system], query=query, vouched=True)


@pytest.mark.parametrize("system", BASES)
@pytest.mark.parametrize(
    "query",
    [
        "select p.id from people AS p WHERE p.age > 30;",
        "SELECT id, coalesce(town, 'none') AS town FROM people WHERE length(town) > 5",
        "SELECT id, CASE WHEN age >= 18 THEN 'old' ELSE 'young' END AS grown FROM people",
        "SELECT id, CAST(age AS text) AS age FROM people WHERE town LIKE '%a%' OR town IS NULL",
        "SELECT town, count(*) AS n FROM people GROUP BY town HAVING count(*) >= 1",
        "WITH x AS (SELECT * FROM people LIMIT 1) SELECT id FROM x",
        "SELECT id, row_number() OVER (ORDER BY age) AS r FROM people",
        "SELECT id, lower(town) || '!' AS t FROM people UNION ALL SELECT 1, 'x'",
    ],
)
def test_every_query_on_tables_of_the_database_runs_with_its_owners_word(system, query, bases):
    assert read_database(bases[system], query=query).num_rows >= 1
