"""The import graph proves the privacy argument: levels, blind post-processing, one gate, no screen in the engine."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tools.faces import faces

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "dpsyn_core"


def levels_of(text):
    """Level of each room and file at the top of the engine, as the map in ARCHITECTURE.md states it; 0 is the ground.

    A room imports lower levels only, and rooms on one level stay apart; files on the ground may import each other.
    """
    stated = re.findall(r"^  (\S+?)/? .* level (\d+)$", text.split("```")[1], re.MULTILINE)
    return {name: int(level) for name, level in stated}


LEVELS = levels_of((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
FACES = faces()
ROOMS = {name for name, level in LEVELS.items() if level and name != "__main__"}
OPENS = "runs/open.py"  # hands the noise to the gate, and is the only file outside `measure` that touches it


def parts_of(path):
    relative = path.relative_to(ENGINE).with_suffix("")
    return relative.parts[0]


def place_of(path):
    return path.relative_to(ENGINE).as_posix()


@cache
def tree_of(path):
    """The syntax of a file, parsed once for all tests of this process."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path):
    """Full names of every import in a file, at any depth."""
    return tuple(_imports_of(path))


def _imports_of(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            for alias in node.names:
                yield home_of(node.module, alias.name)


def home_of(module, name):
    """The full name of what is imported: where a room hands it out, by the module that holds it."""
    held = FACES.get(module.removeprefix("dpsyn_core."), {}).get(name)
    return f"{module}.{held}.{name}" if held else f"{module}.{name}"


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


def test_the_map_in_architecture_md_is_the_tree_and_gives_every_room_a_level():
    assert set(LEVELS) == {parts_of(p) for p in engine_files()} - {"__init__"}
    assert len(ROOMS) == 11
    assert {LEVELS[room] for room in ROOMS} == set(range(1, 9))


def test_a_map_is_read_with_its_levels():
    text = "```\nengine\n  top/    many words   level 2\n  low     words      level 0\n```"
    assert levels_of(text) == {"top": 2, "low": 0}


def test_imports_go_down_only():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path, part, target, name in engine_imports()
        if target in LEVELS and target != part and LEVELS[target] >= max(LEVELS[part], 1)
    ]
    assert not wrong, "\n".join(wrong)


BLIND = ("estimate/", "questions/answers/")
SEES = ("dpsyn_core.measure", "dpsyn_core.privacy.noise", "dpsyn_core.runs", "dpsyn_core.evaluate")


@pytest.mark.parametrize("blind", BLIND)
def test_post_processing_never_sees_counts_or_noise(blind):
    files = [p for p in engine_files() if place_of(p).startswith(blind)]
    assert files
    assert not [f"{place_of(p)}: {name}" for p in files for name in imports_of(p) if name.startswith(SEES)]


def test_counts_meet_noise_in_measure_only():
    noisy = []
    for path in engine_files():
        place, names = place_of(path), imports_of(path)
        if place.startswith(("measure/", "privacy/noise/")):
            continue
        noise = any(n.startswith("dpsyn_core.privacy.noise") for n in names)
        assert not (noise and any(n.startswith("dpsyn_core.measure.counting") for n in names)), place
        noisy += [place] if noise else []
    assert noisy == [OPENS]
    counting = [p for p in engine_files() if place_of(p).startswith("measure/counting/")]
    assert not [p for p in counting if any(n.startswith("dpsyn_core.privacy.noise") for n in imports_of(p))]


def test_one_file_debits_the_ledger_and_opens_gates():
    """Rule 5, charge then count then add noise, is written once; the plan's dry run has an account and no noise."""
    callers = {"Gate": set(), "UnprotectedGate": set(), "Account": set(), "reserve": set()}
    for path in engine_files():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                callers.get(name, set()).add(place_of(path))
    once = {OPENS}
    assert callers == {
        "Gate": once,
        "UnprotectedGate": once,
        "Account": once | {"systems/dry_run.py"},
        "reserve": once,
    }


