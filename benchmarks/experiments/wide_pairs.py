"""How many pairs of a wide table are worth their time: `python -m benchmarks.experiments.wide_pairs [--columns 120]`.

A simulated table of columns of 2 to 12 values (that of `benchmarks.scale`), one release at each limit of the pairs that
are measured. Prints the limit, the pairs that were measured, the mean total variation distance of all pairs of columns
from the real table, that of the hundred most dependent ones, and the CPU seconds of measuring and of the fit.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.experiments.shards import Seeded
from benchmarks.scale import wide
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.rls.system import Rls, RlsConfig
from dpsyn_core.synthesizers.rls.tuning import TUNING


def main() -> None:
    """Prints one line a limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--epsilon", type=float, default=3.0)
    parser.add_argument("--limits", default="0,250,500,1000,2000,4000,8000", help="pairs at most, with commas between")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        table, document = Path(name) / "wide.parquet", Path(name) / "wide.json"
        wide(table, document, args.records, args.columns)
        codec = Codec(Schema.load(document))
        codes = codec.encode(pq.read_table(table)).codes
    domain, n = codec.domain, codes.shape[1]
    sets = list(combinations(domain.names, 2))
    real = MemoryCounter(codes, domain)
    ones = dict(zip(domain.names, real.marginals(domain.singletons()), strict=True))
    truth = real.marginals(sets)
    depends = np.array(
        [np.abs(t - np.outer(ones[a], ones[b]) / n).sum() for t, (a, b) in zip(truth, sets, strict=True)]
    )
    top = np.argsort(-depends)[:100]
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=args.epsilon, delta=1e-9))
    print(
        "| at most | measured | 2-way distance | of the 100 most dependent | CPU s measuring | CPU s of the fit |\n"
        "|---|---|---|---|---|---|"
    )
    for most in map(int, args.limits.split(",")):
        pairs = replace(TUNING.pairs, most_visits=most * float(n), fewest_most=most)
        system = Rls(RlsConfig(), task, tuning=replace(TUNING, pairs=pairs))
        gate = Gate(account=Account(system.cost), noise=Seeded(), unit=task.unit)  # type: ignore[arg-type]
        start = time.process_time()
        measured = system.measure(real, gate=gate)
        middle = time.process_time()
        made = system.synthesize(measured, n, rng=np.random.default_rng(2))
        end = time.process_time()
        found = MemoryCounter(made, domain).marginals(sets)
        distance = np.array([np.abs(a - b).sum() / (2 * n) for a, b in zip(truth, found, strict=True)])
        held = sum(len(m.attributes) == 2 for m in measured)
        print(
            f"| {most:,} | {held:,} | {distance.mean():.5f} | {distance[top].mean():.5f} | {middle - start:.1f} "
            f"| {end - middle:.1f} |", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
