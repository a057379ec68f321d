"""Small tables as a user gets them: `python -m benchmarks.experiments.small_tables FILE.csv ... [--epsilons 1]`.

Each file is read, drafted, and agreed with as it is proposed; names without a suffix are tables of scikit-learn. Runs
of `rls` draw seeded noise, so that two versions of it can be compared. Prints means over the runs: total variation of
single columns (numbers at their ten deciles), median Wasserstein distance of the numbers over their interquartile
range, mean absolute difference of their rank correlations, total variation of pairs (numbers at their quartiles), and
the number of records over the real one.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpsyn_core
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.drafts.proposals import agreed, propose
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise

DELTA = 1e-6
PAIRS = 80  # drawn once, the same for all runs
Floats = NDArray[np.float64]
Sides = tuple[NDArray[np.intp], NDArray[np.intp], int]  # cells of the real records, of the synthetic ones, their number


def load(name: str) -> tuple[Any, Schema]:
    """A table, and the schema that is proposed for it."""
    path = Path(name)
    if not path.suffix:
        import sklearn.datasets

        path = Path(tempfile.mkdtemp()) / f"{name}.csv"
        getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame.to_csv(path, index=False)
    table = dpsyn_core.read_table(path)
    schema = draft(table, path.stem)
    return table, agreed(schema, propose(schema, table))


def run(table: Any, schema: Schema, *, epsilon: float, seed: int, method: str) -> tuple[Any, Any, Any]:
    """Real codes, synthetic codes, and the synthetic table."""
    codes, domain = Codec(schema).encode(table).codes, schema.domain()
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA), n_public=None)
    system = configure(method, {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    return codes, made, table_of(made, schema, columns=table.column_names, rng=np.random.default_rng(seed))


def scores(table: Any, schema: Schema, real: Any, made: Any, synthetic: Any) -> list[float]:
    """In the order of the heading."""
    singles: list[float] = []
    moved: list[float] = []
    coarse: list[Sides] = []
    numbers: list[tuple[Floats, Floats]] = []
    for i, a in enumerate(schema.domain().attributes):
        if a.number and a.size - a.special >= 12:
            x, y = (_numbers(t[a.name]) for t in (table, synthetic))
            numbers.append((x, y))
            singles.append(_distance(_at_quantiles(x, y, 10)))
            coarse.append(_at_quantiles(x, y, 4))
            spread = float(np.subtract(*np.nanquantile(x, [0.75, 0.25])))
            if spread > 0 and np.isfinite(y).any():
                at = (np.arange(400) + 0.5) / 400
                moved.append(float(np.abs(np.nanquantile(x, at) - np.nanquantile(y, at)).mean()) / spread)
        else:
            x, y = real[i].astype(np.intp), made[i].astype(np.intp)
            singles.append(_distance((x, y, a.size)))
            frequent = np.argsort(-np.bincount(x, minlength=a.size))[:5]
            place = np.full(a.size, len(frequent))
            place[frequent] = np.arange(len(frequent))
            coarse.append((place[x], place[y], len(frequent) + 1))
    pairs = [(i, j) for i in range(len(coarse)) for j in range(i)]
    if len(pairs) > PAIRS:
        pairs = [pairs[k] for k in np.random.default_rng(0).choice(len(pairs), PAIRS, replace=False)]
    both = [_distance(_together(coarse[i], coarse[j])) for i, j in pairs]
    ranks = [_ranked([side[k] for side in numbers]) for k in range(2)] if len(numbers) > 1 else [np.zeros(0)] * 2
    off = np.abs(ranks[0] - ranks[1])
    return [
        float(np.mean(singles)), float(np.median(moved)) if moved else np.nan,
        float(np.mean(off)) if len(off) else np.nan, float(np.mean(both)) if both else np.nan,
        made.shape[1] / real.shape[1],
    ]  # fmt: skip


def _numbers(column: Any) -> Floats:
    import pandas as pd

    return np.asarray(pd.to_numeric(column.to_pandas(), errors="coerce"), dtype=np.float64)


def _at_quantiles(x: Floats, y: Floats, count: int) -> Sides:
    """Cells between the quantiles of the real values; missing values have one of their own."""
    cuts = np.unique(np.nanquantile(x, np.arange(1, count) / count))
    found = [np.where(np.isnan(v), len(cuts) + 1, np.searchsorted(cuts, v)).astype(np.intp) for v in (x, y)]
    return found[0], found[1], len(cuts) + 2


def _together(a: Sides, b: Sides) -> Sides:
    return a[0] * b[2] + b[0], a[1] * b[2] + b[1], a[2] * b[2]


def _distance(sides: Sides) -> float:
    """Total variation distance."""
    x, y = (np.bincount(s, minlength=sides[2]) / max(len(s), 1) for s in sides[:2])
    return float(np.abs(x - y).sum()) / 2


def _ranked(columns: list[Floats]) -> Floats:
    """Rank correlations above the diagonal; 0 where a column has one value."""
    import pandas as pd

    found = pd.DataFrame(dict(enumerate(columns))).rank().corr().fillna(0.0).to_numpy()
    return np.asarray(found[np.triu_indices(len(columns), 1)], dtype=np.float64)


def main() -> None:
    """Prints one line a table and epsilon, and their mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--method", default="rls")
    args = parser.parse_args()
    loaded = {Path(name).stem: load(name) for name in args.tables}
    print("table            eps   single      W1    rank   pairs records")
    for epsilon in map(float, args.epsilons.split(",")):
        lines = []
        for name, (table, schema) in loaded.items():
            kwargs = {"epsilon": epsilon, "method": args.method}
            runs = [scores(table, schema, *run(table, schema, seed=s, **kwargs)) for s in range(args.seeds)]
            lines.append(np.mean(runs, axis=0))
            print(f"{name:<14} {epsilon:5g}  " + " ".join(f"{v:7.3f}" for v in lines[-1]), flush=True)
        print(f"{'mean':<14} {epsilon:5g}  " + " ".join(f"{v:7.3f}" for v in np.nanmean(lines, axis=0)), flush=True)


if __name__ == "__main__":
    main()