@pytest.mark.parametrize("place", ["runs/release.py", "runs/measurement.py", "runs/further_marginals.py"])
def test_a_run_knows_no_source_and_no_counter_by_name(place):
    """So that records that are elsewhere are counted elsewhere by a new source alone."""
    hidden = (
        "dpsyn_core.measure.counting",
        "dpsyn_core.schema.codec",
        "dpsyn_core.measure.sources.memory",
        "dpsyn_core.measure.sources.bound",
    )
    assert not [name for name in imports_of(ENGINE / place) if name.startswith(hidden)]


def test_units_and_tasks_are_read_off_a_schema_in_one_place_each():
    """Built by hand, two of them once forgot the identifier."""
    wrong = []
    files = [p for folder in ("dpsyn_core", "ui", "pages") for p in (ROOT / folder).rglob("*.py")]
    for path in files:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Task", "Unit"):
                read = [n for k in node.keywords for n in ast.walk(k.value) if isinstance(n, ast.Attribute)]
                copied = [n.attr for n in read if n.attr in ("unit", "max_records", "domain", "model_dump")]
                if node.func.id == "Task" or (copied and "args" not in ast.unparse(node)):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not wrong


def test_no_import_leads_back_to_where_it_started():
    """Imports inside functions count too: a circle that works today breaks when somebody moves a line."""
    graph = imports_by_module()
    assert len(graph) > 200
    assert circles(graph) == []


