"""Faults in full: 200 kills of `dpsyn synth`, 100 races of 50 processes, full disks. `python -m benchmarks.faults`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.process import dpsyn, table
from dpsyn_core.commands.cli import main as command
from dpsyn_core.errors import LedgerError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.unit import Unit
from tests.faults.jobs import arguments, check, drew_noise, prepare, start

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue
    from multiprocessing.synchronize import Barrier

ONE = Budget(epsilon=1.0, delta=1e-9)
Row = tuple[str, int, str, float]


def kills(times: int) -> Row:
    """SIGKILL at uniformly random moments of a run in a forked child that reports when it draws noise."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        os.environ["DPSYN_HOME"] = str(folder / "home")
        if command(arguments(folder)) != 0:
            msg = "the run that fills the caches failed"
            raise SystemExit(msg)
        start_of_run = time.perf_counter()
        child, pipe = start(folder)
        child.join()
        length = time.perf_counter() - start_of_run
        drew_noise(pipe)
        spent, after_noise, whole, left = 2, 0, 0, 0
        for _ in range(times):
            for path in (folder / "out").iterdir():
                left += path.name.startswith(".")
                path.unlink()
            child, pipe = start(folder)
            time.sleep(random.uniform(0, length))
            child.kill()
            child.join()
            drew = drew_noise(pipe)
            spent = check(folder, drew, spent)
            after_noise += drew
            whole += (folder / "out" / "t.csv").exists()
        restarted = command(arguments(folder)) == 0
    text = (
        f"0 under-counted, 0 partial files; {after_noise} after the noise, {whole} with a whole table, "
        f"{left} hidden temporary files left; restart {'works' if restarted else 'FAILS'}"
    )
    return "SIGKILL of a run", times, text, time.perf_counter() - began


def kills_of_the_command(times: int) -> Row:
    """SIGKILL of the command as a process of its own, imports included."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        environment = {**os.environ, "DPSYN_HOME": str(folder / "home")}
        line = dpsyn(*arguments(folder))
        start_of_run = time.perf_counter()
        subprocess.run(line, env=environment, check=True)
        length = time.perf_counter() - start_of_run
        spent = check(folder, True, 0)
        charged = 0
        for _ in range(times):
            for path in (folder / "out").iterdir():
                path.unlink()
            with subprocess.Popen(line, env=environment, stderr=subprocess.DEVNULL) as process:
                time.sleep(random.uniform(0, length))
                process.kill()
            now = check(folder, (folder / "out" / "t.csv").exists(), spent)
            charged += now - spent
            spent = now
    text = f"0 under-counted, 0 partial files; {charged} had been charged when they died"
    return "SIGKILL of the command", times, text, time.perf_counter() - began


def _racer(path: Path, barrier: Barrier, results: SimpleQueue[str]) -> None:
    ledger = Ledger(path)
    cap = ONE.gaussian()
    barrier.wait()
    try:
        ledger.reserve("census", cap, budget=ONE, unit=Unit(), method="m")
        results.put("won")
    except LedgerError as error:
        results.put("refused" if "limit" in str(error) else str(error))


def races(times: int, processes: int) -> Row:
    """Many processes ask for a budget that one run uses up."""
    began = time.perf_counter()
    context = multiprocessing.get_context("fork")
    ONE.gaussian()  # imports are done before the fork
    for _ in range(times):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "ledger.sqlite3"
            Ledger(path).set_limit("census", ONE)
            barrier, results = context.Barrier(processes), context.SimpleQueue()
            runners = [context.Process(target=_racer, args=(path, barrier, results)) for _ in range(processes)]
            for runner in runners:
                runner.start()
            got = [results.get() for _ in runners]
            for runner in runners:
                runner.join()
            if got.count("won") != 1 or got.count("refused") != processes - 1 or len(Ledger(path).entries()) != 1:
                msg = f"a race had {got.count('won')} winners: {sorted(set(got))}"
                raise SystemExit(msg)
    return f"race of {processes} for the last budget", times, "one winner each", time.perf_counter() - began


FULL_DISK = """
mount -t tmpfs -o size={size} none "$1" && cp "$2/table.csv" "$2/schema.json" "$1" && mkdir "$1/out" || exit 99
shift 2; "$@"; status=$?
echo "status $status"; ls -A "$FOLDER/out"; exit 0
"""


def full_disks() -> Row:
    """A file system in memory that fills up: under the ledger, under the table, and not at all. Needs root."""
    began = time.perf_counter()
    said = []
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as disk:
        prepare(Path(name))
        for size in ("8k", "16k", "32k", "64k", "128k", "240k", "4m"):
            line = dpsyn(*arguments(Path(disk)))
            environment = {**os.environ, "DPSYN_HOME": f"{disk}/home", "FOLDER": disk, "TMPDIR": "/tmp"}
            shell = ["unshare", "--mount", "sh", "-c", FULL_DISK.format(size=size), "sh", disk, name, *line]
            done = subprocess.run(shell, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return "full disk", 0, "no file system can be mounted here", time.perf_counter() - began
            status, *files = done.stdout.split("\n")
            sentences = done.stderr.strip().count("\n") + bool(done.stderr.strip())
            whole = [f for f in files if f]
            ok = (status == "status 0" and whole == ["m.json", "t.csv"]) or (
                status == "status 2" and sentences == 1 and whole in ([], ["t.csv"])
            )
            if not ok:
                msg = f"a disk of {size}: {status}, files {whole}, said {done.stderr}"
                raise SystemExit(msg)
            said.append(f"{size}: {status.replace('status ', 'exit ')}")
    return "full disk", len(said), ", ".join(said), time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--commands", type=int, default=20)
    parser.add_argument("--races", type=int, default=100)
    parser.add_argument("--processes", type=int, default=50)
    args = parser.parse_args()
    rows = [
        kills(args.kills),
        kills_of_the_command(args.commands),
        races(args.races, args.processes),
        full_disks(),
    ]
    print(table(["fault", "times", "result", "seconds"], [(a, b, c, f"{d:.0f}") for a, b, c, d in rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
