"""Files: atomic writes, files for the owner alone, the folder of ledger and jobs, and JSON with each field once.

What a run releases has the mode that the person's umask gives it. What reads the private table, or holds it, is for its
owner alone: mode 0600, whatever the umask.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from dpsyn_core.errors import OutputError
from dpsyn_core.platforms import OPENED, SYSTEM, nameless, replace, set_mode, sync_folder, unusable

OWNER = 0o600  # mode of files that nobody else may read
NOT_PRIVATE = ".NOT-PRIVATE"  # before the ending of a table that is not private
MOST_TEXT = 100_000  # characters of one text in a document from outside


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
    if SYSTEM == "win32" and unusable(path.name):
        msg = f"Windows takes no file of the name '{path.name}'; choose another name for the output"
        raise OutputError(msg)
    try:
        handle = nameless(path.parent)
        if handle is None:
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".dpsyn-"):
                return
        os.close(handle)
    except OSError as error:
        msg = f"cannot write into the folder of '{path.name}': {error.strerror}; choose a folder that you may write to"
        raise OutputError(msg) from error


def same_path(a: object, b: object) -> bool:
    """Whether both are paths and name one file; the address of a database is no path.

    Where names of two cases mean one file (Windows, macOS), the system is asked about files that exist.
    """
    if not isinstance(a, Path) or not isinstance(b, Path):
        return False
    return a.resolve() == b.resolve() or (a.exists() and b.exists() and a.samefile(b))


def check_folder(out: Path) -> None:
    """Raises OutputError, before anything is spent, for a folder that cannot be written or holds something."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        msg = f"the output folder '{out.name}' exists already and is not empty; name a new folder"
        raise OutputError(msg)
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK):
        msg = f"cannot write the folder '{out.name}' into '{out.parent}'; choose a folder that you may write to"
        raise OutputError(msg)


@contextlib.contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Gives a temporary path that replaces `path` when the block ends well, and is gone otherwise.

    The new file is flushed to disk before it takes the name, and so is its folder; no partial file is ever seen.
    Where the system can, the file has no name while it is written, so that not even a kill leaves a part of it.
    private: the file is for its owner alone. Raises OutputError when the folder or the file cannot be written, or the
    disk is full.
    """
    try:
        handle = nameless(path.parent)
        mode = OWNER if private else _mode()
        with _named(path, mode) if handle is None else _held(path, handle, mode) as temporary:
            yield temporary
        sync_folder(path.parent)
    except OSError as error:
        reason = error.strerror or "no reason given"
        msg = f"'{path}' cannot be written ({reason}); choose a folder that exists, may be written to and has room"
        raise OutputError(msg) from error


@contextlib.contextmanager
def _held(path: Path, handle: int, mode: int) -> Iterator[Path]:
    """Writes through the path of the descriptor; names the file once it is whole."""
    try:
        here = OPENED / str(handle)
        yield here
        set_mode(handle, mode)
        os.fsync(handle)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            # a descriptor of a folder makes Python ask for the link to be followed to the nameless file
            whole = path.parent / f".dpsyn-{secrets.token_hex(6)}{path.suffix}"
            os.link(here, whole, src_dir_fd=folder)
        finally:
            os.close(folder)
        _take_name(whole, path)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _named(path: Path, mode: int) -> Iterator[Path]:
    """Writes a temporary file beside the path."""
    handle, name = tempfile.mkstemp(prefix=".dpsyn-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(mode)
        _take_name(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _mode() -> int:
    """Readable by all, as far as the person's umask lets it be."""
    mask = os.umask(0o077)  # asking means setting; a file that another thread makes meanwhile is its owner's alone
    os.umask(mask)
    return 0o644 & ~mask


def _take_name(temporary: Path, path: Path) -> None:
    try:
        replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def write_bytes(path: Path, data: bytes, *, private: bool = False) -> None:
    """Writes bytes atomically; private: for the owner alone. Raises OutputError."""
    with replacing(path, private=private) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Writes UTF-8 text atomically; private: for the owner alone. Raises OutputError."""
    write_bytes(path, text.encode("utf-8"), private=private)


def open_private(path: Path) -> BinaryIO:
    """A file for its owner alone, empty and open for writing, whatever mode an older one had. Raises OSError."""
    file = open(path, "wb", opener=lambda name, flags: os.open(name, flags, OWNER))  # noqa: SIM115 the caller closes it
    set_mode(file.fileno(), OWNER)
    return file


def put_private(path: Path, data: bytes) -> None:
    """Writes a file that only its owner may read into a folder of the program, atomically. Raises OSError."""
    with open_private(path) as file:
        file.write(data)


_STEMS = (".csv", ".parquet", ".json", ".sav", ".dta", ".xpt", ".xlsx", ".sqlite", ".db", ".duckdb")


def manifest_beside(table: Path) -> Path:
    """The manifest's name where none is given: t.csv, t.NOT-PRIVATE.csv and the folder t have t.manifest.json."""
    stem = table.stem if table.suffix in _STEMS else table.name
    return table.with_name(f"{stem.removesuffix(NOT_PRIVATE)}.manifest.json")


def measurements_beside(table: Path) -> Path:
    """The name of the released marginals where none is given: t.csv has t.measurements.json.gz."""
    name = manifest_beside(table).name.removesuffix(".manifest.json")
    return table.with_name(f"{name}.measurements.json.gz")


def not_private_name(path: Path) -> Path:
    """The file name that says so: out.csv becomes out.NOT-PRIVATE.csv, and x.json.gz becomes x.NOT-PRIVATE.json.gz."""
    ending = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    stem = path.name[: len(path.name) - len(ending)]
    return path if stem.endswith(NOT_PRIVATE) else path.with_name(f"{stem}{NOT_PRIVATE}{ending}")


class RepeatedFieldError(ValueError):
    """A field of a JSON object stands twice, and readers of JSON disagree about which of the two counts."""


def unfit_text(document: object) -> str | None:
    """What is wrong with a text of a document from outside, as the end of a sentence; None: nothing, or no JSON."""
    try:
        size = len(json.dumps(document, ensure_ascii=False, default=str).encode())
    except UnicodeEncodeError as error:
        near = ascii(error.object[max(0, error.start - 20) : error.end])
        return f"half of a character, which no file can hold (near {near}); correct that text"
    except (TypeError, ValueError, RecursionError):
        return None
    rest = [document] if size > MOST_TEXT else []
    while rest:
        one = rest.pop()
        if isinstance(one, str) and len(one) > MOST_TEXT:
            return f"a text of {len(one):,} characters, and at most {MOST_TEXT:,} are taken; shorten it"
        rest += [*one, *one.values()] if isinstance(one, dict) else one if isinstance(one, list | tuple) else ()
    return None


def fields_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, for `object_pairs_hook`. Raises RepeatedFieldError with the first name that stands twice."""
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise RepeatedFieldError(repr(key[:80]))
        out[key] = value
    return out
