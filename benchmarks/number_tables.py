"""Tables of numbers to measure on: simulated ones of many shapes, and diamonds of the package pydataset.

Diamonds (53,940 x 10) is read from the folder that DPSYN_TABLES names, when it holds diamonds.csv.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpsyn_core.schema.document import Schema

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


def category(name: str, values: Iterable[Any]) -> dict[str, Any]:
    """A categorical attribute."""
    return {"name": name, "kind": "categorical", "values": list(values)}


def of_columns(name: str, columns: Columns, attributes: list[dict[str, Any]]) -> Table:
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
    return of_columns("functional", {**columns, "group": group}, [*attributes, category("group", range(4))])


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
    return of_columns("heavy", columns, attributes)


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
    return of_columns(f"factors-{d}", columns, [number(name, -12, 12, decimals=2) for name in names])


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
    return of_columns("dates", {"start": start, "end": start + stay, "stay": stay, "fee": fee}, attributes)


def zeros(n: int = 20_000, seed: int = 5) -> Table:
    """Amounts that are 0 for 40 to 95 in a hundred, often together, as in spending and benefits."""
    rng = np.random.default_rng(seed)
    wealth = rng.normal(0, 1, n)
    columns: Columns = {}
    for name, share, middle in (("rent", 0.4, 6.3), ("fares", 0.6, 3.5), ("fees", 0.8, 5.0), ("gifts", 0.95, 4.0)):
        own = 0.7 * wealth + rng.normal(0, 0.7, n)
        paid = rng.random(n) + 0.15 * wealth > share
        columns[name] = np.where(paid, np.exp(middle + 0.8 * own), 0).clip(0, 20_000).round(2)
    columns["spent"] = np.sum(list(columns.values()), axis=0).clip(0, 50_000).round(2)
    columns["region"] = rng.integers(0, 5, n)
    ranges = {"rent": 20_000, "fares": 20_000, "fees": 20_000, "gifts": 20_000, "spent": 50_000}
    attributes = [number(k, 0, high, decimals=2) for k, high in ranges.items()]
    return of_columns("zeros", columns, [*attributes, category("region", range(5))])


def heaped(n: int = 15_000, seed: int = 6) -> Table:
    """Numbers as people state them: most are rounded to 5, 10 or 100, some are not."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal(np.zeros(4), 0.6 + 0.4 * np.eye(4), n)
    exact = {
        "weight": 75 + 15 * z[:, 0], "height": 170 + 10 * z[:, 1], "walk": np.exp(3 + 0.7 * z[:, 2]),
        "pay": np.exp(7.8 + 0.5 * z[:, 3]),
    }  # fmt: skip
    ranges = {"weight": (30, 200), "height": (100, 230), "walk": (0, 600), "pay": (0, 60_000)}
    units = {"weight": 5, "height": 5, "walk": 10, "pay": 100}
    columns: Columns = {}
    for name, values in exact.items():
        rounded = np.rint(values / units[name]) * units[name]
        columns[name] = np.where(rng.random(n) < 0.75, rounded, np.rint(values)).clip(*ranges[name]).astype(int)
    columns["asked"] = np.where(rng.random(n) < 0.3, "phone", "visit")
    attributes = [number(k, *r) for k, r in ranges.items()]
    return of_columns("heaped", columns, [*attributes, category("asked", ["phone", "visit"])])


def bimodal(n: int = 20_000, seed: int = 7) -> Table:
    """Two kinds of days, far apart in every number, and a few measurements that went wrong."""
    rng = np.random.default_rng(seed)
    kind = rng.random(n) < 0.35
    temperature = np.where(kind, rng.normal(26, 3, n), rng.normal(6, 4, n))
    load = np.where(kind, 900 - 12 * temperature, 300 + 20 * temperature) + rng.normal(0, 25, n)
    columns = {
        "temperature": temperature, "load": load, "sun": np.where(kind, rng.gamma(8, 1, n), rng.gamma(1, 1.2, n)),
        "price": load * 0.08 + rng.normal(0, 4, n),
    }  # fmt: skip
    wrong = rng.random(n) < 0.0005
    columns["temperature"] = np.where(wrong, 80.0, columns["temperature"])
    ranges = {"temperature": (-40, 100), "load": (0, 2000), "sun": (0, 24), "price": (0, 400)}
    columns = {k: v.clip(*ranges[k]).round(1) for k, v in columns.items()}
    columns["site"] = np.where(kind, rng.integers(0, 4, n), rng.integers(2, 8, n))
    attributes = [number(k, *r, decimals=1) for k, r in ranges.items()]
    return of_columns("bimodal", columns, [*attributes, category("site", range(8))])


