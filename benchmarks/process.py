"""Runs a command as its own process and reads wall seconds, CPU seconds and peak memory from the kernel."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Cost:
    wall: float
    cpu: float
    megabytes: float
    status: int
    errors: str


def measure(command: Sequence[str], *, home: Path | None = None) -> Cost:
    """One run. Peak memory is that of the process itself."""
    environment = dict(os.environ)
    if home is not None:
        environment["DPSYN_HOME"] = str(home)
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    return Cost(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        megabytes=usage.ru_maxrss / 1024,
        status=process.returncode,
        errors=text,
    )


def dpsyn(*arguments: object) -> list[str]:
    """The command line of `dpsyn` in this interpreter."""
    return [sys.executable, "-m", "dpsyn_core.cli", *map(str, arguments)]


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
    lines += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)
