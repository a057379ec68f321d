"""Runs a command and writes what it cost to a file: python -IS watcher.py FILE COMMAND...

A small process of its own, because Linux hands the peak memory of whoever starts a process on to that process.
"""

import json
import os
import sys
import time


def main() -> int:
    start = time.perf_counter()
    child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    _, status, usage = os.wait4(child, 0)
    cost = {
        "wall": time.perf_counter() - start,
        "cpu": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
        "status": os.waitstatus_to_exitcode(status),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123 pathlib would be larger than all the rest
        json.dump(cost, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
