"""The command as a process of its own calls it: with the words of the system."""

import json
import sys

import pytest

from dpsyn_core import platforms
from dpsyn_core.commands.cli import command_modules, main
from dpsyn_core.commands.common import print_json


def test_without_arguments_the_command_reads_all_words_after_its_name(monkeypatch, capsys):
    for name in ("forbid_core_dumps", "print_anything"):
        monkeypatch.setattr(platforms, name, lambda: None)
    monkeypatch.setattr(sys, "argv", ["dpsyn", "methods"])
    assert main() == 0
    assert "independent" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["dpsyn", "grid", "--help"])
    assert main() == 2
    assert "compare-systems" in capsys.readouterr().err


def test_sub_commands_are_listed_once_those_of_a_first_run_first():
    modules = list(command_modules())
    assert len(modules) == len(set(modules)) >= 20
    assert modules.index("synth") < modules.index("verify")


MARKED = "\x1b[2K\x1b[1A\u202e\rx"  # erases its line, goes up, and turns letters round


def hostile_schema(path):
    attribute = {"kind": "categorical", "source": "data", "values": ["a", MARKED + "b"]}
    document = {
        "version": 1,
        "name": "t",
        "attributes": [{"name": MARKED, **attribute}, {"name": "c", **attribute}],
        "questions": [{"name": MARKED, "kind": "table", "of": [MARKED, "c"]}],
    }
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.parametrize(
    "words", [["schema", "confirm"], ["schema", "check"], ["plan", "--epsilon", "1", "--delta", "0", "--schema"]]
)
def test_no_name_of_a_document_from_outside_moves_the_cursor_of_a_terminal(tmp_path, capsys, words):
    assert main([*words, hostile_schema(tmp_path / "s.json")]) == 0
    said = capsys.readouterr()
    assert "x" in said.out and not set("\x1b\u202e\r") & set(said.out + said.err)


def test_json_on_a_terminal_keeps_every_name_and_moves_no_cursor(capsys):
    print_json({MARKED: ["\x9b\u2066"]})
    said = capsys.readouterr().out
    assert json.loads(said) == {MARKED: ["\x9b\u2066"]}
    assert not set("\x1b\u202e\r\x9b\u2066") & set(said)
