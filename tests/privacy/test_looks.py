"""Looks: an answer that was shown is written down by table and kind, and silent rules count against it afterwards."""

import hashlib
from types import SimpleNamespace

import pytest

from dpsyn_core.errors import OutputError
from dpsyn_core.privacy.looks import remember, remembered, untold


class Rule(SimpleNamespace):
    def __str__(self):
        return self.words


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_look_is_an_empty_file_of_its_owner_alone_named_by_a_digest(home):
    assert not remembered("people", "rules")
    for _ in range(2):
        remember("people", "rules")
    assert remembered("people", "rules")
    assert not remembered("people", "unit") and not remembered("people ", "rules")
    (file,) = (home / "looks").iterdir()
    assert file.name == hashlib.sha256(b"rules\npeople").hexdigest()
    assert file.read_bytes() == b"" and file.stat().st_mode & 0o777 == 0o600
    assert (home / "looks").stat().st_mode & 0o777 == 0o700
    remember("\udcff", "unit")
    assert remembered("\udcff", "unit")


def test_a_look_that_cannot_be_written_down_is_not_granted(home):
    home.write_text("no folder")
    with pytest.raises(OutputError, match="let DPSYN_HOME name a folder"):
        remember("people", "rules")


def test_rules_that_do_not_say_where_they_come_from_count_against_tables_that_were_tried(home):
    rules = [Rule(source=None, words="a" * 300), Rule(source="public", words="b"), Rule(source=None, words="c")]
    assert untold(rules, "people", None) == ()
    remember("people", "unit")
    assert untold(rules, "people") == ()
    remember("people", "rules")
    said = "does not say where it comes from, and rules were tried on the private table"
    assert untold(rules, "others", None, "people") == (f"the rule '{'a' * 200}' {said}", f"the rule 'c' {said}")
    assert untold(rules[1:2], "people") == untold([], "people") == untold(rules, "others", None) == ()
