"""How many small faults the nearest tests catch: lines of the engine are changed, one at a time, in a copy.

Draws `--count` mutants over all rooms by `--seed`: a comparison, an operator, a number or a truth value is changed.
The tests that are named after the changed module, or import it, or import what does, run on the copy, at most FILES
files of them and without the slow ones. Code that needs torch or Spark is changed, and its tests run, only where these
are installed (`make deep`, `make spark`). A mutant is killed if one of the tests fails with it and passes without it,
or if they end within SECONDS only without it. A survivor is printed with its line: a person decides whether it is
equivalent (nobody can tell the difference) or a test is missing.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from benchmarks.process import table

ROOT = Path(__file__).resolve().parents[1]
FILES = 8  # test files that run for one mutant, the nearest
SECONDS = 400  # for all tests of a mutant, several times what they take: an endless loop is killed then
LIBRARIES = {"deep": "torch", "spark": "pyspark"}  # folder -> what its code and its tests need
COPIED = ("dpsyn_core", "ui", "pages", "tests", "benchmarks", "tools", "assets", "docs")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One changed line: where it is, its text before and after, and the whole text of the changed file."""

    path: Path
    line: int
    before: str
    after: str
    text: str

    @property
    def room(self) -> str:
        """The room of the changed file; "ground" for files at the top of the engine."""
        parts = self.path.relative_to(ROOT / "dpsyn_core").parts
        return parts[0] if len(parts) > 1 else "ground"


def mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of a file whose change stands on one line; annotations, docstrings and messages stay as they are."""
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.Constant | ast.UnaryOp):
            continue
        if node.lineno != node.end_lineno or not (changed := _changed(node)):
            continue
        line = lines[node.lineno - 1].encode()
        if (whole := line.decode().strip()).startswith(("import ", "from ", "@", "class ", "def ", "msg")):
            continue
        after = (line[: node.col_offset] + changed.encode() + line[node.end_col_offset :]).decode()
        text = "\n".join([*lines[: node.lineno - 1], after, *lines[node.lineno :]])
        yield Mutant(path=path, line=node.lineno, before=whole, after=after.strip(), text=text)


def _changed(node: ast.expr) -> str:
    """The source of an expression with one thing changed; empty where there is nothing to change."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SWAPS:
            return ast.unparse(ast.Compare(left=left, ops=[SWAPS[type(op)]()], comparators=[right]))  # type: ignore[list-item]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SWAPS and not _text(left) and not _text(right):
            return f"({ast.unparse(ast.BinOp(left=left, op=SWAPS[type(op)](), right=right))})"  # type: ignore[arg-type]
        case ast.BoolOp(op=op, values=values):
            return f"({ast.unparse(ast.BoolOp(op=SWAPS[type(op)](), values=values))})"  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            return str(not value)
        case ast.Constant(value=int(value) | float(value)):
            return repr(value + 1)
    return ""


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def lacking() -> set[str]:
    """Folders whose library is not installed."""
    return {folder for folder, library in LIBRARIES.items() if find_spec(library) is None}


def nearest(path: Path) -> list[str]:
    """The test files named after a module, those that import it, those that import what does, then others beside it.

    Each time those of the folder that mirrors its own come first, then the ones with the fewest imports of the engine.
    """
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    above = {name for name, imported in _engine().items() if _reaches(imported, {module})}
    beside = ROOT / "tests" / path.relative_to(ROOT / "dpsyn_core").parent
    while not any(beside.glob("test_*.py")):
        beside = beside.parent
    named = (f"test_{path.stem}", f"test_{path.parent.name}")
    counted = []
    for test, imported in _tests().items():
        within = beside in test.parents
        direct, near = _reaches(imported, {module}), _reaches(imported, above)
        called = any(test.stem == n or test.stem.startswith(f"{n}_") for n in named) and (within or direct)
        if called or direct or near or test.parent == beside:
            name = test.relative_to(ROOT).as_posix()
            steps = 0 if called else 1 if direct else 2 if near else 3
            counted.append((steps, not within, len(imported), name))
    return [name for *_, name in sorted(counted)[:FILES]]


def _reaches(imported: set[str], modules: set[str]) -> bool:
    """Whether one of some names stands in one of some modules, or is one."""
    return any(name in modules or name.rpartition(".")[0] in modules for name in imported)


