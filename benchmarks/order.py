"""Dependence of higher order: `python -m benchmarks.order [--parts parity,groups,characters] [--seeds 3]`.

parity: 20,000 records of twelve yes/no columns, and y, which is the exclusive or of k of them but for 5 % of the
records; what a boosted model that learns on synthetic records tells of 5,000 fresh ones (at most .95, by chance .50).
groups: three groups of four columns of three values, each with a random distribution of its own; mean distance of the
three tables of four inside the groups, of all pairs, and of all triples. characters: 7,152 strokes of ten letters,
seven numbers and the letter; accuracy as for parity. Declared: the run is told that y, or the letter, will be
predicted. Medians over seeds; noise is that of production. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance
from benchmarks.process import table as markdown
from benchmarks.questions import named
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure

DELTA = 1e-9
FRESH = 5_000  # records that no run saw
LETTERS, POOL = 10, 24  # letters, and the strokes that they are made of
BINS = (6, 38, 64, 38, 64, 64, 64)  # of the seven numbers of a stroke


def parity(k: int, seed: int, records: int = 20_000) -> tuple[np.ndarray, Schema]:
    """Twelve yes/no columns, and the exclusive or of the k in the middle of them, with 5 % of flips."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (13, records + FRESH)).astype(np.uint8)
    codes[12] = codes[12 - k - 2 : 10].sum(axis=0) % 2 ^ (rng.random(codes.shape[1]) < 0.05)
    return codes, _categories([f"x{i}" for i in range(12)] + ["y"], 2)


def groups(seed: int, records: int = 20_000) -> tuple[np.ndarray, Schema]:
    """Three groups of four columns of three values: 81 cells each, their chances drawn evenly."""
    rng = np.random.default_rng(seed)
    parts = [np.unravel_index(rng.choice(81, records, p=rng.dirichlet(np.ones(81))), (3,) * 4) for _ in range(3)]
    return np.concatenate(parts).astype(np.uint8), _categories([f"{g}{i}" for g in "abc" for i in range(4)], 3)


def characters(seed: int, records: int = 7_152) -> tuple[np.ndarray, Schema]:
    """Strokes of letters of any size: number of the stroke, its two ends, its length, and the height of the letter."""
    shapes, rng = np.random.default_rng(7), np.random.default_rng(seed)
    n = records + FRESH
    strokes = shapes.integers(3, 7, LETTERS)
    pool = shapes.integers(0, 4, (POOL, 4)) / 3  # on a grid of four by four; letters share their strokes
    ends = pool[shapes.integers(0, POOL, (LETTERS, 6))]
    letter = rng.integers(0, LETTERS, n)
    number = (rng.random(n) * strokes[letter]).astype(np.int64)
    height = rng.uniform(0.5, 1.0, n)
    at = ends[letter, number] * height[:, None] + rng.normal(0, 0.03, (n, 4))
    length = np.hypot(at[:, 2] - at[:, 0], at[:, 3] - at[:, 1])
    numbers = np.clip([number / 6, *at.T, length / 1.5, height - 0.4], 0, 0.9999)
    codes = np.array([x * bins for x, bins in zip(numbers, BINS, strict=True)] + [letter]).astype(np.uint8)
    listed: list[dict[str, Any]] = [
        {"name": f"v{i}", "kind": "numeric", "dtype": "float", "min": 0, "max": 1, "bins": {"count": bins}}
        for i, bins in enumerate(BINS)
    ]
    listed.append({"name": "y", "kind": "categorical", "values": [f"letter {i}" for i in range(LETTERS)]})
    return codes, Schema.of({"version": 1, "name": "characters", "attributes": listed})


def _categories(names: list[str], size: int) -> Schema:
    values = [str(v) for v in range(size)]
    listed = [{"name": name, "kind": "categorical", "values": values} for name in names]
    return Schema.of({"version": 1, "name": "order", "attributes": listed})


