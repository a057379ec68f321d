"""Simulated linked tables of several shapes, with their schemas: households, visits, orders, classes and a panel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpsyn_core.schema.linked import LinkedSchema
from tools.household_sample import households, households_schema
from tools.make_sample import Chance

Tables = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shaped:
    """Tables by name, and their schema."""

    tables: Tables
    schema: LinkedSchema


def census(seed: int, roots: int = 20_000) -> Shaped:
    """The bundled sample's model with another seed."""
    home, persons = households(Chance(seed), roots)
    return Shaped(
        tables={"households": pa.table(home), "persons": pa.table(persons)}, schema=LinkedSchema.of(households_schema())
    )


def listed(name: str, count: int, *, ordered: bool = False) -> dict[str, Any]:
    """A categorical attribute with the values 0 .. count - 1."""
    return {"name": name, "kind": "categorical", "values": list(range(count)), "ordered": ordered}


def whole(name: str, low: int, high: int, count: int) -> dict[str, Any]:
    """A whole number."""
    return {"name": name, "kind": "numeric", "dtype": "integer", "min": low, "max": high, "bins": {"count": count}}


def linked(name: str, tables: dict[str, tuple[str | None, list[Any]]], links: list[Any], **more: Any) -> LinkedSchema:
    """A schema of tables with their keys and attributes."""
    made = [
        {"name": n, **({"key": k} if k else {}), "schema": {"version": 1, "name": n, "attributes": a}}
        for n, (k, a) in tables.items()
    ]
    return LinkedSchema.of({"version": 2, "name": name, "tables": made, "links": links, **more})


