"""Runs the benchmarks of `make bench` one after the other, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time

# module and arguments; the longer measurements (accuracy, systems, app_load) are run by their own names
STEPS = (
    ("benchmarks.noise",),
    ("benchmarks.main_job", "--large"),
    ("benchmarks.utility",),
)


def main() -> int:
    """Prints every table; the exit status is that of the first step that failed."""
    status = 0
    for module, *arguments in STEPS:
        start = time.perf_counter()
        print(f"\n## {module.removeprefix('benchmarks.')}\n", flush=True)
        done = subprocess.run([sys.executable, "-m", module, *arguments], check=False)
        print(f"\n({time.perf_counter() - start:.0f} s in all)", flush=True)
        status = status or done.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
