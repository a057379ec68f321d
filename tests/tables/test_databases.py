import datetime
import decimal
import sqlite3
import sys

import duckdb
import pyarrow as pa
import pytest

from dpsyn_core.errors import ExtraError, TableError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.databases.duckdb import DuckDB
from dpsyn_core.tables.databases.sqlite import SQLite
from tests.schema.helpers import cat, num, schema
from tests.tables.reading import read_database


@pytest.fixture
def lite(tmp_path):
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE people (id INTEGER, name TEXT, age REAL, odd);
            INSERT INTO people VALUES (1, 'ann', 30.5, 'x'), (2, NULL, NULL, 7), (9007199254740993, 'eve', 1, NULL);
            CREATE TABLE "odd ""name" (a INTEGER);
            INSERT INTO "odd ""name" VALUES (1);
            CREATE TABLE empty (a INTEGER);
            CREATE TABLE blobs (a BLOB);
            INSERT INTO blobs VALUES (x'00ff');
            CREATE TABLE odd_texts (b TEXT);
            INSERT INTO odd_texts VALUES ('x'), (CAST(x'ff41' AS TEXT));
            CREATE VIEW adults AS SELECT * FROM people WHERE age > 18;
            """
        )
    connection.close()
    return path


@pytest.fixture
def duck(tmp_path):
    path = tmp_path / "people.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute(
        "CREATE TABLE people AS SELECT 1::TINYINT AS id, 'ann' AS name, DATE '2020-01-31' AS born, 1.50::DECIMAL(9,2) "
        "AS pay, 'x'::ENUM('x', 'y') AS kind, TRUE AS member"
    )
    connection.execute("CREATE SCHEMA other; CREATE TABLE other.people AS SELECT 2 AS id")
    connection.execute("CREATE TABLE nested AS SELECT [1, 2] AS list")
    connection.close()
    return path


def refusal(database, **what):
    with pytest.raises(TableError) as error:
        read_database(database, **what)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_sqlite_tables_views_and_queries_are_read(lite):
    base = Database.of(lite)
    assert base.system == "sqlite"
    assert base.tables() == ["adults", "blobs", "empty", 'odd "name', "odd_texts", "people"]
    table = read_database(base, table="people")
    assert table.to_pydict() == {
        "id": [1, 2, 9007199254740993],
        "name": ["ann", None, "eve"],
        "age": [30.5, None, 1.0],
        "odd": ["x", "7", None],
    }
    assert table.schema.types == [pa.int64(), pa.string(), pa.float64(), pa.string()]
    assert read_database(base, table="adults", vouched=True).num_rows == 1
    assert read_database(base, table='odd "name').to_pydict() == {"a": [1]}
    assert read_database(base, query="SELECT name AS n FROM people WHERE id = 1;").to_pydict() == {"n": ["ann"]}


def test_duckdb_tables_and_queries_are_read(duck):
    base = Database.of(duck)
    assert base.system == "duckdb" and base.tables() == ["nested", "people", "other.people"]
    assert read_database(base, table="people").to_pydict() == {
        "id": [1], "name": ["ann"], "born": [datetime.date(2020, 1, 31)], "pay": [decimal.Decimal("1.50")],
        "kind": ["x"], "member": [True],
    }  # fmt: skip
    assert read_database(base, table="other.people").to_pydict() == {"id": [2]}
    assert read_database(base, query="FROM people SELECT id").to_pydict() == {"id": [1]}


def test_tables_of_databases_are_encoded_like_any_other(lite):
    s = schema(cat("name", ["ann", "eve"], missing=True), num("age", 0, 99, 10, "float", missing=True))
    assert Codec(s).encode(read_database(Database.of(lite), table="people")).codes.tolist() == [[0, 2, 1], [3, 10, 0]]


def test_addresses_are_told_apart(lite, duck, tmp_path, monkeypatch):
    assert Database.of(f"sqlite:///{lite}") == Database.of(lite)
    monkeypatch.chdir(tmp_path)
    assert Database.of("duckdb:///people.duckdb").place == "people.duckdb"
    for address, word in (
        ("mysql://x/y", "mysql"),
        ("sqlite:///none.db", "does not exist"),
        (tmp_path / "none", "does not exist"),
    ):
        with pytest.raises(TableError, match=word):
            Database.of(address)
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match="no DuckDB or SQLite"):
        Database.of(tmp_path / "t.csv")


@pytest.mark.parametrize("kind", ["lite", "duck"])
def test_requests_that_cannot_be_served_are_one_sentence(kind, request):
    base = Database.of(request.getfixturevalue(kind))
    assert "refused" in refusal(base, table="nobody")
    assert "refused" in refusal(base, query="SELECT nothing FROM people")
    assert "SELECT" in refusal(base, query="DROP TABLE people")
    assert "SELECT" in refusal(base, query="SELECT 1; DROP TABLE people")
    assert "either" in refusal(base)
    assert "either" in refusal(base, table="people", query="SELECT 1")
    assert read_database(base, query="SELECT * FROM people WHERE id < 0").num_rows == 0
    assert "same header" in refusal(base, query="SELECT id AS a, name AS a FROM people") or kind == "duck"


def test_large_tables_are_refused_while_they_are_fetched(lite, duck):
    assert "more than 2" in refusal(Database.of(lite), table="people", most=2)
    assert "more than 1" in refusal(Database.of(duck), query="SELECT * FROM range(5)", vouched=True, most=1)
    assert read_database(Database.of(lite), table="people", most=3).num_rows == 3


def test_cells_of_several_types_in_one_column_are_canonical_text(lite):
    mixed = read_database(
        Database.of(lite), query="SELECT 1.0 AS a UNION ALL SELECT 'x' UNION ALL SELECT NULL", vouched=True
    )
    assert mixed.to_pydict() == {"a": ["1", "x", None]}


def test_cells_without_a_text_are_misfits_and_columns_of_a_nested_type_are_named(lite, duck):
    assert read_database(Database.of(lite), table="blobs").to_pydict() == {"a": ["\ufffd"]}
    assert "'list'" in refusal(Database.of(duck), table="nested")
    assert read_database(Database.of(lite), table="empty").to_pydict() == {"a": []}


def test_text_of_sqlite_that_is_not_utf_8_is_a_misfit_of_its_own(lite):
    odd = read_database(Database.of(lite), query="SELECT b AS a FROM odd_texts")
    assert odd.to_pydict() == {"a": ["x", "\ufffdA"]}


def test_nothing_can_be_written_and_no_other_file_read(lite, duck, tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    secret = tmp_path / "secret.csv"
    assert "function" in refusal(Database.of(duck), query=f"SELECT * FROM read_csv('{secret}')")
    assert "refused" in refusal(Database.of(duck), query=f"SELECT * FROM '{secret}'", vouched=True)
    writing = "WITH x AS (SELECT 1) INSERT INTO people SELECT 1,2,3,4"
    assert "not checked" in refusal(Database.of(lite), query=writing, vouched=False)
    assert "refused" in refusal(Database.of(lite), query=writing, vouched=True)
    assert read_database(Database.of(lite), table="people").num_rows == 3


def test_connections_are_read_only_by_themselves(lite, duck):
    for kind, path, statement in (
        (DuckDB, duck, "CREATE TABLE more (a INTEGER)"),
        (SQLite, lite, "INSERT INTO people VALUES (1, 2, 3, 4)"),
    ):
        connection = kind.open(str(path))
        if kind is SQLite:
            connection.opened.execute("PRAGMA query_only = OFF")
        with pytest.raises(connection.faults):
            connection.opened.execute(statement)
        connection.close()
    connection = DuckDB.open(str(duck))
    with pytest.raises(connection.faults):
        connection.opened.execute("SET memory_limit = '1GB'")
    connection.close()


def test_damaged_databases_are_refused(tmp_path):
    path = tmp_path / "broken.sqlite"
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert "broken.sqlite" in refusal(Database.of(path), table="t")
    path = tmp_path / "broken.duckdb"
    path.write_bytes(b"x" * 8 + b"DUCK" + b"x" * 5000)
    assert "broken.duckdb" in refusal(Database.of(path), table="t")


def test_a_missing_driver_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ExtraError, match="psycopg needs the extra 'databases'"):
        refusal(Database.of("postgresql://db/shop"), table="t")