def run(
    codes: np.ndarray, schema: Schema, *, epsilon: float, seed: int, declared: bool
) -> tuple[np.ndarray, int, float]:
    """Synthetic codes, how many tables of three and more columns were measured, and seconds."""
    asked = named([{"kind": "predict", "of": "y"}], schema) if declared else None
    task = Task.of(schema, Budget(epsilon=epsilon, delta=DELTA), questions=asked)
    start = time.perf_counter()
    system = configure("rls", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, task.domain), gate=gate)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    return made, sum(len(m.attributes) > 2 for m in measured), time.perf_counter() - start


def accuracy(synthetic: np.ndarray, fresh: np.ndarray) -> float:
    """Of a boosted model that learns on synthetic records to tell the last column from the others."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    if len(np.unique(synthetic[-1])) < 2:
        return float(np.mean(fresh[-1] == synthetic[-1, 0]))
    model = HistGradientBoostingClassifier(random_state=0).fit(synthetic[:-1].T, synthetic[-1])
    return float(model.score(fresh[:-1].T, fresh[-1]))


def predicted(name: str, epsilon: float, seeds: int, *, declared: bool) -> tuple[list[float], float, float]:
    """Accuracies, one a seed, and the median number of tables and seconds; name: parity-K, or characters."""
    scores, tables, seconds = [], [], []
    for seed in range(seeds):
        codes, schema = characters(seed) if name == "characters" else parity(int(name.partition("-")[2]), seed)
        made, wide, taken = run(codes[:, FRESH:], schema, epsilon=epsilon, seed=seed, declared=declared)
        scores.append(accuracy(made, codes[:, :FRESH]))
        tables.append(wide)
        seconds.append(taken)
    return scores, float(np.median(tables)), float(np.median(seconds))


def grouped(epsilon: float, seeds: int) -> list[str]:
    """Tables of four inside groups, pairs, triples; tables and seconds."""
    found = []
    for seed in range(seeds):
        codes, schema = groups(seed)
        made, wide, seconds = run(codes, schema, epsilon=epsilon, seed=seed, declared=False)
        inside = [[f"{g}{i}" for i in range(4)] for g in "abc"]
        domain = schema.domain()
        real, synthetic = (MemoryCounter(c, domain).marginals([tuple(s) for s in inside]) for c in (codes, made))
        n, m = codes.shape[1], made.shape[1]
        four = float(np.mean([np.abs(a / n - b / m).sum() / 2 for a, b in zip(real, synthetic, strict=True)]))
        found.append([four, *(mean_distance(codes, made, domain, k) for k in (2, 3)), wide, seconds])
    middle = np.median(np.array(found), axis=0)
    return [*(f"{x:.4f}" for x in middle[:3]), f"{middle[3]:g}", f"{middle[4]:.1f}"]


def main() -> int:
    """Prints a table for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="parity,groups,characters")
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--orders", default="2,3,4,5,6", help="of parity: columns that y follows")
    given = parser.parse_args()
    epsilons, parts = [float(e) for e in given.epsilons.split(",")], given.parts.split(",")
    names = [f"parity-{k}" for k in given.orders.split(",")] if "parity" in parts else []
    names += ["characters"] if "characters" in parts else []
    rows: list[list[object]] = []
    for name in names:
        for epsilon in epsilons:
            for declared in (False, True):
                scores, wide, seconds = predicted(name, epsilon, given.seeds, declared=declared)
                told = "y declared" if declared else "nothing declared"
                figures = [f"{np.median(scores):.3f}", f"{min(scores):.3f}", f"{wide:g}", f"{seconds:.1f}"]
                rows.append([name, f"{epsilon:g}", told, *figures])
                print("| " + " | ".join(map(str, rows[-1])) + " |", file=sys.stderr, flush=True)
    if rows:
        print(markdown(["table", "epsilon", "told", "accuracy", "worst", "wide tables", "s"], rows))
    if "groups" in parts:
        of_groups = [[f"{e:g}", *grouped(e, given.seeds)] for e in epsilons]
        print(markdown(["epsilon", "groups of four", "pairs", "triples", "wide tables", "s"], of_groups))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
