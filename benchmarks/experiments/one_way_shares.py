"""What one-ways should get of the budget of `rls`: shares below and above the planned one, on equal seeded noise.

`python -m benchmarks.experiments.one_way_shares [--places few,adult,wide] [--factors .25,.5,1,1.5] [--seeds 2]` runs
`rls` with the planned share of one-ways times each factor. Prints Markdown: the planned share, and for each factor the
medians of the mean 1-, 2- and 3-way total variation distance at full resolution and, for tables of numbers, of the
error of correlations above .1, relative to their size. Factor 1 is the plan itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.accuracy import load
from benchmarks.deep import TABLES as LEARNT
from benchmarks.engine import mean_distance
from benchmarks.process import table as markdown
from benchmarks.tables import Table
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.rls.system import Rls, RlsConfig
from dpsyn_core.synthesizers.steps import share_of
from tests.seeded import SeededNoise

DELTA = 1e-9
NUMBERS = "numbers-18000x100"  # as benchmarks.deep has it: 100 numbers of 32 bins and a label
PLACES: Mapping[str, Sequence[tuple[str, float]]] = {
    "few": (("wide-20000x12", 0.3), ("interaction-20000x12", 0.3)),
    "adult": (("adult_codes", 0.3), ("adult_codes", 1.0), ("adult_codes", 3.0)),
    "usual": (("tree-20000x20", 0.3), ("mixture-30000x15", 1.0), ("skewed-5000x8", 1.0)),
    "small": (("mixture-1000x10", 1.0), ("clique-2000x10", 1.0)),
    "many": (("tree-200000x10", 1.0),),
    "numbers": ((NUMBERS, 0.3), (NUMBERS, 1.0)),
}


def loaded(name: str) -> Table:
    """A table of `benchmarks.accuracy`, or the wide one of numbers."""
    if name != NUMBERS:
        return load(name)
    made = LEARNT["wide"]()
    return Table(name=name, codes=made.codes, domain=made.domain)


def correlations(data: Table, codes: np.ndarray) -> np.ndarray:
    """Pearson correlations of the codes of all numbers, above the diagonal."""
    places = [i for i, a in enumerate(data.domain.attributes) if a.number]
    rows: np.ndarray = codes[places].astype(np.float64) + 1e-9 * np.random.default_rng(0).random(
        (len(places), codes.shape[1])
    )
    whole: np.ndarray = np.asarray(np.corrcoef(rows))
    found: np.ndarray = whole[np.triu_indices(len(places), 1)]
    return found


def run(data: Table, epsilon: float, seed: int, share: float | None) -> tuple[list[float], float]:
    """Distances (1-, 2-, 3-way, and the error of correlations or NaN) of one run, and the share of its one-ways."""
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA), n_public=None)
    system = Rls(RlsConfig(one_way_share=share), task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(data.codes, data.domain), gate=gate)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    found = [mean_distance(data.codes, made, data.domain, k) for k in (1, 2, 3)]
    off = np.nan
    if sum(a.number for a in data.domain.attributes) > 2:
        real = correlations(data, data.codes)
        strong = np.abs(real) > 0.1
        off = float(np.abs(correlations(data, made) - real)[strong].mean() / np.abs(real)[strong].mean())
    plan = system.budget_plan(data.codes.shape[1])
    costs = [*plan.one_ways, *(c for c in plan.coarse_one_ways if c is not None)]
    return [*found, off], sum(share_of(c, plan.whole) for c in costs)


def said(found: np.ndarray) -> str:
    """Distances, and the error of correlations where there are some."""
    one, two, three, off = found
    return f"{one:.4f} / {two:.4f} / {three:.4f}" + ("" if np.isnan(off) else f", {off:.3f}")


def main() -> int:
    """Runs the places that are asked for, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", default=",".join(PLACES), help=f"of {', '.join(PLACES)}")
    parser.add_argument("--factors", default=".25,.5,1,1.5")
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    factors = [float(f) for f in given.factors.split(",")]
    rows: list[list[object]] = []
    for name, epsilon in [p for key in given.places.split(",") for p in PLACES[key]]:
        data = loaded(name)
        task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA), n_public=None)
        plan = Rls(RlsConfig(), task).budget_plan(data.codes.shape[1])
        costs = [*plan.one_ways, *(c for c in plan.coarse_one_ways if c is not None)]
        planned = sum(share_of(c, plan.whole) for c in costs)
        row: list[object] = [f"{name}, {epsilon:g}", f"{planned:.3f}"]
        for factor in factors:
            share = None if factor == 1 else min(planned * factor, 0.9)
            found = np.array([run(data, epsilon, s, share)[0] for s in range(given.seeds)])
            row.append(said(np.median(found, axis=0)))
        rows.append(row)
        print("| " + " | ".join(map(str, row)) + " |", file=sys.stderr, flush=True)
    print(markdown(["table, epsilon", "planned", *(f"times {f:g}" for f in factors)], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
