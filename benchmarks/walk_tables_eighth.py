"""Five more tables for walks, in which codes such as -9999 and dashes stand among numbers; made anew from a seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.walk_tables import Walked


def _coded(rng: Generator, values: np.ndarray, code: float, share: float) -> np.ndarray:
    """A column in which a share of the cells is a code."""
    return np.where(rng.random(len(values)) < share, code, values)


def weather(rng: Generator, n: int = 8000) -> Walked:
    """Stations whose sensors write -9999 when they fail; times with a zone; no rain in most hours."""
    at = np.sort(rng.integers(0, 275 * 24 * 60, n)) * 60
    seen = pd.to_datetime("2024-03-01") + pd.to_timedelta(at, unit="s")
    warm = np.round(12 + 10 * np.sin((seen.dayofyear - 110) / 365 * 2 * np.pi) + rng.normal(0, 3, n), 1)
    damp = np.clip(np.round(75 - 1.2 * (warm - 12) + rng.normal(0, 8, n)), 5, 100)
    frame = pd.DataFrame(
        {
            "station": [f"ST-{s:03d}" for s in rng.integers(0, 12, n)],
            "time": seen.strftime("%Y-%m-%d %H:%M:%S"),
            "temp_c": _coded(rng, np.asarray(warm), -9999, 0.05),
            "humidity_pct": _coded(rng, np.asarray(damp).astype(int), -9999, 0.03),
            "rain_mm": np.where(rng.random(n) < 0.85, 0, np.round(rng.gamma(0.7, 3, n), 1)),
            "wind": rng.choice(["N", "NE", "E", "SE", "S", "SW", "W", "NW"], n),
            "status": rng.choice(["OK", "WARN", "ERR"], n, p=[0.93, 0.05, 0.02]),
        }
    )  # fmt: skip
    return Walked(
        name="weather", frame=frame, dates=("time",),
        never={"neither a temperature nor -9999": lambda f: ~(f["temp_c"].between(-40, 60) | (f["temp_c"] == -9999)),
               "a share above 100": lambda f: f["humidity_pct"] > 100},
    )  # fmt: skip


def panel(rng: Generator, n: int = 4000) -> Walked:
    """A survey from a database: 997 to 999 and -9 for no answer, marks of a database for nothing."""
    age = rng.integers(18, 95, n)
    hours = np.clip(np.round(rng.normal(36, 9, n)), 0, 80).astype(int)
    trust = np.clip(np.round(5 + (age - 50) / 30 + rng.normal(0, 2, n)), 0, 10).astype(int)
    frame = pd.DataFrame(
        {
            "age": _coded(rng, age, 999, 0.04),
            "income": _coded(rng, np.round(np.exp(rng.normal(7.5, 0.8, n))).astype(int), -9999, 0.1),
            "hours": _coded(rng, _coded(rng, hours, 997, 0.05), 998, 0.05),
            "trust": _coded(rng, trust, 99, 0.06),
            "school": _coded(rng, rng.integers(1, 6, n), -9, 0.05),
            "hba1c": _coded(rng, np.round(rng.normal(5.6, 0.7, n), 1), 999.9, 0.2),
            "region": rng.choice(["north", "south", "east", "west"], n),
        }
    )  # fmt: skip
    return Walked(
        name="panel-codes", frame=frame,
        never={"an age between 120 and 999": lambda f: f["age"].between(121, 998),
               "a school between -9 and 1": lambda f: f["school"].between(-8, 0, inclusive="neither"),
               "no income and no code": lambda f: f["income"].between(-9998, -1)},
    )  # fmt: skip


def offers(rng: Generator, n: int = 2500) -> Walked:
    """Offers in German: whole prices end with a dash, discounts are listed, dates have two digits for the year."""
    price = np.round(np.exp(rng.normal(6.5, 0.9, n)), 2)
    price = np.where(rng.random(n) < 0.5, np.round(price / 100) * 100, price)
    whole = np.char.replace([f"{int(x):,}" for x in price], ",", ".")
    cents = np.round(price * 100).astype(int) % 100
    first, more = rng.integers(1, 10, n), rng.integers(1, 4, n)
    tail = ["-" if c == 0 else f"{c:02d}" for c in cents]
    frame = pd.DataFrame(
        {
            "Angebot": [f"A-2024-{i:05d}" for i in range(n)],
            "Preis": [f"€ {w},{c}" for w, c in zip(whole, tail, strict=True)],
            "Rabatt": [f"{x:.1f} %".replace(".", ",") for x in rng.choice([0, 2.5, 5, 7.5, 10, 12.5, 15], n)],
            "Gewicht": [f"{x:.1f} kg".replace(".", ",") for x in rng.gamma(2, 3, n)],
            "Lieferzeit": [f"{a}-{a + b} Tage" for a, b in zip(first, more, strict=True)],
            "Status": rng.choice(["offen", "angenommen", "abgelehnt"], n),
        }
    )  # fmt: skip
    return Walked(
        name="offers", frame=frame, german=True, amounts=("Preis", "Gewicht"),
        never={"a price below 0": lambda f: f["Preis"].str.startswith("-")},
    )  # fmt: skip


def hotline(rng: Generator, n: int = 2000) -> Walked:
    """Calls of one evening, to the second."""
    start = np.datetime64("2024-12-31T18:00:00") + rng.integers(0, 6 * 3600, n)
    lasts = np.round(rng.gamma(2, 90, n)).astype(int) + 3
    frame = pd.DataFrame(
        {
            "call_start": pd.Series(start).dt.strftime("%Y-%m-%d %H:%M:%S"),
            "duration_s": lasts,
            "topic": rng.choice(["fire", "noise", "medical", "other"], n),
            "score": rng.choice(["★", "★★", "★★★", "★★★★", "★★★★★"], n),
        }
    )
    return Walked(
        name="hotline", frame=frame, dates=("call_start",),
        never={"another day": lambda f: pd.to_datetime(f["call_start"]).dt.date != pd.Timestamp("2024-12-31").date()},
    )  # fmt: skip


def cities(rng: Generator, n: int = 5000) -> Walked:
    """Towns with marks between thousands and the heaviest of tails; shares that sum up to a hundred."""
    people = np.round(1000 * (rng.pareto(1.05, n) + 1)).astype(int)
    shares = np.round(rng.dirichlet([8, 6, 3], n) * 100, 1)
    frame = pd.DataFrame(
        {
            "name": [f"City {i}" for i in range(n)],
            "population": [f"{p:,}" for p in people],
            "area_km2": np.round(np.exp(np.log(people) * 0.7 - 2 + rng.normal(0, 0.5, n)), 1),
            "share_a": shares[:, 0], "share_b": shares[:, 1], "share_c": shares[:, 2],
            "capital": np.where(rng.random(n) < 0.04, "x", ""),
        }
    )  # fmt: skip
    return Walked(
        name="cities", frame=frame, amounts=("population",),
        never={"nobody lives there": lambda f: f["population"] < 0, "a share above 100": lambda f: f["share_a"] > 100},
    )  # fmt: skip


def tables(seed: int = 808) -> list[Walked]:
    """All five; the same seed gives the same files."""
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate((weather, panel, offers, hotline, cities))]
