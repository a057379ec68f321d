"""What PrivSyn's two steps for records gain: separate and join, and appending (D A.3).

`python -m benchmarks.experiments.separate_append [--tables chains,star] [--epsilons .3,1] [--seeds 5]`

For each table and epsilon: the mean total variation distance of all pairs, mean over seeds, with both steps, with one
and with none, from the same measurements: noise comes from a seed, so that only the records differ. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys

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
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import configure
from tests.seeded import SeededNoise

TABLES = ("chains", "chain", "star", "cycles", "blocks", "sample", "tree-20000x20", "clique-20000x12", "adult_codes")
WAYS = {
    "both": {},
    "separate only": {"append": False},
    "append only": {"separate": False},
    "neither": {"append": False, "separate": False},
}
DELTA = 1e-9
N, VALUES = 10_000, 12


def linked(name: str, parents: list[list[int]]) -> Table:
    """Attributes of twelve values, each of which follows one of its parents seven times in ten; none: on its own."""
    rng = np.random.default_rng(1)
    codes = np.empty((len(parents), N), dtype=np.uint8)
    for i, found in enumerate(parents):
        codes[i] = np.minimum(rng.integers(0, VALUES, N), rng.integers(0, VALUES, N))
        for p in found:
            codes[i] = np.where(rng.random(N) < 0.7, (codes[p] + i) % VALUES, codes[i])
    names = [f"a{i:02d}" for i in range(len(parents))]
    return Table(name=name, codes=codes, domain=Domain(tuple(CodedAttribute(name=n, size=VALUES) for n in names)))


def of(name: str) -> Table:
    """A shape by name, the bundled sample, or a table of `benchmarks.accuracy`."""
    shapes = {
        "chains": [[], [0], [1], [2], [3], [4], [], [6], [7], [8], [9], [10]],
        "chain": [[], *([i] for i in range(11))],
        "star": [[], *([0] for _ in range(11))],
        "cycles": [[], [0], [0, 1], [], [3], [3, 4], [], [6], [6, 7], [], [9], [9, 10]],  # four triangles
        "blocks": [[], [0], [], [2], [], [4], [], [6], [], [8], [], [10]],  # six pairs
    }
    if name in shapes:
        return linked(name, shapes[name])
    if name == "sample":
        schema = sample_schema()
        return Table(name=name, codes=Codec(schema).encode(sample_table()).codes, domain=schema.domain())
    return load(name)


def row_of(data: Table, epsilon: float, seeds: int) -> list[object]:
    """Mean distances of one table, in the order of WAYS, and how many marginals were measured."""
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA))
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    held = []
    for seed in range(seeds):
        first = configure("privsyn", {}).calibrate(task)
        gate = Gate(account=Account(first.cost), noise=SeededNoise(seed), unit=task.unit)
        measured = first.measure(MemoryCounter(data.codes, data.domain), gate=gate)
        held.append(sum(c.name.startswith("marginal") for c in gate.account.charges) - len(data.domain))
        for way, settings in WAYS.items():
            system = configure("privsyn", settings).calibrate(task)
            made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
            found[way].append(mean_distance(data.codes, made, data.domain))
    means = [f"{np.mean(found[way]):.4f}" for way in WAYS]
    gains = np.array(found["neither"]) - np.array(found["both"])
    return [data.name, f"{epsilon:g}", f"{np.mean(held):g}", *means, f"{np.mean(gains):+.4f} ± {np.std(gains):.4f}"]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default="0.3,1")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    rows = []
    for name in given.tables.split(","):
        data = of(name)
        for epsilon in (float(e) for e in given.epsilons.split(",")):
            rows.append(row_of(data, epsilon, given.seeds))
            print("| " + " | ".join(map(str, rows[-1])) + " |", file=sys.stderr, flush=True)
    print(markdown(("table", "epsilon", "marginals", *WAYS, "both gain"), rows))


if __name__ == "__main__":
    main()
