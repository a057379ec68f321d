"""`dpsyn synth` on folders, with engines and into folders of parts."""

import argparse
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.commands.common import add_engine
from dpsyn_core.errors import SizeError
from dpsyn_core.measure.sources.choice import ENGINES
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.batches import gathered
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm
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


def test_itemsets_of_a_folder_are_counted_by_both_engines(place, capsys, monkeypatch):
    for engine in ("memory", "stored"):
        assert itemsets(place, "--engine", engine, "--dataset", engine) == 0
        found = (place / "sets.csv").read_text().splitlines()[1].split(",")
        assert found[0] == "a" and abs(float(found[2]) - 200) < 5
    monkeypatch.setattr("dpsyn_core.measure.sources.transactions.HELD", 10**9)
    assert itemsets(place, "--memory", "1GB", "--dataset", "none") == 2
    assert "the bits of 1 items do not fit the 1 GB that may be used (for the owner only)" in capsys.readouterr().err
    assert not Ledger().entries("none")


def itemsets(place, *more):
    return main([
        "itemsets", str(place / "in"), "--schema", str(place / "s.json"), "--k", "1", "--epsilon", "20", "--quiet",
        "--out", str(place / "sets.csv"), "--manifest", str(place / "m.json"), *more,
    ])  # fmt: skip


def test_columns_of_a_folder_are_bought_and_no_others_are_kept(place, capsys):
    many = pa.table({"a": ["x", "y"] * 900, "b": [1, 2, 3] * 600, "c": ["long text"] * 1800})
    write_table(many, place / "in" / "1.csv")
    write_table(many.slice(0, 900).select([2, 1, 0]), place / "in" / "2.csv")
    buy = ["schema", "draft", str(place / "in"), "--buy", "b=integer", "--buy", "a=categorical", "--epsilon", "20",
           "--delta", "1e-6", "-o", str(place / "bought.json")]  # fmt: skip
    assert main(buy) == 0
    found = Schema.load(place / "bought.json")
    assert found.domain().names == ("a", "b")  # as they stand in the table
    assert list(found["a"].values) == ["x", "y"]
    assert main([*buy, "--buy", "d=integer"]) == 2
    assert "the column 'd' must be in the table exactly once" in capsys.readouterr().err


def test_columns_that_do_not_fit_the_memory_are_refused_before_anything_is_spent(place):
    with pytest.raises(SizeError, match="name fewer of them at a time"):
        gathered(open_table(place / "in", ReadForm()), ["a"], most=10)


def test_a_folder_of_parts_is_answered_or_refused_in_a_sentence(place, capsys, monkeypatch):
    assert synth(place, place / "in", f"{place}/out/", "--measurements", str(place / "r.gz")) == 0
    (place / "q.json").write_text(json.dumps([{"name": "x", "kind": "range", "where": "a = x"}]))
    ask = ["answer", str(place / "out"), "--manifest", str(place / "m.json"), "--measurements", str(place / "r.gz"),
           "--questions", str(place / "q.json"), "--quiet"]  # fmt: skip
    assert main(ask) == 0
    assert "x [exact]" in capsys.readouterr().out
    monkeypatch.setattr("dpsyn_core.report.answers.FIT_CELL", 10**12)
    assert main(ask) == 2
    assert "give --memory more, or answer from a table of fewer records" in capsys.readouterr().err
