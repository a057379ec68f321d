"""How well numbers are kept, value by value: `python -m benchmarks.numbers [--tables heavy] [--systems rls]`.

Simulated tables ship here. Real ones are read from the folder that DPSYN_TABLES names, when it holds them:
diamonds.csv of the package pydataset (53,940 x 10).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.number_goals import goals_of
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.metrics.base import Metric
from dpsyn_core.metrics.correlation import CorrelationMatrix
from dpsyn_core.metrics.load import compare_tables
from dpsyn_core.metrics.number_ranges import NumberRanges
from dpsyn_core.metrics.raw_correlation import RankCorrelation
from dpsyn_core.metrics.registry import metric_class
from dpsyn_core.metrics.tails import Tails
from dpsyn_core.metrics.wasserstein import Wasserstein
from dpsyn_core.runs.output import table_of
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
Columns = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A raw table (pyarrow) and its schema of public ranges."""

    name: str
    table: Any
    schema: Schema


def number(name: str, low: float, high: float, *, decimals: int = 0, scale: str | None = None) -> dict[str, Any]:
    """A numeric attribute with a public range and a public number of decimals; its bins follow from both."""
    whole = decimals == 0
    entry = {"name": name, "kind": "numeric", "min": low, "max": high, "dtype": "integer" if whole else "float"}
    return {**entry, **({} if whole else {"decimals": decimals}), **({} if scale is None else {"scale": scale})}


def even_bins(schema: Schema, count: int = BINS) -> Schema:
    """The schema with equal bins, on which the distance of pairs is taken whatever bins a run used."""
    document = schema.document()
    for a in document["attributes"]:
        if a["kind"] == "numeric":
            a.pop("scale", None)
            a["bins"] = {"count": count}
    return Schema.of(document)


def category(name: str, values: Iterable[Any]) -> dict[str, Any]:
    """A categorical attribute."""
    return {"name": name, "kind": "categorical", "values": list(values)}


def _table(name: str, columns: Columns, attributes: list[dict[str, Any]]) -> Table:
    import pyarrow as pa

    schema = Schema.of({"version": 1, "name": name, "attributes": attributes})
    return Table(name=name, table=pa.table(columns), schema=schema)


def functional(n: int = 20_000, seed: int = 1) -> Table:
    """Numbers that nearly determine each other, and two groups."""
    rng = np.random.default_rng(seed)
    a = np.exp(rng.normal(0, 0.5, n))
    d = rng.gamma(2, 1, n)
    group = rng.integers(0, 4, n)
    columns = {
        "length": a, "area": a**2 * np.exp(rng.normal(0, 0.03, n)), "cost": a * 3 + rng.normal(0, 0.05, n),
        "time": d, "total": d * 10 + a * 3 + rng.normal(0, 0.3, n), "shift": group * 2 + rng.normal(0, 1, n),
    }  # fmt: skip
    ranges = {"length": (0, 8), "area": (0, 60), "cost": (0, 24), "time": (0, 20), "total": (0, 200), "shift": (-6, 14)}
    columns = {k: np.clip(v, *ranges[k]).round(2) for k, v in columns.items()}
    attributes = [number(k, *r, decimals=2) for k, r in ranges.items()]
    return _table("functional", {**columns, "group": group}, [*attributes, category("group", range(4))])


