"""Confines: which files a process may read tables from, checked on the file that is open and not on its name.

On a server that others use, a visitor names a file, a folder or a pattern. What the name means is resolved when it is
expanded and opened: a pattern may reach the folder of other visitors' runs, and a link may have been put in its place
since the name was looked at. So every file is opened first, and then the system is asked where that file lies.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from dpsyn_core.errors import TableError
from dpsyn_core.platforms import ONE_FILE, OPENED

REFUSED = "this server does not read that folder; upload the file, or ask its operator to allow the folder"


class Confines(BaseModel):
    """folders: below which tables may lie. closed: below which none is read in any case. Both are resolved paths."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folders: tuple[Path, ...]
    closed: tuple[Path, ...]

    def allow(self, real: Path) -> bool:
        """Whether a file may be read that lies here; the path has no links in it."""
        inside = any(real.is_relative_to(folder) for folder in self.folders)
        return inside and not any(real.is_relative_to(folder) for folder in self.closed)

    def check(self, path: Path) -> None:
        """Raises TableError unless what the path means now may be read."""
        if not self.allow(path.resolve()):
            raise TableError(REFUSED)


_process: list[Confines] = []  # of this process, for its whole life: a worker reads for one visitor
_block: ContextVar[Confines | None] = ContextVar("confines", default=None)


def confine_process(confines: Confines | None) -> None:
    """From now on this process reads tables within these confines only; None: nothing changes."""
    if confines is not None:
        _process.append(confines)


@contextmanager
def confined(confines: Confines | None) -> Iterator[None]:
    """Within the block this thread reads tables within these confines only; None: nothing changes."""
    token = _block.set(confines) if confines is not None else None
    try:
        yield
    finally:
        if token is not None:
            _block.reset(token)


def _now() -> list[Confines]:
    block = _block.get()
    return [*_process, block] if block is not None else _process


def check(path: Path) -> None:
    """Raises TableError where this process may not read what the path means now."""
    for confines in _now():
        confines.check(path)


@contextmanager
def steady(path: Path) -> Iterator[Path]:
    """A path under which exactly the file that was checked is read, however the names change meanwhile.

    Outside all confines it is the path itself. Within them the file is opened, where it lies is checked, and on Linux
    the path that is given leads to the open file. Raises TableError; OSError where there is no such file.
    """
    limits = _now()
    if not limits:
        yield path
        return
    check(path)
    handle = os.open(path.resolve(), ONE_FILE)
    try:
        opened = OPENED / str(handle)
        linked = opened.exists()
        real = opened.readlink() if linked else path.resolve()
        if not all(confines.allow(real) for confines in limits):
            raise TableError(REFUSED)
        yield opened if linked else real
    finally:
        os.close(handle)


def open_files() -> dict[str, Path]:
    """The regular files that this process has open, by their handles; empty where the system does not tell."""
    files = {}
    for handle in list(OPENED.iterdir()) if OPENED.exists() else ():
        try:
            if stat.S_ISREG(os.fstat(int(handle.name)).st_mode):
                files[handle.name] = handle.readlink()
        except OSError:  # the handle that listed the folder
            continue
    return files


def check_opened(before: dict[str, Path]) -> None:
    """For libraries that open files themselves: raises TableError where one was opened that may not be read.

    before: what was open until then. To be called before anything is read from what was opened.
    """
    limits = _now()
    for handle, real in (open_files() if limits else {}).items():
        if before.get(handle) != real and not all(confines.allow(real) for confines in limits):
            raise TableError(REFUSED)
