"""What is said of Spark where none is needed to say it: missing programs, options that do not fit, other versions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import EngineError, ExtraError, SettingError, SizeError, TableError
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.measure.spark.files import expected
from dpsyn_core.measure.spark.session import check_java, session
from dpsyn_core.measure.spark.tasks import EncodeTask, encode, guarded, guarded_call, sentence
from dpsyn_core.tables.batches import Batches
from tests.audit.whole import crowd, rows, schema

SECRET = "xanadu-7"


def work(**changes):
    given = {"schema": schema(), "columns": (), "strict": False, "key": bytes(32), "parts": 2, "version": "0"}
    return EncodeTask(**(given | changes))


def test_without_pyspark_or_java_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ExtraError, match=r'pip install "dpsyn-studio\[spark\]"'), session("local[1]"):
        pass
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SettingError, match=r"Java 17 or newer.*default-jre-headless"):
        check_java()


def test_a_table_in_memory_is_not_counted_on_spark():
    with pytest.raises(SettingError, match="takes a Spark DataFrame, or a path"):
        source_of(rows(*crowd(3, 0)), engine="spark")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--spark-master", "local[2]"], "add --engine spark"),
        (["--engine", "spark", "--memory", "1GB"], "--memory is for the engines of this machine"),
        (["--engine", "spark", "--sql-table", "t"], "reads Parquet, CSV and TSV"),
        (["--engine", "spark", "--spark-conf", "password"], "needs the form spark.name=value"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_spark_starts(options, words, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    schema().dump(tmp_path / "s.json")
    (tmp_path / "t.csv").write_text("who,city,age,smokes\np1,rome,4,yes\n")
    run = ["synth", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.json"), "--epsilon", "1", "--delta", "1e-6"]
    run += ["--out", str(tmp_path / "o.csv"), "--manifest", str(tmp_path / "m.json")]
    assert main([*run, *options]) == 2
    assert words in capsys.readouterr().err
    assert not Path(tmp_path / "o.csv").exists()


def test_what_a_run_takes_is_said_before_spark_starts(tmp_path):
    """In a process of its own: where another test has started Spark, it would not start again."""
    schema().dump(tmp_path / "s.json")
    (tmp_path / "t.csv").write_text("who,city,age,smokes\np1,rome,4,yes\n")
    run = ["synth", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.json"), "--epsilon", "1", "--delta", "1e-6"]
    run += ["--out", str(tmp_path / "o.csv"), "--manifest", str(tmp_path / "m.json"), "--engine", "spark"]
    no_java = {**os.environ, "DPSYN_HOME": str(tmp_path / "home"), "JAVA_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "dpsyn_core.commands.cli", *run]
    ran = subprocess.run(command, env=no_java, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "for the owner only): engine spark: at most about 4 records take" in ran.stderr
    assert not (tmp_path / "home" / "ledger.sqlite3").exists()


def test_time_memory_and_what_comes_to_the_driver_follow_from_sizes():
    tall = Batches(columns=("a",), read=lambda: iter(()), records=1_000_000_000)
    said = expected(tall, schema())
    sizes = schema().domain().sizes
    cells = sizes[0] * sizes[1] + sizes[0] * sizes[2] + sizes[1] * sizes[2]
    assert said.startswith("about 1,000,000,000 records take 6 minutes of one core to encode and 38 s to count")
    assert "codes take 3 GB" in said
    assert f"send {8 * cells / 1000:.3g} KB to the driver in 1 job" in said


def test_a_task_says_of_what_kind_its_error_is_and_quotes_nothing():
    def explode(_given):
        raise ValueError(SECRET)

    for call in (lambda: list(guarded(lambda b: map(explode, b))(iter([1]))), lambda: guarded_call(explode)(1)):
        with pytest.raises(EngineError, match=r"a task failed on private records \(ValueError\)") as caught:
            call()
        assert caught.value.__context__ is None and caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("No module named 'dpsyn_core'", SettingError, "the executors have no dpsyn_core"),
        ("java.lang.OutOfMemoryError: heap", SizeError, "too little memory"),
        ("[CAST_INVALID_INPUT] The value 'xanadu-7'", TableError, r"Spark could not finish a job \(RuntimeError\)"),
    ],
)
def test_the_driver_says_one_sentence_by_the_kind_of_the_error(said, kind, words):
    found = sentence(RuntimeError(said))
    assert isinstance(found, kind) and SECRET not in str(found)
    with pytest.raises(kind, match=words):
        raise found


def test_an_executor_of_another_version_refuses_to_encode():
    (row,) = encode(iter([]), work())
    assert row.column("fault")[0].as_py().startswith("SettingError:an executor has dpsyn_core")
