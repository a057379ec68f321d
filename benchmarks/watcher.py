"""Runs a command and writes what it cost to a file: python -IS watcher.py FILE LIMIT COMMAND...

A small process of its own, because Linux hands the peak memory of whoever starts a process on to that process. LIMIT:
CPU seconds of the command with all processes that it starts; what needs more is ended with status 124, and so is what
takes ten times as long on the wall. 0 is no limit.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
ENDED = 124


def spent(session: int) -> float:
    """CPU seconds of the living processes of a session and of those that they waited for."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(") ")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[3]) == session:
            total += sum(map(int, fields[11:15]))
    return total / TICK


def end(session: int) -> None:
    """Ends every process of a session."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text(encoding="utf-8").rpartition(") ")[2].split()[3]) == session:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except OSError:
            continue


def main() -> int:
    limit, start = float(sys.argv[2]), time.perf_counter()
    child = os.posix_spawnp(sys.argv[3], sys.argv[3:], os.environ, setsid=bool(limit))
    done, cpu, ended = 0, 0.0, False
    try:
        while not done:
            done, status, usage = os.wait4(child, os.WNOHANG if limit and not ended else 0)
            if not done:
                cpu = spent(child)
                if cpu > limit or time.perf_counter() - start > 10 * limit:
                    ended = True
                    end(child)
                time.sleep(0.1)
    finally:
        if limit:
            end(child)
    cost = {
        "wall": time.perf_counter() - start,
        "cpu": max(cpu, usage.ru_utime + usage.ru_stime),
        "megabytes": usage.ru_maxrss / 1024,
        "status": ENDED if ended else os.waitstatus_to_exitcode(status),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123 as short as its task
        json.dump(cost, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
