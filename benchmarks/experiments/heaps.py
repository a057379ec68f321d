"""Values that hold many records alone, where numbers are counted in runs: `python -m benchmarks.experiments.heaps`.

Single columns of many shapes on equal seeded noise, counted twice as `rls` counts numbers of small tables,
before any fit. Prints for each shape the Wasserstein distance over the standard deviation / the error of the share of
the heaped value (of the fullest bin where there is none), and means over all shapes, of these and of the total
variation distance of the bins.

Strength is the number of records over the noise of a count of all that the column gets.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.number_tables import simple_table
from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.records.rls.few import shrink_blocks
from dpsyn_core.records.rls.heaps import ZERO, expected_heaps, heaps, in_heavy_runs, set_apart
from dpsyn_core.records.rls.shape import Sums
from dpsyn_core.records.rls.tuning import RECORDS, Shrinkage
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import CodedAttribute
from dpsyn_core.synthesizers.rls.tuning import TUNING

BEFORE, ZERO_AND_ENDS, AS_IT_IS = "runs alone", "0 and ends", "as it is"
MOST = 4_000  # noise that is drawn for every table, so that later draws are the same
BASE = RECORDS.shrinkage
WAYS: dict[str, Shrinkage] = {
    BEFORE: BASE,
    ZERO_AND_ENDS: replace(BASE, heap_heavy=np.inf),
    "round values": replace(BASE, heap_heavy=np.inf),
    AS_IT_IS: BASE,
    "runs of any length": replace(BASE, heap_run=10**6),
    "half as likely": replace(BASE, heap_zero=0.1, heap_end=0.02, heap_chance=0.25),
    "no surer than likely": replace(BASE, heap_zero_sure=0.0, heap_sure=0.0),
    "surer": replace(BASE, heap_zero_sure=3.0, heap_sure=4.0),
}


def shapes(n: int) -> Iterator[tuple[str, np.ndarray, float, float, int, float | None]]:
    """Name, values, public range, decimals and the heaped value of columns."""
    rng = np.random.default_rng(5)
    normal, some = rng.normal(size=n), rng.random(n)
    yield "rain", np.where(some < 0.57, 0, rng.gamma(0.8, 8, n)), 0, 60, 1, 0
    yield "income", np.where(some < 0.6, 0, np.exp(10 + 0.6 * normal)), 0, 1e6, 0, 0
    yield "hours", np.where(some < 0.45, 40, 37 + 10 * normal), 1, 99, 0, 40
    yield "few zeros", np.where(some < 0.1, 0, rng.gamma(6, 30, n)), 0, 1000, 1, 0
    yield "top-coded", np.minimum(50 + 30 * normal, 90), 0, 90, 0, 90
    yield "gains and losses", np.where(some < 0.3, 0, 20 * normal), -100, 100, 1, 0
    yield "grades in tens", np.where(some < 0.7, np.rint(6 + 2 * normal) * 10, 60 + 20 * normal), 0, 120, 0, 60
    yield "38 hours", np.where(some < 0.45, 38, 37 + 10 * normal), 1, 99, 0, 38
    yield "fee of 4.95", np.where(some < 0.5, 4.95, rng.gamma(2, 6, n)), 0, 50, 2, 4.95
    yield "constant 42", np.full(n, 42.0), 0, 1000, 1, 42
    yield "normal, tight", 50 + 8 * normal, 20, 80, 2, None
    yield "normal, wide", 50 + 8 * normal, -500, 1000, 2, None
    yield "exponential", rng.exponential(30, n), 0, 1000, 1, None
    yield "lognormal", np.exp(10 + 0.9 * normal), 0, 1e6, 0, None
    yield "uniform", rng.uniform(-100, 100, n), -100, 100, 1, None
    yield "two humps", np.where(some < 0.6, 20 + 2 * normal, 60 + 4 * normal), 0, 200, 1, None
    yield "steep edge", rng.beta(1, 0.5, n) * 365, 0, 2000, 0, None


def column(drawn: np.ndarray, low: float, high: float, decimals: int) -> tuple[np.ndarray, np.ndarray, CodedAttribute]:
    """Counts and middles of the bins, and the attribute."""
    table = simple_table("x", drawn, low, high, decimals)
    (a,) = table.schema.domain().attributes
    declared: Any = table.schema["x"]
    codes = Codec(table.schema).encode(table.table).codes[0]
    return np.bincount(codes, minlength=a.size).astype(np.float64), declared.middles(), a


def estimate(
    truth: np.ndarray, a: CodedAttribute, strength: float, seed: int, tuning: Shrinkage, *, way: str = AS_IT_IS,
    blocks: int | None = None,
) -> np.ndarray:  # fmt: skip
    """Counts of one column, as `rls` estimates them from two tables of half the cost each."""
    total, size, rng, r = float(truth.sum()), a.size, np.random.default_rng(seed), TUNING.resolution
    sigma = total / strength * np.sqrt(2)
    count = blocks or max(r.fewest_blocks, round(r.blocks * strength))
    runs = np.arange(size) * count // size
    level = bytes(ZERO if b == ZERO else 0 for b in a.round) if way == ZERO_AND_ENDS else a.round
    chance = None
    if way != BEFORE:
        runs = set_apart(runs, expected_heaps(size, level, runs, tuning=tuning) > 0)
        chance = expected_heaps(size, level, tuning=tuning)
    first = _counted(truth, runs, sigma, rng)
    known = shrink_blocks([first], size, special=0, total=total, heaped=chance, tuning=tuning)
    again = Coarsening.by_mass(known, a, least=max(total / r.few_values, r.few_held * sigma)).map
    if chance is not None:
        likely = heaps([first], chance, total, tuning=tuning)[0] > tuning.heap_again
        again = set_apart(again, likely | in_heavy_runs(first, tuning=tuning))
    tables = [first, _counted(truth, again, sigma, rng)]
    out: np.ndarray = shrink_blocks(tables, size, special=0, total=total, heaped=chance, tuning=tuning)
    return out


def _counted(truth: np.ndarray, recode: np.ndarray, sigma: float, rng: np.random.Generator) -> Sums:
    held = np.bincount(recode, weights=truth)
    return Sums(recode.astype(np.intp), held + sigma * rng.normal(size=MOST)[: len(held)], sigma)


def errors(truth: np.ndarray, found: np.ndarray, middle: np.ndarray, at: int) -> tuple[float, float, float]:
    """Wasserstein distance in standard deviations, error of the share of one value, total variation distance."""
    n = float(truth.sum())
    mean = float(truth @ middle) / n
    spread = max(float(np.sqrt(truth @ (middle - mean) ** 2 / n)), 0.01 * float(middle[-1] - middle[0]))
    moved = float((np.abs(np.cumsum(found - truth)[:-1]) * np.diff(middle)).sum()) / n
    return moved / spread, abs(float(found[at] - truth[at])) / n, float(np.abs(found - truth).sum()) / 2 / n


def main() -> None:
    """Prints one line a shape for each strength, and means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_500)
    parser.add_argument("--strengths", default="5,20,80")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--ways", default=",".join(WAYS))
    args = parser.parse_args()
    for strength in map(float, args.strengths.split(",")):
        found: dict[str, list[np.ndarray]] = {way: [] for way in args.ways.split(",")}
        for name, drawn, low, high, decimals, heaped in shapes(args.records):
            truth, middle, a = column(drawn, low, high, decimals)
            at = int(np.argmax(truth) if heaped is None else np.abs(middle - heaped).argmin())
            line = f"{name:<17} {strength:4g} "
            for way, rows in found.items():
                runs = [
                    errors(truth, estimate(truth, a, strength, s, WAYS[way], way=way), middle, at)
                    for s in range(args.seeds)
                ]
                rows.append(np.mean(runs, axis=0))
                line += f"  {rows[-1][0]:.3f} / {rows[-1][1]:.3f}"
            print(line, flush=True)
        for way, rows in found.items():
            print(f"mean at {strength:g}, {way}: " + " / ".join(f"{v:.4f}" for v in np.mean(rows, axis=0)), flush=True)


if __name__ == "__main__":
    main()
