"""The size of the project, figure by figure: files, lines, constants, settings, repeated names, words of documents.

Four lines of the first table are what a default `dpsyn synth` of the bundled sample loads and how large `rls` is. The
last table says which features the engine would have to lose to be as small as its goal. `make test` and times are
measured by running them (CONTRIBUTING.md), and `python -m benchmarks.main_job` times whole commands.
"""

from __future__ import annotations

import ast
import contextlib
import io
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
# what the spine of a run does not need: patterns of files; the first that matches counts
FEATURES = {
    "linked tables": "runs/trees/*.py runs/jobs/linked.py schema/linked.py schema/draft/linked.py "
    "report/linked_page.py estimate/records/linked*.py questions/linked.py schema/rules/linked*.py",
    "rules of the schema and their repair": "schema/rules/*.py schema/rhythm.py runs/rule_proposals.py",
    "refits and tables of others": "runs/refit/*.py commands/refit.py estimate/marginals/released_file.py",
    "codebooks in and out": "schema/importers/*.py tables/labelled*.py tables/declared.py",
    "planning, grids, publishing, adapters": "runs/choose/*.py report/publishing/*.py commands/adapters/*.py "
    "commands/plan.py commands/tune.py commands/grid.py commands/epsilon.py commands/describe.py commands/registry.py",
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


def main() -> None:
    """Prints one line a figure, with its goal."""
    engine = sorted(ENGINE.rglob("*.py"))
    rls = [p for folder in RLS for p in folder.rglob("*.py")]
    settings = sum(len(config_class(m).model_fields) for m in names())
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    experiments = [p for p in (ROOT / "benchmarks" / "experiments").glob("*.py") if p.name != "__init__.py"]
    run_files, run_lines = loaded()
    rows: list[list[object]] = [
        ["engine, lines", lines(engine), "44,000"],
        ["engine, files", len(engine), "290"],
        ["loaded by a default run, files", run_files, "130"],
        ["loaded by a default run, lines", run_lines, "20,000"],
        ["`rls` with its records, lines", lines(rls), "3,400"],
        ["`rls` with its records, constants", constants(rls), "70"],
        ["settings of all systems", settings, "175"],
        ["class names in two modules", len(repeated_classes()), "0"],
        ["decisions, pages", len(decisions) - 1, "13"],
        ["decisions, words", words(decisions), "9,000"],
        ["scripts of experiments", len(experiments), "4"],
        ["CHANGELOG, words", words([ROOT / "CHANGELOG.md"]), "400"],
        ["README, words", words([ROOT / "README.md"]), ""],
    ]
    print(table(["figure", "today", "goal"], [[n, f"{v:,}", g] for n, v, g in rows]))
    parts = sorted(((lines(p.rglob("*.py")), p.name) for p in ENGINE.iterdir() if p.is_dir()), reverse=True)
    print(table(["part", "lines"], [[n, f"{v:,}"] for v, n in parts if v > 1]))
    print(table(["what would have to go", "lines", "files"], features()))


if __name__ == "__main__":
    main()
