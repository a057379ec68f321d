"""How GUM should move: its update rate, its removal and its filling, with polish and without (D A.2, A.3).

`python -m benchmarks.experiments.gum_presets [--systems dpsyn,privsyn] [--tables ...] [--epsilons .3,1,10] [--seeds 3]`

For each system, table and epsilon: the mean total variation distance of all pairs, mean over seeds, of every way to
move records. All ways read the same measurements: noise comes from a seed. Prints Markdown; the last rows say on how
many of the places above a way is better, or worse, than the first one by more than a hundredth, and by what factor its
distance differs on the geometric mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

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
from dpsyn_core.synthesizers.registry import configure
from tests.seeded import SeededNoise

TABLES = (
    "tree-5000x8", "clique-5000x8", "mixture-5000x8", "wide-5000x12", "skewed-5000x5", "deterministic-5000x8",
    "interaction-5000x9",
)  # fmt: skip
ONE = {"alpha": 1.0, "decay": 0.84, "sweeps": 30, "removal": "proportional", "fill": "s5"}
FIFTH = {"alpha": 0.2, "decay": 1.0, "sweeps": 100}
HALVES = {"fill": "half"}
CLOSE = {"fill": "close"}
SHARE = {"removal": "share"}
MOVES: dict[str, Mapping[str, Any]] = {
    "rate 1": ONE,
    "close": ONE | CLOSE,
    "half": ONE | HALVES,
    "share": ONE | SHARE,
    "half, share": ONE | HALVES | SHARE,
    "rate .5": ONE | {"alpha": 0.5},
    "rate .2": ONE | FIFTH,
    "rate .2, falling": ONE | {"alpha": 0.2},
    "rate .2, half, share": ONE | FIFTH | HALVES | SHARE,
    "2018": ONE | FIFTH | CLOSE | SHARE,
}
CLEAR = 0.01  # a way is better or worse where its distance differs by more than this part
DELTA = 1e-9


def distances(name: str, data: Table, epsilon: float, seed: int, ways: Mapping[str, Mapping[str, Any]]) -> list[float]:
    """Of every way, from the same measurements."""
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA))
    first = configure(name, {}).calibrate(task)
    gate = Gate(account=Account(first.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = first.measure(MemoryCounter(data.codes, data.domain), gate=gate)
    out = []
    for settings in ways.values():
        system = configure(name, settings).calibrate(task)
        made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
        out.append(mean_distance(data.codes, made, data.domain))
    return out


def main() -> None:
    """Prints one table with polish and one without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", default="dpsyn,privsyn")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default="0.3,1,10")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--polish", default="0,50")
    parser.add_argument("--ways", default=",".join(w.replace(",", ";") for w in MOVES), help="';' for ',' in a name")
    given = parser.parse_args()
    epsilons = [float(e) for e in given.epsilons.split(",")]
    chosen = [w.replace(";", ",") for w in given.ways.split(",")]
    loaded = {name: load(name) for name in given.tables.split(",")}
    for polish in (int(p) for p in given.polish.split(",")):
        ways = {name: {**MOVES[name], "polish": polish} for name in chosen}
        rows: list[list[object]] = []
        ratios: list[np.ndarray] = []
        better, worse = np.zeros(len(ways), dtype=int), np.zeros(len(ways), dtype=int)
        for system in given.systems.split(","):
            for name, data in loaded.items():
                for epsilon in epsilons:
                    found = np.array([distances(system, data, epsilon, s, ways) for s in range(given.seeds)])
                    part = found.mean(axis=0) / found.mean(axis=0)[0]
                    ratios.append(part)
                    better += part < 1 - CLEAR
                    worse += part > 1 + CLEAR
                    rows.append([system, name, f"{epsilon:g}", *(f"{d:.4f}" for d in found.mean(axis=0))])
                    print("| " + " | ".join(map(str, rows[-1])) + " |", file=sys.stderr, flush=True)
        rows.append(["better", f"of {len(ratios)}", "", *better.tolist()])
        rows.append(["worse", f"of {len(ratios)}", "", *worse.tolist()])
        rows.append(["mean ratio", "", "", *(f"{r:.3f}" for r in np.exp(np.mean(np.log(ratios), axis=0)))])
        print(f"\n### {polish} polish proposals a record, {given.seeds} seeds\n")
        print(markdown(("system", "table", "epsilon", *ways), rows), flush=True)


if __name__ == "__main__":
    main()
