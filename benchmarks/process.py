"""Runs a command as its own process and reads wall seconds, CPU seconds and peak memory from the kernel."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WATCHER = Path(__file__).with_name("watcher.py")
ENDED = 124  # the status of a run that its limit ended


@dataclass(frozen=True, kw_only=True)
class Cost:
    wall: float
    cpu: float
    megabytes: float
    status: int
    errors: str


def measure(command: Sequence[str], *, home: Path | None = None, kernels: Path | None = None, limit: float = 0) -> Cost:
    """One run. Peak memory is that of the largest of its processes; `kernels`: where compiled kernels are kept.

    limit: CPU seconds of all its processes; a run that needs more has the status ENDED. 0: none.
    """
    environment = dict(os.environ)
    if home is not None:
        environment["DPSYN_HOME"] = str(home)
    if kernels is not None:
        environment["NUMBA_CACHE_DIR"] = str(kernels)
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryFile() as errors:
        cost = Path(name) / "cost.json"
        watched = [sys.executable, "-IS", str(WATCHER), str(cost), str(limit), *command]
        subprocess.run(watched, stdout=subprocess.DEVNULL, stderr=errors, env=environment, check=True)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
        return Cost(**json.loads(cost.read_text(encoding="utf-8")), errors=text)


def dpsyn(*arguments: object) -> list[str]:
    """The command line of `dpsyn` in this interpreter."""
    return [sys.executable, "-m", "dpsyn_core.commands.cli", *map(str, arguments)]


def epsilons(text: str) -> list[float]:
    """Of an option such as `.3,1,3`. Raises ArgumentTypeError for what is no number above 0."""
    try:
        read = [float(e) for e in text.split(",")]
    except ValueError:
        read = []
    if not read or not all(0 < e < math.inf for e in read):
        msg = f"{text!r} is no list of numbers above 0, such as .3,1,3"
        raise argparse.ArgumentTypeError(msg)
    return read


def runs(text: str) -> int:
    """Of an option `--seeds`. Raises ArgumentTypeError for what is no whole number of at least 1."""
    if not text.isdecimal() or not int(text):
        msg = f"{text!r} is no whole number of at least 1"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers)]
    lines += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)
