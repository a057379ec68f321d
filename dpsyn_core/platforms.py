"""Platforms: all in which Linux, macOS and Windows differ for this program, and what each of them cannot keep.

Other files ask here instead of asking which system this is. What a system cannot keep is in `MISSING`: the manifest
states it (`line`), and docs/guarantee.md says what follows from it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

if TYPE_CHECKING:
    import mmap

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4  # of Linux's prctl
LIBRARIES = 768 * 2**20  # bytes of address space for libraries that are loaded after the limit is set
UNKNOWN_MB = 2**13  # what is planned with where a system does not tell its memory
PARENT = "DPSYN_PARENT"  # number of the process that started a child: on Windows a launcher may stand between the two
LATE = 142  # exit status of a process whose time is over, where no signal ends it: as a shell writes SIGALRM
PATIENCE = 2.0  # seconds in which Windows is asked again to replace a file that somebody reads
OPENED = Path("/proc/self/fd")  # of Linux: the files that this process has open, as links to where they lie
# flags to open one file for reading, and no link in its place where a system can tell
ONE_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# names that Windows gives to devices, in any folder and with any ending
DEVICES = frozenset({"con", "prn", "aux", "nul"}) | {f"{n}{i}" for n in ("com", "lpt") for i in "0123456789¹²³"}
SYSTEM = sys.platform
NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
# what a system does not keep of docs/guarantee.md, in the words of a manifest; Linux keeps all of it
MISSING: tuple[str, ...] = {
    "linux": (),
    "win32": ("limits of memory", "modes of files", "files without a name", "flushed folders"),
}.get(SYSTEM, ("limits of memory", "files without a name"))


if sys.platform == "win32":

    def lock(file: BinaryIO) -> bool:
        """Takes the lock of a file, which its process holds until it ends; False when another one has it."""
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def set_mode(handle: int, mode: int) -> None:
        """Sets the mode of an open file. Windows has no modes: who may read a file follows from its folder."""

    def others_may(folder: Path) -> str | None:
        """How other users may access files in a folder, as the end of a sentence; by the permissions of the folder."""
        return None

    def replace(temporary: Path, path: Path) -> None:
        """Gives a file the name of another one, at once. Windows refuses while somebody reads that: it is asked again.

        Raises OSError.
        """
        end = time.monotonic() + PATIENCE
        while True:
            try:
                temporary.replace(path)
            except PermissionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return

    def sync_folder(folder: Path) -> None:
        """Makes new names in a folder durable. Windows flushes no folder."""

    _turn = threading.Lock()

    def read_at(handle: int, size: int, start: int) -> bytes:
        """At most `size` bytes of an open file from a place. Safe to call from several threads."""
        with _turn:
            os.lseek(handle, start, os.SEEK_SET)
            return os.read(handle, size)

    def give_back(pages: mmap.mmap) -> None:
        """Gives back the pages of a file that were read; Windows takes them itself when it needs memory."""

    def physical_mb() -> int:
        """The memory of this machine."""
        import psutil

        return int(psutil.virtual_memory().total) // 2**20

    def limit_seconds(seconds: int) -> None:
        """Ends this process after some seconds with the exit status `LATE`.

        The clock waits while a compiled loop keeps the interpreter's lock: whoever started the process has to look too.
        """
        clock = threading.Timer(seconds, os._exit, (LATE,))
        clock.daemon = True
        clock.start()

    def forbid_core_dumps() -> None:
        """Leaves no image of this process's memory. Windows makes none unless its owner has asked for them."""

    def give_way(niceness: int) -> None:
        """Lets other processes go first; of Windows' priorities, the one below the usual."""
        import psutil

        if niceness:
            psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)

    def parent() -> int:
        """The number of the process that started this one."""
        return int(os.environ.get(PARENT, os.getppid()))

    def orphaned(parent: int) -> bool:
        """Whether the process that started this one is gone."""
        import psutil

        return not psutil.pid_exists(parent)

    def become(command: list[str], folder: Path) -> NoReturn:
        """Runs a command from a folder in place of this process: here as a child, which Ctrl-C reaches as well."""
        import subprocess

        child = subprocess.Popen(command, cwd=folder)
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # the child ends itself
                sys.exit(child.wait())

