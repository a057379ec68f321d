"""What strangers found in the command: sheets of workbooks, absurd deltas, headers of R, a line of README."""

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.data import paths
from dpsyn_core.evaluate.learning import DEFAULT, classification, classifier
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.draft import draft
from tests.tables.reading import read


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))


@pytest.fixture
def few(tmp_path):
    pd.read_csv(paths("sample")[0]).head(400).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def synth(folder, *more, table="t.csv"):
    return main(
        ["synth", str(folder / table), "--schema", str(paths("sample")[1]), "--epsilon", "1", "--method", "independent",
         "--out", str(folder / "o.csv"), "--manifest", str(folder / "m.json"), "--quiet", *more]
    )  # fmt: skip


def test_a_delta_that_promises_nothing_is_refused_before_anything_is_charged(few, capsys):
    assert synth(few, "--delta", "0.5") == 2
    assert "whole records could be published unprotected" in capsys.readouterr().err
    assert main(["ledger"]) == 0
    assert "t.csv" not in capsys.readouterr().out
    assert synth(few, "--delta", "1e-9") == 0


def test_the_report_on_released_values_runs_as_readme_writes_it(few):
    assert synth(few, "--delta", "1e-9") == 0
    command = f"report - {few}/o.csv --schema {paths('sample')[1]} --manifest {few}/m.json --json {few}/r.json"
    assert main([*command.split(), "--quiet"]) == 0
    assert "safe to publish" in (few / "r.json").read_text()


def test_a_sheet_of_a_workbook_is_named(few, capsys):
    with pd.ExcelWriter(few / "book.xlsx") as book:
        pd.DataFrame({"note": ["made by hand"]}).to_excel(book, sheet_name="notes", index=False)
        pd.read_csv(few / "t.csv").to_excel(book, sheet_name="people", index=False)
    assert synth(few, "--delta", "1e-9", table="book.xlsx") == 2
    assert "'people'" in capsys.readouterr().err, "what the other sheets are called is said"
    assert synth(few, "--delta", "1e-9", "--sheet", "people", table="book.xlsx") == 0


def test_a_release_is_printed_in_one_line(few):
    made = synthesize(
        pd.read_csv(few / "t.csv", dtype=str), Schema.load(paths("sample")[1]), epsilon=1.0, delta=1e-9, rng=0,
        method="independent",
    )  # fmt: skip
    assert "\n" not in repr(made) and len(repr(made)) < 200
    assert "epsilon 1, delta 1e-09" in repr(made)


def test_row_numbers_as_r_and_pandas_write_them_get_a_name_and_are_left_out():
    got = read(b'"","age"\n' + b"".join(b'"%d",%d\n' % (i + 1, i % 9) for i in range(40)))
    assert got.table.column_names == ["row", "age"]
    assert any("no header" in n for n in got.notices)
    assert [a.kind for a in draft(got.table, "t").attributes] == ["identifier", "categorical"]
    got = read(b",row,age\n1,2,3\n")
    assert got.table.column_names == ["row number", "row", "age"]


def test_identifiers_of_nineteen_digits_keep_every_digit():
    lines = b"".join(b"9000000007935213%03d,%d\n" % (i // 2, i % 9) for i in range(60))
    got = read(b"panel,age\n" + lines)
    assert got.table["panel"][0].as_py() == "9000000007935213000"
    from dpsyn_core.schema.individuals import repeating

    found = repeating(got.table, ["panel"])
    assert (found.persons, found.records) == (30, 60)


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFAULT)
def test_a_class_that_is_too_rare_to_split_is_learnt_with_the_others(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 10_400)
    y[0] = 3  # one record of a class; from 10,000 records on a part would be put aside for early stopping
    x = np.stack([y + rng.normal(0, 1, y.size), rng.normal(0, 1, y.size)], axis=1).astype(np.float32)
    got = classification(classifier(name, 0), x, y, x[:300], y[:300])
    assert 0.5 < got["auroc"] <= 1
