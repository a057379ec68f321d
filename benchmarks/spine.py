"""The size of the project, figure by figure: files, lines, constants, settings, repeated names, words of documents.

Two lines of the first table are what a default `dpsyn synth` of the bundled sample loads. The last table says which
features the engine would have to lose to be as small as its goal. `make test` and times are measured by running them
(CONTRIBUTING.md), and `python -m benchmarks.main_job` times whole commands.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.process import table
from dpsyn_core.systems.registry import config_class, names

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "dpsyn_core"
RLS = (ENGINE / "systems" / "rls", ENGINE / "estimate" / "records" / "rls")
VAGUE = r"\b(?:found|known|held|told|said|made|own|wanted)\b"
# what the spine of a run does not need: patterns of files; the first that matches counts
FEATURES = {
    "linked tables": "runs/trees/*.py runs/jobs/linked.py schema/linked.py schema/drafts/linked.py "
    "report/linked_page.py estimate/records/linked*.py questions/across.py schema/rules/linked*.py",
    "rules of the schema and their repair": "schema/rules/*.py schema/rhythm.py runs/rule_proposals.py",
    "refits and tables of others": "runs/refits/*.py commands/refit.py estimate/marginals/released_file.py",
    "codebooks in and out": "schema/importers/*.py tables/labelled*.py tables/declarations.py",
    "planning, grids, publishing, adapters": "runs/choose/*.py report/publishing/*.py commands/adapters/*.py "
    "commands/plan.py commands/compare_systems.py commands/describe.py commands/registry.py",
    "public tables": "systems/rls/prior.py systems/public_table.py runs/public_table.py evaluate/exploration.py "
    "commands/explore.py",
    "the other systems, P3GM and its family": "systems/others/*.py systems/others/*/*.py systems/deep/*.py",
    "reports, metrics, attacks": "report/*.py report/figures/*.py evaluate/*.py runs/attacks/*.py commands/report.py "
    "commands/compare.py commands/attack.py",
}
LOADED = """
import sys
from dpsyn_core.commands.cli import main
main(["synth", *sys.argv[1:]])
files = {m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "dpsyn_core" and m.__file__}
print(len(files), sum(len(open(f, encoding="utf-8").readlines()) for f in files))
"""


def lines(paths: Iterable[Path]) -> int:
    """Lines of files together."""
    return sum(len(p.read_text(encoding="utf-8").splitlines()) for p in paths)


def words(paths: Iterable[Path]) -> int:
    """Words that hold a letter or a digit, as `tests/test_documents.py` counts them."""
    return sum(any(c.isalnum() for c in word) for p in paths for word in p.read_text(encoding="utf-8").split())


def constants(paths: Iterable[Path]) -> int:
    """Numbers that a rule stands on: assignments of a number at the top of a module or as a default of a class."""
    found = 0
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bodies = [tree.body, *(n.body for n in ast.walk(tree) if isinstance(n, ast.ClassDef))]
        for node in (n for body in bodies for n in body if isinstance(n, ast.Assign | ast.AnnAssign)):
            numbers = [c for c in ast.walk(node) if isinstance(c, ast.Constant) and type(c.value) in (int, float)]
            found += node.value is not None and bool(numbers)
    return found


def repeated_classes() -> list[str]:
    """Public class names that stand in two modules of the engine."""
    found = Counter(
        node.name
        for path in ENGINE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(n for n, times in found.items() if times > 1)


def loaded() -> tuple[int, int]:
    """Files and lines of the engine that a default run loads."""
    from dpsyn_core.commands.cli import main

    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        main(["sample", name])
        given = [f"{name}/sample.csv", "--schema", f"{name}/sample.schema.json", "--out", f"{name}/out.csv", "--quiet"]
        done = subprocess.run(
            [sys.executable, "-c", LOADED, *given, "--epsilon", "1", "--delta", "1e-9"],
            capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
    files, count = done.stdout.split()
    return int(files), int(count)


def features() -> list[list[object]]:
    """Lines and files of each of FEATURES, and of what would be left of the engine without them."""
    left, rows = set(ENGINE.rglob("*.py")), list[list[object]]()
    for name, patterns in FEATURES.items():
        own = left & {p for pattern in patterns.split() for p in ENGINE.glob(pattern)}
        left -= own
        rows.append([name, f"{lines(own):,}", len(own)])
    return [*rows, ["what would be left", f"{lines(left):,}", len(left)]]


def functions() -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of the engine."""
    trees = (ast.parse(p.read_text(encoding="utf-8")) for p in ENGINE.rglob("*.py"))
    return [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def most_parameters() -> int:
    """Parameters of the function that has most."""
    return max(len(f.args.posonlyargs) + len(f.args.args) + len(f.args.kwonlyargs) for f in functions())


def vague_words() -> tuple[int, int]:
    """How often VAGUE stand in docstrings of the engine, and as names of variables."""
    in_text = in_names = 0
    for path in ENGINE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                in_text += len(re.findall(VAGUE, ast.get_docstring(node) or ""))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                in_names += bool(re.fullmatch(VAGUE, node.id))
    return in_text, in_names


def kind_checks(*, root: Path = ROOT) -> tuple[int, int]:
    """How often `isinstance` asks for a kind of attribute or of rule outside `schema/`, and in all.

    Kinds are the classes of `schema/` whose names end with Attribute or Rule; the engine, the app and its pages count.
    """
    files = [p for folder in ("dpsyn_core", "ui", "pages") for p in sorted((root / folder).rglob("*.py"))]
    trees = {p: ast.parse(p.read_text(encoding="utf-8")) for p in files}
    inside = {p for p in files if p.is_relative_to(root / "dpsyn_core" / "schema")}
    kinds = {
        node.name
        for p in inside
        for node in ast.walk(trees[p])
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Attribute", "Rule"))
    }
    outside = everywhere = 0
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = any(isinstance(n, ast.Name) and n.id in kinds for n in ast.walk(node.args[1]))
                everywhere += asked
                outside += asked and path not in inside
    return outside, everywhere


def mentions(pattern: str, *suffixes: str) -> int:
    """How often a pattern occurs in the files of the engine, the app and its pages."""
    files = [p for f in ("dpsyn_core", "ui", "pages") for p in (ROOT / f).rglob("*") if p.suffix in suffixes]
    return sum(len(re.findall(pattern, p.read_text(encoding="utf-8"))) for p in files)


def levels() -> tuple[int, int]:
    """Rooms of the engine and the levels on which they stand, as the map in ARCHITECTURE.md says."""
    plan = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("```")[1]
    stated = re.findall(r"^  (\w+)/ .* level (\d+)$", plan, re.MULTILINE)
    rooms = [level for name, level in stated if name != "data"]
    return len(rooms), len({"0", *rooms})


def main() -> None:
    """Prints one line a figure, with its goal."""
    engine = sorted(ENGINE.rglob("*.py"))
    rls = [p for folder in RLS for p in folder.rglob("*.py")]
    settings = sum(len(config_class(m).model_fields) for m in names())
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    experiments = [p for p in (ROOT / "benchmarks" / "experiments").glob("*.py") if p.name != "__init__.py"]
    run_files, run_lines = loaded()
    rooms, stories = levels()
    in_text, in_names = vague_words()
    outside, everywhere = kind_checks()
    rows: list[list[object]] = [
        ["rooms of the engine", rooms, "11"],
        ["levels of the engine", stories, "9"],
        ["engine, lines", lines(engine), "72,500"],
        ["engine, files", len(engine), "375"],
        ["app and pages, lines", lines([*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]), ""],
        ["loaded by a default run, files", run_files, "130"],
        ["loaded by a default run, lines", run_lines, "20,500"],
        ["parameters of a function, at most", most_parameters(), "12"],
        ["places that the formatter skips", mentions("# fmt: skip", ".py"), "100"],
        ["vague words in docstrings", in_text, "60"],
        ["vague words as names of variables", in_names, "400"],
        ["`run_linked` and `synthesize_linked`", mentions("run_linked|synthesize_linked", ".py"), "0"],
        ["`rls` with its records, lines", lines(rls), "3,400"],
        ["`rls` with its records, constants", constants(rls), "70"],
        ["settings of all systems", settings, "175"],
        ["isinstance of a kind outside schema/", outside, "20"],
        ["isinstance of a kind", everywhere, ""],
        ["class names in two modules", len(repeated_classes()), "0"],
        ["pages at the top of docs/", len(list((ROOT / "docs").glob("*.md"))), "12"],
        ["lock files beside the README", len(list(ROOT.glob("*.lock"))), "0"],
        ["decisions, pages", len(decisions) - 1, "13"],
        ["decisions, words", words(decisions), "9,000"],
        ["scripts of experiments", len(experiments), "4"],
        ["CHANGELOG, words", words([ROOT / "CHANGELOG.md"]), "400"],
        ["README, words", words([ROOT / "README.md"]), "700"],
    ]
    print(table(["figure", "today", "goal"], [[n, f"{v:,}", g] for n, v, g in rows]))
    parts = sorted(
        ((lines(p.rglob("*.py")), p.name) for p in ENGINE.iterdir() if (p / "__init__.py").exists()), reverse=True
    )
    print(table(["room", "lines", "files"], [[n, f"{v:,}", len(list((ENGINE / n).rglob("*.py")))] for v, n in parts]))
    print(table(["what would have to go", "lines", "files"], features()))


if __name__ == "__main__":
    main()