else:

    def lock(file: BinaryIO) -> bool:
        """Takes the lock of a file, which its process holds until it ends; False when another one has it."""
        import fcntl

        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def set_mode(handle: int, mode: int) -> None:
        """Sets the mode of an open file."""
        os.fchmod(handle, mode)

    def others_may(folder: Path) -> str | None:
        """How others may come at what lies in this folder, as the end of a sentence; None: they may not."""
        import stat

        state, me = folder.stat(), os.geteuid()
        if state.st_uid != me or folder.lstat().st_uid != me:
            return "belongs to somebody else"
        if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"may be written to by others (mode {stat.S_IMODE(state.st_mode):o})"
        return None

    def replace(temporary: Path, path: Path) -> None:
        """Gives a file the name of another one, at once; whoever reads that one goes on with it. Raises OSError."""
        temporary.replace(path)

    def sync_folder(folder: Path) -> None:
        """Makes new names in a folder durable."""
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def read_at(handle: int, size: int, start: int) -> bytes:
        """At most `size` bytes of an open file from a place. Safe to call from several threads."""
        return os.pread(handle, size, start)

    def give_back(pages: mmap.mmap) -> None:
        """Gives back the pages of a file that were read; they are read again where somebody looks at them again."""
        import mmap

        if hasattr(mmap, "MADV_DONTNEED"):  # not in a browser
            pages.madvise(mmap.MADV_DONTNEED)

    def physical_mb() -> int:
        """The memory of this machine; `UNKNOWN_MB` where the system does not tell."""
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
        except (AttributeError, OSError, ValueError):
            return UNKNOWN_MB

    def limit_seconds(seconds: int) -> None:
        """Ends this process by SIGALRM after some seconds, even inside a compiled loop."""
        signal.alarm(seconds)

    def forbid_core_dumps() -> None:
        """Leaves no image of this process's memory on disk when it crashes: it may hold a private table.

        The limit is inherited by its children. It does not bind systems that hand dumps to a program (core_pattern,
        systemd-coredump), so on Linux the process is marked as not dumpable too, which its children do not inherit.
        That also keeps other processes of the same user from reading its memory.
        """
        try:
            import resource
        except ImportError:  # Python in a browser, which has no disk
            return
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _prctl(PR_SET_DUMPABLE, 0)

    def give_way(niceness: int) -> None:
        """Lets other processes go first."""
        if niceness:
            os.nice(niceness)

    def parent() -> int:
        """The number of the process that started this one."""
        return os.getppid()

    def orphaned(parent: int) -> bool:
        """Whether the process that started this one is gone."""
        return os.getppid() != parent

    def become(command: list[str], folder: Path) -> NoReturn:
        """Runs a command from a folder in place of this process: ending one ends the other."""
        os.chdir(folder)
        os.execv(command[0], command)  # noqa: S606


if sys.platform == "linux":

    def nameless(folder: Path) -> int | None:
        """A file without a name in this folder, open for both, for its owner; None where the disk has no such thing."""
        flag = getattr(os, "O_TMPFILE", None)
        if flag is None:
            return None
        try:
            handle = os.open(folder, flag | os.O_RDWR, 0o600)
        except OSError:
            return None  # the ordinary way either works or says why not
        if os.access(OPENED / str(handle), os.W_OK):
            return handle
        os.close(handle)
        return None

    def limit_memory(memory_mb: int) -> None:
        """Caps the memory beyond what the process has now; beyond it, allocations raise MemoryError."""
        import resource

        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        cap = used + memory_mb * 2**20 + LIBRARIES
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (cap if hard == resource.RLIM_INFINITY else min(cap, hard), hard))

    def _prctl(option: int, value: int) -> None:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)

    def end_with_parent() -> None:
        """Lets the system end this process when the thread that started it ends."""
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

else:

    def nameless(folder: Path) -> int | None:
        """A file without a name in this folder: Linux alone has such files."""
        return None

    def limit_memory(memory_mb: int) -> None:
        """Caps the memory of this process: Linux alone keeps limits of address space."""

    def _prctl(option: int, value: int) -> None:
        """Linux's alone."""

    def end_with_parent() -> None:
        """Lets the system end this process with its parent: Linux alone does, elsewhere it asks `orphaned`."""


def ended_late(status: int | None) -> bool:
    """Whether this exit status of a child says that its time was over (`limit_seconds`)."""
    return status is not None and status in (LATE, -getattr(signal, "SIGALRM", LATE))


def ended_from_outside(status: int | None) -> bool:
    """Whether this exit status says that the system or a person ended a child, where it says that at all."""
    return status is not None and status == -getattr(signal, "SIGKILL", LATE)


def limit_resources(memory_mb: int, seconds: int) -> None:
    """Caps the memory beyond what the process has now, where the system can, and the wall time.

    Beyond the memory, allocations raise MemoryError; beyond the time the process ends (`ended_late`).
    """
    limit_seconds(seconds)
    limit_memory(memory_mb)


def limits_memory() -> bool:
    """Whether this system keeps limits of memory."""
    return "limits of memory" not in MISSING


def unusable(name: str) -> bool:
    """Whether Windows gives no file this name: it belongs to a device, or has a mark or an end that is not taken."""
    marks = set(name) & set('<>:"/\\|?*') or any(ord(mark) < 32 for mark in name)
    return bool(marks) or name.endswith((".", " ")) or name.partition(".")[0].rstrip(" ").lower() in DEVICES


def print_anything() -> None:
    """Lets messages pass a console that lacks a character (such as Windows' cp1252): it shows a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def line() -> str:
    """What a manifest says of the system: its name, the processor, and what the system does not keep."""
    import platform

    name = f"{NAMES.get(SYSTEM, SYSTEM)} {platform.machine()}"
    return f"{name}, without {', '.join(MISSING)}" if MISSING else name
