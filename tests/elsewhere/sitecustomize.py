"""Python without what Windows or macOS lack: loaded at the start of every process whose PYTHONPATH names this folder.

The variable DPSYN_TEST_SYSTEM says which system: win32 or darwin. What is taken away is listed in `MODULES`, `OF_OS`
and `OF_SIGNAL`; files below the folder of temporary files behave as there: names of two cases are one name, and on
Windows no open file is removed or replaced, no path is longer than 259 characters, devices and some marks are no names,
and modes are not kept. `sys.platform` says the other system while `dpsyn_core.platforms` is loaded, and to nobody else:
the libraries are those of this machine.
"""

import builtins
import io
import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader

SYSTEM = os.environ.get("DPSYN_TEST_SYSTEM", "")
PLACES = ("/proc/self/fd", "/proc/self/statm")  # of Linux, hidden from `os`
MODULES = {"win32": ("fcntl", "grp", "pwd", "resource", "termios"), "darwin": ()}
OF_OS = {
    "win32": (
        "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_TMPFILE", "chown", "fchmod", "fchown", "fork",
        "forkpty", "getegid", "geteuid", "getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "killpg",
        "lchown", "mkfifo", "mknod", "nice", "pipe2", "pread", "pwrite", "register_at_fork", "sched_getaffinity",
        "sched_setaffinity", "setsid", "sysconf", "wait3", "wait4",
    ),
    "darwin": ("O_TMPFILE", "pidfd_open", "sched_getaffinity", "sched_setaffinity"),
}  # fmt: skip
OF_SIGNAL = {"win32": ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "alarm", "pause", "setitimer"), "darwin": ()}
LONGEST = 259  # characters of a path on Windows
DEVICES = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(10))}


class Loader(SourceFileLoader):
    """Loads `dpsyn_core.platforms` as the other system does."""

    def exec_module(self, module):
        real, sys.platform = sys.platform, SYSTEM
        try:
            super().exec_module(module)
        finally:
            sys.platform = real


class Finder:
    """Finds `dpsyn_core.platforms`, and nothing else."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "dpsyn_core.platforms":
            return None
        spec = PathFinder.find_spec(name, path)
        spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


class Disk:
    """The functions of `os` on paths, as the other system has them below one folder."""

    def __init__(self, below):
        self.below = below
        self.real = {name: getattr(os, name) for name in dir(os) if callable(getattr(os, name))}
        self.open = io.open

    def meant(self, path, *, made=False):
        """The path that a name means: where files of two cases are one, that of the one that is there.

        made: a file of this name may be made. Raises OSError for a name that no file has there.
        """
        if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
            return path
        text = os.fspath(path)
        if text.startswith(PLACES):
            raise FileNotFoundError(2, "No such file or directory", text)
        whole = os.path.normpath(os.path.join(self.real["getcwd"](), text))
        if not whole.startswith(self.below):
            return path
        if SYSTEM == "win32":
            self.check(whole, made=made)
        if self.there(whole):
            return path
        out = ""
        for part in whole.split("/")[1:]:
            step = f"{out}/{part}"
            if not self.there(step) and self.there(out):
                step = next((f"{out}/{n}" for n in self.listed(out) if n.casefold() == part.casefold()), step)
            out = step
        return out

    def there(self, path):
        try:
            self.real["lstat"](path or "/")
        except OSError:
            return False
        return True

    def listed(self, path):
        try:
            return self.real["listdir"](path)
        except OSError:
            return []

    def check(self, whole, *, made):
        """Raises OSError for a name that Windows does not take; one that is only asked about is no file's."""
        name = whole.rsplit("/", 1)[-1]
        if len(whole) > LONGEST:
            raise FileNotFoundError(2, "The system cannot find the path specified", whole)
        if set(name) & set('<>:"\\|?*') or name.endswith((".", " ")) or name.split(".")[0].lower() in DEVICES:
            raise OSError(22, "Invalid argument", whole) if made else FileNotFoundError(2, "No such file", whole)

    def check_closed(self, path, folder=None):
        """Raises PermissionError for a file that this process has open, or maps."""
        if folder is not None:
            path = os.path.join(self.real["readlink"](f"/proc/self/fd/{folder}"), path)
        if not os.fspath(path).startswith(self.below):
            return
        try:
            found = self.real["stat"](path)
        except OSError:
            return
        for handle in self.real["listdir"]("/proc/self/fd"):
            try:
                one = self.real["stat"](f"/proc/self/fd/{handle}")
            except OSError:
                continue
            if (one.st_dev, one.st_ino) == (found.st_dev, found.st_ino) and not os.path.isdir(path):
                raise PermissionError(13, "The file is being used by another process", str(path))
        with self.open("/proc/self/maps", encoding="utf-8") as maps:
            if any(line.split()[4] == str(found.st_ino) for line in maps):
                raise PermissionError(13, "The file is mapped", str(path))

    def one(self, name):
        """A function of one path."""

        def call(path, *more, **named):
            here = path if named.get("dir_fd") is not None else self.meant(path, made=name in ("mkdir", "open"))
            return self.real[name](here, *more, **named)

        return call

    def two(self, name):
        """A function of two paths; of one that takes a name away, none is open."""

        def call(source, target, *more, **named):
            if not named:
                source, target = self.meant(source), self.meant(target, made=True)
            if SYSTEM == "win32" and name in ("rename", "replace"):
                self.check_closed(source)
                self.check_closed(target)
                if name == "rename" and self.there(os.fspath(target)):
                    raise FileExistsError(17, "Cannot create a file when that file already exists", str(target))
            return self.real[name](source, target, *more, **named)

        return call

    def gone(self, name):
        """A function that removes a file."""

        def call(path, *, dir_fd=None):
            path = self.meant(path) if dir_fd is None else path
            if SYSTEM == "win32":
                self.check_closed(path, dir_fd)
            return self.real[name](path, dir_fd=dir_fd)

        return call

    def opened(self, file, *more, **named):
        return self.open(self.meant(file, made=True), *more, **named)

    def take_over(self):
        for name in ("access", "listdir", "lstat", "mkdir", "open", "readlink", "scandir", "stat", "truncate", "utime"):
            setattr(os, name, self.one(name))
        for name in ("link", "rename", "replace"):
            setattr(os, name, self.two(name))
        for name in ("remove", "unlink"):
            setattr(os, name, self.gone(name))
        builtins.open = io.open = self.opened
        if SYSTEM == "win32":
            os.chmod = lambda *_, **__: None