def heavy(n: int = 10_000, seed: int = 2) -> Table:
    """Heavy tails, many zeros, heaps at round values, two humps with outliers."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal(
        np.zeros(4), [[1, 0.8, 0.5, 0], [0.8, 1, 0.4, 0], [0.5, 0.4, 1, 0.2], [0, 0, 0.2, 1]], n
    )
    humps = np.where(rng.random(n) < 0.6, rng.normal(20, 2, n) + z[:, 0], rng.normal(60, 4, n))
    humps[:3] = 180
    columns = {
        "income": np.where(rng.random(n) < 0.3, 0, np.clip(np.exp(10 + 0.9 * z[:, 0]), 0, 1e6)).round().astype(int),
        "wealth": np.clip(np.exp(9 + 1.4 * z[:, 1]), 0, 1e7).round().astype(int),
        "age": np.clip(45 + 14 * z[:, 2], 16, 99).round().astype(int),
        "hours": np.where(rng.random(n) < 0.5, 40, np.clip(38 + 10 * z[:, 3], 1, 99)).round().astype(int),
        "score": np.clip(humps, 0, 200).round(1),
        "sex": np.where(rng.random(n) + 0.1 * z[:, 0] > 0.5, "m", "f"),
    }
    attributes = [
        number("income", 0, 1_000_000), number("wealth", 0, 10_000_000),
        number("age", 16, 99), number("hours", 1, 99), number("score", 0, 200, decimals=1),
        category("sex", ["f", "m"]),
    ]  # fmt: skip
    return _table("heavy", columns, attributes)


def resized(name: str, make: Callable[[int], Table], n: int) -> Callable[[], Table]:
    """A simulated table with another number of records."""

    def made() -> Table:
        return replace(make(n), name=name)

    return made


def target(n: int = 18_000, d: int = 100, seed: int = 3) -> Table:
    """As `factors`, and a yes or no that depends on the first two factors: what learning is measured on."""
    table = factors(n, d, seed)
    values = np.stack([np.asarray(table.table.column(i)) for i in range(d)])
    score = values[:5].sum(axis=0) + 0.5 * values[5:10].sum(axis=0)
    noise = np.random.default_rng(seed + 1).normal(0, score.std() * 0.5, n)
    answer = np.where(score + noise > np.median(score), "yes", "no")
    document = table.schema.document()
    document["attributes"].append(category("target", ["no", "yes"]))
    return Table(name="target", table=table.table.append_column("target", [answer]), schema=Schema.of(document))


def factors(n: int = 18_000, d: int = 100, seed: int = 3) -> Table:
    """Many numbers that share ten factors."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 10)) @ (rng.normal(size=(10, d)) * 0.5) + rng.normal(size=(n, d)) * 0.7
    names = [f"v{i:02d}" for i in range(d)]
    columns = {name: np.clip(values[:, i], -12, 12).round(2) for i, name in enumerate(names)}
    return _table(f"factors-{d}", columns, [number(name, -12, 12, decimals=2) for name in names])


def dates(n: int = 20_000, seed: int = 4) -> Table:
    """Days as numbers since 2000: a start, an end after it, a fee that grows with the days between."""
    rng = np.random.default_rng(seed)
    start = np.clip(rng.normal(4000, 1500, n), 0, 9000).astype(int)
    stay = np.clip(rng.gamma(1.2, 20, n), 0, 400).astype(int)
    fee = np.clip(50 + 11 * stay + rng.normal(0, 30, n), 0, 6000).round(1)
    attributes = [
        number("start", 0, 10_000), number("end", 0, 10_000), number("stay", 0, 400),
        number("fee", 0, 6000, decimals=1),
    ]  # fmt: skip
    return _table("dates", {"start": start, "end": start + stay, "stay": stay, "fee": fee}, attributes)


def diamonds() -> Table:
    """53,940 stones: seven numbers that nearly determine each other, and three grades; ranges anybody would name."""
    import pyarrow.csv

    table = pyarrow.csv.read_csv(Path(os.environ["DPSYN_TABLES"]) / "diamonds.csv")
    ranges = {
        "carat": (0, 6, 2), "depth": (40, 80, 1), "table": (40, 100, 1), "price": (0, 20_000, 0), "x": (0, 12, 2),
        "y": (0, 60, 2), "z": (0, 35, 2),
    }  # fmt: skip
    grades = {
        "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
        "color": list("DEFGHIJ"),
        "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
    }
    attributes = [number(k, low, high, decimals=d) for k, (low, high, d) in ranges.items()]
    schema = [*attributes, *(category(k, v) for k, v in grades.items())]
    return Table(
        name="diamonds",
        table=table.select([*ranges, *grades]),
        schema=Schema.of({"version": 1, "name": "diamonds", "attributes": schema}),
    )


TABLES: dict[str, Callable[[], Table]] = {
    "functional": functional, "heavy": heavy, "factors": factors, "dates": dates, "diamonds": diamonds,
    "functional-2000": resized("functional-2000", functional, 2_000), "heavy-2000": resized("heavy-2000", heavy, 2_000),
    "functional-1m": resized("functional-1m", functional, 1_000_000), "target": target,
}  # fmt: skip


def available() -> list[str]:
    """Names of the tables that are here."""
    folder = os.environ.get("DPSYN_TABLES")
    real = folder is not None and (Path(folder) / "diamonds.csv").exists()
    return [n for n in TABLES if n != "diamonds" or real]


def synthetic_of(table: Table, codes: Any, seed: int) -> Any:
    """The synthetic table (pyarrow) of coded records."""
    return table_of(codes, table.schema, columns=table.table.column_names, rng=np.random.default_rng(seed))


def score_of(table: Table, codes: Any, seed: int) -> list[float]:
    """Scores of coded synthetic records in the order of METRICS."""
    return _scored(table, synthetic_of(table, codes, seed))


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
