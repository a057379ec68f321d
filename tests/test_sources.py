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

from dpsyn_core.commands.cli import build_parser, main

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
HEADER = "| document | section | item | quotation | state | file | shown by |"
LONGEST = 15  # words of a quotation
QUOTATION = re.compile(r"“([^“”]+)”")
NO_QUOTATION = re.compile(r"none \([^()]+\)")  # in the place of one, with the reason; in a tenth of the rows at most
NO_SECTIONS = ("not noted", "all", "-")
OTHERS = "| source | item | state | file | shown by |"  # items that stand in none of the documents
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
    if row.document not in titles or not row.section or row.section in NO_SECTIONS or not row.item:
        out.append("no document, section or item")
    found = QUOTATION.fullmatch(row.quotation)
    if not found and not NO_QUOTATION.fullmatch(row.quotation):
        out.append("neither a quotation nor why there is none")
    if found and not re.search("[A-Za-z]{3}", found[1]):
        out.append("the quotation has no word")
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


def tables(header=HEADER):
    """Every line below a header, up to the next empty line."""
    blocks = [block.split("\n\n")[0].strip().splitlines() for block in TEXT.split(header)[1:]]
    return [line for lines in blocks for line in lines[1:]]


def of_others(line):
    """A row of the table of what stands in no document: its source takes the place of a document."""
    source, *cells = (c.strip() for c in line.strip().strip("|").split("|"))
    assert len(cells) == 4, line
    return Row(source, "no document", cells[0], "none (it stands in no document)", *cells[1:])


TITLES = re.findall(r"^\| (?!short)(\w+) \|", TEXT.split("## How to read")[0], re.MULTILINE)
ROWS = [row_of(line) for line in tables()]
OURS = [of_others(line) for line in tables(OTHERS)]
SHOWN = [part for row in (*ROWS, *OURS) for part in quoted(row.shown)]
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
    assert sum(not QUOTATION.fullmatch(r.quotation) for r in ROWS) <= len(ROWS) / 10
    assert len({(r.document, r.item) for r in ROWS}) == len(ROWS)


def test_what_stands_in_no_document_is_kept_apart_and_booked_on_none():
    assert len(OURS) > 5
    assert not [(r.item, fault) for r in OURS for fault in faults_of(r, [r.document for r in OURS])]
    assert not {r.document for r in OURS} & set(TITLES) and not {r.item for r in OURS} & {r.item for r in ROWS}


@pytest.mark.parametrize(
    ("place", "wrong", "words"),
    [
        (1, "not noted", "no document, section"),
        (3, "“" + "word " * (LONGEST + 1) + "”", "too long"),
        (3, "“so much noise” (p)", "neither a quotation"),
        (3, "text not at hand", "neither a quotation"),
        (3, "none ()", "neither a quotation"),
        (3, "“(4)”", "no word"),
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
    good = ["2020", "Theorem 4", "Noise.", "“so much noise”", "done", "`a.py`", "`dpsyn noise`"]
    assert faults_of(Row(*good), TITLES) == []
    good[place] = wrong
    assert any(words in fault for fault in faults_of(Row(*good), TITLES))


def test_named_files_exist():
    assert not [p for row in (*ROWS, *OURS) if row.built for p in quoted(row.file) if not (ROOT / p).is_file()]


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
