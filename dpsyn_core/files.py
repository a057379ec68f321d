"""Files: atomic writes, and the folder that holds the ledger and the jobs."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dpsyn_core.errors import OutputError


def home() -> Path:
    """The folder of ledger and jobs: DPSYN_HOME, else the platform's user data folder."""
    chosen = os.environ.get("DPSYN_HOME")
    if chosen:
        return Path(chosen)
    from platformdirs import user_data_path  # only when no folder was named

    return user_data_path("dpsyn", appauthor=False)


def check_writable(path: Path) -> None:
    """Raises OutputError when a file at this path could not be written; leaves nothing behind."""
    if path.is_dir():
        msg = f"the output '{path.name}' is a folder; name a file"
        raise OutputError(msg)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".dpsyn-"):
            pass
    except OSError as error:
        msg = f"cannot write into the folder of '{path.name}': {error.strerror}; choose a folder that you may write to"
        raise OutputError(msg) from error


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`; on success it is flushed and takes the name, else it is removed."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".dpsyn-", suffix=path.suffix)
    except OSError as error:
        msg = f"cannot write '{path.name}': {error.strerror}; choose a folder that you may write to"
        raise OutputError(msg) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        msg = f"cannot write '{path.name}': {error.strerror}; free some space or choose another folder"
        raise OutputError(msg) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 text atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
