"""What a budget lets a wide table say about one of its columns, and about each by itself.

`python -m benchmarks.experiments.wide_targets [--tables wide,esr-like,isolet-like] [--draws 5]`

AUROC on real records of linear rules: logistic regression on real records; the differences of the columns' means
between the two values of the label, exact, and with the noise that p3gm's part of (1, 1e-5) for its head buys. Then the
mean distance of one-ways, at p3gm's part for them: as released, shrunk on a tree as `rls` does it, smoothed as the deep
systems do it, and that of as many records drawn from the table itself.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks import deep
from benchmarks.process import table
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.records.rls.denoise import shrink_one_way, with_total
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.deep.discriminant import REACH
from dpsyn_core.synthesizers.deep.smooth import smoothed
from dpsyn_core.synthesizers.deep.system import Deep
from dpsyn_core.synthesizers.registry import configure

COLUMNS = 40  # whose one-ways are looked at


def auroc(score: np.ndarray, label: np.ndarray) -> float:
    below = np.sort(score[label == 0])
    return float(np.searchsorted(below, score[label == 1]).mean() / below.size)


def rules(data: deep.Data, sigma: float, draws: int, rng: np.random.Generator) -> list[float]:
    """AUROC of logistic regression, of exact differences of means, and of noisy ones."""
    x = data.codes[:-1].T.astype(float)
    middle, spread = x.mean(axis=0), x.std(axis=0)
    x, y = (x - middle) / spread, data.codes[-1]
    test, label = (data.test[:-1].T - middle) / spread, data.test[-1]
    sums = np.stack([x[y == v].sum(axis=0) for v in (0, 1)])
    held = np.bincount(y, minlength=2)
    noise = sigma * REACH * np.sqrt(x.shape[1])
    found = [sums + noise * rng.normal(size=sums.shape) for _ in range(draws)]
    difference = [s[1] / held[1] - s[0] / held[0] for s in (sums, *found)]
    got = [auroc(test @ d, label) for d in difference]
    return [deep.learnt(data, data.codes, 50_000, ("logistic",))[0], got[0], float(np.mean(got[1:]))]


def one_ways(data: deep.Data, sigma: float, rng: np.random.Generator) -> np.ndarray:
    """Mean distances: as released, on a tree, smoothed, drawn anew."""
    n, out = data.codes.shape[1], []
    for a, column in list(zip(data.domain.attributes, data.codes, strict=True))[:COLUMNS]:
        true = np.bincount(column, minlength=a.size).astype(float)
        noisy = true + sigma * rng.normal(size=a.size)
        tree = shrink_one_way(noisy, sigma, ordered=True, special=a.special, total=float(n))
        smooth = smoothed(noisy + (n - noisy.sum()) / a.size, sigma)
        told = (
            with_total(noisy, n),
            tree,
            tree if smooth is None else with_total(smooth, n),
            rng.multinomial(n, true / n),
        )
        out.append([np.abs(t - true).sum() / 2 / n for t in told])
    mean: np.ndarray = np.mean(out, axis=0)
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="wide,esr-like,isolet-like", help="of two labels, numbers beside them")
    parser.add_argument("--draws", type=int, default=5)
    given = parser.parse_args()
    rng, rows = np.random.default_rng(0), []
    for name in given.tables.split(","):
        data = deep.TABLES[name]()
        task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=deep.DELTA))
        system = configure("p3gm", dict(data.settings)).calibrate(task)
        assert isinstance(system, Deep)
        costs = system.costs
        d = len(data.domain)
        told = rules(data, costs["start"].sigma(1.0), given.draws, rng)
        alone = one_ways(data, costs["one-ways"].scaled(1 / d).sigma(1.0), rng)
        rows.append([name, f"{data.codes.shape[1]:,} x {d}", *(f"{v:.3f}" for v in (*told, *alone))])
    heads = ["table", "records x columns", "real records", "means", "noisy means"]
    print(table([*heads, "one-ways released", "on a tree", "smoothed", "drawn anew"], rows))


if __name__ == "__main__":
    main()
