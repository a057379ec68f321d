"""Reading of untrusted files and of databases: in a child process with memory and time limits, never in the server."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import streamlit as st

from dpsyn_core import errors
from dpsyn_core.child import Child
from dpsyn_core.errors import TableError
from dpsyn_core.files import home, put_private
from dpsyn_core.platforms import ended_from_outside, ended_late
from dpsyn_core.runs import DRAFT, ERROR, READ, UPLOAD, ReadJob, ReadSpec
from dpsyn_core.schema import Schema
from ui.shared.access import classroom
from ui.shared.jobs import spawn

if TYPE_CHECKING:
    from dpsyn_core.tables import Batches

MEMORY, SECONDS = "DPSYN_READ_MEMORY_MB", "DPSYN_READ_SECONDS"
STEP = 0.02  # seconds between two looks at the child
TELL = 0.5  # seconds between two words to the page, which is when a visitor who left is noticed
GRACE = 5.0  # seconds beyond its limit after which a child that does not end is ended
STALE = 3600.0  # seconds beyond the limit of a reading after which a folder is nobody's: its server is gone
Tell = Callable[[float], object]


class SheetError(TableError):
    """One sheet of a workbook is no table that can be used; another one may be."""

    def __init__(self, message: str, sheets: tuple[str, ...]) -> None:
        """sheets: the names of all sheets."""
        super().__init__(message)
        self.sheets = sheets


class Readers:
    """Children that read tables; as many at once as there are cores, one of them ready before it is asked."""

    def __init__(self, folder: Path | None = None, parallel: int | None = None) -> None:
        """Removes what an earlier server left, now and before each reading: what it left just now looks alive yet."""
        self.folder = folder or home() / "reads"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._room = threading.BoundedSemaphore(parallel or max(1, os.cpu_count() or 1))
        self._lock = threading.Lock()
        self._ready: Child | None = None
        self._keep = False
        self._sweep()

    def _sweep(self) -> None:
        """Removes folders that no server of this home reads any more, with the uploads that lie in them."""
        alive = time.time() - STALE - limits()["seconds"]
        for path in self.folder.glob("*"):
            try:
                if path.stat().st_mtime < alive:
                    shutil.rmtree(path, ignore_errors=True)
            except FileNotFoundError:  # its reading has just ended
                continue

    def warm(self) -> None:
        """Keeps a child that has loaded everything, from now on, so that a small file is read in no time."""
        self._keep = True
        self._refill()

    def _refill(self) -> None:
        with self._lock:
            if self._keep and self._ready is None:
                self._ready = spawn(READ, self.folder, stdin=subprocess.PIPE)

    def read(self, spec: ReadSpec, raw: bytes | None, tell: Tell = lambda _: None) -> tuple[Batches, Schema | None]:
        """Reads a table and drafts its schema, unless the spec says otherwise.

        Args:
            spec: what to read, and within which limits.
            raw: bytes of an upload; None for a path or a database.
            tell: called about twice a second with the seconds since the start; what it raises ends the child.

        Raises:
            DPSynError: what the child found wrong with the table, or one sentence on how the child ended.
        """
        if classroom():
            msg = "this server is for a class and reads no table; start the app without --class for that"
            raise TableError(msg)
        self._sweep()
        start = said = time.monotonic()
        while not self._room.acquire(timeout=TELL):
            tell(time.monotonic() - start)
        folder = self.folder / secrets.token_hex(8)
        child = None
        try:
            folder.mkdir(mode=0o700)
            if raw is not None:
                put_private(folder / UPLOAD, raw)
            child = self._child()
            begun = time.monotonic()
            # one line, since JSON has no line end inside; how a child has ended before, `_taken` says
            child.tell(ReadJob(folder=folder.absolute(), spec=spec).model_dump_json().encode() + b"\n")
            while child.poll() is None:
                time.sleep(STEP)
                now = time.monotonic()
                if now - begun > spec.seconds + GRACE:  # it does not hear its own alarm
                    child.end()
                    raise TableError(_late(spec))
                if now - said > TELL:
                    said = now
                    tell(now - start)
            return _taken(folder, child.returncode, spec)
        finally:
            if child is not None:
                child.end()
            shutil.rmtree(folder, ignore_errors=True)
            self._room.release()
            self._refill()

    def _child(self) -> Child:
        """The child that is ready, or a fresh one."""
        with self._lock:
            child, self._ready = self._ready, None
        if child is None or child.poll() is not None:
            child = spawn(READ, self.folder, stdin=subprocess.PIPE)
        return child


@st.cache_resource(show_spinner=False)
def readers() -> Readers:
    """The readers of this server."""
    return Readers()


class Limits(TypedDict):
    """Of one reading: megabytes of memory and seconds."""

    memory_mb: int
    seconds: int


def limits() -> Limits:
    """Memory and time of one reading, as the operator set them."""
    return {"memory_mb": int(os.environ.get(MEMORY, "4096")), "seconds": int(os.environ.get(SECONDS, "300"))}


def _taken(folder: Path, status: int, spec: ReadSpec) -> tuple[Batches, Schema | None]:
    """What the child left. Raises DPSynError."""
    from dpsyn_core.tables import READING, take

    if (folder / READING).exists() and status == 0:
        return take(folder), Schema.load(folder / DRAFT) if spec.drafted else None
    left = json.loads((folder / ERROR).read_text("utf-8")) if (folder / ERROR).exists() else {}
    if left.get("sheets"):
        raise SheetError(left["message"], tuple(left["sheets"]))
    if left:
        kind = getattr(errors, left["type"], TableError)
        raise kind(left["message"])
    if ended_late(status):
        msg = _late(spec)
    elif ended_from_outside(status):
        msg = f"{_doing(spec)} was ended from outside, often for want of memory; {_less(spec)}"
    elif spec.form.of_database:
        msg = "the database crashed the reader; check that its file is whole, or export the table as CSV"
    else:
        msg = "the file crashed the reader: it is damaged or malicious; save it again, or as CSV"
    raise TableError(msg)


def _late(spec: ReadSpec) -> str:
    other = "" if spec.form.of_database else ", or save it as Parquet"
    return f"{_doing(spec)} took longer than {spec.seconds} s; {_less(spec)}{other}"


def _doing(spec: ReadSpec) -> str:
    return f"reading the {spec.source}"


def _less(spec: ReadSpec) -> str:
    return "ask for less by a query" if spec.form.of_database else "give a smaller file"
