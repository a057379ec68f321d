"""Scratch: a private folder for the codes of a run, gone with it; what a kill leaves goes at the next start."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from dpsyn_core.errors import OutputError
from dpsyn_core.files import OWNER, home
from dpsyn_core.platforms import SYSTEM, lock, nameless, others_may

BYTES = 8  # of randomness in the name of a folder or file here: no two runs draw the same
OURS = re.compile(rf"[0-9a-f]{{{2 * BYTES}}}")  # what names look like here; nothing else is swept away
LOCK = ".lock"  # ending of the file that a run holds locked for as long as it lives


def base() -> Path:
    """Where runs have their folders: DPSYN_SCRATCH, else a folder beside ledger and jobs."""
    chosen = os.environ.get("DPSYN_SCRATCH")
    return Path(chosen) / "dpsyn-scratch" if chosen else home() / "scratch"


def room() -> int:
    """Bytes that may still be written there; the nearest folder that exists is asked."""
    place = base().absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


class Scratch:
    """The folder of one run: files that nobody else may read."""

    def __init__(self, folder: Path) -> None:
        """folder: of this run, with access for its owner alone."""
        self.folder = folder
        self._files: list[BinaryIO] = []

    def file(self) -> BinaryIO:
        """A new file, open for reading and writing.

        Where the system can, it never has a name, or loses it at once: then its room is free as soon as the process
        ends, however it ends.
        """
        try:
            handle = nameless(self.folder)
            opened = self._named() if handle is None else os.fdopen(handle, "w+b")
        except OSError as error:
            raise _unusable(error) from error
        self._files.append(opened)
        return opened

    def _named(self) -> BinaryIO:
        """A file where the system makes none without a name."""
        path = self.folder / secrets.token_hex(BYTES)
        opened = open(path, "x+b", opener=lambda name, flags: os.open(name, flags, OWNER))  # noqa: SIM115
        if SYSTEM != "win32":  # which removes no file that is open
            path.unlink()
        return opened

    def close(self, file: BinaryIO) -> None:
        """Gives the room of a file back before the run ends."""
        self._files.remove(file)
        _close(file)

    def close_all(self) -> None:
        """Gives all room back."""
        while self._files:
            _close(self._files.pop())


def _close(file: BinaryIO) -> None:
    with contextlib.suppress(OSError):  # a full disk refuses what was not written yet: the file is not needed any more
        file.close()


@contextlib.contextmanager
def scratch() -> Iterator[Scratch]:
    """A private folder for one run, removed with all that is in it; what killed runs left is removed first.

    Raises:
        OutputError: the folder cannot be created, or is not this person's alone to write to.
    """
    place = base()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep()  # checks the folder
        folder, claim = _claimed(place)
    except OSError as error:
        raise _unusable(error) from error
    room = Scratch(folder)
    try:
        yield room
    finally:
        room.close_all()
        shutil.rmtree(folder, ignore_errors=True)
        claim.close()  # first: Windows removes no file that is open
        with contextlib.suppress(OSError):  # somebody sweeps at this moment, and removes it
            folder.with_name(folder.name + LOCK).unlink(missing_ok=True)


def sweep() -> None:
    """Removes the folders of runs that have ended without removing them. Those of living runs are locked and stay.

    Raises:
        OutputError: the folder is not this person's alone to write to.
    """
    place = base()
    if not place.is_dir():
        return
    _check_owner(place)
    for folder in sorted(place.iterdir()):
        if not OURS.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
            continue
        path = folder.with_name(folder.name + LOCK)
        with contextlib.suppress(OSError):
            with path.open("ab") as claim:
                ended = lock(claim)
                if ended:
                    shutil.rmtree(folder, ignore_errors=True)
            if ended:
                path.unlink(missing_ok=True)


def _check_owner(place: Path) -> None:
    """Raises OutputError for a folder of another user, or that others may write to: they could replace it."""
    why = others_may(place)
    if why is None:
        return
    msg = (
        f"the scratch folder '{place}' {why}, and the codes of the private table would lie in it; take that right away "
        "(chmod 700), remove the folder, or name another place in the variable DPSYN_SCRATCH"
    )
    raise OutputError(msg)


def _claimed(place: Path) -> tuple[Path, BinaryIO]:
    """A new folder, and the lock that says that its run lives. The lock comes first, so that nobody sweeps it away."""
    while True:
        folder = place / secrets.token_hex(BYTES)
        path = folder.with_name(folder.name + LOCK)
        claim = path.open("xb")
        if lock(claim) and path.exists():
            folder.mkdir(mode=0o700)
            return folder, claim
        claim.close()  # somebody was sweeping at this moment


def _unusable(error: OSError) -> OutputError:
    return OutputError(
        f"the scratch folder cannot be used ({error.strerror or 'no reason given'}); free disk space, "
        "or name a folder with room in the variable DPSYN_SCRATCH"
    )
