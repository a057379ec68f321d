"""Whether triples ever harm: `python -m benchmarks.pairs_alone [--tables adult_codes] [--epsilons 1] [--seeds 3]`.

For every table, epsilon and seed, `rls` with triples and without on equal noise: the relative change of the mean 2-
and 3-way total variation distance at full resolution, median and worst of the seeds, and how many triples were
measured. Where no triple was scored the two are the same and the second run is skipped. Noise comes from a seed, so
that both runs draw the same numbers for one-ways, scores and the first tables of pairs; what is drawn later differs,
which alone moves small tables by some per cent either way, so that only several seeds show a loss. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from benchmarks.accuracy import load
from benchmarks.process import table as markdown
from benchmarks.tables import Table
from dpsyn_core.evaluate.base import compute
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise

TABLES = (
    "tree-1000x10", "skewed-5000x8", "deterministic-10000x16", "tree-20000x20", "wide-30000x16", "mixture-30000x15",
    "clique-30000x16", "adult_codes", "clique-200000x12", "tree-1000000x8",
)  # fmt: skip
EPSILONS = (0.3, 1.0, 3.0, 10.0)
DELTA = 1e-9
LIMIT = 2.0  # per cent that no table should lose to pairs alone


def distances(
    data: Table, epsilon: float, seed: int, shared: dict[object, object], *, triples: bool
) -> tuple[bool, int, np.ndarray]:
    """Whether triples were scored, how many were measured, and the mean 2- and 3-way distance."""
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA), n_public=None)
    system = configure("rls", {"triples": triples}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(data.codes, data.domain), gate=gate)
    synthetic = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    compared = Comparison(domain=data.domain, real=data.codes, synthetic=synthetic, shared=shared)
    scores = compute(compared, ("tvd-2way", "tvd-3way"))
    found = np.array([getattr(scores[m], "value", float("nan")) for m in ("tvd-2way", "tvd-3way")])
    entered = any(c.name == "scores of triples" for c in gate.account.charges)
    return entered, sum(len(m.attributes) > 2 for m in measured), found


def row_of(data: Table, epsilon: float, seeds: int) -> tuple[list[object], np.ndarray]:
    """One line, and the median changes in per cent."""
    shared: dict[object, object] = {}
    counts, alone, changes, entered = [], [], [], 0
    for seed in range(seeds):
        scored, triples, found = distances(data, epsilon, seed, shared, triples=True)
        pairs = distances(data, epsilon, seed, shared, triples=False)[2] if scored else found
        entered += scored
        counts.append(triples)
        alone.append(pairs)
        changes.append(100 * (found / pairs - 1))
    middle, worst = np.median(changes, axis=0), np.max(changes, axis=0)
    two, three = np.median(alone, axis=0)
    if not entered:
        cells = [f"{two:.4f}", "same", "same", f"{three:.4f}", "same", "same"]
    else:
        cells = [f"{two:.4f}", *_change(middle[0], worst[0]), f"{three:.4f}", *_change(middle[1], worst[1])]
    return [data.name, f"{epsilon:g}", f"{entered}/{seeds}", f"{np.median(counts):g}", *cells], middle


def _change(middle: float, worst: float) -> tuple[str, str]:
    return f"{middle:+.1f} %", f"{worst:+.1f} %"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES), help="comma-separated, as in benchmarks.accuracy")
    parser.add_argument("--epsilons", default=",".join(f"{e:g}" for e in EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    started, rows, harmed, most = time.perf_counter(), [], [], -np.inf
    for name in given.tables.split(","):
        data = load(name)
        for epsilon in (float(e) for e in given.epsilons.split(",")):
            row, middle = row_of(data, epsilon, given.seeds)
            rows.append(row)
            print("| " + " | ".join(map(str, row)) + " |", file=sys.stderr, flush=True)
            most = max(most, float(middle.max()))
            if middle.max() > LIMIT:
                harmed.append(f"{name} at {epsilon:g}")
    heads = (
        "table",
        "epsilon",
        "scored",
        "triples",
        "2-way alone",
        "change",
        "worst",
        "3-way alone",
        "change",
        "worst",
    )
    print(markdown(heads, rows))
    print(f"\nLargest median change {most:+.1f} %; above {LIMIT:g} %: {', '.join(harmed) or 'none'}.")
    print(f"{time.perf_counter() - started:.0f} s.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
