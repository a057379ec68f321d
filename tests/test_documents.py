"""Documents name files, benchmarks and commands that exist."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md")),
             *sorted((ROOT / "docs" / "proofs").glob("*.md"))]  # fmt: skip
BASES = ("", "dpsyn_core", "docs")  # paths are told from the root, or from the engine
OPERATORS = {".streamlit/secrets.toml"}  # a file that whoever runs a server writes


def text(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_files_that_a_document_names_exist(path):
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|toml|md|json|css|js|sh))`", text(path))) - OPERATORS
    absent = [n for n in named if not any((ROOT / base / n).exists() for base in BASES)]
    linked = {link.split("#")[0] for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text(path))} - {""}
    absent += [link for link in linked if not (path.parent / link).exists()]
    assert not absent


def test_benchmarks_and_tools_that_documents_name_can_be_run():
    named = {m for path in DOCUMENTS for m in re.findall(r"python -m ((?:benchmarks|tools)(?:\.\w+)+)", text(path))}
    assert len(named) >= 8
    assert not [m for m in named if not (ROOT / (m.replace(".", "/") + ".py")).exists()]


def test_targets_that_documents_name_are_in_the_makefile():
    targets = set(re.findall(r"^([\w-]+):", text(ROOT / "Makefile"), re.MULTILINE))
    documents = [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]
    named = {m for path in documents for m in re.findall(r"(?:`|^)make ([\w-]+)", text(path), re.MULTILINE)}
    assert {"app", "test-all", "check"} <= named <= targets


@pytest.mark.slow
def test_the_shell_commands_of_the_readme_work_as_they_are_written(tmp_path):
    block = re.search(r"^## From a shell\n+```\n(.*?)```", text(ROOT / "README.md"), re.MULTILINE | re.DOTALL)[1]
    commands = block.replace("\\\n", " ").splitlines()
    assert len(commands) >= 4
    env = os.environ | {
        "PYTHONPATH": str(ROOT),
        "DPSYN_HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for command in commands:
        done = subprocess.run(
            ["bash", "-ec", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert (tmp_path / "report.html").exists()
