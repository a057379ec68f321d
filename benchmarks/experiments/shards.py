"""Records made in shards beside one piece: `python -m benchmarks.experiments.shards [--records 3000000]`.

Adult codes drawn again with replacement, one release at epsilon 1 (noise from a seeded generator). For one piece, and
for shards that leave their draft at different warmths, prints the mean total variation distance of pairs from the real
table, the CPU seconds, the number of different records, and the part of the second shard's records that stand in the
first as well, at the same place.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import adult_codes
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.progress import silent
from dpsyn_core.records.shards import shards_of
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import configure
from dpsyn_core.synthesizers.rls import sharding

Codes = NDArray[np.unsignedinteger]


class Seeded:
    """Noise that can be had again, for experiments alone."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)

    def gaussian(self, sigma: float, size: int) -> NDArray[np.int64]:
        return np.rint(self.rng.normal(0, sigma, size)).astype(np.int64)


def main() -> None:
    """Prints one line a way of making the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--warmths", default="0,.02,.045,.09", help="values of sharding.WARMTH, with commas between")
    args = parser.parse_args()
    adult, rng = adult_codes(), np.random.default_rng(0)
    codes = np.ascontiguousarray(adult.codes[:, rng.integers(0, adult.codes.shape[1], args.records)])
    domain = adult.domain
    real = MemoryCounter(codes, domain).marginals(list(combinations(domain.names, 2)))
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9))
    system = configure("rls", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=Seeded(), unit=task.unit)  # type: ignore[arg-type]
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)

    def line(label: str, out: Codes, seconds: float, same: float | None) -> None:
        made = MemoryCounter(out, domain).marginals(list(combinations(domain.names, 2)))
        n, m = codes.shape[1], out.shape[1]
        distance = np.mean([np.abs(a / n - b / m).sum() / 2 for a, b in zip(real, made, strict=True)])
        whole = np.ascontiguousarray(out.T).view(f"V{out.shape[0] * out.itemsize}")
        said = "-" if same is None else f"{same:.3f}"
        print(f"| {label} | {distance:.5f} | {seconds:.1f} | {len(np.unique(whole)):,} | {said} |", flush=True)

    print(
        "| records | 2-way distance | CPU s | different records | same as in the first shard |\n|---|---|---|---|---|"
    )
    start = time.process_time()
    piece = system.synthesize(measured, args.records, rng=np.random.default_rng(2))
    line("one piece", piece, time.process_time() - start, None)
    for warmth in map(float, args.warmths.split(",")):
        sharding.WARMTH = warmth
        start = time.process_time()
        found = system.sharded(measured, args.records, rng=np.random.default_rng(2))
        if found is None:
            sys.exit("the system makes no shards")
        make = found.begin(silent)
        shards = shards_of(args.records, len(domain))
        parts = [make(s, np.random.default_rng([3, s.number]), silent) for s in shards]
        spent = time.process_time() - start
        width = min(parts[0].shape[1], parts[1].shape[1])
        same = float((parts[0][:, :width] == parts[1][:, :width]).all(axis=0).mean())
        line(f"{len(shards)} shards, warmth {warmth}", np.concatenate(parts, axis=1), spent, same)


if __name__ == "__main__":
    main()
