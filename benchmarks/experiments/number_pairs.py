"""Estimators of noisy pair tables with numbers: `python -m benchmarks.experiments.number_pairs`.

All pairs of numbers, and of a number and a category, of some tables of `benchmarks.number_tables`, at coarse values of
equal counts and with seeded noise. Prints for each estimator the mean total variation distance from the exact coarse
table and, for two numbers, the mean error of the rank correlation of the middle ranks. No record is fitted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np

from benchmarks.number_tables import TABLES
from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.records.rls.denoise import shrink_interaction, shrink_pair, shrink_unordered
from dpsyn_core.records.rls.numbers import shrink_mixed, shrink_numbers
from dpsyn_core.schema.codec import Codec

Estimator = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def as_released(noisy: np.ndarray, expected: np.ndarray, sigma: float) -> np.ndarray:
    return noisy


def cells_near_zero(noisy: np.ndarray, expected: np.ndarray, sigma: float) -> np.ndarray:
    return shrink_unordered(noisy.ravel(), sigma).reshape(noisy.shape)


def around_copula(noisy: np.ndarray, expected: np.ndarray, sigma: float) -> np.ndarray:
    return shrink_numbers(noisy, expected.sum(axis=1), expected.sum(axis=0), sigma)[0]


COMMON: Mapping[str, Estimator] = {
    "as released": as_released,
    "singular values": shrink_interaction,
    "cells near 0": cells_near_zero,
    "mean of both": shrink_pair,
}
OF_NUMBERS: Mapping[str, Estimator] = {**COMMON, "around the copula": around_copula}
MIXED: Mapping[str, Estimator] = {**COMMON, "smoothed along the number": shrink_mixed}


def order(table: np.ndarray) -> float:
    """Rank correlation of the middle ranks."""
    share = np.maximum(table, 0) / max(float(np.maximum(table, 0).sum()), 1e-9)
    a, b = share.sum(axis=1), share.sum(axis=0)
    u, v = np.cumsum(a) - a / 2 - 0.5, np.cumsum(b) - b / 2 - 0.5
    return float(u @ share @ v / np.sqrt((a @ u**2) * (b @ v**2)))


def main() -> None:
    """Prints one line an estimator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="functional,heavy,census")
    parser.add_argument("--noise", type=float, default=40.0, help="standard deviation of a cell, in records")
    parser.add_argument("--values", type=int, default=9, help="coarse values of a number in pairs of numbers")
    parser.add_argument("--mixed", type=int, default=30, help="the same in pairs with a category")
    args = parser.parse_args()
    for name in args.tables.split(","):
        table = TABLES[name]()
        codes, domain = Codec(table.schema).encode(table.table).codes, table.schema.domain()
        rng, n = np.random.default_rng(0), codes.shape[1]
        fine = [a.number and a.size >= 40 for a in domain.attributes]
        found: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for pair in combinations(range(len(domain)), 2):
            if not any(fine[k] for k in pair):
                continue
            both, axes = all(fine[k] for k in pair), []
            for k in sorted(pair, key=lambda k: not fine[k]):  # the number first
                a = domain.attributes[k]
                counts = np.bincount(codes[k], minlength=a.size).astype(np.float64)
                coarse = Coarsening.by_mass(counts, a, least=n / (args.values if both else args.mixed))
                axes.append(coarse.map[codes[k]] if fine[k] else codes[k].astype(np.intp))
            shape = tuple(int(x.max()) + 1 for x in axes)
            if min(shape) < 2:
                continue
            truth = np.bincount(np.ravel_multi_index(axes, shape), minlength=shape[0] * shape[1]).reshape(shape)
            noisy = truth + rng.normal(0, args.noise, shape)
            expected = np.outer(truth.sum(axis=1), truth.sum(axis=0)) / n
            for said, estimate in (OF_NUMBERS if both else MIXED).items():
                clean = estimate(noisy, expected, args.noise)
                off = abs(order(clean) - order(truth)) if both else float("nan")
                kind = "two numbers" if both else "mixed"
                found.setdefault((kind, said), []).append((float(np.abs(clean - truth).sum()) / 2 / n, off))
        for (kind, said), rows in found.items():
            distance, off = np.mean(rows, axis=0)
            print(f"{name:<12} {kind:<12} {said:<26} {distance:.4f}" + ("" if np.isnan(off) else f"  rank {off:.4f}"))


if __name__ == "__main__":
    main()
