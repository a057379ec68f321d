"""A server reads tables for its visitors in the folders that its operator named, whatever a path turns out to mean."""

import json
import os
import sqlite3
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SettingError, TableError
from dpsyn_core.runs.jobs.folder import ERROR, JOB, SCHEMA
from dpsyn_core.runs.jobs.places import CONFINES, FOLDERS, check_places_apart, confines
from dpsyn_core.runs.jobs.spec import JobSpec, ReadJob, ReadSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import confines as module
from dpsyn_core.tables.confines import REFUSED, Confines, confined, steady
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.places import files_at
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm
from tests.tables.reading import read, read_database

TABLE = pa.table({"secret": ["x", "y"]})
FORM = ReadForm()


@pytest.fixture
def srv(tmp_path, monkeypatch):
    """A server whose home lies below a folder that holds data too, as an operator may have it by mistake."""
    job = tmp_path / "srv" / "app" / "jobs" / "0123"
    job.mkdir(parents=True)
    (tmp_path / "srv" / "data").mkdir()
    pq.write_table(TABLE, job / "table.parquet")
    (job / "table.csv").write_text("secret\nx\n")
    pq.write_table(TABLE, tmp_path / "srv" / "data" / "fine.parquet")
    (tmp_path / "outside").mkdir()
    pq.write_table(TABLE, tmp_path / "outside" / "other.parquet")
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "srv" / "app"))
    monkeypatch.delenv("DPSYN_SCRATCH", raising=False)
    monkeypatch.setenv(FOLDERS, str(tmp_path / "srv"))
    return tmp_path / "srv"


@pytest.mark.parametrize(
    "place",
    ["{srv}/a*/jobs/*/table.parquet", "{srv}/app/jobs/*/table.parquet", "{srv}/app/jobs", "{srv}/app", "{srv}",
     "{srv}/*/*.parquet", "{srv}/*/jobs/0123/*.parquet", "{srv}/data/../app/jobs/0123/table.parquet",
     "{srv}/d*/../app/jobs/*/table.parquet", "{srv}/[a]pp/jobs/*/*.parquet", "{srv}/data/link/table.parquet",
     "{srv}/data/*/table.parquet", "{srv}/data/linked.parquet", "{srv}/data/linked*", "{srv}/data",
     "{srv}/../outside/other.parquet", "{srv}/../out*/*.parquet", "{srv}/../outside", "/etc/passwd", "/etc/pass*"],
)  # fmt: skip
def test_no_path_reaches_a_table_of_another_visitor(srv, place):
    (srv / "data" / "link").symlink_to(srv / "app" / "jobs" / "0123")
    (srv / "data" / "linked.parquet").symlink_to(srv / "app" / "jobs" / "0123" / "table.parquet")
    named = place.format(srv=srv)
    with confined(confines(shared=True)):
        for reading in (lambda: files_at(named), lambda: open_table(named, FORM)):
            with pytest.raises(TableError) as error:
                reading()
            assert str(error.value) == REFUSED
        if "*" not in named:
            with pytest.raises(TableError):
                read(named)


def test_what_lies_in_the_named_folders_is_read_in_every_way(srv):
    (srv / "data" / "t.csv").write_text("secret\nx\n")
    (srv / "data" / "again.parquet").symlink_to(srv / "data" / "fine.parquet")
    with confined(confines(shared=True)):
        for place in ("data/fine.parquet", "data/*.parquet", "d*/f*.parquet", "data/again.parquet", "data/t.csv"):
            batches = open_table(f"{srv}/{place}", FORM)
            assert batches.columns == ("secret",) and sum(t.num_rows for t in batches.read()) >= 1
        for name in ("fine.parquet", "t.csv"):
            assert read(srv / "data" / name).table.column_names == ["secret"]


def test_ones_own_machine_reads_everything(srv, monkeypatch):
    monkeypatch.delenv(FOLDERS)
    assert confines(shared=False) is None
    with confined(confines(shared=False)):
        assert open_table(f"{srv}/a*/jobs/*/table.parquet", FORM).columns == ("secret",)
    assert confines(shared=True).folders == ()  # a shared server without folders reads nothing by path


@pytest.mark.skipif(not module.OPENED.exists(), reason="needs Linux")
@pytest.mark.parametrize("which", ["fine.parquet", "t.csv", "t.csv.gz"])
def test_a_file_that_is_exchanged_after_the_check_is_not_read(srv, which, monkeypatch):
    """The check of the name passes; then a link takes the name, and the file that is opened is another one."""
    import gzip

    (srv / "data" / "t.csv").write_text("secret\nx\n")
    (srv / "data" / "t.csv.gz").write_bytes(gzip.compress(b"secret\nx\n"))
    target = srv / "data" / which
    with confined(confines(shared=True)):
        batches = open_table(target, FORM)
        target.unlink()
        target.symlink_to(srv / "app" / "jobs" / "0123" / ("table.parquet" if "parquet" in which else "table.csv"))
        monkeypatch.setattr(module.Confines, "check", lambda *_: None)
        for reading in (lambda: list(batches.read()), lambda: open_table(target, FORM), lambda: read(target)):
            with pytest.raises(TableError, match="does not read that folder"):
                reading()