def test_a_circle_would_be_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def imports_by_module():
    """Module -> the modules of engine, ui and pages that it imports."""
    files = {}
    for folder in ("dpsyn_core", "ui", "pages"):
        for path in (ROOT / folder).rglob("*.py"):
            files[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = path
    graph = {}
    for module, path in files.items():
        # of `from a.b import c`, c may be a module or a name inside a.b
        reached = {name if name in files else name.rpartition(".")[0] for name in imports_of(path)}
        graph[module] = {n for n in reached if n in files and n != module}
    return graph


def circles(graph):
    """Modules that import each other, directly or by way of others: strongly connected parts of more than one."""

    def reached(start):
        found, ahead = set(), [start]
        while ahead:
            for target in graph.get(ahead.pop(), ()):
                if target not in found:
                    found.add(target)
                    ahead.append(target)
        return found

    reach = {module: reached(module) for module in graph}
    together = {tuple(sorted({n for n in reach[m] if m in reach.get(n, ())} | {m})) for m in graph if m in reach[m]}
    return sorted(list(group) for group in together)


def test_the_engine_never_imports_a_screen():
    wrong = [
        f"{p.relative_to(ROOT)}: {n}" for p in engine_files() for n in imports_of(p)
        if n.split(".")[0] in {"streamlit", "ui", "pages"}
    ]  # fmt: skip
    assert not wrong


def test_only_labs_read_lessons_whose_noise_repeats():
    """Seeded draws are for figures about invented people; nothing that touches a visitor's table may import them."""
    files = [p for folder in ("dpsyn_core", "ui", "pages", "tools") for p in (ROOT / folder).rglob("*.py")]
    wrong = [
        f"{p.relative_to(ROOT)}: {n}" for p in files for n in imports_of(p)
        if n.startswith("ui.learn.numbers") and (ROOT / "ui" / "learn") not in p.parents and p.name != "lab_pictures.py"
    ]  # fmt: skip
    assert not wrong


def test_pages_hold_no_algorithm():
    wrong = []
    for page in sorted((ROOT / "pages").glob("*.py")):
        for name in imports_of(page):
            if name.startswith(("dpsyn_core.measure", "dpsyn_core.privacy.noise", "dpsyn_core.estimate.records")):
                wrong.append(f"{page.name}: {name}")
    assert not wrong


def test_noise_takes_no_seed_and_numpy_random_stays_out_of_it():
    for path in [*(ENGINE / "privacy" / "noise").glob("*.py"), *(ENGINE / "measure").glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "default_rng" not in text, path.name
        functions = [n for n in ast.walk(tree_of(path)) if isinstance(n, ast.FunctionDef)]
        assert "seed" not in {a.arg for f in functions for a in f.args.args + f.args.kwonlyargs}, path.name


def test_no_validation_by_assert_and_no_bare_except():
    wrong = []
    for path in engine_files():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Assert) or (isinstance(node, ast.ExceptHandler) and node.type is None):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not wrong


def test_every_file_says_in_its_first_line_what_it_is_for():
    folders = ["dpsyn_core", "pages", "ui", "benchmarks", "tools"]
    files = [p for f in folders for p in (ROOT / f).rglob("*.py")] + [ROOT / "app.py"]
    silent = []
    for path in files:
        if tree_of(path).body and not ast.get_docstring(tree_of(path)):
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
    written = re.compile(r"^\s*class SeededNoise\b", re.MULTILINE)
    files = [p for f in folders for p in (ROOT / f).rglob("*.py")]
    made = [str(p.relative_to(ROOT)) for p in files if written.search(p.read_text(encoding="utf-8"))]
    assert made == ["tests/seeded.py"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["dpsyn_core"]
    assert not [source for source in wheel["force-include"] if source.split("/")[0] in {"tests", "benchmarks"}]


def test_the_package_says_that_it_is_typed_and_every_folder_of_code_is_checked():
    assert (ENGINE / "py.typed").exists()
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert set(checked["files"]) >= {"dpsyn_core", "ui", "pages", "app.py", "benchmarks", "tools"} and checked["strict"]


def test_types_are_checked_alike_where_the_libraries_of_deep_and_spark_are_not_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    named = {re.split(r"[<>=\[]", r)[0] for extra in ("deep", "spark") for r in extras[extra]}
    unread = {m for o in project["tool"]["mypy"]["overrides"] if o.get("ignore_missing_imports") for m in o["module"]}
    assert not {f"{name}.*" for name in named} - unread


def test_only_the_gate_sums_vectors_of_records_and_draws_samples():
    """What a counter sums, and who is in a sample, is exact and private: it reaches a system through the gate alone."""
    callers = {"vector_sum": set(), "chance": set(), "sum_of_block": set(), "block_sum": set()}
    for path in engine_files():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                callers.get(name, set()).add(place_of(path))
    gates = {"measure/gate.py", "measure/unprotected.py"}  # the second adds no noise: NOT PRIVATE, and says so
    assert callers["vector_sum"] == gates
    assert callers["chance"] == {"measure/gate.py"}
    assert callers["sum_of_block"] == {"measure/counting/sums.py"}
    assert {place.split("/")[1] for place in callers["block_sum"]} == {"counting", "spark"}


def test_pyspark_is_imported_where_spark_is_spoken_to_and_inside_functions():
    users = {p for p in engine_files() if {n.split(".")[0] for n in imports_of(p)} & {"pyspark"}}
    assert users
    for user in users:
        assert place_of(user).startswith("measure/spark/")
        top = [n for n in tree_of(user).body if isinstance(n, ast.Import | ast.ImportFrom)]
        assert not [n for n in top if "pyspark" in ast.unparse(n)], user


def test_torch_is_imported_by_the_deep_systems_alone_and_inside_their_functions():
    users = {
        p.relative_to(ROOT).as_posix() for p in engine_files() if {n.split(".")[0] for n in imports_of(p)} & {"torch"}
    }
    assert users
    assert all(user.startswith("dpsyn_core/systems/deep/") for user in users)
    for user in users:
        tree = ast.parse((ROOT / user).read_text(encoding="utf-8"))
        top = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        assert not [n for n in top if any(a.name == "torch" for a in n.names)], user


def test_no_name_of_a_class_stands_in_two_modules():
    places = {}
    for path in engine_files():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(place_of(path))
    assert not {name: where for name, where in places.items() if len(where) > 1}, "give each the word for what it is"
