"""How well numbers are kept, value by value: `python -m benchmarks.numbers [--tables heavy] [--systems rls]`.

The tables are those of `benchmarks.number_tables`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from benchmarks.number_goals import goals_of
from benchmarks.number_tables import TABLES, Table, available
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.evaluate.base import Metric, metric_class
from dpsyn_core.evaluate.correlations import CorrelationMatrix, RankCorrelation
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.number_shapes import NumberRanges, Tails, Wasserstein
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema

METRICS: tuple[tuple[str, Metric], ...] = (
    ("rank corr.", RankCorrelation()),
    ("Pearson", CorrelationMatrix()),
    ("W1 / IQR", Wasserstein()),
    ("tails", Tails()),
    ("ranges", NumberRanges()),
    ("pairs TVD", metric_class("tvd-2way")()),
)
BINS = 200  # equal bins on which the distance of pairs is taken


def even_bins(schema: Schema, count: int = BINS) -> Schema:
    """The schema with equal bins, on which the distance of pairs is taken whatever bins a run used."""
    document = schema.document()
    for a in document["attributes"]:
        if a["kind"] == "numeric":
            a.pop("scale", None)
            a["bins"] = {"count": count}
    return Schema.of(document)


def synthetic_of(table: Table, codes: Any, seed: int) -> Any:
    """The synthetic table (pyarrow) of coded records."""
    return table_of(codes, table.schema, columns=table.table.column_names, rng=np.random.default_rng(seed))


def _scored(table: Table, synthetic: Any) -> list[float]:
    measurements: list[Measurement] = []
    comparison = compare_tables(even_bins(table.schema), synthetic, table.table, measurements=measurements)
    return [metric.score(comparison).value for _, metric in METRICS]


def scores(table: Table, system: str, epsilon: float, seed: int) -> tuple[list[float], float]:
    """Scores of one run in the order of METRICS, then those of the table's goals; and its seconds."""
    from benchmarks.engine import run_system

    codes = Codec(table.schema).encode(table.table).codes
    start = time.perf_counter()
    made = run_system(system, codes, table.schema.domain(), epsilon=epsilon, seed=seed).codes
    synthetic = synthetic_of(table, made, seed)
    seconds = time.perf_counter() - start
    own = [goal.value(table.table, synthetic) for goal in goals_of(table.name, epsilon)]
    return [*_scored(table, synthetic), *own], seconds


def main() -> None:
    """Prints medians over the seeds, and each goal beside what was reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(available()))
    parser.add_argument("--systems", default="rls,dpsyn,mst")
    parser.add_argument("--epsilons", default=".3,1,10")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print("table           system      eps  " + "".join(f"{name:>11}" for name, _ in METRICS) + "    seconds")
    for name in args.tables.split(","):
        table = TABLES[name]()
        for system in args.systems.split(","):
            for epsilon in map(float, args.epsilons.split(",")):
                runs = [scores(table, system, epsilon, seed) for seed in range(args.seeds)]
                medians = np.median([found for found, _ in runs], axis=0)
                seconds = np.median([s for _, s in runs])
                row = "".join(f"{m:11.4f}" for m in medians[: len(METRICS)])
                print(f"{table.name:<15} {system:<9} {epsilon:5g}  {row} {seconds:10.1f}", flush=True)
                if system == "rls":
                    for goal, value in zip(goals_of(table.name, epsilon), medians[len(METRICS) :], strict=True):
                        print(f"    {goal.sentence(float(value))}", flush=True)


if __name__ == "__main__":
    main()
