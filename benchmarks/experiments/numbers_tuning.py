"""`rls` with other constants on tables of numbers: `python -m benchmarks.experiments.numbers_tuning`.

Each variant that is named below runs on tables of `benchmarks.numbers`, on equal seeded noise; prints the medians of
its scores.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.experiments.variants import changed
from benchmarks.number_tables import TABLES, Table
from benchmarks.numbers import METRICS, score_of
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.rls.system import Rls, RlsConfig
from dpsyn_core.synthesizers.rls.tuning import TUNING
from tests.seeded import SeededNoise

DELTA = 1e-9
VARIANTS: dict[str, Mapping[str, Any]] = {
    "as it is": {},
    "one one-way": {"resolution.fine_from": 10**9},
    "mixed pairs as fine as others": {"resolution.mixed": 1e9},
    "pairs of numbers shrunk as others": {"records.shrinkage.expected_cuts": ()},
    "weight of every bin": {"resolution.numbers_weight": 10**6},
    "weight 64": {"resolution.numbers_weight": 64},
    "numbers from 100": {"resolution.numbers_from": 100},
    "resolution .8": {"resolution.numbers": 0.8},
    "resolution .4": {"resolution.numbers": 0.4},
    "singular values alone": {"records.shrinkage.interaction_part": 1.0},
    "blocks of few bins up to 200": {"resolution.few_blocks_below": 200.0},
    "blocks of few bins up to 400": {"resolution.few_blocks_below": 400.0},
    "cells alone": {"records.shrinkage.interaction_part": 0.0},
}


def run(table: Table, epsilon: float, seed: int, changes: Mapping[str, Any]) -> list[float]:
    """Scores in the order of METRICS."""
    task = Task(domain=table.schema.domain(), unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA))
    system = Rls(RlsConfig(), task, tuning=changed(TUNING, changes))
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    codes = Codec(table.schema).encode(table.table).codes
    measured = system.measure(MemoryCounter(codes, task.domain), gate=gate)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    return score_of(table, made, seed)


def main() -> None:
    """Prints medians over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="functional,heavy")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    print("table           variant                   eps  " + "".join(f"{name:>11}" for name, _ in METRICS))
    for name in args.tables.split(","):
        table = TABLES[name]()
        for variant in args.variants.split(","):
            for epsilon in map(float, args.epsilons.split(",")):
                found = np.median([run(table, epsilon, s, VARIANTS[variant]) for s in range(args.seeds)], axis=0)
                row = "".join(f"{m:11.4f}" for m in found)
                print(f"{table.name:<15} {variant:<23} {epsilon:5g}  {row}", flush=True)


if __name__ == "__main__":
    main()
