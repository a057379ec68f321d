"""Atomic files: a temporary file in the same folder, fsync, then replace; no partial file is ever seen."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpsyn_core.errors import OutputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a temporary path beside `path` that replaces it when the block ends well, and is removed otherwise.

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
            with suppress(OSError):
                temporary.unlink()


def write_bytes(path: Path, data: bytes) -> None:
    """Writes bytes atomically. Raises OutputError."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable; systems that cannot open a folder for reading skip this."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
