"""docs/sources.md: quotations are short, states are true to their form, files and tests exist, and commands run."""

import ast
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from dpsyn_core.cli import build_parser, main

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
HEADER = "| document | section | item | quotation | state | file | shown by |"
LONGEST = 15  # words of a quotation
NOT_AT_HAND = "text not at hand"
QUOTATION = re.compile(r"“([^“”]+)” \(([prn])\)")
STATE = re.compile(r"done|(differs|not done) \((?:[^()]|\([^()]*\))+\)")
COMMANDS_THAT_ARE_QUICK = ("noise", "plan", "methods", "schema")  # the others read or write a table


@dataclass(frozen=True)
class Row:
    """A line of one of the tables."""

    document: str
    section: str
    item: str
    quotation: str
    state: str
    file: str
    shown: str

    @property
    def built(self):
        return not self.state.startswith("not done")


def row_of(line):
    cells = [c.strip() for c in line.strip().strip("|").split("|")]
    assert len(cells) == 7, line
    return Row(*cells)


def faults_of(row, titles):
    """What is wrong with a row, in sentences."""
    out = []
    if row.document not in titles or not row.section or not row.item:
        out.append("no document, section or item")
    found = QUOTATION.fullmatch(row.quotation)
    if row.quotation != NOT_AT_HAND and not found:
        out.append("neither a quotation with its origin nor the words that there is none")
    if found and len(found[1].split()) > LONGEST:
        out.append("the quotation is too long")
    if not STATE.fullmatch(row.state):
        out.append("the state is none of three, or its reason is missing")
    if row.built and (not quoted(row.file) or not quoted(row.shown)):
        out.append("what is built names its file and what shows it")
    if not row.built and (row.file, row.shown) != ("-", "-"):
        out.append("what is not built names a file or a command")
    return out


def quoted(cell):
    """The parts of a cell between back-ticks."""
    return re.findall(r"`([^`]+)`", cell)


def tables():
    """Every row below a header, up to the next empty line."""
    rows = []
    for block in TEXT.split(HEADER)[1:]:
        lines = block.split("\n\n")[0].strip().splitlines()
        rows += [row_of(line) for line in lines[1:]]
    return rows


TITLES = re.findall(r"^\| (?!short)(\w+) \|", TEXT.split("## How to read")[0], re.MULTILINE)
ROWS = tables()
SHOWN = [part for row in ROWS for part in quoted(row.shown)]
TESTS = sorted({part for part in SHOWN if part.startswith("tests/")})
COMMANDS = list(dict.fromkeys(part for part in SHOWN if part.startswith("dpsyn ")))
MODULES = sorted({part for part in SHOWN if part.startswith("python -m ")})
PREPARED = re.findall(r"^dpsyn .+$", TEXT, re.MULTILINE)
QUICK = [c for c in COMMANDS if c.split()[1] in COMMANDS_THAT_ARE_QUICK]


@cache
def written_in(path):
    """Names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_row_has_a_short_quotation_or_none_a_state_with_its_reason_and_what_shows_it():
    assert {r.document for r in ROWS} == set(TITLES) and len(TITLES) == 5
    assert len(ROWS) > 100
    assert not [(r.document, r.item, fault) for r in ROWS for fault in faults_of(r, TITLES)]


@pytest.mark.parametrize(
    ("place", "wrong", "words"),
    [
        (3, "“" + "word " * (LONGEST + 1) + "” (p)", "too long"),
        (3, "“without an origin”", "neither a quotation"),
        (3, "", "neither a quotation"),
        (4, "differs", "reason is missing"),
        (4, "not done ()", "reason is missing"),
        (4, "nearly", "none of three"),
        (5, "-", "names its file"),
        (6, "seen on a page", "what shows it"),
        (0, "Another", "no document"),
    ],
)
def test_a_row_that_breaks_a_rule_is_found(place, wrong, words):
    good = ["2020", "Theorem 4", "Noise.", "“so much noise” (p)", "done", "`a.py`", "`dpsyn noise`"]
    assert faults_of(Row(*good), TITLES) == []
    good[place] = wrong
    assert any(words in fault for fault in faults_of(Row(*good), TITLES))


def test_named_files_exist():
    assert not [p for row in ROWS if row.built for p in quoted(row.file) if not (ROOT / p).is_file()]


def test_every_thing_shown_is_a_test_a_command_or_a_benchmark():
    assert len(SHOWN) == len([*filter(lambda s: s.startswith(("tests/", "dpsyn ", "python -m ")), SHOWN)])
    assert len(TESTS) > 60 and len(COMMANDS) > 15 and len(MODULES) > 5


def test_named_tests_are_written():
    assert not [t for t in TESTS if t.split("::")[1] not in written_in(t.split("::")[0])]


@pytest.mark.slow
def test_named_tests_are_collected():
    files = sorted({t.split("::")[0] for t in TESTS})
    # the settings of the repository ask for names alone
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    collected = {line.split("[")[0] for line in done.stdout.splitlines() if "::" in line}
    assert set(TESTS) <= collected


@pytest.mark.parametrize("command", [*PREPARED, *COMMANDS])
def test_commands_have_the_form_that_dpsyn_reads(command):
    build_parser().parse_args(shlex.split(command)[1:])


@pytest.mark.parametrize("command", MODULES)
def test_benchmarks_and_their_options_exist(command):
    module, *given = shlex.split(command)[2:]
    text = (ROOT / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    assert not [g for g in given if g.startswith("--") and f'"{g}"' not in text]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with what the page writes first."""
    folder = tmp_path_factory.mktemp("sources")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert [main(shlex.split(c)[1:]) for c in PREPARED] == [0] * len(PREPARED)
    return folder


@pytest.mark.parametrize("command", QUICK)
def test_quick_commands_run(command, prepared, monkeypatch, capsys):
    monkeypatch.chdir(prepared)
    assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err


def test_all_other_commands_run_in_their_order(prepared, monkeypatch, capsys):
    monkeypatch.chdir(prepared)
    monkeypatch.setenv("DPSYN_HOME", str(prepared / "home"))
    for command in COMMANDS:
        if command not in QUICK:
            assert main(shlex.split(command)[1:]) == 0, f"{command}\n{capsys.readouterr().err}"
