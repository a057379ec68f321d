"""One name a table: what a file gives by default, and which names look like one table."""

import pytest

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.names import dataset_name, near
from dpsyn_core.privacy.unit import Unit


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("comma.csv", "comma"), ("Comma.CSV", "Comma"), ("a.b.parquet", "a.b"), ("x.csv.gz", "x"), ("plain", "plain"),
        (" my table .xlsx", "my table"), ("Cafe\u0301.tsv", "Caf\u00e9"), (".csv", "table"), ("v1.2", "v1.2"),
    ],
)  # fmt: skip
def test_a_file_gives_its_name_without_the_ending(file, name):
    assert dataset_name(file) == name


@pytest.mark.parametrize("other", ["Comma", "comma.csv", "COMMA.CSV", " comma", "comma ", "\uff43omma"])
def test_names_that_differ_by_case_ending_blanks_or_form_look_like_one_table(other):
    assert near("comma", ["census", other, "comma"]) == (other,)
    assert near(other, ["comma"]) == ("comma",)


def test_marks_between_words_play_no_part_and_other_words_do():
    assert near("my table", ["my-table", "my_table", "mytable", "my tables"]) == ("my-table", "my_table")


def test_the_ledger_knows_names_that_look_like_one(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    assert ledger.similar("comma") == ()
    one = Budget(epsilon=1.0, delta=1e-9)
    ledger.reserve("comma.csv", one.gaussian(), budget=one, unit=Unit(), method="independent")
    assert ledger.similar("comma") == ("comma.csv",)
    assert ledger.similar("comma.csv") == ()


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("people.csv", "people"), ("people.CSV.gz", "people"), ("a.b.parquet", "a.b"), ("people", "people")),
        *((".csv", "table"), ("  x .txt", "x"), ("x" * 200 + ".csv", "x" * 200), ("x" * 201 + ".csv", "x" * 200)),
        *(("people.csvx", "people.csvx"), ("t\u202e.csv", "t"), ("", "table")),
    ],
)  # fmt: skip
def test_a_data_set_is_called_as_its_file_without_its_ending(file, name):
    assert dataset_name(file) == name


def test_names_that_look_alike_are_pointed_out():
    known = ["People", "people.csv", "pe-ople", "people_", "persons", "people"]
    assert near("people", known) == ("People", "people.csv", "people_")
    assert near("--", ["-", "__"]) == () and near("a b", ["a_b", "ab"]) == ("a_b",)
