"""Databases on the Data page: read in a child under limits, one reading query, and nobody is told the password."""

import json
import sqlite3
import sys

import duckdb
import pytest

from dpsyn_core.child import Child
from dpsyn_core.errors import DPSynError, TableError
from ui.data import databases, loading, reading
from ui.data.reading import MEMORY, SECONDS, Readers
from ui.shared.state import Workspace

pytestmark = pytest.mark.slow  # children and whole runs

ENDLESS = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) AS c FROM x"


@pytest.fixture(autouse=True)
def readers(tmp_path, monkeypatch):
    made = Readers(tmp_path / "reads")
    monkeypatch.setattr(databases, "shared", lambda: False)
    monkeypatch.setattr(databases, "readers", lambda: made)
    return made


def fetched(*arguments, **more):
    return databases.fetch(*arguments, **more)[0].whole()


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE people (age INTEGER, town TEXT)")
        link.executemany("INSERT INTO people VALUES (?, ?)", [(30, "A"), (None, "B")])
    link.close()
    return str(path)


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("query", ["DROP TABLE people", "SELECT 1; DROP TABLE people", "people; --", "", "PRAGMA x"])
def test_a_database_is_sent_one_reading_query_only(base, query):
    with pytest.raises(TableError, match=r"SELECT|a comment"):
        databases.fetch("SQLite", base, query, vouched=True)
    with pytest.raises(TableError, match="your word"):
        databases.fetch("SQLite", base, query)


@pytest.mark.usefixtures("workers")
def test_a_table_of_sqlite_is_read_and_cannot_be_written(base):
    assert fetched("SQLite", base, "people").to_pydict() == {"age": [30, None], "town": ["A", "B"]}
    assert fetched("SQLite", base, "people", columns="town", where="age > 1").to_pydict() == {"town": ["A"]}
    assert fetched("SQLite", base, "SELECT town FROM people WHERE age > 1", vouched=True).to_pydict() == {"town": ["A"]}
    for query in ("nobody", "WITH x AS (SELECT 1) DELETE FROM people"):
        with pytest.raises(TableError, match="refused the request"):
            databases.fetch("SQLite", base, query, vouched=True)
    with pytest.raises(TableError, match="does not exist"):
        databases.fetch("SQLite", base + "x", "people")
    with pytest.raises(TableError, match="no DuckDB database"):
        databases.fetch("DuckDB", base, "people")
    with pytest.raises(TableError, match="no SQLite database was given"):
        databases.fetch("SQLite", " ", "people")


@pytest.mark.usefixtures("workers")
def test_a_table_of_duckdb_is_read_and_reaches_no_other_file(tmp_path, monkeypatch):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as link:
        link.execute('CREATE TABLE "Größe" AS SELECT 1.5::DECIMAL(4, 2) AS a, NULL::DATE AS b')
    assert fetched("DuckDB", str(path), "Größe").num_rows == 1
    (tmp_path / "secret.csv").write_text("a\n1\n")
    secret = tmp_path / "secret.csv"
    for query in (f"SELECT * FROM read_csv('{secret}')", f"SELECT * FROM '{secret}'"):
        with pytest.raises(TableError, match=r"read_csv|refused the request"):
            databases.fetch("DuckDB", str(path), query, vouched=True)
    monkeypatch.setattr(databases, "MOST_ROWS", 10)
    with pytest.raises(TableError, match="more than 10 such records"):
        databases.fetch("DuckDB", str(path), "SELECT * FROM range(11)", vouched=True)


@pytest.mark.parametrize("kind", ["SQLite", "DuckDB"])
def test_a_query_without_an_end_is_ended_in_the_child(kind, base, tmp_path, monkeypatch, readers):
    """SQLite does not look for a signal's handler while it works, so such a query could never be left."""
    monkeypatch.setenv(SECONDS, "1")
    monkeypatch.setattr(reading, "GRACE", 2.0)
    if kind == "DuckDB":
        base = str(tmp_path / "x.duckdb")
        duckdb.connect(base).close()
    with pytest.raises(TableError, match=r"^reading the database took longer than 1 s; ask for less by a query$"):
        databases.fetch(kind, base, ENDLESS, vouched=True)
    assert list(readers.folder.iterdir()) == []


