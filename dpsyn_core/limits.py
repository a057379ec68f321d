"""Limits of a process, kept by the operating system: memory, time, and no image of its memory on disk."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

PR_SET_DUMPABLE = 4  # of Linux's prctl
LIBRARIES = 768 * 2**20  # bytes of address space for libraries that are loaded after the limit is set


def limits_memory() -> bool:
    """Whether this system keeps limits of memory: Linux does."""
    return sys.platform == "linux"


def physical_mb() -> int:
    """The memory of this machine; where the system does not tell, more than any has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    except (AttributeError, OSError, ValueError):  # Windows has no such call
        return 2**24


def limit_resources(memory_mb: int, seconds: int) -> None:
    """Caps the memory beyond what the process has now, and the wall time, where the system can do so.

    Beyond the memory, allocations raise MemoryError; beyond the time the process ends by SIGALRM.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)  # the default action ends the process, even inside a compiled loop
    try:
        import resource
    except ImportError:  # not on Windows
        return
    try:
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except OSError:  # not Linux
        return
    cap = used + LIBRARIES + memory_mb * 2**20
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (cap if hard == resource.RLIM_INFINITY else min(cap, hard), hard))


def forbid_core_dumps() -> None:
    """Lets a crash of this process leave no core dump: it would hold the private table.

    The limit of size is inherited by children. It does not hold where the system hands dumps to a program (such as
    systemd-coredump), so on Linux the process is marked as not dumpable too, which its children do not inherit. That
    mark also keeps other processes of the same user from reading its memory.
    """
    try:
        import resource
    except ImportError:  # Windows writes no dump of another's program unless it is told to
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
