"""What the parts of a design of `dpsyn-2018` get (D 5.4, 5.5): error of pairs inside parts.

`python -m benchmarks.experiments.parts_of_designs [--tables 3x4,4x6,2x12] [--epsilons .3,1] [--seeds 3]`

A simulated table of P parts of K attributes each, written PxK: inside a part each attribute follows one of those before
it seven times in ten, and parts have nothing to do with each other. For each table and epsilon: which releases lie
inside parts, the share of the budget that all others take, and the mean total variation distance of pairs inside parts
and of pairs across, mean over seeds. `independent` is the same table without any pair. Prints Markdown.
"""

from __future__ import annotations

import argparse
import itertools
import sys

import numpy as np

from benchmarks.process import table as markdown
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import configure
from tests.seeded import SeededNoise

TABLES, EPSILONS = ("3x4", "4x6", "2x12"), (0.3, 1.0)
N, VALUES, DELTA = 20_000, (4, 6, 9, 14), 1e-9


def simulated(parts: int, width: int) -> tuple[np.ndarray, Domain, list[list[str]]]:
    """Codes (attributes, N), their domain, and the names of each part."""
    rng = np.random.default_rng(1)
    rows: list[np.ndarray] = []
    sizes: list[int] = []
    for _ in range(parts):
        for i in range(width):
            size = VALUES[i % len(VALUES)]
            fresh = np.minimum(rng.integers(0, size, N), rng.integers(0, size, N))
            if i:
                parent = rows[len(rows) - 1 - int(rng.integers(0, i))]
                fresh = np.where(rng.random(N) < 0.7, (parent * 5 + i) % size, fresh)
            rows.append(fresh)
            sizes.append(size)
    names = [[f"p{p}a{i:02d}" for i in range(width)] for p in range(parts)]
    flat = itertools.chain.from_iterable(names)
    domain = Domain(tuple(CodedAttribute(name=n, size=s) for n, s in zip(flat, sizes, strict=True)))
    return np.array(rows, dtype=np.uint8), domain, names


def distances(real: np.ndarray, made: np.ndarray, domain: Domain, parts: list[list[str]]) -> tuple[float, float]:
    """Mean distance of pairs inside parts, and of the others."""
    found: dict[bool, list[float]] = {True: [], False: []}
    pairs = domain.subsets(2)
    tables = zip(pairs, MemoryCounter(real, domain).marginals(pairs), MemoryCounter(made, domain).marginals(pairs),
                 strict=True)  # fmt: skip
    for pair, a, b in tables:
        off = float(np.abs(a / real.shape[1] - b / max(made.shape[1], 1)).sum() / 2)
        found[any(set(pair) <= set(p) for p in parts)].append(off)
    return float(np.mean(found[True])), float(np.mean(found[False]))


def row_of(shape: str, epsilon: float, seeds: int) -> list[object]:
    """One line."""
    codes, domain, parts = simulated(*(int(x) for x in shape.split("x")))
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA))
    rows = []
    for seed in range(seeds):
        system = configure("dpsyn-2018", {"design": {"parts": parts}}).calibrate(task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
        measured = system.measure(MemoryCounter(codes, domain), gate=gate)
        made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
        sets = [c.name.removeprefix("marginal ").split(" x ") for c in gate.account.charges]
        inside = [any(set(s) <= set(p) for p in parts) for s in sets]
        whole = sum(c.epsilon if system.cost.pure else c.rho for c in gate.account.charges)
        lost = sum(
            c.epsilon if system.cost.pure else c.rho
            for c, held in zip(gate.account.charges, inside, strict=True) if not held
        )  # fmt: skip
        rows.append([sum(inside), len(inside) - sum(inside), lost / whole, *distances(codes, made, domain, parts)])
    held, others, lost, within, across = np.mean(rows, axis=0)
    alone = configure("independent", {}).calibrate(task)
    gate = Gate(account=Account(alone.cost), noise=SeededNoise(0), unit=task.unit)
    made = alone.synthesize(
        alone.measure(MemoryCounter(codes, domain), gate=gate), None, rng=np.random.default_rng(0)
    )  # fmt: skip
    base = distances(codes, made, domain, parts)[0]
    return [shape, f"{epsilon:g}", f"{held:g}", f"{others:g}", f"{lost:.0%}", f"{within:.3f}", f"{across:.3f}",
            f"{base:.3f}"]  # fmt: skip


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default=",".join(f"{e:g}" for e in EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    rows = []
    for shape in given.tables.split(","):
        for epsilon in (float(e) for e in given.epsilons.split(",")):
            rows.append(row_of(shape, epsilon, given.seeds))
            print("| " + " | ".join(map(str, rows[-1])) + " |", file=sys.stderr, flush=True)
    heads = ("table", "epsilon", "releases inside", "others", "budget lost", "pairs inside", "pairs across",
             "independent, inside")  # fmt: skip
    print(markdown(heads, rows))


if __name__ == "__main__":
    main()
