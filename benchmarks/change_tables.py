"""Eighteen tables made from seeds, each with what `report_changes` does to copies of it: a relation, a mean, a value.

One and two columns, categories alone, numbers alone, nine tenths blank, heavy tails, ends of months and quarters,
ratings, 150 columns, 30 records, 50,000 records, constants, German headers, truths, near functions, a series, stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.walk_tables import Walked

DAY = np.datetime64("2018-01-01")


@dataclass(frozen=True, kw_only=True, slots=True)
class Changed:
    """A table; the two columns whose relation is destroyed, the number that grows, the value that is dropped."""

    walked: Walked
    relation: tuple[str, str] | None = None
    mean: str | None = None
    value: tuple[str, str] | None = None


def table(
    name: str, columns: dict[str, Any], *, dates: tuple[str, ...] = (), german: bool = False, **more: Any
) -> Changed:
    """One of them; `more` is what is done to its copies."""
    walked = Walked(name=name, frame=pd.DataFrame(columns), never={}, dates=dates, german=german)
    return Changed(walked=walked, **more)


def _ends(months: np.ndarray) -> np.ndarray:
    return np.asarray((np.datetime64("2018-01", "M") + months).astype("datetime64[D]") - 1)


def of_categories(rng: np.random.Generator, n: int = 4000) -> Iterator[Changed]:
    """Tables of listed values."""
    x = rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05])
    y = np.where(rng.random(n) < 0.7, np.char.upper(x), rng.choice(list("ABCD"), n))
    yield table("two columns", {"left": x, "right": y}, relation=("left", "right"), value=("left", "c"))
    tenure = rng.choice(["owner", "renter", "social"], n, p=[0.5, 0.3, 0.2])
    heat = np.where(tenure == "owner", rng.choice(["gas", "pump"], n), rng.choice(["gas", "district"], n))
    street = rng.choice([f"type {i:02d}" for i in range(25)], n, p=rng.dirichlet(np.full(25, 2)))
    homes = {"tenure": tenure, "heating": heat, "street": street, "lift": rng.choice(["yes", "no"], n)}
    yield table("homes", homes, relation=("tenure", "heating"), value=("heating", "district"))
    hidden = rng.normal(0, 1, n)
    truths = {f"b{i}": hidden + rng.normal(0, 1, n) > 0.3 for i in range(4)}
    yield table("truths", truths, relation=("b0", "b1"), value=("b2", "True"))
    city = rng.integers(0, 30, n)
    near = {
        "city": [f"city{c}" for c in city], "land": np.where(rng.random(n) < 0.01, "L0", [f"L{c // 5}" for c in city]),
        "price": np.round(100 + city * 3 + rng.normal(0, 20, n)),
    }  # fmt: skip
    yield table("near functions", near, relation=("city", "land"), mean="price", value=("land", "L3"))


def of_numbers(rng: np.random.Generator, n: int = 4000) -> Iterator[Changed]:
    """Tables of numbers, with few or no categories."""
    yield table("one column", {"weight": np.round(rng.normal(70, 12, n), 1)}, mean="weight")
    a = rng.normal(0, 1, n)
    body = {
        "height": np.round(170 + 9 * a + rng.normal(0, 3, n), 1),
        "weight": np.round(70 + 10 * a + rng.normal(0, 6, n), 1),
        "pulse": rng.poisson(68, n), "gain": np.round(rng.normal(0, 5, n), 2),
    }  # fmt: skip
    yield table("numbers", body, relation=("height", "weight"), mean="pulse")
    budget = np.exp(rng.normal(10, 1.2, n))
    films = {
        "budget": pd.Series(np.round(budget)).mask(rng.random(n) < 0.91),
        "votes": np.round(budget / 50 * np.exp(rng.normal(0, 0.5, n))).astype(int),
        "genre": rng.choice(["drama", "comedy", "doc"], n, p=[0.5, 0.4, 0.1]),
        "rating": np.clip(np.round(rng.normal(6.5, 1.3, n)), 1, 10).astype(int),
    }
    yield table("91 % blank", films, relation=("budget", "votes"), mean="votes", value=("genre", "doc"))
    kind = rng.choice(["retail", "corp", "fund"], n, p=[0.8, 0.17, 0.03])
    size = np.array([{"retail": 1, "corp": 20, "fund": 300}[k] for k in kind])
    tails = {
        "kind": kind, "turnover": np.round(size * 100 * (1 + rng.pareto(1.4, n)), 2),
        "orders": (1 + rng.pareto(1.1, n) * 2).astype(int), "loss": np.round(-np.exp(rng.normal(3, 1.5, n)), 2),
    }  # fmt: skip
    yield table("heavy tails", tails, relation=("kind", "turnover"), mean="loss", value=("kind", "corp"))
    u = rng.uniform(-1, 1, n)
    first, second = rng.integers(0, 2, (2, n))
    parity = {
        "a": first, "b": second, "c": first ^ second, "u": np.round(u, 3),
        "v": np.round(u**2 + rng.normal(0, 0.1, n), 3),
    }  # fmt: skip
    yield table("parity and a parabola", parity, relation=("u", "v"), mean="v")
    z = rng.normal(0, 1, n)
    rated = {f"r{i}": np.clip(np.round(5.5 + 1.8 * z + rng.normal(0, 1.5, n)), 1, 10).astype(int) for i in range(1, 7)}
    other = rng.choice(["other", "mine", "neither"], n, p=[0.5, 0.3, 0.2])
    yield table("ratings", rated | {"other": other}, relation=("r1", "r2"), mean="r3", value=("other", "mine"))
    few = {"arm": rng.choice(["a", "b"], 30), "score": rng.integers(0, 100, 30), "ok": rng.choice(["yes", "no"], 30)}
    yield table("30 records", few, mean="score", value=("arm", "a"))
    f = rng.normal(0, 1, (2000, 5))
    items = {
        f"item_{i:03d}": np.clip(np.round(3 + f[:, i % 5] + rng.normal(0, 0.8, 2000)), 1, 5).astype(int)
        for i in range(150)
    }
    yield table("150 columns", items, relation=("item_000", "item_005"), mean="item_007")


def of_others(rng: np.random.Generator, n: int = 3000) -> Iterator[Changed]:
    """Dates, texts, constants, German, many records."""
    months, quarters = rng.integers(1, 61, n), rng.integers(0, 24, n)
    closed = {
        "closed": _ends(months), "quarter": (DAY.astype("datetime64[M]") + 3 * quarters).astype("datetime64[D]"),
        "sum": np.round(1000 + 30 * months + rng.normal(0, 300, n)), "desk": rng.choice(["A", "B", "C"], n),
    }  # fmt: skip
    yield table(
        "ends of months",
        closed,
        dates=("closed", "quarter"),
        relation=("closed", "sum"),
        mean="sum",
        value=("desk", "C"),
    )
    came, days = DAY + rng.integers(0, 600, n), rng.geometric(0.2, n)
    stays = {
        "admitted": came, "discharged": came + days, "days": days, "dept": rng.choice(list("abcd"), n),
        "cost": np.round(days * 400 * np.exp(rng.normal(0, 0.3, n))),
    }  # fmt: skip
    yield table(
        "stays", stays, dates=("admitted", "discharged"), relation=("days", "cost"), mean="cost", value=("dept", "d")
    )
    t = np.arange(2000)
    series = {
        "day": DAY + t, "load": np.round(500 + t * 0.2 + rng.normal(0, 30, 2000)),
        "temp": np.round(10 - 9 * np.cos(2 * np.pi * t / 365) + rng.normal(0, 2, 2000), 1),
        "weekend": np.where(t % 7 > 4, "yes", "no"),
    }  # fmt: skip
    yield table("a series", series, dates=("day",), relation=("day", "load"), mean="temp", value=("weekend", "yes"))
    constant = {
        "country": ["DE"] * n, "version": [3] * n, "empty": [None] * n, "colour": rng.choice(["red", "green"], n),
        "size": rng.integers(1, 50, n),
    }  # fmt: skip
    yield table("constants", constant, mean="size", value=("colour", "red"))
    rent = np.round(rng.gamma(6, 110, n), 2)
    flats = {
        "Straße": rng.choice(["Hauptstr.", "Am Markt"], n), "Größe (m²)": np.round(rent / 11 + rng.normal(0, 8, n), 1),
        "Miete in €": rent, "Ort": rng.choice(["Köln", "Münster", "Weiß"], n, p=[0.5, 0.3, 0.2]),
        "Einzug": DAY + rng.integers(0, 2000, n),
    }  # fmt: skip
    yield table("German", flats, german=True, dates=("Einzug",), relation=("Größe (m²)", "Miete in €"),
                mean="Miete in €", value=("Ort", "Köln"))  # fmt: skip
    many = 50_000
    age = rng.integers(18, 80, many)
    people = {
        "state": rng.choice([f"S{i}" for i in range(40)], many, p=rng.dirichlet(np.full(40, 3))), "age": age,
        "income": np.round(np.exp(9.8 + 0.012 * (age - 18) + rng.normal(0, 0.6, many)), -1).astype(int),
        "kids": rng.poisson(1.2, many),
    }  # fmt: skip
    yield table("50,000 records", people, relation=("age", "income"), mean="income", value=("state", "S7"))


def tables() -> Iterator[Changed]:
    """All of them."""
    for seed, made in enumerate((of_categories, of_numbers, of_others)):
        yield from made(np.random.default_rng(seed))