@pytest.mark.skipif(not module.OPENED.exists(), reason="needs Linux")
def test_a_file_that_is_exchanged_while_it_is_open_is_read_as_it_was(srv):
    target = srv / "data" / "t.csv"
    target.write_text("mine\n1\n")
    with confined(confines(shared=True)), steady(target) as here:
        target.unlink()
        target.symlink_to(srv / "app" / "jobs" / "0123" / "table.csv")
        assert here.read_text() == "mine\n1\n"


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
@pytest.mark.parametrize("late", [False, True])
def test_a_database_of_another_visitor_is_not_opened(system, late, srv, monkeypatch):
    connect = sqlite3.connect if system == "sqlite" else duckdb.connect
    for place in (srv / "app" / "jobs" / "0123" / "x.db", srv / "data" / "x.db"):
        with connect(str(place)) as connection:
            connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        connection.close()
    link = srv / "data" / "link.db"
    link.symlink_to(srv / "app" / "jobs" / "0123" / "x.db")
    with confined(confines(shared=True)):
        assert read_database(Database.of(srv / "data" / "x.db"), table="t").num_rows == 1
        with pytest.raises(TableError, match="does not read that folder"):
            Database.of(link)
        if late:
            if not module.OPENED.exists():
                pytest.skip("needs Linux")
            monkeypatch.setattr(module.Confines, "check", lambda *_: None)
        with pytest.raises(TableError, match="does not read that folder"):
            read_database(Database(system=system, place=str(link)), table="t")


def worker(*arguments, confined, **more):
    return subprocess.run(
        [sys.executable, "-m", "dpsyn_core.runs.jobs.worker", *arguments], check=False, capture_output=True, text=True,
        timeout=300, env={**os.environ, CONFINES: confined.model_dump_json()}, **more,
    )  # fmt: skip


@pytest.mark.slow
def test_the_worker_checks_once_more_what_it_reads(srv, tmp_path):
    """The path that the app has checked may mean another file when the worker comes to it."""
    folder, within = srv / "app" / "jobs" / "mine", confines(shared=True)
    folder.mkdir()
    place = srv / "data" / "parts"
    place.mkdir()
    (place / "1.parquet").symlink_to(srv / "app" / "jobs" / "0123" / "table.parquet")
    spec = JobSpec(query_vouched=False, table=str(place), epsilon=1.0, delta=1e-9, method="independent", seed=1)
    (folder / JOB).write_text(spec.model_dump_json())
    Schema.of({
        "version": 1, "name": "t", "attributes": [{"name": "secret", "kind": "categorical", "values": ["x", "y"]}]
    }).dump(folder / SCHEMA)  # fmt: skip
    assert worker(str(folder), confined=within).returncode == 2
    assert json.loads((folder / ERROR).read_text())["message"] == REFUSED
    link = srv / "data" / "x.db"
    with sqlite3.connect(srv / "app" / "jobs" / "0123" / "x.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    connection.close()
    link.symlink_to(srv / "app" / "jobs" / "0123" / "x.db")
    for i, spec in enumerate((
        ReadSpec(name="t", path=str(place / "1.parquet")), ReadSpec(name="t", path=str(place), most_cells=100),
        ReadSpec(name="t", path=str(link), form=ReadForm(sql_table="t"), most=9),
    )):  # fmt: skip
        answer = tmp_path / f"answer{i}"
        answer.mkdir()
        job = ReadJob(folder=answer, spec=spec).model_dump_json() + "\n"
        assert worker("--read", confined=within, input=job).returncode == 2
        assert json.loads((answer / ERROR).read_text())["message"] == REFUSED


@pytest.mark.parametrize(
    ("folders", "home", "apart"),
    [("srv", "srv/app", False), ("srv", "srv", False), ("srv/app/jobs", "srv/app", False),
     ("srv/data", "srv/app", True), ("srv/data:srv", "srv/app", False), ("link", "srv/app", False),
     ("srv/data", "srv/data2", True)],
)  # fmt: skip
def test_a_server_whose_home_lies_below_a_data_folder_does_not_start(folders, home, apart, srv, monkeypatch, capsys):
    root = srv.parent
    (root / "link").symlink_to(srv)
    monkeypatch.setenv(FOLDERS, os.pathsep.join(str(root / f) for f in folders.split(":")))
    monkeypatch.setenv("DPSYN_HOME", str(root / home))
    if apart:
        check_places_apart()
        return
    with pytest.raises(SettingError, match="set DPSYN_HOME and DPSYN_SCRATCH to folders elsewhere") as error:
        check_places_apart()
    assert "\n" not in str(error.value)
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it started"))
    assert main(["app", "--no-browser"]) == 2
    assert "lie within each other" in capsys.readouterr().err


def test_codes_of_runs_lie_apart_from_data_too(srv, monkeypatch):
    monkeypatch.setenv(FOLDERS, str(srv / "data"))
    check_places_apart()
    monkeypatch.setenv("DPSYN_SCRATCH", str(srv / "data"))
    with pytest.raises(SettingError):
        check_places_apart()


def test_confines_travel_to_the_worker_as_they_are(srv):
    within = confines(shared=True)
    assert Confines.model_validate_json(within.model_dump_json()) == within
    assert srv.resolve() in within.folders and (srv / "app").resolve() in within.closed
