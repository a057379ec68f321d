"""Rooms meet at their faces: other rooms and the app import the names that a room hands out, and no module."""

import ast
import importlib
import subprocess
import sys

import pytest

from tests.test_architecture import ENGINE, ROOMS, ROOT, engine_files, parts_of
from tools.faces import faces, stub

FACES = faces()
FILES = [*engine_files(), ROOT / "app.py", *(p for f in ("ui", "pages") for p in (ROOT / f).rglob("*.py"))]


def imports_across():
    """(file, room, module below the room or "", name) of what a file imports of another room than its own."""
    for path in FILES:
        own = parts_of(path) if ENGINE in path.parents else ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpsyn_core."):
                room, _, module = node.module.removeprefix("dpsyn_core.").partition(".")
                if room in ROOMS and room != own:
                    yield from ((path.relative_to(ROOT).as_posix(), room, module, a.name) for a in node.names)


def test_other_rooms_import_what_a_room_hands_out_alone():
    modules = {(room, p.stem) for room in ROOMS for p in (ENGINE / room).iterdir() if p.suffix in ("", ".py")}
    wrong = [
        f"{place}: {room}.{module} {name}"
        for place, room, module, name in imports_across()
        if module or not (name in FACES[room] or (room, name) in modules)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_name_that_a_room_hands_out_is_used_by_another():
    used = {(room, name) for _, room, _, name in imports_across()}
    assert not [f"{room}: {name}" for room, names in FACES.items() for name in names if (room, name) not in used]


@pytest.mark.parametrize("room", sorted(FACES))
def test_a_stub_says_what_the_face_says_and_every_name_loads(room):
    assert (ENGINE / room / "__init__.pyi").read_text(encoding="utf-8") == stub(room, FACES[room])
    package = importlib.import_module(f"dpsyn_core.{room}")
    assert dir(package) == sorted(FACES[room])
    for name in FACES[room]:
        assert getattr(package, name) is not None or name


def test_a_name_that_a_room_does_not_hand_out_is_no_attribute_of_it():
    with pytest.raises(AttributeError, match=r"'dpsyn_core.schema' has no attribute 'nothing'"):
        importlib.import_module("dpsyn_core.schema").nothing


def test_a_room_loads_nothing_until_a_name_is_asked_for():
    code = "import sys, dpsyn_core.runs; print([n for n in sys.modules if n.startswith('dpsyn_core.runs.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_every_room_says_what_it_is_for_on_one_screen(room):
    text = (ENGINE / room / "README.md").read_text(encoding="utf-8")
    assert 10 <= len(text.splitlines()) <= 60
