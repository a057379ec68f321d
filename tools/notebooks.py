"""Runs the notebooks of docs/teaching cell by cell: `python -m tools.notebooks [NAME ...]` prints seconds and output.

A notebook of this project is plain Python: no magic commands, no widgets, no stored output. So running its code cells
one after the other in one namespace is what a kernel would do, and needs no other package.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "teaching" / "notebooks"


def notebooks() -> list[Path]:
    """All notebooks, in the order of the labs."""
    return sorted(FOLDER.glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook."""
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return found


def run(path: Path) -> str:
    """What the code cells print; raises what they raise, with the notebook and the cell in the trace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for number, cell in enumerate(cells(path)):
            if cell["cell_type"] == "code":
                source = "".join(cell["source"])
                exec(compile(source, f"{path.name}, cell {number}", "exec"), names)
    return said.getvalue()


def main(wanted: list[str]) -> int:
    """Runs those whose name holds one of the words, or all."""
    for path in notebooks():
        if not wanted or any(word in path.name for word in wanted):
            start = time.perf_counter()
            said = run(path)
            print(f"{path.name}: {time.perf_counter() - start:.1f} s\n{said}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