def without():
    """Takes away what the other system lacks, after the standard library has kept what it needs of this one."""
    import asyncio  # noqa: F401
    import concurrent.futures.process  # noqa: F401
    import logging  # noqa: F401
    import multiprocessing
    import multiprocessing.popen_fork
    import multiprocessing.popen_spawn_posix
    import platform
    import random  # noqa: F401
    import signal
    import socket  # noqa: F401
    import sqlite3  # noqa: F401
    import subprocess
    import tempfile
    import types
    import uuid  # noqa: F401

    import platformdirs  # noqa: F401  both libraries need what is taken away when they are loaded
    import psutil

    below = os.path.realpath(tempfile.gettempdir())
    platform.uname()  # is kept
    tempfile._O_TMPFILE_WORKS = False
    if SYSTEM == "win32":
        import fcntl

        psutil.BELOW_NORMAL_PRIORITY_CLASS = 10  # as a niceness

        def locking(handle, mode, size):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

        tempfile.TemporaryFile = tempfile.NamedTemporaryFile
        sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=locking)
        settled = subprocess.Popen._handle_exitstatus

        def ended(self, status, *more, **named):
            settled(self, status, *more, **named)
            self.returncode = 1 if self.returncode < 0 else self.returncode

        def kill(self):
            if self.returncode is None:
                os.kill(self.pid, 9)

        subprocess.Popen._handle_exitstatus = ended
        subprocess.Popen.kill = subprocess.Popen.terminate = kill
        multiprocessing.popen_fork.Popen.kill = multiprocessing.popen_fork.Popen.terminate = kill
        for name in ("fork", "forkserver"):
            multiprocessing.context._concrete_contexts.pop(name)
    multiprocessing.set_start_method("spawn", force=True)
    for name in MODULES[SYSTEM]:
        sys.modules[name] = None
    Disk(below).take_over()
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL)):
        for name in names[SYSTEM]:
            if hasattr(module, name):
                delattr(module, name)


if SYSTEM in OF_OS:
    sys.meta_path.insert(0, Finder)
    without()
