"""Where the seconds of a run go: `python -m benchmarks.seconds [--runs 3] [--python PYTHON]`.

`dpsyn synth` of the bundled sample in a process of its own, as somebody starts it: processor and wall time of each step
that the command names, medians of several runs. Kernels are compiled by a run that does not count. Of another version,
`--python` names the interpreter of its environment.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil

from benchmarks.process import table

WORDS = ("--epsilon", "1", "--delta", "1e-9", "--dataset", "seconds", "--out", "made.csv", "--manifest", "made.json")
FIRST, LAST = "start and imports", "wrote"


def steps(python: str, folder: Path, more: list[str]) -> dict[str, tuple[float, float]]:
    """Processor and wall seconds of each step of one run."""
    line = [python, "-m", "dpsyn_core", "synth", "sample.csv", "--schema", "sample.schema.json", *WORDS, *more]
    found: dict[str, tuple[float, float]] = {}
    began, step = time.perf_counter(), FIRST
    started = subprocess.Popen(line, cwd=folder, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    seen, before = psutil.Process(started.pid), (0.0, 0.0)
    for printed in started.stdout:
        times = seen.cpu_times()
        now = times.user + times.system, time.perf_counter() - began
        spent = found.get(step, (0.0, 0.0))
        found[step] = (spent[0] + now[0] - before[0], spent[1] + now[1] - before[1])
        before, step = now, printed.split("  ")[0].strip()
    if started.wait():
        msg = f"the run has failed: {step}"
        raise SystemExit(msg)
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    args, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([args.python, "-m", "dpsyn_core", "sample", name], check=True, stdout=subprocess.DEVNULL)
        steps(args.python, folder, more)
        runs = [steps(args.python, folder, more) for _ in range(args.runs)]
    named = list(dict.fromkeys(step for run in runs for step in run))
    rows = [[step, *(f"{median(run.get(step, (0.0, 0.0))[k] for run in runs):.2f}" for k in (0, 1))] for step in named]
    rows.append(["all", *(f"{median(sum(took[k] for took in run.values()) for run in runs):.2f}" for k in (0, 1))])
    print(table(["step", "processor s", "wall s"], rows))


if __name__ == "__main__":
    main()
