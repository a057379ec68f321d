"""Limits of a worker's memory and time, kept by the operating system."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

LIBRARIES = 768 * 2**20  # bytes of address space for libraries that are loaded after the limit is set


def limits_memory() -> bool:
    """Whether this system keeps limits of memory: Linux does."""
    return sys.platform == "linux"


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
