"""One-ways of numbers measured once, and once more at coarse values: `python -m benchmarks.experiments.one_ways`.

Every number of 128 bins or more of some tables of `benchmarks.number_tables`, on equal seeded noise at a given noise of
one bin. Prints the mean Wasserstein distance over the interquartile range (left out where that is 0) and the mean total
variation distance of the fine bins, for one table that spends everything, and for a second table of 32 coarse values
that gets 5, 15 or 30 in a hundred of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.number_tables import TABLES, Table
from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.records.rls.denoise import shrink_one_way
from dpsyn_core.records.rls.shape import Sums
from dpsyn_core.records.rls.sums import shrink_with_sums
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import CodedAttribute

PARTS = (0.0, 0.05, 0.15, 0.3)
VALUES = 32


def columns(table: Table) -> Iterator[tuple[np.ndarray, np.ndarray, CodedAttribute]]:
    """Counts and middles of the bins of each fine number, and its attribute."""
    codes = Codec(table.schema).encode(table.table).codes
    for i, a in enumerate(table.schema.domain().attributes):
        if a.number and a.size - a.special >= 128:
            declared: Any = table.schema[a.name]
            low, high = (np.asarray(side, dtype=np.float64) for side in declared.binning.bounds())
            middle = np.append((low + high) / 2, np.zeros(a.special))
            yield np.bincount(codes[i], minlength=a.size).astype(np.float64), middle, a


def errors(truth: np.ndarray, found: np.ndarray, middle: np.ndarray) -> tuple[float, float]:
    """Wasserstein distance in interquartile ranges (NaN where that is 0), and total variation distance."""
    n = float(truth.sum())
    upto = np.cumsum(truth) / n
    spread = float(middle[np.searchsorted(upto, 0.75)] - middle[np.searchsorted(upto, 0.25)])
    moved = float((np.abs(np.cumsum(found - truth)[:-1]) * np.diff(middle)).sum()) / n
    return moved / spread if spread > 0 else float("nan"), float(np.abs(found - truth).sum()) / 2 / n


def main() -> None:
    """Prints one line a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="heavy,functional,dates,bimodal")
    parser.add_argument("--noise", type=float, default=25.0)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    for name in args.tables.split(","):
        found: dict[float, list[tuple[float, float]]] = {p: [] for p in PARTS}
        for truth, middle, a in columns(TABLES[name]()):
            total = float(truth.sum())
            for seed in range(args.seeds):
                rng = np.random.default_rng(seed)
                drawn, again = rng.normal(size=len(truth)), rng.normal(size=len(truth))
                for part in PARTS:
                    sigma = args.noise / float(np.sqrt(1 - part))
                    noisy = truth + sigma * drawn
                    clean = shrink_one_way(noisy, sigma, ordered=True, special=a.special, total=total)
                    if part:
                        recode = Coarsening.by_mass(clean, a, least=max(total / VALUES, 3 * sigma)).map
                        sums = np.bincount(recode, weights=truth)
                        of_sums = args.noise / float(np.sqrt(part))
                        known = Sums(recode, sums + of_sums * again[: len(sums)], of_sums)
                        clean = shrink_with_sums(noisy, sigma, [known], ordered=True, special=a.special, total=total)
                    found[part].append(errors(truth, clean, middle))
        means = {p: (np.nanmean([e[0] for e in v]), np.mean([e[1] for e in v])) for p, v in found.items()}
        print(f"{name:<12} " + "   ".join(f"{p:g}: {w:.4f} / {t:.4f}" for p, (w, t) in means.items()), flush=True)


if __name__ == "__main__":
    main()
