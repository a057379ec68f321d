"""The spine: a default run needs few parts, imports nothing that stands beside them, and loads few files."""

import ast
import re
import subprocess
import sys

from tests.test_architecture import ENGINE, ROOT, home_of, imports_of, parts_of, place_of, tree_of

# order of reading, as ARCHITECTURE.md lists it
SPINE = ("tables", "schema", "privacy", "measure", "estimate", "systems", "runs", "commands")
BESIDE = {
    "schema.drafts",
    "systems.others",
    "systems.deep",
    "measure.spark",
    "questions",
    "evaluate",
    "report",
    "runs.attacks",
    "runs.choose",
    "runs.jobs",
    "runs.trees",
    "runs.refits",
    "runs.verify",
    "runs.further_marginals",
    "runs.itemsets",
    "runs.rule_proposals",
    "commands.adapters",
}
# imports inside a function that runs only when somebody asks for what is behind it: file -> parts
DOORS = {
    "runs/notebook.py": {"evaluate"},  # a notebook shows a release
    "runs/models.py": {"systems.deep"},  # a trained model is saved or opened
    "runs/release.py": {"systems.deep", "runs.trees"},  # linked tables are written together
    "runs/synthesis.py": {"runs.trees"},
    "runs/release_file.py": {"runs.trees"},  # of linked tables
    "runs/settings_file.py": {"runs.trees"},
    "runs/synthesizer.py": {"schema.drafts"},  # nobody gave a schema
    "runs/spec.py": {"questions"},  # questions are declared
    "systems/base.py": {"questions"},
    "systems/rls/models.py": {"questions"},  # regressions are declared
}
# of the engine that a default run of the sample loads, at most: 148 files and 23,949 lines in two of two runs
FILES, LINES = 151, 24_440

RUN = """
import sys
from dpsyn_core.commands.cli import main
code = main(["synth", *sys.argv[1:]])
files = {m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "dpsyn_core" and getattr(m, "__file__", "")}
print("loaded", len(files), sum(len(open(f, encoding="utf-8").readlines()) for f in files))
for name in sorted(n for n in sys.modules if n.startswith("dpsyn_core.")):
    print("module", name)
sys.exit(code)
"""


def beside(name):
    """The part beside the spine in which a module lies, as a set of one or none."""
    return {part for part in BESIDE if f"{name}.".startswith(f"dpsyn_core.{part}.")}


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def spine_files():
    files = [p for p in sorted(ENGINE.rglob("*.py")) if parts_of(p) in SPINE and parts_of(p) != "commands"]
    return [p for p in files if not beside(module_of(p))]


def parts_imported(nodes):
    """Parts beside the spine that import statements name."""
    names = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names += [home_of(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {part for name in names for part in beside(name)}


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
        outside = {p for n in nodes for p in parts_imported([n]) if id(n) in top}
        inside = {p for n in nodes for p in parts_imported([n]) if id(n) not in top}
        if outside or inside - DOORS.get(place_of(path), set()):
            wrong.append(f"{place_of(path)}: {sorted(outside | inside)}")
    assert not wrong, "\n".join(wrong)


def test_every_door_is_used():
    for place, parts in DOORS.items():
        named = {part for name in imports_of(ENGINE / place) for part in beside(name)}
        assert parts <= named, place


def test_a_default_run_loads_few_files_and_nothing_beside_the_spine(tmp_path):
    from dpsyn_core.commands.cli import main

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
    modules = re.findall(r"^module (\S+)", out.stdout, re.MULTILINE)
    assert not [name for name in modules if beside(name)]
    assert files <= FILES, files
    assert lines <= LINES, lines
