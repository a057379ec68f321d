"""Four more tables for walks, of shapes that the first two sets do not have; made anew from a seed.

Weather with directions on a circle, ballots whose shares add up to 100, answers that list several things in one cell,
and waiting times that end at a day.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.walk_tables import Walked

POINTS = np.array(["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
DRINKS = ("beer", "coffee", "juice", "tea", "water")


def station(rng: Generator, n: int = 5200) -> Walked:
    """Weather on working days and Saturdays: directions of 0 to 359 degrees that wrap around, rain that is mostly 0."""
    days = pd.date_range("2015-01-01", "2024-12-31")
    days = days[days.dayofweek != 6]
    at = np.sort(rng.choice(len(days), n))
    wind = np.where(rng.random(n) < 0.6, rng.normal(250, 35, n), rng.normal(10, 40, n)).round().astype(int) % 360
    warm = 10 - 9 * np.cos(days.dayofyear.to_numpy()[at] / 365 * 2 * np.pi) + rng.normal(0, 4, n)
    rain = np.where((rng.random(n) < 0.25) & (np.abs(wind - 250) < 60), rng.gamma(0.8, 6, n), 0.0).round(1)
    frame = pd.DataFrame(
        {"day": days[at].strftime("%Y-%m-%d"), "wind_deg": wind, "wind_from": POINTS[(wind + 22) // 45 % 8],
         "temp_c": warm.round(1), "rain_mm": rain, "observer": rng.choice(["Ada", "Ben"], n, p=[0.8, 0.2])}
    )  # fmt: skip
    return Walked(
        name="station", frame=frame, dates=("day",), never={"degrees": lambda f: ~f["wind_deg"].between(0, 359)}
    )


def ballots(rng: Generator, n: int = 2600) -> Walked:
    """Polling stations: four shares that add up to 100 percent, and a turnout that is never above it."""
    kind = rng.choice(["city", "suburb", "village"], n, p=[0.5, 0.3, 0.2])
    lean = np.stack([np.where(kind == "city", 5, 2), np.full(n, 4), np.where(kind == "village", 7, 3), np.full(n, 1)])
    parts = rng.gamma(lean)
    shares = np.round(100 * parts / parts.sum(axis=0), 1)
    shares[3] = np.round(100 - shares[:3].sum(axis=0), 1)
    voters = np.where(kind == "city", rng.lognormal(7, 0.3, n), rng.lognormal(5.5, 0.6, n)).round().astype(int)
    frame = pd.DataFrame(
        {"kind": kind, "registered": voters, "turnout_pct": np.round(100 * rng.beta(7, 3, n), 1),
         **{f"party_{p}_pct": s for p, s in zip("abcd", shares.clip(0), strict=True)}}
    )  # fmt: skip
    return Walked(name="ballots", frame=frame, never={"above 100": lambda f: (f.filter(like="_pct") > 100).any(axis=1)})


def drinks(rng: Generator, n: int = 3400) -> Walked:
    """What people drink, several in one cell; ages in groups with an open end; `don't know`; a weight to the gram."""
    age = rng.choice(["16-29", "30-44", "45-64", "65 and over"], n, p=[0.22, 0.26, 0.32, 0.2])
    taste = np.where(age == "16-29", 0.25, 0.6)
    chosen = rng.random((n, 5)) < np.stack([taste * 0.6, taste, np.full(n, 0.3), 0.9 - taste, np.full(n, 0.8)], axis=1)
    cups = np.where(chosen[:, 1], rng.poisson(2.2, n) + 1, 0)
    often = np.array(["never", "weekly", "daily", "don't know"])[np.where(cups > 2, 2, np.where(cups > 0, 1, 0))]
    often[rng.random(n) < 0.06] = "don't know"
    frame = pd.DataFrame(
        {"age": age, "drinks": ["; ".join(np.array(DRINKS)[c]) or "none" for c in chosen], "cups": cups,
         "how often": often, "weight_kg": np.round(rng.normal(74, 13, n).clip(40), 3)}
    )  # fmt: skip
    return Walked(name="drinks", frame=frame, never={"cups below 0": lambda f: f["cups"] < 0})


def trial(rng: Generator, n: int = 1400) -> Walked:
    """Days until an event, cut off at 365; doses in three arms, one of them rare; a score that most do not have."""
    arm = rng.choice(["placebo", "5 mg", "20 mg"], n, p=[0.48, 0.48, 0.04])
    wait = rng.exponential(np.where(arm == "placebo", 200, 420)).round().astype(int) + 1
    seen = wait <= 365
    score = pd.Series(rng.integers(0, 57, n)).astype("Int64").mask(~seen | (rng.random(n) < 0.5))
    weeks = pd.to_timedelta(7 * rng.integers(0, 90, n), "D")
    frame = pd.DataFrame(
        {"arm": arm, "site": rng.choice([f"S{k:02d}" for k in range(1, 19)], n), "days": np.minimum(wait, 365),
         "event": np.where(seen, "yes", "no"), "score": score, "born": rng.integers(1938, 2004, n),
         "entered": (pd.Timestamp("2021-03-31") + weeks).strftime("%d.%m.%Y")}
    )  # fmt: skip
    return Walked(
        name="trial", frame=frame, days=("entered",), never={"days": lambda f: ~f["days"].between(1, 365)}
    )  # fmt: skip


def tables(seed: int = 231) -> list[Walked]:
    """All four; the same seed gives the same files."""
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate((station, ballots, drinks, trial))]