def few(n: int = 20_000, seed: int = 8) -> Table:
    """Numbers of few values: counts of children, rooms and visits, scales from 1 to 7, ages in years."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal(np.zeros(5), 0.5 + 0.5 * np.eye(5), n)
    columns = {
        "children": rng.poisson(np.exp(0.3 + 0.5 * z[:, 0])).clip(0, 12),
        "rooms": (3 + z[:, 1] + rng.poisson(1, n)).round().clip(1, 15).astype(int),
        "visits": rng.poisson(np.exp(1 + 0.8 * z[:, 2])).clip(0, 60),
        "content": (4 + 1.4 * z[:, 3]).round().clip(1, 7).astype(int),
        "age": (45 + 16 * z[:, 4]).round().clip(16, 99).astype(int),
    }
    ranges = {"children": (0, 12), "rooms": (1, 15), "visits": (0, 60), "content": (1, 7), "age": (16, 99)}
    columns["owner"] = np.where(z[:, 1] + rng.normal(0, 1, n) > 0, "yes", "no")
    return of_columns("few", columns, [*(number(k, *r) for k, r in ranges.items()), category("owner", ["no", "yes"])])


def census(n: int = 27_000, seed: int = 9) -> Table:
    """Ten attributes of a census: codes of few values, two numbers, and an income with zeros and a long tail."""
    rng = np.random.default_rng(seed)
    age = rng.gamma(3, 14, n).clip(0, 95).astype(int)
    adult = age >= 16
    sex = rng.integers(0, 2, n)
    school = np.where(adult, rng.normal(7 - np.abs(age - 40) / 25, 2, n), age / 3).round().clip(0, 11).astype(int)
    working = adult & (age < 70) & (rng.random(n) < 0.55 + 0.03 * school)
    hours = np.where(working, np.where(rng.random(n) < 0.6, 40, rng.normal(36, 10, n)), 0).round().clip(0, 99)
    pay = np.exp(8.2 + 0.12 * school + 0.6 * rng.normal(size=n) + 0.15 * sex) * hours / 40
    region = rng.integers(0, 9, n)
    columns = {
        "age": age, "sex": sex, "school": school, "status": np.where(working, 1, np.where(adult, 2, 0)),
        "hours": hours.astype(int), "income": np.where(working, pay, 0).round(-2).clip(0, 500_000).astype(int),
        "married": ((age > 22) & (rng.random(n) < 0.6)).astype(int), "region": region,
        "owner": (rng.random(n) < 0.3 + 0.03 * school).astype(int), "industry": np.where(working, rng.choice(
            14, n, p=rng.dirichlet(np.full(14, 2.0))), 14),
    }  # fmt: skip
    sizes = {"sex": 2, "school": 12, "status": 3, "married": 2, "region": 9, "owner": 2, "industry": 15}
    numbers = {"age": (0, 95), "hours": (0, 99), "income": (0, 500_000)}
    attributes = [
        number(k, *numbers[k]) if k in numbers else category(k, range(sizes[k])) for k in columns
    ]  # fmt: skip
    return of_columns("census", columns, attributes)


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
    "functional-1m": resized("functional-1m", functional, 1_000_000), "target": target, "zeros": zeros,
    "heaped": heaped, "bimodal": bimodal, "few": few, "census": census,
}  # fmt: skip


def available() -> list[str]:
    """Names of the tables that are here."""
    folder = os.environ.get("DPSYN_TABLES")
    real = folder is not None and (Path(folder) / "diamonds.csv").exists()
    return [n for n in TABLES if n != "diamonds" or real]
