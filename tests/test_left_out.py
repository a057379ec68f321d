"""The quick run leaves out what is slow or needs another program, and names it; the complete run lets nothing go."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.left_out import COMMAND, KINDS, lines
from tools.dev import TARGETS

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = """
import pytest
def test_quick(): pass
@pytest.mark.slow
def test_long(): pass
@pytest.mark.slow
@pytest.mark.browser
def test_walk(): pass
@pytest.mark.postgresql
def test_table(): pass
"""
SKIPPED = "import pytest\ndef test_quick(): pass\ndef test_gone(): pytest.skip('no such program')\n"


def run(folder, text, *options):
    """Exit status and last lines of pytest on one file."""
    (folder / "test_sample.py").write_text(text)
    marks = "\n".join(f"  {kind}: a kind" for kind in KINDS)
    (folder / "pytest.ini").write_text(f"[pytest]\nmarkers =\n{marks}\n")
    plugins = ["-p", "tests.left_out", "-p", "xdist.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *options]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # others load slowly
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip().splitlines()[-3:]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_the_quick_run_names_what_it_left_out_and_the_command_that_brings_it(tmp_path, workers):
    status, said = run(tmp_path, SAMPLE, "--quick", *workers)
    assert status == 0
    assert said[0] == ("Left out: 2 slow (audits, long statistics, whole runs), 1 with a PostgreSQL server.")
    assert said[1] == f"To run them too: {COMMAND}"
    assert re.match(r"1 passed(, 3 deselected)? in ", said[2])


@pytest.mark.slow
def test_without_the_option_nothing_is_left_out_or_said(tmp_path):
    status, said = run(tmp_path, SAMPLE, "--complete")
    assert status == 0
    assert said[-1].startswith("4 passed in ")
    assert not [line for line in said if "eft out" in line]


@pytest.mark.slow
def test_a_skipped_test_fails_a_complete_run_and_is_named(tmp_path):
    status, said = run(tmp_path, SKIPPED, "--complete", "-n", "2")
    assert status == 1
    assert said[-2] == "Skipped, which fails a complete run: test_sample.py::test_gone"
    assert run(tmp_path, SKIPPED)[0] == 0


def test_a_run_that_was_complete_says_nothing():
    assert lines({}) == []


def test_make_and_ci_run_what_they_say():
    quick, whole = (TARGETS[name].commands[0] for name in ("test", "test-all"))
    assert [command[command.index("-n") + 1] for command in (quick, whole)] == ["2", "3"]
    assert "--quick" in quick and "--complete" not in quick
    assert "--complete" in whole and "--quick" not in whole
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert steps[-3:] == ["make check UNCHECKED=--allow-unchecked", "make docs", "make test-all"]
    packages = COMMAND.removeprefix("apt-get install ").split(" && ")[0].split()
    assert all(any(package in line.split() for line in steps) for package in packages)


def test_what_a_system_lacks_is_named_by_files_and_tests_that_exist():
    listed = [line for path in (ROOT / "tests" / "elsewhere").glob("lacks.*.txt") for line in path.read_text().split()]
    assert len(listed) > 10
    for line in listed:
        file, _, name = line.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8") if name else (ROOT / file).exists(), line
