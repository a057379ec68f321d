"""Documents name files, benchmarks and commands that exist."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.dev import TARGETS

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = ROOT / "docs" / "decisions"
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md"]
DOCUMENTS += sorted((ROOT / "docs").rglob("*.md"))
BASES = ("", "dpsyn_core", "docs")  # paths are told from the root, or from the engine
OPERATORS = {".streamlit/secrets.toml"}  # a file that whoever runs a server writes


def text(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_files_that_a_document_names_exist(path):
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|toml|md|json|css|js|sh))`", text(path))) - OPERATORS
    absent = [n for n in named if not any((ROOT / base / n).exists() for base in BASES)]
    linked = {link.split("#")[0] for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text(path))} - {""}
    absent += [link for link in linked if not (path.parent / link).exists()]
    assert not absent


@pytest.mark.parametrize("page", sorted((ROOT / "dpsyn_core").glob("*/README.md")), ids=lambda p: p.parent.name)
def test_a_page_of_a_room_names_all_its_files_and_folders_and_nothing_that_is_gone(page):
    room, named = page.parent, set(re.findall(r"`([^`\n]+)`", text(page)))
    inside = {p.name for p in room.glob("[!_]*.py")} | {f"{p.name}/" for p in room.glob("[!_]*/")}
    assert sorted(inside - {n.partition("/")[0] + "/" if "/" in n else n for n in named}) == []
    paths = [n for n in named if re.fullmatch(r"(?:[\w-]+/)+[\w-]*(?:\.py)?|\w+\.py", n)]
    assert sorted(n for n in paths if not any((base / n).exists() for base in (room, room.parent, ROOT))) == []
    public = re.search(r"\*\*Public names\*\*: ([^.]+)\.", text(page))
    face = set((room / "__init__.py").read_text(encoding="utf-8").split()) if public else set()
    assert sorted(n for n in re.findall(r"`(\w+)`", public[1] if public else "") if n not in face) == []


@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", *(ROOT / "dpsyn_core").glob("*/README.md")], ids=str)
def test_modules_that_the_map_and_the_pages_of_rooms_name_exist(page):
    bases = (ROOT, ROOT / "dpsyn_core", *(ROOT / "dpsyn_core").glob("[!_]*/"))
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+)`", text(page)))
    assert sorted(n for n in named if not any((b / n).exists() or (b / f"{n}.py").exists() for b in bases)) == []


def test_the_readme_fits_on_one_screen():
    assert sum(any(c.isalnum() for c in word) for word in text(ROOT / "README.md").split()) <= 700


def test_the_folder_of_documents_stays_small_at_the_top():
    """A reader sees what there is; what was measured and compared is in docs/evidence."""
    assert len(list((ROOT / "docs").glob("*.md"))) <= 12


def test_benchmarks_and_tools_that_documents_name_can_be_run():
    named = {m for path in DOCUMENTS for m in re.findall(r"python -m ((?:benchmarks|tools)(?:\.\w+)+)", text(path))}
    assert len(named) >= 8
    assert not [m for m in named if not (ROOT / (m.replace(".", "/") + ".py")).exists()]


def test_targets_that_documents_name_are_those_of_make():
    targets = set(TARGETS)
    documents = [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]
    asked = r"(?:`|^)(?:make|python -m tools.dev) ([\w-]+)"
    named = {m for path in documents for m in re.findall(asked, text(path), re.MULTILINE)}
    assert {"app", "test-all", "check"} <= named <= targets


def test_the_index_of_decisions_names_every_page_and_no_other():
    named = re.findall(r"^\| \[(.+?)\]\((\S+)\) \| .+? \|$", text(DECISIONS / "README.md"), re.MULTILINE)
    pages = sorted({p.name for p in DECISIONS.iterdir()} - {"README.md"})
    assert len(pages) >= 13
    assert sorted(name for _, name in named) == pages, "add or remove a line of docs/decisions/README.md"
    assert all(name == f"{title}.md" for title, name in named)


@pytest.mark.parametrize("path", sorted(set(DECISIONS.glob("*.md")) - {DECISIONS / "README.md"}), ids=lambda p: p.name)
def test_a_page_of_decisions_says_what_holds_and_where_and_what_was_not_kept(path):
    page = text(path)
    assert page.startswith("# Decisions on ")
    assert "\n## What holds" in page
    assert page.count("\n## Tried and not kept\n\n| what | result |\n|---|---|\n") == 1
    decided, tried = page.split("\n## Tried and not kept\n")
    assert len(re.findall(r"`[\w./-]+\.\w+`", decided)) >= 8, "name the files that carry the decisions"
    assert all(len(row.split(" | ")) == 2 for row in tried.strip().splitlines()[2:])


def test_decisions_are_edited_and_do_not_pile_up():
    """Whoever adds a decision shortens or removes another: a newcomer reads all pages."""
    words = sum(any(c.isalnum() for c in word) for p in DECISIONS.glob("*.md") for word in text(p).split())
    assert words <= 9_000, f"docs/decisions has {words} words"


def test_nothing_points_to_decisions_by_their_former_numbers():
    """The history of the changes alone names them: they lead nowhere else."""
    number = re.compile("|".join((r"\bA" r"DRs?\b", r"\ba" r"dr/")))
    folders = ("dpsyn_core", "ui", "pages", "tools", "tests", "benchmarks", "docs", "assets")
    files = [
        p for f in folders for ending in ("py", "md", "toml", "css", "json") for p in (ROOT / f).rglob(f"*.{ending}")
    ]
    files += [
        p
        for p in ROOT.iterdir()
        if p.is_file() and p.suffix in (".md", ".toml", ".lock", ".py", "") and p.name[0] != "."
    ]
    assert len(files) > 500
    assert not [str(p.relative_to(ROOT)) for p in files if p.name != "CHANGELOG.md" and number.search(text(p))]


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
    assert (tmp_path / "report.json").exists()
