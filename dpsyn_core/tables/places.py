"""Places: the files that a path, a folder or a pattern names; each lies where this process may read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dpsyn_core.errors import TableError
from dpsyn_core.tables import confines

ENDINGS = (".parquet", ".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".tab.gz")  # of the files of a folder
PATTERN = re.compile(r"[*?\[]")
ADDRESS = re.compile(r"\w{2,}:/")


def files_at(place: str | os.PathLike[str]) -> tuple[list[Path], Path, str | None]:
    """The files of a place, the folder below which their folders name columns, and what to call them; None: one file.

    Raises TableError where nothing is there, or where a file lies outside what this process may read.
    """
    if ADDRESS.match(os.fspath(place)):  # which may hold a password, so that nothing of it is shown
        msg = "this is the address of a database, not a file; name a table or a query of it (--sql-table, --sql-query)"
        raise TableError(msg)
    path = Path(place)
    fixed = Path(*_before_pattern(path))
    # before anything is looked for, so that not even what is there is told
    confines.check(fixed)
    confines.check(path if ".." not in path.parts[len(fixed.parts) :] else Path("/"))
    if path.is_file():
        return [path], path.parent, None
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file() and _wanted(p.relative_to(path)))
        _check_each(files)
        return files, path, f"the folder '{path}'"
    if PATTERN.search(os.fspath(place)):
        files = sorted(p for p in fixed.glob(str(path.relative_to(fixed))) if p.is_file())
        _check_each(files)
        return files, fixed, f"the pattern '{place}'"
    msg = f"'{path}' does not exist; name a file, a folder or a pattern such as 'parts/*.parquet'"
    raise TableError(msg)


def _check_each(files: Sequence[Path]) -> None:
    for file in files:
        confines.check(file)


def _before_pattern(path: Path) -> Iterator[str]:
    for part in path.parts:
        if PATTERN.search(part):
            return
        yield part


def _wanted(path: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.parts)
    return not hidden and path.name.lower().endswith(ENDINGS)
