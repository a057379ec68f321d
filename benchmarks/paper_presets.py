"""Every preset of P3GM that has a paper's settings, to its end: `python -m benchmarks.paper_presets --rows isolet`.

The tables of the paper cannot be had here. Each preset is run at (1, 1e-5) on simulated records of the size of its
table (a tenth is left out to test on; numbers in 32 bins), with the noise of production. Prints the records, the steps,
epsilon of all that was charged at a delta of 1e-5, processor seconds and those that the program forecasts before a run,
wall seconds, the peak memory of the process and AUROC of a logistic regression (accuracy for the ten classes of the
pictures). `--steps 3` shows what a step takes, `--epsilon 1000` what is learnt where noise is small.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from benchmarks.deep import DELTA, Data, judged, mixed_numbers, split
from benchmarks.process import runs, table
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.settings import Size


def pictures(n: int = 70_000) -> Data:
    """28 x 28 pictures in 32 greys of ten classes: a line whose slant and place tell the class."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 10, n)
    grid = np.linspace(-1, 1, 28)
    at = ((y % 5 - 2) * 0.3 + rng.normal(0, 0.1, n))[:, None] * grid + (y // 5 - 0.5)[:, None] * 0.7
    codes = np.empty((785, n), dtype=np.uint8)
    for i, height in enumerate(at.T):
        grey = np.clip(1.2 - np.abs(grid[:, None] - height) / 0.15, 0, 1)
        codes[28 * i : 28 * (i + 1)] = np.floor(31 * grey)
    codes[784] = y
    names = [f"p{i:03d}" for i in range(784)]
    numbers = [CodedAttribute(name=p, size=32, ordered=True, number=True) for p in names]
    return split(codes, Domain((*numbers, CodedAttribute(name="label", size=10))), frozenset(names))


HEADERS = [
    "row", "records", "steps", "epsilon at 1e-5", "processor seconds to step 1", "a step", "whole run", "forecast",
    "seconds", "peak MB", "learnt from it",
]  # fmt: skip
TABLES: dict[str, Callable[[], Data]] = {
    "credit": lambda: mixed_numbers(284_807, 29, 12, 0.0017, 4, 2.0, 32),
    "isolet": lambda: mixed_numbers(7_797, 617, 30, 0.19, 6, 1.0, 32),
    "esr": lambda: mixed_numbers(11_500, 179, 20, 0.2, 7, 1.2, 32),
    "mnist": pictures,
}


def row(name: str, data: Data, seed: int, steps: int | None, epsilon: float = 1.0) -> list[str]:
    """Figures of one run. steps: fewer than the paper's, to see what one takes; their noise is then another."""
    settings = {"preset": f"paper-{name}", "target": data.domain.names[-1]} | (
        {} if steps is None else {"steps": steps}
    )
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA))
    start, begun = time.perf_counter(), time.process_time()
    config = configure("p3gm", settings)
    forecast = config.estimate(Size.of(data.domain, data.codes.shape[1])).seconds
    system = config.calibrate(task)
    account = Account(system.cost, delta=system.failure)
    gate = Gate(account=account, noise=SystemNoise(), unit=task.unit)
    first: dict[int, float] = {}  # processor seconds when a step of the training was done

    def progress(stage: str, done: float, total: float, value: float | None = None) -> None:
        del total, value
        if stage == "training":
            first[int(done)] = time.process_time()

    measured = system.measure(MemoryCounter(data.codes, data.domain), gate=gate, progress=progress)
    out = system.synthesize(measured, data.codes.shape[1], rng=np.random.default_rng(seed))
    wall, cpu = time.perf_counter() - start, time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    measure = "accuracy" if data.domain.attributes[-1].size > 2 else "auroc"
    score = judged(data, out, 10_000, ["logistic"])[measure]
    taken = max(first)
    each = (first[taken] - first[1]) / max(taken - 1, 1)
    spent = compose(account.charges).epsilon(DELTA) if steps is None else float("nan")
    return [
        name, f"{data.codes.shape[1]:,} x {len(data.domain)}", f"{taken:,}", f"{spent:.4f}", f"{first[1] - begun:.0f}",
        f"{each:.3f}", f"{cpu:.0f}", f"{forecast:.0f}", f"{wall:.0f}", f"{peak:,.0f}", f"{score:.3f} ({measure})",
    ]  # fmt: skip


def main() -> None:
    """Prints a row a run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="isolet", help=f"of {', '.join(TABLES)}, separated by commas")
    parser.add_argument("--seeds", type=runs, default=1)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    found = []
    for name in given.rows.split(","):
        data = TABLES[name]()
        for seed in range(given.seeds):
            found.append(row(name, data, seed, given.steps, given.epsilon))
            print(*found[-1], sep=" | ", flush=True)
    print(table(HEADERS, found))


if __name__ == "__main__":
    main()
