"""What `make` does is done without make: the same targets, environments by their locks, words that are passed on."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import dev

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of empty files, and the commands that are run in it."""
    (tmp_path / "requirements").mkdir()
    for name in dev.ENVIRONMENTS:
        (tmp_path / "requirements" / f"{name}.lock").touch()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(dev, "PROJECT", tmp_path)
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    ran = []
    monkeypatch.setattr(dev, "run", lambda *command: ran.append([Path(c).name for c in command]))
    monkeypatch.setattr(dev, "begin", dev.run)
    monkeypatch.setattr(dev, "finish", lambda started: None)
    return tmp_path, ran


def test_make_has_these_targets_and_no_other():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^TARGETS := (.*)$", makefile, re.MULTILINE)[1].split() == list(dev.TARGETS)
    assert "-m tools.dev $@" in makefile and len(makefile.splitlines()) < 12


def test_an_environment_is_installed_once_and_again_when_its_lock_changes(project):
    folder, ran = project
    dev.main(["dev"])
    assert [line[-1] for line in ran if "pip" in line] == ["run.lock", "", "dev.lock"] or len(ran) == 5
    ran.clear()
    dev.main(["dev"])
    assert not [line for line in ran if "pip" in line]
    later = (folder / ".venv" / ".dev").stat().st_mtime + 5
    os.utime(folder / "requirements" / "dev.lock", (later, later))
    dev.main(["dev"])
    assert [line[-1] for line in ran if "pip" in line] == ["dev.lock"]


def test_kernels_are_compiled_when_the_app_is_set_up(project):
    from dpsyn_core.runs.jobs.worker import WARM

    ran = project[1]
    dev.main(["setup"])
    assert ran[-1][1:] == ["-m", "dpsyn_core.runs.jobs.worker", WARM]


def test_torch_is_installed_after_the_tools_where_there_are_some(project):
    folder, ran = project
    for name in ("run", "deep", "dev"):
        dev.install(name)
    late = (folder / ".venv" / ".deep").stat().st_mtime + 5
    os.utime(folder / ".venv" / ".dev", (late, late))
    ran.clear()
    dev.install("deep")
    assert [line[-1] for line in ran if "pip" in line] == ["deep.lock"]


def test_words_go_to_the_last_command(project):
    ran = project[1]
    dev.main(["check", "--allow-unchecked"])
    assert ran[-1][1:] == ["-m", "tools.vulnerabilities", "--allow-unchecked"]
    assert sum("--allow-unchecked" in line for line in ran) == 1
    systems = [line[line.index("--platform") + 1] for line in ran if "--platform" in line]
    assert systems == ["win32", "darwin"]


def test_a_command_that_fails_ends_the_target_with_its_status():
    with pytest.raises(SystemExit) as stopped:
        dev.run(sys.executable, "-c", "raise SystemExit(3)")
    assert stopped.value.code == 3


def test_one_that_fails_meanwhile_ends_the_target_with_its_status(monkeypatch):
    words = ("-c", "raise SystemExit(4)")
    monkeypatch.setitem(
        dev.TARGETS, "check", dev.Target(does="fail", needs=(), commands=(("-V",),), meanwhile=(words,))
    )
    with pytest.raises(SystemExit) as stopped:
        dev.main(["check"])
    assert stopped.value.code == 4


def test_it_needs_python_alone():
    """In a fresh clone, before anything is installed."""
    line = [sys.executable, "-S", "-m", "tools.dev", "--help"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "test-all" in done.stdout
