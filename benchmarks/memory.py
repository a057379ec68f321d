"""The most memory that this process has had."""

from __future__ import annotations

import sys


def peak_mb() -> float:
    """Megabytes (2^20 bytes), since the process began."""
    if sys.platform == "win32":
        import psutil

        return float(psutil.Process().memory_info().peak_wset) / 2**20
    import resource

    unit = 1 if sys.platform == "darwin" else 2**10  # bytes of what the system counts
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
