"""What twenty declared cross tables of Adult could gain: `python -m benchmarks.experiments.cross_tables [--seeds 2]`.

Two draws of twenty three-way tables: of all columns, as `benchmarks.questions --parts adult` asks them, and of columns
with at most 16 values. Prints mean total variation distances at full resolution, epsilon 1, delta 1e-9:

- nothing declared, and the tables declared;
- every pair known exactly: records that were fitted to exact tables of all pairs, without any noise;
- ceilings: the records of the undeclared run, corrected by noisy tables of these twenty that are free beside it and
  split a half of the budget, or all of it once more. Each table is read at the resolution, and believed to the degree,
  that bring it nearest to the real one, which nobody can know. What a run could do lies above.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from benchmarks.process import table as markdown
from benchmarks.questions import DELTA, _schema, adult_triples, distance, made, named
from benchmarks.tables import Table, adult_codes
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.marginals.coarsening import Coarsening, coarsen
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.select import shares
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.schema.domain import AttributeSet
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import configure

EPSILON, FEW = 1.0, 16
RESOLUTIONS = (2, 3, 4, 6, 8, 12, 16, 24, 48, 10_000)
TRUSTS = np.linspace(0.0, 1.0, 11)


def few_valued(data: Table, count: int = 20) -> list[AttributeSet]:
    """Triples of columns with at most `FEW` values, drawn once."""
    sets = [s for s in data.domain.subsets(3) if max(data.domain[n].size for n in s) <= FEW]
    return [sets[i] for i in sorted(np.random.default_rng(0).choice(len(sets), count, replace=False))]


def exact_pairs(data: Table) -> np.ndarray:
    """Records fitted to exact tables of all pairs."""
    task = Task(domain=data.domain, unit=Task.of(_schema(data), Budget(epsilon=1.0, delta=DELTA)).unit,
                budget=Budget(epsilon=1.0, delta=DELTA), n_public=data.codes.shape[1])  # fmt: skip
    counter = MemoryCounter(data.codes, data.domain)
    sets = [*data.domain.singletons(), *data.domain.subsets(2)]
    known = [
        Measurement(attributes=s, values=t.astype(np.float64), sigma=1.0)
        for s, t in zip(sets, counter.marginals(sets), strict=True)
    ]
    system = configure("rls", {"even": False}).calibrate(task)
    return system.synthesize(known, data.codes.shape[1], rng=np.random.default_rng(0))


def ceiling(data: Table, base: np.ndarray, sets: list[AttributeSet], part: float, rng: np.random.Generator) -> float:
    """Mean distance of the corrected tables; `part` is that of the budget which the twenty tables split."""
    whole = Budget(epsilon=EPSILON, delta=DELTA).gaussian().scaled(part)
    counter, n = MemoryCounter(data.codes, data.domain), data.codes.shape[1]
    scaled = MemoryCounter(base, data.domain).marginals(sets)
    ones = {a.name: counter.marginals([(a.name,)])[0].astype(np.float64) for a in data.domain.attributes}
    maps = {
        (name, r): Coarsening.by_mass(ones[name], data.domain[name], least=n / r)
        for name, r in product(data.domain.names, RESOLUTIONS)
    }
    found = []
    cells = [np.array([maps[m, 12].size for m in s]).prod() for s in sets]
    costs = whole.split([float(x) for x in shares(np.array(cells, dtype=np.float64), pure=False)])
    for s, real, had, cost in zip(sets, counter.marginals(sets), scaled, costs, strict=True):
        before = had * (n / base.shape[1])
        best = float(np.abs(real - before).sum())
        for r in RESOLUTIONS:
            own = {m: maps[m, r] for m in s}
            noisy = coarsen(real.astype(np.float64), s, own)
            noisy = noisy + rng.normal(0.0, cost.sigma(1.0), noisy.shape)
            held = coarsen(before, s, own)
            inside = np.ix_(*(own[m].map for m in s))
            share = np.divide(before, held[inside], out=np.zeros_like(before), where=held[inside] > 0)
            for trust in TRUSTS[1:]:
                wanted = np.maximum(held + trust * (noisy - held), 0.0)
                after = wanted[inside] * share
                best = min(best, float(np.abs(real - after * (n / max(float(after.sum()), 1.0))).sum()))
        found.append(best / (2 * n))
    return float(np.mean(found))


def main() -> None:
    """Prints a row a draw of tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    data = adult_codes()
    schema, rng = _schema(data), np.random.default_rng(0)
    exact = exact_pairs(data)
    rows = []
    for name, sets in (("any columns", adult_triples()), ("at most 16 values", few_valued(data))):
        asked = named([{"kind": "table", "of": list(s)} for s in sets], schema)
        runs = []
        for seed in range(given.seeds):
            without = made(data.codes, schema, named([], schema), epsilon=EPSILON, seed=seed)
            told = made(data.codes, schema, asked, epsilon=EPSILON, seed=seed)
            limits = [ceiling(data, without, sets, part, rng) for part in (0.5, 1.0)]
            runs.append([distance(data, without, sets), distance(data, told, sets), *limits])
        had, *others = np.median(np.array(runs), axis=0)
        floor = distance(data, exact, sets)
        figures = [f"{v:.4f} ({v / had:.2f})" for v in (*others, floor)]
        rows.append([name, f"{had:.4f}", *figures])
    heads = ["tables of", "nothing declared", "declared", "ceiling, half", "ceiling, all", "exact pairs"]
    print(markdown(heads, rows), flush=True)


if __name__ == "__main__":
    main()
