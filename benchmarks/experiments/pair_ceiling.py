"""What pairs of numbers could reach without noise: `DPSYN_TABLES=... python -m benchmarks.experiments.pair_ceiling`.

Rank correlations of a synthetic table where every table of several attributes that `rls` measured is replaced by the
exact one at the same coarse values, so that what is left is the error of coarse values, of the fit, and of placing;
beside the run as it is, and beside real codes that are only decoded. Prints the mean and the worst absolute difference
over all pairs of numbers, which pair that is, and the goals of the table. Exact tables are not private.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.number_goals import column, goals_of
from benchmarks.number_tables import TABLES, Table
from benchmarks.numbers import synthetic_of
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.rls.system import Rls, RlsConfig
from tests.seeded import SeededNoise

DELTA, NEARLY_EXACT = 1e-9, 1.0  # records: deviation that an exact cell is trusted with


def exactly(measured: list[Measurement], codes: np.ndarray, names: tuple[str, ...]) -> list[Measurement]:
    """The measurements, those of several attributes without noise."""
    out = []
    for m in measured:
        if len(m.attributes) > 1:
            axes = [codes[names.index(n)] for n in m.attributes]
            coarse = [m.recodes[n].map[c] if n in m.recodes else c for n, c in zip(m.attributes, axes, strict=True)]
            flat = np.ravel_multi_index(coarse, m.values.shape)
            values = np.bincount(flat, minlength=m.cells).reshape(m.values.shape).astype(np.float64)
            out.append(replace(m, values=values, sigma=NEARLY_EXACT))
        else:
            out.append(m)
    return out


def report(said: str, table: Table, made: np.ndarray, epsilon: float) -> None:
    """Prints one line of differences, and the goals."""
    from scipy.stats import spearmanr

    synthetic = synthetic_of(table, made, 0)
    names = [a.name for a in table.schema.domain().attributes if a.number]
    first, second = (spearmanr(np.stack([column(t, n) for n in names], 1)).statistic for t in (table.table, synthetic))
    off = np.triu(np.abs(first - second), 1)
    worst = np.unravel_index(int(off.argmax()), off.shape)
    mean = off.sum() / (len(names) * (len(names) - 1) / 2)
    print(f"{said:<24} mean {mean:.4f}  worst {off.max():.4f} ({names[worst[0]]} and {names[worst[1]]})", flush=True)
    for goal in goals_of(table.name, epsilon):
        print(f"    {goal.sentence(goal.value(table.table, synthetic))}", flush=True)


def main() -> None:
    """Prints all lines of one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", default="diamonds")
    parser.add_argument("--epsilons", default="1,10")
    args = parser.parse_args()
    table = TABLES[args.table]()
    codes = Codec(table.schema).encode(table.table).codes
    for epsilon in map(float, args.epsilons.split(",")):
        print(f"{table.name}, epsilon {epsilon:g}")
        task = Task(domain=table.schema.domain(), unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA))
        system = Rls(RlsConfig(), task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(0), unit=task.unit)
        measured = list(system.measure(MemoryCounter(codes, task.domain), gate=gate))
        for said, tables in (
            ("as measured", measured),
            ("exact tables", exactly(measured, codes, tuple(task.domain.names))),
        ):
            report(said, table, system.synthesize(tables, None, rng=np.random.default_rng(0)), epsilon)
        report("real codes, decoded", table, codes, epsilon)


if __name__ == "__main__":
    main()
