"""The spine: a default run needs few parts, imports nothing that stands beside them, and loads few files."""

import ast
import re
import subprocess
import sys

from tests.test_architecture import ENGINE, ROOT, imports_of, parts_of, place_of, tree_of

# order of reading, as ARCHITECTURE.md lists it
SPINE = (
    "tables", "schema", "privacy", "noise", "counting", "sources", "measurement", "marginals", "records",
    "synthesizers", "runs", "commands",
)  # fmt: skip
BESIDE = {
    "systems", "deep", "spark", "questions", "answers", "planning", "suggest", "metrics", "report", "attacks", "jobs",
    "lessons", "linked", "refits", "grids", "tuning",
}  # fmt: skip
# imports inside a function that runs only when somebody asks for what is behind it: file -> parts
DOORS = {
    "runs/notebook.py": {"metrics"},  # a notebook shows a release
    "runs/models.py": {"deep"},  # a trained model is saved or opened
    "runs/release.py": {"deep"},
    "runs/spec.py": {"questions"},  # questions are declared
    "synthesizers/base.py": {"questions"},
}
FILES, LINES = 130, 20_500  # of the engine that a default run of the bundled sample loads: at most

RUN = """
import sys
from dpsyn_core.cli import main
code = main(["synth", *sys.argv[1:]])
files = {m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "dpsyn_core" and getattr(m, "__file__", "")}
print("loaded", len(files), sum(len(open(f, encoding="utf-8").readlines()) for f in files))
for name in sorted(n for n in sys.modules if n.startswith("dpsyn_core.")):
    print("module", name)
sys.exit(code)
"""


def spine_files():
    return [p for p in sorted(ENGINE.rglob("*.py")) if parts_of(p) in SPINE and parts_of(p) != "commands"]


def parts_imported(nodes):
    """Parts of the engine that import statements name."""
    names = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("dpsyn_core.")}


def for_types(tree):
    """Import statements that only type checkers follow."""
    blocks = [n for n in tree.body if isinstance(n, ast.If) and getattr(n.test, "id", "") == "TYPE_CHECKING"]
    return {id(n) for block in blocks for n in ast.walk(block)}


def test_the_spine_is_read_in_the_order_of_the_architecture():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| `", text, re.MULTILINE)
    assert tuple(listed) == SPINE
    for part, start in re.findall(r"^\| `(\w+)` \| `([\w/]+)`", text, re.MULTILINE):
        assert (ENGINE / part / f"{start}.py").exists(), f"{part}/{start}"


def test_the_spine_imports_nothing_that_stands_beside_it():
    wrong = []
    for path in spine_files():
        tree, skipped = tree_of(path), for_types(tree_of(path))
        nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) and id(n) not in skipped]
        top = {id(n) for n in tree.body}
        beside = {p for n in nodes for p in parts_imported([n]) & BESIDE if id(n) in top}
        inside = {p for n in nodes for p in parts_imported([n]) & BESIDE if id(n) not in top}
        if beside or inside - DOORS.get(place_of(path), set()):
            wrong.append(f"{place_of(path)}: {sorted(beside | inside)}")
    assert not wrong, "\n".join(wrong)


def test_every_door_is_used():
    for place, parts in DOORS.items():
        named = {name.split(".")[1] for name in imports_of(ENGINE / place) if name.startswith("dpsyn_core.")}
        assert parts <= named, place


def test_a_default_run_loads_few_files_and_nothing_beside_the_spine(tmp_path):
    from dpsyn_core.cli import main

    assert main(["sample", str(tmp_path)]) == 0
    out = subprocess.run(
        [
            sys.executable, "-c", RUN, str(tmp_path / "sample.csv"), "--schema", str(tmp_path / "sample.schema.json"),
            "--epsilon", "1", "--delta", "1e-9", "--out", str(tmp_path / "out.csv"), "--quiet",
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert out.returncode == 0, out.stderr
    files, lines = map(int, re.search(r"^loaded (\d+) (\d+)$", out.stdout, re.MULTILINE).groups())
    modules = re.findall(r"^module dpsyn_core\.(\w+)", out.stdout, re.MULTILINE)
    assert not set(modules) & BESIDE
    assert files <= FILES, files
    assert lines <= LINES, lines
