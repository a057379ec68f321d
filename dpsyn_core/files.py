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
def replacing(path: Path) -> Iterator[Path]:
    """Gives a temporary path beside `path` that replaces it when the block ends well, and is removed otherwise.

    The new file is flushed to disk before it takes the name, and so is its folder; no partial file is ever seen.
    Raises OutputError when the folder or the file cannot be written, or the disk is full.
    """
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=".dpsyn-", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
        temporary = None
        _sync_folder(path.parent)
    except OSError as error:
        reason = error.strerror or "no reason given"
        msg = f"'{path}' cannot be written ({reason}); choose a folder that exists, may be written to and has room"
        raise OutputError(msg) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable; systems that cannot open a folder for reading skip this."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes bytes atomically. Raises OutputError."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 text atomically. Raises OutputError."""
    write_bytes(path, text.encode("utf-8"))