@cache
def _tests() -> dict[Path, set[str]]:
    """What each test file imports of the engine, but for those that need what is not installed or take long."""
    left_out = {"browser", "audit", *lacking()}
    files = (p for p in sorted((ROOT / "tests").rglob("test_*.py")) if not left_out & set(p.relative_to(ROOT).parts))
    return {p: _imports(p) for p in files}


@cache
def _engine() -> dict[str, set[str]]:
    """What each module of the engine imports of it."""
    files = sorted((ROOT / "dpsyn_core").rglob("*.py"))
    return {".".join(p.relative_to(ROOT).with_suffix("").parts): _imports(p) for p in files}


@cache
def _shown() -> dict[str, str]:
    """Where the names stand that packages show: `dpsyn_core.schema.Schema` in `dpsyn_core.schema.document`."""
    out: dict[str, str] = {}
    for stub in sorted((ROOT / "dpsyn_core").rglob("__init__.pyi")):
        package = ".".join(stub.parent.relative_to(ROOT).parts)
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                out |= {f"{package}.{a.asname or a.name}": f"{node.module}.{a.name}" for a in node.names}
    return {shown: name for shown, name in out.items() if shown != name}


def _imports(path: Path) -> set[str]:
    """The full names of what a file imports of the engine."""
    out, shown = set(), _shown()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpsyn_core"):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            while names & shown.keys():
                names = {shown.get(name, name) for name in names}
            out |= names
    return out


def drawn(count: int, seed: int, rooms: set[str]) -> list[Mutant]:
    """As many mutants of each room as of every other, from files drawn by their number of mutants."""
    rng = random.Random(seed)
    by_room: dict[str, list[Mutant]] = {}
    for path in sorted((ROOT / "dpsyn_core").rglob("*.py")):
        compiled = "_kernel" in path.name or path.name in ("kernel.py", "kernels.py")  # minutes each
        if not compiled and not lacking() & set(path.parts):
            for mutant in mutants(path):
                by_room.setdefault(mutant.room, []).append(mutant)
    chosen = sorted(r for r in by_room if r != "ground" and (not rooms or r in rooms))
    return [rng.choice(by_room[chosen[i % len(chosen)]]) for i in range(count)]


def verdict(mutant: Mutant, copy: Path) -> str:
    """`killed`, `survived`, or `no test` where no test is near or the one that fails does so without the change."""
    tests = nearest(mutant.path)
    if not tests:
        return "no test"
    place = copy / mutant.path.relative_to(ROOT)
    before = place.read_text(encoding="utf-8")
    place.write_text(mutant.text, encoding="utf-8")
    try:
        failed = _failed(tests, copy)
    finally:
        place.write_text(before, encoding="utf-8")
    if failed == []:
        return "survived"
    return "no test" if _failed(failed or tests, copy) != [] else "killed"


def _failed(tests: list[str], copy: Path) -> list[str] | None:
    """The first test that fails on the copy, in a list; None where pytest names none or SECONDS are over."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "--quick", "-rfE", "-pno:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=copy, capture_output=True, check=False, timeout=SECONDS, text=True)
    except subprocess.TimeoutExpired:
        return None
    if not done.returncode:
        return []
    found = re.search(r"^(?:FAILED|ERROR) (\S+\.py\S*)", done.stdout, re.MULTILINE)
    return [found[1].split("[")[0]] if found else None


def main() -> None:
    """Prints each verdict as it is found, survivors with their line, and a table by room."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=[], help="only mutants of these rooms")
    given = parser.parse_args()
    ended: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "project"
        for part in COPIED:
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (p for p in ROOT.iterdir() if p.is_file() or p.name == ".streamlit"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, copy / path.name)
        for mutant in drawn(given.count, given.seed, set(given.rooms)):
            word = verdict(mutant, copy)
            ended.setdefault(mutant.room, []).append(word)
            if word == "killed":
                print(f"killed: {mutant.path.relative_to(ROOT)}:{mutant.line}", flush=True)
            else:
                print(
                    f"{word}: {mutant.path.relative_to(ROOT)}:{mutant.line}\n  - {mutant.before}\n  + {mutant.after}",
                    flush=True,
                )
    rows: list[list[object]] = []
    everything = [word for words in ended.values() for word in words]
    for room, words in [*sorted(ended.items()), ("together", everything)]:
        killed = words.count("killed")
        rows.append(
            [room, len(words), killed, words.count("survived"), words.count("no test"), f"{killed / len(words):.0%}"]
        )
    print(table(["room", "mutants", "killed", "survived", "no test", "killed, share"], rows))


if __name__ == "__main__":
    main()
