"""Skewed numbers on wide ranges: records far beyond the last one, where a few move the mean by much, and small counts.

Each run releases one column and four of noise with `rls`; printed for each shape and number of records: the share of
runs whose mean is off by more than a quarter, the largest ratio to the true mean, the mean and median of the
Wasserstein distance over the mean, and the mean total variation distance of the column's bins.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from benchmarks.engine import run_system
from benchmarks.process import table
from dpsyn_core.schema.document import Schema

OFF = 0.25  # of the mean, from which on a run counts as off
SHAPES: dict[
    str, tuple[Callable[[np.random.Generator, int], np.ndarray], int]
] = {  # draws of a shape, and the largest value of its public range
    "lognormal": (lambda rng, n: np.exp(rng.normal(7.5, 0.9, n)), 1_000_000),
    "pareto": (lambda rng, n: 500 * (1 + rng.pareto(2.2, n)), 1_000_000),
    "mostly 0": (lambda rng, n: np.where(rng.random(n) < 0.7, 0, rng.gamma(1.0, 2000, n)), 500_000),
    "amounts of a few": (
        lambda rng, n: np.where(rng.random(n) < 0.87, 0, np.exp(rng.normal(6.8, 0.75, n))),
        10_000,
    ),
    "gifts or blank": (
        lambda rng, n: np.where(rng.random(n) < 0.8, np.nan, np.exp(rng.normal(3.6, 1.1, n))),
        50_000,
    ),
    "very long": (lambda rng, n: np.exp(rng.normal(8, 1.6, n)), 1_000_000),
    "normal": (lambda rng, n: rng.normal(50_000, 8_000, n).clip(0), 1_000_000),
    "visits": (lambda rng, n: rng.poisson(rng.gamma(1.0, 3.0, n)), 999),
    "days missed": (lambda rng, n: rng.poisson(np.exp(rng.normal(0.9, 0.4, n))), 80),
}


def of_shape(shape: str, n: int, epsilon: float, runs: int) -> list[object]:
    """A row of the table."""
    rng = np.random.default_rng(1)
    draw, most = SHAPES[shape]
    drawn = np.minimum(draw(rng, n), most).round()
    blank = np.isnan(drawn)
    values = np.where(blank, 0, drawn).astype(np.int64)
    number = {"name": "x", "kind": "numeric", "dtype": "integer", "min": 0, "max": most, "missing": bool(blank.any())}
    noise = [{"name": f"c{i}", "kind": "categorical", "values": ["a", "b", "c", "d"]} for i in range(4)]
    schema = Schema.of({"version": 1, "name": shape, "attributes": [number, *noise]})
    attribute = schema.domain().attributes[0]
    bins = attribute.size - attribute.special
    coded = np.where(blank, bins, schema["x"].binning.find(values))
    codes = np.stack([coded, *rng.integers(0, 4, (4, n))]).astype(np.uint16)
    middles = np.asarray(schema["x"].middles())[:bins]

    def shares(column: np.ndarray) -> np.ndarray:  # of the records that have a number
        counts = np.bincount(column, minlength=attribute.size)[:bins]
        return np.asarray(counts / max(1, counts.sum()))

    held = shares(codes[0])
    truth = held @ middles
    ratios, distances, cells = [], [], []
    for seed in range(runs):
        made = run_system("rls", codes, schema.domain(), epsilon=epsilon, seed=seed).codes[0]
        ratios.append(shares(made) @ middles / truth)
        apart = shares(made) - held
        cells.append(np.abs(apart).sum() / 2)
        beyond = np.cumsum(apart)[:-1]
        distances.append(float(np.abs(np.diff(middles) * beyond).sum() / truth))
    off = np.mean(np.abs(np.array(ratios) - 1) > OFF)
    figures = [off, max(ratios), np.mean(distances), np.median(distances), np.mean(cells)]
    return [shape, n, *(f"{x:.3f}" for x in figures)]


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--records", default="3000,12000")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    given = parser.parse_args()
    sizes = [int(n) for n in given.records.split(",")]
    rows = [of_shape(shape, n, given.epsilon, given.runs) for shape in given.shapes.split(",") for n in sizes]
    print(table(["shape", "records", "mean off", "largest ratio", "distance, mean", "median", "bins"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
