"""`dpsyn synth` on folders, with engines and into folders of parts."""

import argparse

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.cli import main
from dpsyn_core.commands.common import add_engine
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.choose import ENGINES
from dpsyn_core.tables.write import write_table

SCHEMA = {"version": 1, "name": "t", "attributes": [{"name": "a", "kind": "categorical", "values": ["x", "y"]}]}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    (tmp_path / "in").mkdir()
    for name in ("1.csv", "2.csv"):
        write_table(pa.table({"a": ["x", "y", "y"] * 50}), tmp_path / "in" / name)
    Schema.of(SCHEMA).dump(tmp_path / "s.json")
    return tmp_path


def synth(place, table, out, *more):
    return main([
        "synth", str(table), "--schema", str(place / "s.json"), "--epsilon", "1", "--delta", "1e-6",
        "--out", str(out), "--manifest", str(place / "m.json"), "--n-records", "40", *more,
    ])  # fmt: skip


def test_a_folder_becomes_a_folder_of_parts_that_verify(place, capsys):
    assert synth(place, place / "in", f"{place}/out/", "--engine", "stored") == 0
    said = capsys.readouterr().err
    assert "one table of 2 files" in said
    assert "for the owner only): engine stored: the table needs about" in said
    assert pq.read_table(place / "out").num_rows == 40
    assert main(["verify", str(place / "out"), "--manifest", str(place / "m.json")]) == 0
    assert "is the table (1 part) of this manifest" in capsys.readouterr().out


def test_a_pattern_of_files_becomes_one_file(place, capsys):
    assert synth(place, place / "in" / "*.csv", place / "o.csv", "--memory", "1GB") == 0
    assert "engine memory" in capsys.readouterr().err
    assert len((place / "o.csv").read_text().splitlines()) == 41


@pytest.mark.parametrize(
    ("out", "more", "words"),
    [
        ("in/", (), "is named twice"), ("in/out/", (), "lies inside the folder that is read"),
        ("new/", ("--tables", "2"), "files of their own"), ("o.txt", (), "or with / for a folder"),
        ("o.csv", ("--memory", "much"), "for example 4GB"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_or_read_so_is_refused_before_anything_is_spent(place, capsys, out, more, words):
    assert synth(place, place / "in", f"{place}/{out}", *more) == 2
    assert words in capsys.readouterr().err
    assert not (place / "home" / "ledger.sqlite3").exists()


def test_the_engines_of_the_command_are_those_that_there_are():
    parser = argparse.ArgumentParser()
    add_engine(parser)
    (choices,) = [a.choices for a in parser._actions if a.dest == "engine"]
    assert tuple(choices) == ENGINES
