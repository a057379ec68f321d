"""Numbers of 40 to 200 bins, counted one by one or in blocks: `python -m benchmarks.experiments.few_bins`.

Columns of `benchmarks.number_tables` on equal seeded noise, before any fit. Prints for each the Wasserstein distance in
units of the number / total variation of its bins: one table bin by bin; the same, following a smooth shape with heaps
on it; blocks and then coarse values, each with heaps, of 16 blocks and of four bins each.

Strength is the number of records over the noise of a count of all that the column gets.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.experiments.heaps import BASE, estimate
from benchmarks.number_tables import TABLES
from dpsyn_core.records.rls.denoise import shrink_one_way
from dpsyn_core.records.rls.few import shrink_few
from dpsyn_core.records.rls.heaps import expected_heaps
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import CodedAttribute

COLUMNS = {
    "heavy": ("age", "hours"), "heaped": ("weight", "height"), "few": ("visits", "age"), "census": ("age", "hours"),
}  # fmt: skip
WAYS = ("bin by bin", "smooth", "16 blocks", "blocks of four")


def found(truth: np.ndarray, a: CodedAttribute, strength: float, seed: int, way: str) -> np.ndarray:
    """Counts of one column."""
    total, sigma = float(truth.sum()), float(truth.sum()) / strength
    if way in WAYS[2:]:
        blocks = 16 if way == WAYS[2] else max(16, a.size // 4)
        return estimate(truth, a, strength, seed, BASE, blocks=blocks)
    noisy = truth + sigma * np.random.default_rng(seed).normal(size=len(truth))
    if way == WAYS[0]:
        return shrink_one_way(noisy, sigma, ordered=True, special=0, total=total)
    heaped = expected_heaps(a.size, a.round)
    return shrink_few(noisy, sigma, ordered=True, special=0, total=total, heaped=heaped)


def main() -> None:
    """Prints one line a column and strength, and means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strengths", default="150,300,600,1200")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print("column            strength  " + "  ".join(f"{way:>15}" for way in WAYS))
    for strength in map(float, args.strengths.split(",")):
        means = []
        for name, columns in COLUMNS.items():
            table = TABLES[name]()
            codes = Codec(table.schema).encode(table.table).codes
            for i, a in enumerate(table.schema.domain().attributes):
                if a.name in columns:
                    declared: Any = table.schema[a.name]
                    truth = np.bincount(codes[i], minlength=a.size).astype(np.float64)
                    means.append(_errors(truth, declared.middles(), a, strength, args.seeds))
                    print(f"{name + '.' + a.name:<17} {strength:8g}  {_line(means[-1])}", flush=True)
        print(f"mean              {strength:8g}  {_line(np.mean(means, axis=0))}", flush=True)


def _errors(truth: np.ndarray, middle: np.ndarray, a: CodedAttribute, strength: float, seeds: int) -> np.ndarray:
    """Both distances (ways, 2)."""
    out = []
    for way in WAYS:
        runs = [found(truth, a, strength, s, way) - truth for s in range(seeds)]
        moved = np.mean([np.abs(np.cumsum(off)[:-1]) @ np.diff(middle) for off in runs]) / truth.sum()
        out.append((moved, np.mean([np.abs(off).sum() for off in runs]) / 2 / truth.sum()))
    return np.array(out)


def _line(rows: np.ndarray) -> str:
    return "  ".join(f"{moved:7.3f} / {apart:.3f}" for moved, apart in rows)


if __name__ == "__main__":
    main()
