"""The command as a process of its own calls it: with the words of the system."""

import sys

from dpsyn_core import platforms
from dpsyn_core.commands.cli import command_modules, main


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