def visits(seed: int, roots: int = 20_000) -> Shaped:
    """Patients and their visits in order: later ones are sicker, kinds of a patient repeat."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(50, 20, roots), 0, 99).astype(int)
    sex, site = rng.integers(0, 2, roots), rng.integers(0, 6, roots)
    number = np.minimum(rng.poisson(0.6 + age / 40), 12)
    of = np.repeat(np.arange(roots), number)
    turn = np.arange(len(of)) - np.repeat(np.cumsum(number) - number, number)
    usual = rng.integers(0, 8, roots)
    ward = np.where(rng.random(len(of)) < 0.6, usual[of], (site[of] + rng.integers(0, 4, len(of))) % 8)
    illness = 2 + age[of] / 12 + 1.2 * turn + rng.normal(0, 1, roots)[of] * 2
    severity = np.clip(illness + rng.normal(0, 1, len(of)), 0, 19).astype(int)
    days = np.clip(rng.gamma(1.2, 1 + severity / 3), 0, 39).astype(int)
    emergency = (rng.random(len(of)) < 0.1 + severity / 40).astype(int)
    patients = {"patient": np.arange(roots), "age": age, "sex": sex, "site": site}
    stays = {"patient": of, "turn": turn, "ward": ward, "severity": severity, "days": days, "emergency": emergency}
    schema = linked(
        "visits",
        {
            "patients": ("patient", [whole("age", 0, 99, 50), listed("sex", 2), listed("site", 6)]),
            "visits": (None, [whole("turn", 0, 11, 12), listed("ward", 8), whole("severity", 0, 19, 20),
                              whole("days", 0, 39, 40), listed("emergency", 2)]),
        },
        [{"parent": "patients", "child": "visits", "key": "patient", "max_children": 12, "order": "turn"}],
    )  # fmt: skip
    return Shaped(tables={"patients": pa.table(patients), "visits": pa.table(stays)}, schema=schema)


def orders(seed: int, roots: int = 20_000) -> Shaped:
    """Customers and their orders, without order or roles; a few have very many."""
    rng = np.random.default_rng(seed)
    segment, country = rng.integers(0, 4, roots), rng.integers(0, 10, roots)
    since = rng.integers(2010, 2025, roots)
    number = np.minimum(rng.geometric(0.15 + 0.1 * segment, roots) - 1, 30)
    of = np.repeat(np.arange(roots), number)
    taste = rng.integers(0, 12, roots)
    product = np.where(rng.random(len(of)) < 0.5, taste[of], rng.integers(0, 12, len(of)))
    value = np.clip(np.exp(rng.normal(3 + 0.4 * segment[of], 0.8) + 0.05 * product), 0, 499).astype(int)
    channel = (rng.random(len(of)) < 0.2 + 0.05 * country[of]).astype(int)
    customers = {"customer": np.arange(roots), "segment": segment, "country": country, "since": since}
    bought = {"customer": of, "product": product, "value": value, "channel": channel}
    schema = linked(
        "orders",
        {
            "customers": ("customer", [listed("segment", 4), listed("country", 10), whole("since", 2010, 2024, 15)]),
            "orders": (None, [listed("product", 12), whole("value", 0, 499, 50), listed("channel", 2)]),
        },
        [{"parent": "customers", "child": "orders", "key": "customer", "max_children": 10}],
    )
    return Shaped(tables={"customers": pa.table(customers), "orders": pa.table(bought)}, schema=schema)


def classes(seed: int, roots: int = 2_000) -> Shaped:
    """Classes and their pupils: few roots, up to 32 children each, who are alike."""
    rng = np.random.default_rng(seed)
    kind, grade = rng.integers(0, 3, roots), rng.integers(1, 7, roots)
    number = np.clip(rng.normal(24, 4, roots), 8, 32).astype(int)
    of = np.repeat(np.arange(roots), number)
    level = rng.normal(0, 1, roots) + 0.6 * (kind - 1)
    books = np.clip(np.round(3 + level[of] + rng.normal(0, 1.2, len(of))), 0, 6).astype(int)
    score = np.clip(50 + 8 * level[of] + 3 * books + rng.normal(0, 8, len(of)), 0, 99).astype(int)
    sex = rng.integers(0, 2, len(of))
    rooms = {"class": np.arange(roots), "kind": kind, "grade": grade}
    pupils = {"class": of, "sex": sex, "books": books, "score": score}
    schema = linked(
        "classes",
        {
            "classes": ("class", [listed("kind", 3), whole("grade", 1, 6, 6)]),
            "pupils": (None, [listed("sex", 2), listed("books", 7, ordered=True), whole("score", 0, 99, 50)]),
        },
        [{"parent": "classes", "child": "pupils", "key": "class", "max_children": 32}],
    )
    return Shaped(tables={"classes": pa.table(rooms), "pupils": pa.table(pupils)}, schema=schema)


def panel(seed: int, roots: int = 20_000) -> Shaped:
    """Persons over five waves: a state that lasts, an income that follows itself, some who leave."""
    rng = np.random.default_rng(seed)
    waves = 5
    sex, born = rng.integers(0, 2, roots), rng.integers(1940, 2000, roots)
    stays = np.where(rng.random(roots) < 0.75, waves, rng.integers(1, waves, roots))
    able = rng.normal(0, 1, roots)
    job, log = (able + rng.normal(0, 1, roots) > -0.8).astype(int), able + rng.normal(0, 0.5, roots)
    rows: dict[str, list[Any]] = {n: [] for n in ("person", "wave", "job", "income", "health")}
    health = np.clip(np.round(2 + able * 0.5 + rng.normal(0, 0.8, roots)), 0, 4).astype(int)
    for wave in range(waves):
        here = stays > wave
        change = rng.random(roots) < np.where(job == 1, 0.07, 0.2)
        job = np.where(change, 1 - job, job)
        log = 0.85 * log + 0.15 * able + 0.05 + rng.normal(0, 0.3, roots)
        health = np.clip(health + rng.choice([-1, 0, 1], roots, p=[0.15, 0.75, 0.1]), 0, 4)
        income = np.where(job == 1, np.clip(25 + 9 * log, 1, 59), 0).astype(int)
        for name, values in (
            ("person", np.arange(roots)), ("wave", np.full(roots, wave)), ("job", job), ("income", income),
            ("health", health),
        ):  # fmt: skip
            rows[name].append(values[here])
    persons = {"person": np.arange(roots), "sex": sex, "born": born}
    schema = linked(
        "panel",
        {
            "persons": ("person", [listed("sex", 2), whole("born", 1940, 1999, 12)]),
            "waves": (None, [whole("wave", 0, 4, 5), listed("job", 2), whole("income", 0, 59, 30),
                             listed("health", 5, ordered=True)]),
        },
        [{"parent": "persons", "child": "waves", "key": "person", "max_children": 5, "order": "wave",
          "distinct": True}],
    )  # fmt: skip
    made = {n: np.concatenate(v) for n, v in rows.items()}
    return Shaped(tables={"persons": pa.table(persons), "waves": pa.table(made)}, schema=schema)


def teams(seed: int, roots: int = 10_000) -> Shaped:
    """Teams of up to eight who are much alike in pay and site, without an order."""
    rng = np.random.default_rng(seed)
    trade, town = rng.integers(0, 5, roots), rng.integers(0, 8, roots)
    of = np.repeat(np.arange(roots), 1 + rng.binomial(7, 0.45, roots))
    rank = rng.normal(0, 1, roots)
    years = np.clip(8 + 5 * rank[of] + rng.normal(0, 5, len(of)), 0, 29).astype(int)
    pay = np.clip(30 + 4 * trade[of] + 1.2 * years + rng.normal(0, 6, len(of)), 0, 99).astype(int)
    shift = np.where(rng.random(len(of)) < 0.7, (town % 3)[of], rng.integers(0, 3, len(of)))
    schema = linked(
        "teams",
        {
            "teams": ("team", [listed("trade", 5), listed("town", 8)]),
            "members": (None, [whole("years", 0, 29, 30), whole("pay", 0, 99, 50), listed("shift", 3)]),
        },
        [{"parent": "teams", "child": "members", "key": "team", "max_children": 8}],
    )
    made = {
        "teams": {"team": np.arange(roots), "trade": trade, "town": town},
        "members": {"team": of, "years": years, "pay": pay, "shift": shift},
    }
    return Shaped(tables={n: pa.table(t) for n, t in made.items()}, schema=schema)


def trips(seed: int, roots: int = 5_000) -> Shaped:
    """Drivers and up to twenty trips each, which are little alike and whose own columns depend on each other."""
    rng = np.random.default_rng(seed)
    car, since = rng.integers(0, 4, roots), rng.integers(0, 10, roots)
    of = np.repeat(np.arange(roots), np.minimum(rng.poisson(9, roots), 20))
    reason = np.where(rng.random(len(of)) < 0.25, (car * 2)[of], rng.integers(0, 8, len(of)))
    far = np.clip(rng.gamma(2, 3 + reason) + 0.8 * rng.normal(0, 1, roots)[of], 0, 59).astype(int)
    night = (rng.random(len(of)) < 0.1 + 0.08 * reason).astype(int)
    schema = linked(
        "trips",
        {
            "drivers": ("driver", [listed("car", 4), whole("since", 0, 9, 10)]),
            "trips": (None, [listed("reason", 8), whole("far", 0, 59, 30), listed("night", 2)]),
        },
        [{"parent": "drivers", "child": "trips", "key": "driver", "max_children": 20}],
    )
    made = {
        "drivers": {"driver": np.arange(roots), "car": car, "since": since},
        "trips": {"driver": of, "reason": reason, "far": far, "night": night},
    }
    return Shaped(tables={n: pa.table(t) for n, t in made.items()}, schema=schema)


SHAPES: dict[str, Callable[..., Shaped]] = {
    "census": census, "visits": visits, "orders": orders, "classes": classes, "panel": panel,
    "teams": teams, "trips": trips,
}  # fmt: skip
