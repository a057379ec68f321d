"""Ends of columns in one coarse value, or in blocks of their own: `python -m benchmarks.experiments.ends`.

Single columns of many shapes on equal seeded noise, counted bin by bin and a second time at coarse values,
before any fit. Prints the mean Wasserstein distance over the interquartile range / the total variation distance of the
bins: where the ends that single counts do not show lie in the outermost coarse value, where they have blocks of their
own, and the same with other constants.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.experiments.one_ways import columns, errors
from benchmarks.number_tables import simple_table
from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.records.rls.shape import Sums
from dpsyn_core.records.rls.stretches import supported
from dpsyn_core.records.rls.sums import shrink_with_sums
from dpsyn_core.records.rls.tails import with_ends
from dpsyn_core.records.rls.tuning import RECORDS, Shrinkage
from dpsyn_core.schema.domain import CodedAttribute

VALUES, PART = 32, 0.15  # coarse values of the second table, and its part of what is spent
TOGETHER = "one coarse value"
WAYS: dict[str, Shrinkage] = {
    TOGETHER: RECORDS.shrinkage,
    "blocks of their own": RECORDS.shrinkage,
    "24, 192, ...": replace(RECORDS.shrinkage, tail_block=24.0, tail_growth=8.0),
    "without evidence": replace(RECORDS.shrinkage, tail_seen=-1e9),
    "cut at 1 deviation": replace(RECORDS.shrinkage, tail_cut=1.0),
}


def shapes(n: int) -> Iterator[tuple[str, np.ndarray, float, float, int]]:
    """Name, values, public range and decimals of columns."""
    rng = np.random.default_rng(5)
    normal = rng.normal(size=n)
    yield "lognormal", np.exp(10 + 0.9 * normal), 0, 1e6, 0
    yield "Pareto", 1000 * (rng.pareto(1.8, n) + 1), 0, 5e6, 0
    yield "exponential", rng.exponential(30, n), 0, 1000, 1
    yield "normal, wide range", 50 + 8 * normal, -500, 1000, 2
    yield "normal, tight range", 50 + 8 * normal, 20, 80, 2
    yield "uniform", rng.uniform(-100, 100, n), -100, 100, 1
    yield "negative, skewed", -np.exp(4 + 0.8 * normal), -10_000, 0, 1
    yield "Student, 2.5", rng.standard_t(2.5, n) * 10, -2000, 2000, 1
    humps = np.where(rng.random(n) < 0.6, rng.normal(20, 2, n), rng.normal(60, 4, n))
    yield "two humps, three far", np.concatenate([np.full(3, 180.0), humps[3:]]), 0, 200, 1
    yield "hump of 2 % far away", np.where(rng.random(n) < 0.02, rng.normal(800, 20, n), rng.gamma(4, 20, n)), 0, 1e3, 1
    yield "zeros", np.where(rng.random(n) < 0.6, 0, np.exp(5 + 0.8 * normal)), 0, 20_000, 2
    pay = np.exp(7.8 + 0.5 * normal)
    yield "heaped", np.where(rng.random(n) < 0.75, np.rint(pay / 100) * 100, pay), 0, 60_000, 0
    yield "counts", rng.negative_binomial(2, 0.02, n).astype(np.float64), 0, 1000, 0
    yield "days", rng.normal(4000, 1500, n), 0, 10_000, 0
    yield "steep edge", rng.beta(1, 0.5, n) * 365, 0, 2000, 0
    yield "constant", np.full(n, 42.0), 0, 1000, 1
    yield "two far", np.concatenate([[31.8, 58.9], rng.gamma(20, 0.3, n - 2)]), 0, 60, 2


def estimate(
    truth: np.ndarray, a: CodedAttribute, noise: float, seed: int, *, own: bool, tuning: Shrinkage
) -> np.ndarray:
    """Counts of one column, as `rls` estimates them from its two tables."""
    total, ranked = float(truth.sum()), a.size - a.special
    rng = np.random.default_rng(seed)
    of_values, of_sums = noise / np.sqrt(1 - PART), noise / np.sqrt(PART)
    values = truth + of_values * rng.normal(size=a.size)
    known = shrink_with_sums(values, of_values, [], ordered=True, special=a.special, total=total)
    recode = Coarsening.by_mass(known, a, least=max(total / VALUES, 3 * of_values)).map
    if own:
        centred = values[:ranked] + (total - float(values.sum())) / a.size
        recode = with_ends(recode, supported(centred, of_values, strict_ends=True), tuning=tuning)
    held = np.bincount(recode, weights=truth)
    sums = Sums(recode, held + of_sums * rng.normal(size=len(held)), of_sums)
    return shrink_with_sums(values, of_values, [sums], ordered=True, special=a.special, total=total, tuning=tuning)


def main() -> None:
    """Prints one line a column, and means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument(
        "--noise", type=float, default=20.0, help="standard deviation of one count of all that is spent"
    )
    parser.add_argument("--seeds", type=int, default=4)
    args = parser.parse_args()
    found: dict[str, list[np.ndarray]] = {way: [] for way in WAYS}
    for name, drawn, low, high, decimals in shapes(args.records):
        table = simple_table(name, drawn, low, high, decimals)
        (truth, middle, a), *_ = columns(table)
        line = f"{name:<22}"
        for way, tuning in WAYS.items():
            runs = [
                errors(truth, estimate(truth, a, args.noise, s, own=way != TOGETHER, tuning=tuning), middle)
                for s in range(args.seeds)
            ]
            found[way].append(np.mean(runs, axis=0))
            line += f"  {way} {found[way][-1][0]:.4f} / {found[way][-1][1]:.4f}"
        print(line, flush=True)
    for way, rows in found.items():
        w1, tvd = np.nanmean(rows, axis=0)
        print(f"mean, {way}: {w1:.4f} / {tvd:.4f}")


if __name__ == "__main__":
    main()
