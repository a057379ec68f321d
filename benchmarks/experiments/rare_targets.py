"""Targets that few records have, told by numbers of some tens of values: what coarse values of the numbers change.

`python -m benchmarks.experiments.rare_targets [--seeds 4]` runs `rls` on simulated tables of ten numbers that follow
one factor and a target that the largest values of it have, on equal seeded noise. Prints, for numbers that are never
merged in pairs with categories beyond what categories are, always, and where that halves their values (the default):
the mean AUROC on the real records of a linear discriminant that was trained on the synthetic ones, its lowest and
highest, the mean 2-way distance, and how many of the ten pairs with the target were measured.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

from benchmarks.engine import mean_distance
from benchmarks.experiments.variants import changed
from benchmarks.process import table as markdown
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.rls.system import Rls, RlsConfig
from dpsyn_core.synthesizers.rls.tuning import TUNING
from tests.seeded import SeededNoise

DELTA = 1e-6
NUMBERS = 10
PLACES = ((5_000, 0.05, 40, 1.0), (20_000, 0.05, 60, 0.3), (20_000, 0.05, 60, 1.0), (5_000, 0.3, 40, 0.3))
VARIANTS = {"never": math.inf, "always": 0.0, "where that halves them": TUNING.resolution.mixed_fewer}


def simulated(n: int, rate: float, bins: int) -> tuple[np.ndarray, Domain]:
    """Codes and domain; the last attribute is the target."""
    rng = np.random.default_rng(1)
    factor = rng.normal(size=n)
    seen, told = 0.7 * factor + rng.normal(size=(NUMBERS, n)), factor + 0.5 * rng.normal(size=n)
    codes = [np.searchsorted(np.linspace(-2.5, 2.5, bins - 1), x) for x in seen]
    attributes = [CodedAttribute(name=f"x{i}", size=bins, ordered=True, number=True) for i in range(NUMBERS)]
    made = np.stack([*codes, told > np.quantile(told, 1 - rate)]).astype(np.uint8)
    return made, Domain((*attributes, CodedAttribute(name="y", size=2)))


def auroc(score: np.ndarray, target: np.ndarray) -> float:
    """The chance that a record with the target has a larger score than one without."""
    place = np.empty(len(score))
    place[np.argsort(score, kind="stable")] = np.arange(len(score))
    return float((place[target].mean() - (target.sum() - 1) / 2) / (~target).sum())


def run(codes: np.ndarray, domain: Domain, epsilon: float, seed: int, fewer: float) -> tuple[float, float, int]:
    """AUROC, 2-way distance, and measured pairs with the target."""
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA), n_public=None)
    system = Rls(RlsConfig(effort=0.2), task, tuning=changed(TUNING, {"resolution.mixed_fewer": fewer}))
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    x, has = made[:-1].astype(float), made[-1] == 1
    between = x[:, has].mean(axis=1) - x[:, ~has].mean(axis=1)
    weights = np.linalg.solve(np.cov(x) + 1e-3 * np.eye(NUMBERS), between)
    pairs = sum("y" in m.attributes and len(m.attributes) == 2 for m in measured)
    return auroc(weights @ codes[:-1].astype(float), codes[-1] == 1), mean_distance(codes, made, domain), pairs


def main() -> int:
    """Prints a row for every table and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args()
    rows: list[list[object]] = []
    for n, rate, bins, epsilon in PLACES:
        codes, domain = simulated(n, rate, bins)
        row: list[object] = [f"{n:,} records, {bins} values, {rate:.0%} with the target", f"{epsilon:g}"]
        for fewer in VARIANTS.values():
            found = np.array([run(codes, domain, epsilon, s, fewer) for s in range(given.seeds)])
            (mean, two, pairs), low, high = found.mean(axis=0), found[:, 0].min(), found[:, 0].max()
            row.append(f"{mean:.3f} ({low:.2f} to {high:.2f}), {two:.4f}, {pairs:.0f}")
        rows.append(row)
        print("| " + " | ".join(map(str, row)) + " |", file=sys.stderr, flush=True)
    print(markdown(["table", "epsilon", *VARIANTS], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
