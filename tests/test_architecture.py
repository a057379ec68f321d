"""The import graph proves the privacy argument: floors, blind post-processing, one gate, no screen in the engine."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "dpsyn_core"


def floors_of(text):
    """Floor of each top-level part of the engine, as the map in ARCHITECTURE.md states it; the ground is -1.

    Imports go down only, and neighbours on a floor stay apart.
    """
    floors, name = {}, None
    for line in text.split("```")[1].splitlines():
        if re.match(r"  \S", line):
            name = line.split()[0].rstrip("/")
        stated = re.search(r" (floor (\d+)|the ground)$", line)
        if stated and name:
            floors[name] = int(stated[2]) if stated[2] else -1
    return floors


FLOORS = floors_of((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
WIRES = {"runs"}  # they join the parts of a run and call none of their functions on data


def parts_of(path):
    relative = path.relative_to(ENGINE).with_suffix("")
    return relative.parts[0]


def imports_of(path):
    """(module, names) of every import in a file, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def engine_files():
    return [p for p in sorted(ENGINE.rglob("*.py")) if "_app" not in p.parts]


def engine_imports():
    """(file, its part, imported part, full name) of every import inside the engine."""
    for path in engine_files():
        part = parts_of(path)
        if part == "__init__":
            continue
        for name in imports_of(path):
            pieces = name.split(".")
            if pieces[0] == "dpsyn_core" and len(pieces) > 1:
                yield path, part, pieces[1], name


def test_the_map_in_architecture_md_is_the_tree_and_gives_every_part_a_floor():
    assert set(FLOORS) == {parts_of(p) for p in engine_files()} - {"__init__"}


def test_a_map_is_read_with_its_floors():
    text = "```\nengine\n  top/    many words;   floor 2\n  next/   more\n          words         floor 1\n"
    assert floors_of(text + "  low     words         the ground\n```") == {"top": 2, "next": 1, "low": -1}


def test_imports_go_down_only():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path, part, target, name in engine_imports()
        if target in FLOORS and target != part and FLOORS[target] >= FLOORS[part]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("blind", ["consistency", "records", "marginals"])
def test_post_processing_never_sees_counts_or_noise(blind):
    wrong = [
        name for _, part, target, name in engine_imports()
        if part == blind and target in {"counting", "noise", "measurement", "runs", "metrics"}
    ]  # fmt: skip
    assert not wrong


def test_counts_meet_noise_in_measurement_only():
    by_part = {}
    for path, part, target, _ in engine_imports():
        if part not in WIRES:
            by_part.setdefault(path, set()).add(target)
    both = [p for p, targets in by_part.items() if {"counting", "noise"} <= targets and parts_of(p) != "measurement"]
    assert not both
    noise_users = {part for _, part, target, _ in engine_imports() if target == "noise"} - {"noise"}
    assert noise_users <= WIRES | {"measurement"}


def test_the_engine_never_imports_a_screen():
    wrong = [
        f"{p.relative_to(ROOT)}: {n}" for p in engine_files() for n in imports_of(p)
        if n.split(".")[0] in {"streamlit", "ui", "pages"}
    ]  # fmt: skip
    assert not wrong


def test_pages_hold_no_algorithm():
    wrong = []
    for page in sorted((ROOT / "pages").glob("*.py")):
        for name in imports_of(page):
            pieces = name.split(".")
            if (
                pieces[0] == "dpsyn_core"
                and len(pieces) > 1
                and pieces[1] in {"counting", "noise", "measurement", "records"}
            ):
                wrong.append(f"{page.name}: {name}")
    assert not wrong


def test_noise_takes_no_seed_and_numpy_random_stays_out_of_it():
    for path in [*(ENGINE / "noise").glob("*.py"), *(ENGINE / "measurement").glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "default_rng" not in text, path.name
        functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
        assert "seed" not in {a.arg for f in functions for a in f.args.args + f.args.kwonlyargs}, path.name


def test_no_validation_by_assert_and_no_bare_except():
    wrong = []
    for path in engine_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assert) or (isinstance(node, ast.ExceptHandler) and node.type is None):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not wrong


def test_every_file_says_in_its_first_line_what_it_is_for():
    folders = ["dpsyn_core", "pages", "ui", "benchmarks", "tools"]
    files = [p for f in folders for p in (ROOT / f).rglob("*.py")] + [ROOT / "app.py"]
    silent = []
    for path in files:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text and not ast.get_docstring(ast.parse(text)):
            silent.append(str(path.relative_to(ROOT)))
    assert not silent


def test_nothing_that_people_run_imports_tests_or_benchmarks():
    """Seeded noise, which protects nobody, lives in tests; the package, the app and the tools cannot reach it."""
    files = [p for f in ("dpsyn_core", "ui", "pages", "tools") for p in (ROOT / f).rglob("*.py")] + [ROOT / "app.py"]
    wrong = [
        f"{p.relative_to(ROOT)}: {n}" for p in files for n in imports_of(p)
        if n.split(".")[0] in {"tests", "benchmarks"}
    ]  # fmt: skip
    assert len(files) > 100
    assert not wrong


def test_seeded_noise_is_written_once_and_does_not_travel_in_the_wheel():
    folders = ("dpsyn_core", "ui", "pages", "tools", "tests", "benchmarks")
    made = []
    for path in (p for f in folders for p in (ROOT / f).rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if any(isinstance(n, ast.ClassDef) and n.name == "SeededNoise" for n in nodes):
            made.append(str(path.relative_to(ROOT)))
    assert made == ["tests/seeded.py"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["dpsyn_core"]
    assert not [source for source in wheel["force-include"] if source.split("/")[0] in {"tests", "benchmarks"}]


def test_the_package_says_that_it_is_typed_and_every_folder_of_code_is_checked():
    assert (ENGINE / "py.typed").exists()
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert set(checked["files"]) >= {"dpsyn_core", "ui", "pages", "app.py", "benchmarks", "tools"} and checked["strict"]


def test_the_index_of_decisions_names_every_record_and_no_other():
    folder = ROOT / "docs" / "adr"
    rows = re.findall(
        r"^\| \[(\d{4})\]\((\S+)\) \| (.+?) \| (.+?) \| (.+?) \|$",
        (folder / "README.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    records = sorted(p.name for p in folder.glob("[0-9]*.md"))
    named = [name for _, name, *_ in rows]
    assert named == records, f"add or remove a line of docs/adr/README.md: {sorted(set(named) ^ set(records))}"
    for number, name, title, status, line in rows:
        assert name.startswith(f"{number}-")
        heading = (folder / name).read_text(encoding="utf-8").split("\n", 1)[0]
        assert re.sub(r"^# (ADR )?\d*[ .:]*", "", heading) == title, name
        assert re.match(r"accepted|superseded by|moved to", status), (name, status)
        assert 20 < len(line) < 200, name
