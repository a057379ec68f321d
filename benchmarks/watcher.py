"""Runs a command and writes what it cost to a file: python -IS watcher.py FILE LIMIT COMMAND...

A small process of its own, because Linux hands the peak memory of whoever starts a process on to that process. LIMIT:
CPU seconds of the command with all processes that it starts; what needs more is ended with status 124, and so is what
takes ten times as long on the wall. 0 is no limit. The command ends with its benchmark: it stays in the group of
processes that a terminal ends, and is ended where the benchmark alone is gone.
"""

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
ENDED = 124
ADOPT = 36  # PR_SET_CHILD_SUBREAPER: what outlives whoever started it is ours, and not that of the first process


def started() -> dict[int, float]:
    """All processes that came from this one, with the CPU seconds of each and of those that it waited for."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
        except OSError:  # it ended meanwhile
            continue
        found[int(stat.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / TICK)
    family: set[int] = set()
    more = {os.getpid()}
    while more:
        family |= more
        more = {pid for pid, (parent, _) in found.items() if parent in family} - family
    return {pid: found[pid][1] for pid in family - {os.getpid()}}


def end() -> None:
    """Ends them, however often they start others."""
    for _ in range(100):
        for pid in started():
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except OSError:  # it ended meanwhile, or is not our own child
                continue
        if not started():
            return
        time.sleep(0.01)


def main() -> int:
    limit, start, benchmark = float(sys.argv[2]), time.perf_counter(), os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    child = os.posix_spawnp(sys.argv[3], sys.argv[3:], os.environ)
    done, cpu, ended = 0, 0.0, False
    try:
        while not done:
            done, status, usage = os.wait4(child, os.WNOHANG if not ended else 0)
            if not done:
                cpu = sum(started().values()) if limit else 0.0
                if os.getppid() != benchmark:
                    return 1
                if limit and (cpu > limit or time.perf_counter() - start > 10 * limit):
                    ended = True
                    os.kill(child, signal.SIGKILL)
                time.sleep(0.1 if limit else 0.01)
    finally:
        end()
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
