"""Differences between groups, and means: `python -m benchmarks.gaps [--tables clinic] [--systems rls,aim,mst,dpsyn]`.

Simulated tables of numbers and categories with differences of known kinds: a clinic (12,000), a shop (30,000), a
school (8,000) and a payroll with heavy tails (20,000); and three on which nothing was tuned: hospital stays (15,000),
wages (25,000) and sensors (10,000). Of every number, every two values of every category with at
least LEAST records: the difference of means in real standard deviations. Slope: of the synthetic differences on the
real ones by least squares through 0, each weighed by the sizes of its groups; 1 is as large as they are. Off: their
mean absolute error. Worst mean: relative error of the mean of a number, the largest. Pairs: total variation distance
on 200 equal bins. Medians over seeds; noise is that of production. Two columns say what released sums would leave of
the worst mean: one sum, with the whole budget for the sum of that number alone on its public range; clipped sums, with
PART of the budget for the sums of all numbers, each clipped where error and bias together are least in the real table,
which no private method knows. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.engine import run_system
from benchmarks.gaps_second import sensors, stays, wages
from benchmarks.number_tables import Table, category, number, of_columns
from benchmarks.numbers import even_bins, synthetic_of
from benchmarks.process import table as markdown
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.tvd import PairwiseTVD
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.systems.steps import noise_of

LEAST = 200  # records of a group that is compared
PART = 0.02  # of the budget, as a variance, for clipped sums of all numbers: all other noise grows by 1 %
DELTA = 1e-9


def clinic(n: int = 12_000, seed: int = 31) -> Table:
    """Patients: sex, smoking and ward move height, weight, pressure, nights and cost."""
    rng = np.random.default_rng(seed)
    sex, smokes = rng.integers(0, 2, n), rng.choice(3, n, p=[0.6, 0.25, 0.15])
    age = np.clip(rng.normal(52, 17, n), 18, 95)
    ward = rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.15, 0.05])
    height = np.clip(rng.normal(164 + 13 * sex, 7, n), 120, 220)
    weight = np.clip(22 * (height / 100) ** 2 + 4 * sex + rng.normal(0, 11, n), 35, 200)
    pressure = np.clip(105 + 0.4 * age + 6 * smokes + rng.normal(0, 12, n), 70, 220)
    nights = np.clip(rng.gamma(0.8, 2 + 1.5 * ward), 0, 90)
    cost = np.clip(np.exp(6 + 0.25 * ward + 0.5 * np.log1p(nights) + 0.9 * rng.normal(size=n)), 0, 200_000)
    columns = {
        "age": age.astype(int), "height": height.round().astype(int), "weight": weight.round(1),
        "pressure": pressure.round().astype(int), "nights": nights.astype(int), "cost": cost.round().astype(int),
        "sex": sex, "smokes": smokes, "ward": ward, "insured": (rng.random(n) < 0.5 + 0.004 * (age - 50)).astype(int),
    }  # fmt: skip
    attributes = [
        number("age", 18, 95), number("height", 120, 220), number("weight", 35, 200, decimals=1),
        number("pressure", 70, 220), number("nights", 0, 90), number("cost", 0, 200_000),
        category("sex", range(2)), category("smokes", range(3)), category("ward", range(5)),
        category("insured", range(2)),
    ]  # fmt: skip
    return of_columns("clinic", columns, attributes)


def shop(n: int = 30_000, seed: int = 32) -> Table:
    """Orders: region, channel and member move amount, items, delay and stars."""
    rng = np.random.default_rng(seed)
    region, channel = rng.choice(8, n, p=rng.dirichlet(np.full(8, 4.0))), rng.choice(3, n, p=[0.5, 0.3, 0.2])
    member = (rng.random(n) < 0.25 + 0.1 * channel).astype(int)
    items = 1 + rng.poisson(0.6 + 0.8 * member + 0.4 * channel)
    amount = np.clip(items * np.exp(2.6 + 0.2 * member + 0.06 * region + 0.7 * rng.normal(size=n)), 0, 5_000)
    delay = np.clip(rng.gamma(2, 0.8 + 0.25 * region), 0, 60)
    stars = np.clip(np.rint(4.4 - 0.12 * delay + rng.normal(0, 0.8, n)), 1, 5)
    columns = {
        "amount": amount.round(2), "items": items.clip(0, 30), "delay": delay.round(1), "stars": stars.astype(int),
        "visits": np.clip(rng.negative_binomial(0.6, 0.25 - 0.1 * member, n), 0, 200), "region": region,
        "channel": channel, "member": member,
    }  # fmt: skip
    attributes = [
        number("amount", 0, 5_000, decimals=2), number("items", 0, 30), number("delay", 0, 60, decimals=1),
        number("stars", 1, 5), number("visits", 0, 200), category("region", range(8)), category("channel", range(3)),
        category("member", range(2)),
    ]  # fmt: skip
    return of_columns("shop", columns, attributes)


def school(n: int = 8_000, seed: int = 33) -> Table:
    """Pupils: type of school, language and support move marks and hours; many small gaps and a few large ones."""
    rng = np.random.default_rng(seed)
    kind, speaks, helped = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rng.integers(0, 2, n), rng.random(n) < 0.2
    able = rng.normal(size=n) + 0.35 * kind - 0.5 * helped
    marks = [np.clip(60 + 9 * (able + 0.2 * k * speaks) + rng.normal(0, 7, n), 0, 100).round() for k in range(3)]
    hours = np.clip(rng.gamma(3, 2 + 0.6 * kind), 0, 50).round(1)
    columns = {
        "reading": marks[0].astype(int), "writing": marks[1].astype(int), "sums": marks[2].astype(int),
        "hours": hours, "missed": np.clip(rng.poisson(np.exp(1 + 0.6 * helped - 0.2 * kind)), 0, 80), "kind": kind,
        "speaks": speaks, "helped": helped.astype(int), "year": rng.integers(0, 6, n),
    }  # fmt: skip
    attributes = [
        number("reading", 0, 100), number("writing", 0, 100), number("sums", 0, 100),
        number("hours", 0, 50, decimals=1), number("missed", 0, 80),
        category("kind", range(4)), category("speaks", range(2)), category("helped", range(2)),
        category("year", range(6)),
    ]  # fmt: skip
    return of_columns("school", columns, attributes)


def payroll(n: int = 20_000, seed: int = 34) -> Table:
    """Staff: pay, bonus and savings with heavy tails, by grade, sex, site and contract."""
    rng = np.random.default_rng(seed)
    grade, sex = rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.13, 0.08, 0.04]), rng.integers(0, 2, n)
    site, contract = rng.choice(12, n, p=rng.dirichlet(np.full(12, 3.0))), rng.choice(3, n, p=[0.7, 0.2, 0.1])
    pay = np.clip(np.exp(9.9 + 0.22 * grade + 0.12 * sex - 0.3 * (contract == 2) + 0.35 * rng.normal(size=n)), 0, 9e5)
    bonus = np.where(rng.random(n) < 0.15 + 0.1 * grade, pay * np.exp(-2.5 + 1.1 * rng.normal(size=n)), 0)
    columns = {
        "pay": pay.round().astype(int), "bonus": bonus.clip(0, 5e5).round().astype(int),
        "saved": np.clip(np.exp(8 + 0.15 * grade + 1.5 * rng.normal(size=n)), 0, 2e6).round().astype(int),
        "years": np.clip(rng.gamma(1.5, 2 + 1.5 * grade), 0, 45).astype(int), "grade": grade, "sex": sex, "site": site,
        "contract": contract,
    }  # fmt: skip
    attributes = [
        number("pay", 0, 900_000), number("bonus", 0, 500_000), number("saved", 0, 2_000_000), number("years", 0, 45),
        category("grade", range(6)), category("sex", range(2)), category("site", range(12)),
        category("contract", range(3)),
    ]  # fmt: skip
    return of_columns("payroll", columns, attributes)


TABLES: dict[str, Callable[[], Table]] = {
    "clinic": clinic, "shop": shop, "school": school, "payroll": payroll, "stays": stays, "wages": wages,
    "sensors": sensors,
}  # fmt: skip


def _split(table: Table) -> tuple[list[str], list[str]]:
    """Names of the numbers, and of the categories."""
    listed = table.schema.document()["attributes"]
    return [a["name"] for a in listed if a["kind"] == "numeric"], [a["name"] for a in listed if a["kind"] != "numeric"]


def _columns(frame: Any, names: list[str]) -> dict[str, np.ndarray]:
    return {n: np.asarray(frame.column(n).to_pylist(), dtype=np.float64) for n in names}


def gaps(table: Table, synthetic: Any) -> tuple[float, float, float]:
    """Slope, mean absolute error of the differences, and worst relative error of a mean."""
    numbers, categories = _split(table)
    real, made = _columns(table.table, numbers), _columns(synthetic, numbers)
    of_real, of_made = _columns(table.table, categories), _columns(synthetic, categories)
    found: list[tuple[float, float, float]] = []
    for c in categories:
        held = [v for v in np.unique(of_real[c]) if np.count_nonzero(of_real[c] == v) >= LEAST]
        for n in numbers:
            spread = float(np.std(real[n]))
            means = {
                v: (
                    float(real[n][of_real[c] == v].mean()) / spread,
                    float(made[n][of_made[c] == v].mean()) / spread if (of_made[c] == v).any() else np.nan,
                    int(np.count_nonzero(of_real[c] == v)),
                )
                for v in held
            }
            for a, b in combinations(held, 2):
                (x, u, k), (y, w, m) = means[a], means[b]
                found.append((x - y, u - w, 1 / (1 / k + 1 / m)))
    x, y, weight = np.nan_to_num(np.array(found)).T
    slope = float((weight * x * y).sum() / (weight * x * x).sum())
    worst = max(abs(made[n].mean() / real[n].mean() - 1) for n in numbers)
    return slope, float(np.abs(x - y).mean()), float(worst)


def of_sums(table: Table, epsilon: float) -> tuple[float, float]:
    """Relative error of the worst mean from one sum with the whole budget, and from clipped sums of all numbers.

    The number of records is taken as known, so that a record moves the sum by half of the range around its middle.
    """
    names, unit = _split(table)[0], Unit()
    noise = noise_of(Budget(epsilon=epsilon, delta=DELTA).gaussian(), unit)
    ranges = {
        a["name"]: (float(a["min"]), float(a["max"]))
        for a in table.schema.document()["attributes"]
        if a["name"] in names
    }
    worst = [0.0, 0.0]
    for name, values in _columns(table.table, names).items():
        low, high = ranges[name]
        mean, of_one = float(values.mean()), noise / len(values) / 2
        each = of_one / np.sqrt(PART / len(names))
        ends = np.append(np.quantile(values, np.linspace(0.5, 1, 501)), high)
        clipped = [np.hypot(np.minimum(values, end).mean() - mean, each * (end - low)) for end in ends]
        worst = [max(worst[0], of_one * (high - low) / mean), max(worst[1], float(min(clipped)) / mean)]
    return worst[0], worst[1]


def scores(table: Table, system: str, epsilon: float, seed: int) -> list[float]:
    """Slope, error of differences, worst mean, distance of pairs; of one run."""
    codes = Codec(table.schema).encode(table.table).codes
    made = run_system(system, codes, table.schema.domain(), epsilon=epsilon, seed=seed).codes
    synthetic = synthetic_of(table, made, seed)
    measurements: list[Measurement] = []
    compared = compare_tables(even_bins(table.schema), synthetic, table.table, measurements=measurements)
    return [*gaps(table, synthetic), PairwiseTVD().score(compared).value]


def main() -> int:
    """Prints a row for each table, system and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--systems", default="rls,aim,mst,dpsyn")
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    rows: list[list[object]] = []
    for name in given.tables.split(","):
        table = TABLES[name]()
        for system in given.systems.split(","):
            for epsilon in map(float, given.epsilons.split(",")):
                runs = np.array([scores(table, system, epsilon, seed) for seed in range(given.seeds)])
                slope, off, worst, pairs = np.median(runs, axis=0)
                low, high = runs[:, 0].min(), runs[:, 0].max()
                sums = [f"{x:.1%}" for x in of_sums(table, epsilon)]
                figures = [
                    f"{slope:.3f}",
                    f"{low:.2f} to {high:.2f}",
                    f"{off:.3f}",
                    f"{worst:.1%}",
                    *sums,
                    f"{pairs:.4f}",
                ]
                rows.append([name, system, f"{epsilon:g}", *figures])
                print("| " + " | ".join(map(str, rows[-1])) + " |", file=sys.stderr, flush=True)
    heads = ["table", "system", "epsilon", "slope", "of runs", "off", "worst mean", "one sum", "clipped sums", "pairs"]
    print(markdown(heads, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
