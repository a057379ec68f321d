"""How much a one-way loses when runs without evidence are emptied: `python -m benchmarks.experiments.thin_tails`.

Ordered one-ways of several shapes under noise; for each `empty_sum`, the total variation distance and the Wasserstein
distance (in parts of the range), means over repeats. The first column never keeps a run for its sum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.process import table
from dpsyn_core.records.rls.denoise import shrink_one_way
from dpsyn_core.records.rls.tuning import RECORDS

NEVER = 1e9
CUTS = (NEVER, 2.5, 2.0, 1.5)
NOISE = (5.0, 14.0, 40.0)  # standard deviations, in records
REPEATS = 40


def shapes() -> dict[str, np.ndarray]:
    """Counts in order: a rare high answer, thin tails, flat lists, ages, a long empty range."""
    crowded = np.zeros(1000)
    crowded[60:160] = 540
    return {
        "rare high answers, 13": np.array([451, 34, 17, 19, 0, 0, 0, 42, 0, 0, 0, 0, 38.0]),
        "falling by a fifth, 20": np.round(120 * 0.8 ** np.arange(20)),
        "half of 20 empty": np.r_[np.full(10, 60.0), np.zeros(10)],
        "9 of 12 empty": np.r_[300.0, 200.0, 100.0, np.zeros(9)],
        "ages of 600": np.r_[np.zeros(18), np.full(50, 12.0), np.zeros(53)],
        "thin tail, 30": np.r_[500.0, np.full(29, 5.0)],
        "flat, 40": np.full(40, 15.0),
        "a tenth of 1000 holds all": crowded,
    }


def main() -> None:
    """Prints one row for each shape and noise."""
    rows = []
    for name, truth in shapes().items():
        for sigma in NOISE:
            row: list[object] = [name, sigma]
            for cut in CUTS:
                tuning, rng = replace(RECORDS.shrinkage, empty_sum=cut), np.random.default_rng(1)
                apart, moved = [], []
                for _ in range(REPEATS if len(truth) < 200 else REPEATS // 5):
                    noisy = truth + rng.normal(0, sigma, len(truth))
                    clean = shrink_one_way(
                        noisy, sigma, ordered=True, special=0, total=float(truth.sum()), tuning=tuning
                    )
                    apart.append(np.abs(clean - truth).sum() / truth.sum() / 2)
                    moved.append(np.abs(np.cumsum(clean - truth)).sum() / truth.sum() / len(truth))
                row.append(f"{np.mean(apart):.3f} / {np.mean(moved):.4f}")
            rows.append(row)
    print(table(["shape", "noise", *("never" if c == NEVER else str(c) for c in CUTS)], rows))


if __name__ == "__main__":
    main()
