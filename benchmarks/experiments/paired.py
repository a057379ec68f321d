"""Systems on equal seeded noise, to compare two versions of the engine run by run.

`python -m benchmarks.experiments.paired [--methods rls,dpsyn,mst,privbayes] [--seeds 5] [--json]` runs every system
with the same noise and the same seeds of post-processing on Adult codes and on a simulated table that needs no file.
For each it prints the mean 2- and 3-way total variation distance, the number of charges, and hashes of the synthetic
table and of the charges. `--before FILE` reads the lines that `--json` wrote under another version and says which runs
gave other records or other charges. Noise that has a seed protects nobody: it is for measuring alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from pathlib import Path

import numpy as np

from benchmarks.accuracy import load
from benchmarks.engine import mean_distance
from benchmarks.process import table as markdown
from benchmarks.tables import Table
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import config_class, configure
from tests.seeded import SeededNoise

METHODS = "rls,dpsyn,mst,privbayes"
TABLES = "adult_codes,tree-20000x12"
DELTA = 1e-9
NUMBERS = ("sensitivity", "scale", "cells", "rho", "epsilon", "delta")  # of a charge, which every version has


def one_run(method: str, data: Table, *, epsilon: float, delta: float, seed: int) -> dict[str, object]:
    """One run as a line: what it was, its distances, and what must not change from version to version."""
    guarantee = config_class(method).guarantee
    if not guarantee.approximate:
        delta = 0.0
    task = Task(
        domain=data.domain,
        unit=Unit(neighbours=guarantee.neighbours[0]),
        budget=Budget(epsilon=epsilon, delta=delta),
        n_public=data.codes.shape[1] if guarantee.needs_public_n else None,
    )
    started = time.process_time()
    system = configure(method, {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(data.codes, data.domain), gate=gate)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    took = time.process_time() - started
    charges = [(c.name, c.mechanism, *(getattr(c, n) for n in NUMBERS)) for c in gate.account.charges]
    return {
        "table": data.name, "method": method, "epsilon": epsilon, "delta": delta, "seed": seed,
        "two": mean_distance(data.codes, made, data.domain, 2),
        "three": mean_distance(data.codes, made, data.domain, 3),
        "charges": len(charges), "cpu": took,
        "charged": _short(repr(charges).encode()),
        "records": _short(f"{made.shape} {made.dtype}".encode() + np.ascontiguousarray(made).tobytes()),
    }  # fmt: skip


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def same_run(line: dict[str, object]) -> tuple[object, ...]:
    """What two versions must have in common to be compared."""
    return tuple(line[k] for k in ("table", "method", "epsilon", "delta", "seed"))


def main() -> int:
    """Prints a line a run, and the comparison when there is something to compare with; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--tables", default=TABLES, help="comma-separated, as in benchmarks.accuracy")
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--delta", type=float, default=DELTA, help="of systems that take one; 0 is pure DP")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="a line of JSON a run instead of a table")
    parser.add_argument("--before", type=Path, help="lines of JSON from another version")
    given = parser.parse_args()
    written = given.before.read_text().splitlines() if given.before else []
    earlier = {same_run(x): x for x in (json.loads(line) for line in written if line.startswith("{"))}
    rows, other, compared = [], [], 0
    for data in map(load, given.tables.split(",")):
        for method in given.methods.split(","):
            for epsilon in map(float, given.epsilons.split(",")):
                for seed in range(given.seeds):
                    line = one_run(method, data, epsilon=epsilon, delta=given.delta, seed=seed)
                    if given.json:
                        print(json.dumps(line), flush=True)
                    rows.append([f"{v:.4f}" if isinstance(v, float) else v for v in line.values()])
                    before = earlier.get(same_run(line))
                    compared += before is not None
                    if before and (before["records"], before["charged"]) != (line["records"], line["charged"]):
                        other.append(same_run(line))
    if not given.json:
        print(markdown(list(line), rows))
    if given.before:
        print(f"{compared} of {len(rows)} runs were in the file; with other records or charges: {other or 'none'}")
    return int(bool(other))


if __name__ == "__main__":
    raise SystemExit(main())
