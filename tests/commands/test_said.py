"""What the command says on stderr of a table that it read."""

from argparse import Namespace
from pathlib import Path

import pytest

from dpsyn_core.commands.common import PRIVATE, place, say_assumed, table_name
from dpsyn_core.tables.batches import Batches


def said(capsys, table, **more):
    say_assumed(Batches(columns=("a",), read=lambda: iter(()), **more), table)
    return capsys.readouterr().err.splitlines()


def test_what_was_assumed_is_said_with_the_name_of_a_file(capsys, tmp_path):
    file = tmp_path / "t.csv"
    file.touch()
    for table, name in ((file, "t.csv: "), (tmp_path / "none.csv", ""), (tmp_path, ""), ("sqlite:///t", "")):
        assert said(capsys, table, notices=("one", "two")) == [f"note: {name}one", f"note: {name}two"]
        [hint] = said(capsys, table, headless=True, header_hint=(3, 1, False))
        assert hint.startswith(f"note ({PRIVATE}): {name}the first line looks like a record")
    assert said(capsys, file) == []


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        ((3, 1, False), "in line 3; if so, add --header-row 3"),
        ((3, 2, False), "in lines 3 to 4; if so, add --header-row 3 --header-lines 2"),
        ((1, 1, True), "in line 1; if so, add --header-row 1 --multiline"),
        ((2, 3, True), "in lines 2 to 4; if so, add --header-row 2 --header-lines 3 --multiline"),
    ],
)
def test_where_headers_may_stand_is_said_with_the_flags_that_take_them(capsys, hint, words):
    assert said(capsys, "t", header_hint=hint) == [f"note ({PRIVATE}): the headers may stand {words}"]


def test_a_table_is_called_as_in_its_database_or_as_its_file_and_no_address_is_told():
    assert table_name(Namespace(sql_table="people", table="postgresql://me:secret@host/db")) == "people"
    assert table_name(Namespace(sql_table="people", table=Path("t.sqlite"))) == "people"
    assert table_name(Namespace(sql_table=None, table=Path("folder/people.csv"))) == "people"
    assert table_name(Namespace(sql_table=None, table="postgresql://me:secret@host/db")) == "query"
    assert place("postgresql://host//t") == "postgresql://host//t" and place("a//b.csv") == Path("a/b.csv")
