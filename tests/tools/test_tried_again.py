"""What fails by chance fails the run, unless a browser shows it: nothing else is tried a second time."""

import os
import subprocess
import sys

import pytest

from tests.left_out import KINDS
from tests.test_left_out import ROOT
from tools.dev import TARGETS

# fails the first time and passes the second: an audit that sees a leak in half of its runs
SEEDED = """
import pytest
from pathlib import Path
{mark}
def test_audit():
    seen = Path("seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError("a leak")
"""


def run(folder, mark, *options, addopts="", settings=""):
    """Exit status and output of pytest with this project's rules, on the seeded audit alone."""
    (folder / "test_seeded.py").write_text(SEEDED.format(mark=mark))
    marks = "\n".join(f"  {kind}: a kind" for kind in KINDS)
    (folder / "pytest.ini").write_text(f"[pytest]\nmarkers =\n{marks}\n{settings}\n")
    plugins = [f"-p{name}" for name in ("tests.left_out", "tests.tried_again", "pytest_rerunfailures", "xdist.plugin")]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, "-p", "no:cacheprovider", *options]
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.defpath, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment | {"PYTEST_ADDOPTS": addopts}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("mark", ["", "@pytest.mark.slow"])
@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "worksteal")], ids=["one process", "two workers"])
def test_an_audit_that_fails_once_fails_the_complete_run(tmp_path, mark, workers):
    status, said = run(tmp_path, mark, "--complete", *workers)
    assert status == 1
    assert "1 failed" in said and "rerun" not in said.splitlines()[-1]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_a_walk_in_a_browser_is_tried_a_second_time_and_counted(tmp_path, workers):
    status, said = run(tmp_path, "@pytest.mark.browser", "--complete", *workers)
    assert status == 0
    assert "1 passed" in said and "1 rerun" in said


@pytest.mark.parametrize("mark", ["", "@pytest.mark.browser"])
def test_without_the_complete_run_nothing_is_tried_again(tmp_path, mark):
    assert run(tmp_path, mark)[0] == 1


@pytest.mark.parametrize(
    ("mark", "options", "more"),
    [
        ("", ("--reruns", "1"), {}),
        ("@pytest.mark.browser", ("--reruns=2",), {}),
        ("", ("--force-reruns", "1"), {}),
        ("", (), {"addopts": "--reruns 1"}),
        ("", (), {"settings": "reruns = 1"}),
        ("@pytest.mark.flaky(reruns=1)", (), {}),
        ("@pytest.mark.browser\n@pytest.mark.flaky(reruns=5)", (), {}),
        ('@pytest.mark.browser\n@pytest.mark.chance("T0")', (), {}),
    ],
    ids=[
        "an option",
        "an option for a walk",
        "an option above all marks",
        "the environment",
        "a file of settings",
        "a mark",
        "a mark of a walk",
        "a mark of chance on a walk",
    ],
)
def test_no_option_and_no_mark_lets_a_test_be_tried_again(tmp_path, mark, options, more):
    status, said = run(tmp_path, mark, "--complete", *options, **more)
    assert status == pytest.ExitCode.USAGE_ERROR, said
    assert "tests in a browser alone are tried again" in said
    assert not (tmp_path / "seen").exists()


def test_every_file_of_walks_is_marked_and_nothing_else_is():
    """What `make test-all` tries again is what drives a browser."""
    marked = {p for p in (ROOT / "tests").rglob("*.py") if "mark.browser" in p.read_text(encoding="utf-8")}
    named = {p.relative_to(ROOT).as_posix() for p in marked if p.parent.name != "browser"}
    assert named == {"tests/test_left_out.py", "tests/tools/test_tried_again.py"}, "their samples, which drive nothing"
    assert not any("--reruns" in command for command in TARGETS["test-all"].commands)
    assert "tests.tried_again" in (ROOT / "tests/conftest.py").read_text(encoding="utf-8")
