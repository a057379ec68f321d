"""Writes the type stub of every room beside its face: `__init__.pyi` from the names in `__init__.py`.

The face of a room says which module holds which name (`dpsyn_core/loading.py`); type checkers and editors read stubs.
`python -m tools.faces` writes them, and `tests/test_faces.py` holds that they are what the faces say.
"""

from __future__ import annotations

import ast
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[1] / "dpsyn_core"


def faces() -> dict[str, dict[str, str]]:
    """Room -> public name -> the module of the room that holds it, as `__init__.py` of each room states it."""
    rooms = {p.parent.name: names_of(p) for p in sorted(ENGINE.glob("*/__init__.py"))}
    return {room: names for room, names in rooms.items() if names}


def names_of(path: Path) -> dict[str, str]:
    """Public name -> module, from the call of `face` in a file; none where there is no such call."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "face":
            lines = (line.split(":") for line in str(ast.literal_eval(node.args[1])).split("\n") if line.strip())
            return {name: module.strip() for module, names in lines for name in names.split()}
    return {}


def stub(room: str, names: dict[str, str]) -> str:
    """The text of a stub: one import a name, sorted as the linter sorts them."""
    places = sorted((module, not name.isupper(), not name[0].isupper(), name) for name, module in names.items())
    return "".join(f"from dpsyn_core.{room}.{module} import {name} as {name}\n" for module, *_, name in places)


def main() -> None:
    """Writes the stubs of all rooms."""
    for room, names in faces().items():
        (ENGINE / room / "__init__.pyi").write_text(stub(room, names), encoding="utf-8")


if __name__ == "__main__":
    main()
