"""Three simulated tables for `benchmarks.gaps` on which nothing of the engine was tuned: stays, wages and sensors."""

from __future__ import annotations

import numpy as np

from benchmarks.number_tables import Table, category, number, of_columns


def stays(n: int = 15_000, seed: int = 41) -> Table:
    """Hospital stays: kind of admission, department and outcome move length, charge, age, drugs and earlier stays."""
    rng = np.random.default_rng(seed)
    department, urgent = rng.choice(7, n, p=[0.3, 0.2, 0.16, 0.13, 0.1, 0.07, 0.04]), rng.random(n) < 0.55
    age = np.clip(np.where(department == 1, rng.normal(31, 6, n), rng.normal(66, 15, n) - 3 * department), 0, 104)
    ill = rng.normal(size=n) + 0.02 * (age - 50) + 0.4 * urgent
    days = np.clip(np.exp(0.9 + 0.35 * ill + 0.08 * department + 0.6 * rng.normal(size=n)), 0, 180)
    charge = np.clip(900 * days**0.8 * np.exp(0.12 * department + 0.45 * rng.normal(size=n)), 0, 400_000)
    leaves = np.where(rng.random(n) < 1 / (1 + np.exp(4 - ill)), 2, rng.random(n) < 0.15 + 0.05 * urgent)
    columns = {
        "age": age.astype(int), "days": days.astype(int), "charge": charge.round().astype(int),
        "drugs": np.clip(rng.poisson(np.exp(1.4 + 0.25 * ill)), 0, 60),
        "earlier": np.clip(rng.geometric(1 / (1.6 + 0.5 * urgent + 0.1 * department)) - 1, 0, 100),
        "oxygen": np.clip(rng.normal(96.5 - 1.2 * ill, 2, n), 50, 100).round().astype(int),
        "department": department, "urgent": urgent.astype(int), "leaves": leaves.astype(int),
    }  # fmt: skip
    attributes = [
        number("age", 0, 110), number("days", 0, 180), number("charge", 0, 400_000), number("drugs", 0, 60),
        number("earlier", 0, 100), number("oxygen", 50, 100), category("department", range(7)),
        category("urgent", range(2)), category("leaves", range(3)),
    ]  # fmt: skip
    return of_columns("stays", columns, attributes)


def wages(n: int = 25_000, seed: int = 42) -> Table:
    """Jobs: wages with the tail of a Pareto law, overtime that most have none of, and tenure, by trade and region."""
    rng = np.random.default_rng(seed)
    trade, region = (
        rng.choice(10, n, p=rng.dirichlet(np.full(10, 3.0))),
        rng.choice(5, n, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
    )
    woman, lasting = rng.random(n) < 0.2 + 0.06 * trade, rng.random(n) < 0.8 - 0.03 * trade
    wage = 1_500 * (1 + 0.06 * trade - 0.08 * woman + 0.05 * region) * rng.random(n) ** (-1 / 3.0) + rng.normal(
        0, 120, n
    )
    hours = np.clip(np.where(rng.random(n) < 0.6, 38 + 2 * lasting, rng.normal(30 - 5 * woman, 9, n)), 1, 80)
    over = np.where(rng.random(n) < 0.25 + 0.03 * trade, rng.exponential(120 + 25 * trade), 0)
    columns = {
        "wage": wage.clip(0, 100_000).round().astype(int), "hours": hours.round().astype(int),
        "overtime": over.clip(0, 5_000).round().astype(int),
        "tenure": np.clip(rng.exponential(4 + 5 * lasting), 0, 50).round(1),
        "trade": trade, "region": region, "woman": woman.astype(int), "lasting": lasting.astype(int),
    }  # fmt: skip
    attributes = [
        number("wage", 0, 100_000), number("hours", 1, 80), number("overtime", 0, 5_000),
        number("tenure", 0, 50, decimals=1), category("trade", range(10)), category("region", range(5)),
        category("woman", range(2)), category("lasting", range(2)),
    ]  # fmt: skip
    return of_columns("wages", columns, attributes)


def sensors(n: int = 10_000, seed: int = 43) -> Table:
    """Readings: two categories and seven numbers, of which some have two humps, some nearly determine each other."""
    rng = np.random.default_rng(seed)
    line, night = rng.choice(3, n, p=[0.5, 0.35, 0.15]), rng.integers(0, 2, n)
    hot = rng.random(n) < 0.2 + 0.2 * line
    heat = np.where(hot, rng.normal(82, 4, n), rng.normal(55, 6, n)) - 4 * night
    load = np.clip(rng.beta(2 + line, 3, n), 0, 1)
    columns = {
        "heat": heat.clip(0, 120).round(1), "load": (100 * load).round(1),
        "turns": np.clip(900 + 2_000 * load + 60 * line + rng.normal(0, 40, n), 0, 4_000).round().astype(int),
        "shake": np.clip(rng.gamma(2.5, 0.3 + 0.25 * hot + 0.1 * line), 0, 20).round(2),
        "pressure": np.clip(rng.normal(4 + 0.3 * night, 0.25, n), 0, 10).round(2),
        "faults": np.clip(rng.poisson(0.2 + 0.5 * hot + 0.2 * line), 0, 40),
        "damp": np.clip(rng.normal(45 + 8 * night - 0.2 * (heat - 60), 9, n), 0, 100).round(1),
        "line": line, "night": night,
    }  # fmt: skip
    attributes = [
        number("heat", 0, 120, decimals=1), number("load", 0, 100, decimals=1), number("turns", 0, 4_000),
        number("shake", 0, 20, decimals=2), number("pressure", 0, 10, decimals=2), number("faults", 0, 40),
        number("damp", 0, 100, decimals=1), category("line", range(3)), category("night", range(2)),
    ]  # fmt: skip
    return of_columns("sensors", columns, attributes)