def test_a_query_that_would_fill_the_memory_is_refused_by_the_child(base, monkeypatch):
    monkeypatch.setenv(MEMORY, "64")
    doubled = (
        "WITH RECURSIVE x(n, s) AS (SELECT 0, 'a' UNION ALL SELECT n + 1, s || s FROM x WHERE n < 29) SELECT s FROM x"
    )
    with pytest.raises(DPSynError, match="memory"):
        databases.fetch("SQLite", base, doubled, vouched=True)


@pytest.mark.usefixtures("workers")
def test_the_page_loads_a_table_with_the_schema_that_the_child_drafted(base):
    space = Workspace("somebody")
    loading.database(space, "SQLite", base, "people")
    assert space.dataset.name == space.dataset.ledger == space.schema.name == "people"
    assert [a.name for a in space.schema.attributes] == ["age", "town"] and not space.schema.private
    loading.database(space, "SQLite", base, "SELECT town FROM people", vouched=True)
    assert space.dataset.name == "SQLite"


@pytest.mark.usefixtures("workers")
def test_a_word_for_a_query_goes_from_the_page_to_the_run_and_buys_nothing(base):
    from ui.schema.buying import bought
    from ui.synthesize.starting import spec_of

    space = Workspace("somebody")
    average = "SELECT town FROM people WHERE age >= (SELECT avg(age) FROM people)"
    with pytest.raises(TableError, match="the box on the Data page"):
        loading.database(space, "SQLite", base, average)
    assert space.dataset is None
    loading.database(space, "SQLite", base, average, vouched=True)
    assert space.dataset.query_vouched and spec_of(space).query_vouched
    with pytest.raises(DPSynError, match="no manifest that could state your word"):
        bought(space, [], 1.0, 1e-9, known=False)
    loading.database(space, "SQLite", base, "people")
    assert not space.dataset.query_vouched and not spec_of(space).query_vouched


def test_a_password_reaches_the_child_over_its_input_and_stands_nowhere_else(readers, monkeypatch, tmp_path):
    look = """if True:
        import json, os, pathlib, sys
        line = input()
        files = [p.read_text() for p in pathlib.Path(json.loads(line)["folder"]).parent.rglob("*") if p.is_file()]
        seen = {"line": line, "rest": [*sys.orig_argv, *os.environ.values(), *files]}
        pathlib.Path(sys.argv[1]).write_text(json.dumps(seen))
    """

    def spawn(_argument, cwd, *, stdin):
        command = [sys.executable, "-c", look, str(tmp_path / "seen")]
        return Child(command, cwd=cwd, stdin=stdin)

    monkeypatch.setattr(reading, "spawn", spawn)
    with pytest.raises(TableError, match="the database crashed the reader") as error:
        databases.fetch("PostgreSQL", "postgresql://anna:kept-secret@127.0.0.1/shop", "people")
    seen = json.loads((tmp_path / "seen").read_text())
    assert "kept-secret" in seen["line"] and not any("kept-secret" in text for text in seen["rest"])
    assert "kept-secret" not in str(error.value)


def test_a_real_child_that_cannot_connect_tells_nobody_the_password(readers, monkeypatch, capfd):
    with pytest.raises(TableError, match=r"postgresql://127\.0\.0\.1/shop cannot be opened") as error:
        databases.fetch("PostgreSQL", "postgresql://anna:kept-secret@127.0.0.1:1/shop", "people")
    assert "secret" not in str(error.value) + "".join(capfd.readouterr())
    assert list(readers.folder.iterdir()) == []


def test_a_query_of_any_length_is_not_sent(base):
    with pytest.raises(TableError, match="at most 20,000"):
        databases.fetch("SQLite", base, "SELECT 1 AS a" + " " * 30_000 + ", 2 AS b")
