"""Four tables, each released at a small and at a larger epsilon: libraries, ambulances, bakeries and allowances."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.walk_tables import Walked

EPSILONS = ("0.5", "3")
SECTIONS = {"novels": "fiction", "crime": "fiction", "comics": "fiction", "history": "facts", "travel": "facts",
            "cooking": "facts", "picture books": "children", "readers": "children"}  # fmt: skip


def libraries(rng: Generator, n: int = 5000) -> pd.DataFrame:
    """Loans: a section has a shelf, books come back later than they are lent or not yet, and fines are mostly 0."""
    section = rng.choice(list(SECTIONS), n, p=[0.25, 0.2, 0.08, 0.1, 0.07, 0.05, 0.15, 0.1])
    lent = np.datetime64("2021-01-01") + rng.integers(0, 1000, n)
    days = 1 + rng.poisson(18, n)
    out = rng.random(n) < 0.07
    fine = np.where((days > 24) & ~out, np.round(0.2 * (days - 24), 2), 0.0)
    member = rng.choice(["adult", "child", "senior"], n, p=[0.5, 0.3, 0.2])
    age = np.where(member == "child", rng.integers(5, 18, n), np.where(member == "senior", rng.integers(65, 90, n), 40))
    age = np.where(member == "adult", rng.integers(18, 65, n), age)
    return pd.DataFrame({
        "section": section, "shelf": [SECTIONS[s] for s in section], "lent": lent,
        "returned": pd.Series(lent + days).mask(out), "fine": fine, "member": member, "age": age,
        "renewals": rng.choice([0, 1, 2, 3], n, p=[0.6, 0.25, 0.1, 0.05]),
    })  # fmt: skip


def ambulances(rng: Generator, n: int = 12_000) -> pd.DataFrame:
    """Calls: times of the day, minutes to the place, a pulse that is blank where nobody was seen, a rare death."""
    called = np.datetime64("2023-03-01T00:00") + rng.integers(0, 365 * 24 * 60, n)
    night = (called - called.astype("datetime64[D]")).astype(int) // 60 < 6
    called = np.where(night & (rng.random(n) < 0.5), called + np.timedelta64(720, "m"), called)
    code = rng.choice(["A", "B", "C"], n, p=[0.2, 0.5, 0.3])
    minutes = np.round(rng.gamma(4, np.where(code == "A", 1.6, 2.9), n) + 2, 1)
    seen = rng.random(n) < np.where(code == "C", 0.7, 0.97)
    pulse = np.where(seen, np.round(rng.normal(88, 17, n)), np.nan)
    return pd.DataFrame({
        "called": called, "code": code, "district": rng.choice(["Nord", "Süd", "Ost", "West", "Mitte"], n),
        "minutes": minutes, "pulse": pd.array(pulse, dtype="Int64"), "age": rng.integers(0, 100, n),
        "crew": rng.choice([2, 3], n, p=[0.8, 0.2]), "died": np.where(rng.random(n) < 0.012, "yes", "no"),
    })  # fmt: skip


def bakeries(rng: Generator, days: int = 400) -> pd.DataFrame:
    """Fifteen shops day by day: loaves, rolls and cakes add up; more at weekends; each shop near its day before."""
    rows = []
    when = np.datetime64("2022-05-01") + np.arange(days)
    weekend = ((when.astype(int) + 3) % 7) > 4
    for k in range(15):
        mood, x = np.zeros(days), 0.0
        for t in range(days):
            x = 0.85 * x + rng.normal(0, 6)
            mood[t] = x
        loaves = np.round(60 + 6 * k + 25 * weekend + mood).clip(0).astype(int)
        rolls = np.round(150 + 10 * k + 60 * weekend + 2 * mood + rng.normal(0, 12, days)).clip(0).astype(int)
        cakes = rng.poisson(8 + 12 * weekend)
        rows.append(pd.DataFrame({
            "shop": f"B{k:02d}", "day": when, "loaves": loaves, "rolls": rolls, "cakes": cakes,
            "sold": loaves + rolls + cakes,
        }))  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def allowances(rng: Generator, n: int = 900) -> pd.DataFrame:
    """A small table in German: amounts of households by size, rent as a part of it, notes of few words."""
    people = rng.choice([1, 2, 3, 4, 5], n, p=[0.4, 0.25, 0.15, 0.12, 0.08])
    rent = np.round(rng.normal(420, 90, n) + 85 * people, 2)
    need = np.round(502 * people**0.8 + rng.normal(0, 40, n), 2)
    return pd.DataFrame({
        "Personen": people, "Miete": rent, "Bedarf": need, "Summe": np.round(rent + need, 2),
        "Heizung": rng.choice(["Gas", "Öl", "Fernwärme", "Wärmepumpe"], n, p=[0.5, 0.2, 0.25, 0.05]),
        "bewilligt": rng.choice(["ja", "nein"], n, p=[0.7, 0.3]),
        "Antrag": pd.Series(np.datetime64("2023-01-02") + rng.integers(0, 300, n)),
    })  # fmt: skip


def tables(seed: int = 1010) -> list[Walked]:
    """All four at both budgets, each by its name and epsilon."""
    made = {f.__name__: f(np.random.default_rng([seed, i])) for i, f in enumerate(
        (libraries, ambulances, bakeries, allowances))}  # fmt: skip
    dates = {
        "libraries": ("lent", "returned"),
        "ambulances": ("called",),
        "bakeries": ("day",),
        "allowances": ("Antrag",),
    }
    return [
        Walked(name=f"{name}-{e}", frame=frame, never={}, dates=dates[name], german=name == "allowances")
        for name, frame in made.items()
        for e in EPSILONS
    ]


WAYS = {f"{name}-{e}": ("rls", e) for name in ("libraries", "ambulances", "bakeries", "allowances") for e in EPSILONS}
