"""A folder for compiled kernels where numba would find none that it may write: first thing that the package settles.

Without one numba refuses to load a kernel at all: in a read-only container, or for a user without a home.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def settle() -> None:
    """Points numba to `kernels` in the folder of ledger and runs, unless numba already has a folder that it can write.

    Kernels that an image brought along in a folder that is now read-only are copied there, so that nothing is compiled
    twice. Where not even that folder can be written, a temporary one serves this process.
    """
    chosen = os.environ.get(VARIABLE)
    usual = [chosen] if chosen else [os.path.dirname(__file__), _users_cache()]  # noqa: PTH120 pathlib costs a start
    if any(map(_writable, usual)):
        return
    from pathlib import Path

    from dpsyn_core.files import home

    brought = Path(chosen) if chosen and Path(chosen).is_dir() else None
    folder = home() / (f"kernels-{brought.stat().st_mtime_ns:x}" if brought else "kernels")
    if not _writable(str(folder)):
        os.environ[VARIABLE] = _temporary()
        return
    if brought is not None and not folder.exists():
        _copy(brought, folder)
    os.environ[VARIABLE] = str(folder)


def _users_cache() -> str:
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 as above


def _writable(folder: str) -> bool:
    """Whether files can be written there; a missing folder counts if it can be created."""
    while not os.path.exists(folder):  # noqa: PTH110 as above
        above = os.path.dirname(folder)  # noqa: PTH120 as above
        if above in (folder, ""):
            return False
        folder = above
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)  # noqa: PTH112 as above


def _copy(brought: Path, folder: Path) -> None:
    """All at once: another process sees the whole folder or none, and the one that comes second drops its copy."""
    import shutil

    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        shutil.copytree(brought, partial)
        partial.rename(folder)
    except OSError:  # then kernels are compiled anew
        shutil.rmtree(partial, ignore_errors=True)


def _temporary() -> str:
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="dpsyn-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
