"""Twelve awkward tables for walks through the app, each made anew from a seed: a file, and what can never be in it.

Months' ends, working days, heavy tails, blank cells, ratings, a panel, many columns, few records, decimal commas,
codes, many categories, yes and no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.random import Generator

Check = Callable[[pd.DataFrame], pd.Series]  # True for records that cannot be


@dataclass(frozen=True, kw_only=True, slots=True)
class Walked:
    """One table. german: semicolons and decimal commas. never: by its name, what no record can be.

    dates: columns that hold dates. person: the column that names a person who may have several records. codes: columns
    that look like numbers and are text. amounts, days: columns of `1.234,56 EUR` and of 31.12.2023, read as text.
    blanks: whether words such as NA are read as blank cells; where they are values, the pages say so. encoding: of the
    file. formats: of dates in other writings. clocks: columns of 00:12:33.
    """

    name: str
    frame: pd.DataFrame
    never: dict[str, Check]
    dates: tuple[str, ...] = ()
    person: str | None = None
    german: bool = False
    codes: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    blanks: bool = True
    encoding: str = "utf-8"
    formats: Mapping[str, str] = field(default_factory=dict)
    clocks: tuple[str, ...] = ()

    def raw(self) -> bytes:
        """The file."""
        more = {"sep": ";", "decimal": ","} if self.german else {}
        return bytes(self.frame.to_csv(index=False, **more).encode(self.encoding))


def _ends(rng: Generator, n: int, first: str = "2019-01", months: int = 48) -> np.ndarray:
    """Last days of months."""
    return np.asarray((np.datetime64(first, "M") + rng.integers(1, months + 1, n)).astype("datetime64[D]") - 1)


def _some(rng: Generator, values: np.ndarray, share: float) -> pd.Series:
    """A column with a share of its cells blank."""
    return pd.Series(values).mask(rng.random(len(values)) < share)


def loans(rng: Generator, n: int = 6000) -> Walked:
    """Months' ends, amounts with a heavy tail, grades, a yes/no that follows from both."""
    grade = rng.choice(list("ABCDEFG"), n, p=[0.2, 0.25, 0.2, 0.15, 0.1, 0.06, 0.04])
    level = np.array(["ABCDEFG".index(g) for g in grade])
    amount = np.round(np.exp(rng.normal(9 - 0.2 * level, 1)), 2)
    rate = np.round(3 + 2.2 * level + rng.normal(0, 0.8, n).clip(-2, 2), 2)
    late = np.where(rng.random(n) < 1 / (1 + np.exp(3 - 0.5 * level)), "yes", "no")
    frame = pd.DataFrame(
        {"reported": _ends(rng, n), "amount": amount, "rate": rate, "grade": grade, "defaulted": late,
         "term": rng.choice([12, 24, 36, 60], n)}
    )  # fmt: skip
    return Walked(
        name="loans", frame=frame, dates=("reported",),
        never={"no end of a month": lambda f: ~f["reported"].dt.is_month_end, "blank term": lambda f: f["term"].isna(),
               "no whole year": lambda f: ~f["term"].isin([12, 24, 36, 48, 60]), "negative": lambda f: f["amount"] < 0},
    )  # fmt: skip


def reviews(rng: Generator, n: int = 5000) -> Walked:
    """Stars from 1 to 5, scores from 1 to 10 by tenths, votes with a heavy tail, a third of the prices blank."""
    stars = rng.choice([1, 2, 3, 4, 5], n, p=[0.1, 0.07, 0.13, 0.3, 0.4])
    score = np.clip(np.round(2 * stars + rng.normal(0, 0.9, n), 1), 1, 10)
    score[:2] = 1.0, 10.0
    shop = rng.choice([f"shop {i}" for i in range(12)], n)
    frame = pd.DataFrame(
        {"shop": shop, "stars": stars, "score": score, "votes": np.floor(rng.pareto(1.3, n) * 3).astype(int),
         "price": _some(rng, np.round(rng.gamma(2, 15, n) + stars, 2), 0.33)}
    )  # fmt: skip
    return Walked(
        name="reviews", frame=frame,
        never={"stars beyond 1 to 5": lambda f: ~f["stars"].isin([1, 2, 3, 4, 5]),
               "score beyond 1 to 10": lambda f: ~f["score"].between(1, 10)},
    )  # fmt: skip


def trades(rng: Generator, n: int = 5000) -> Walked:
    """Working days, settled two of them later, prices, sides."""
    days = np.busday_offset("2022-01-03", rng.integers(0, 500, n), roll="forward")
    price = np.round(np.exp(rng.normal(3, 0.6, n)), 2)
    frame = pd.DataFrame(
        {"traded": days, "settled": np.busday_offset(days, 2), "side": rng.choice(["buy", "sell"], n),
         "price": price, "lots": 1 + rng.poisson(4, n), "venue": rng.choice(["X", "Y", "Z"], n, p=[0.7, 0.2, 0.1])}
    )  # fmt: skip
    return Walked(
        name="trades", frame=frame, dates=("traded", "settled"),
        never={"Saturday or Sunday": lambda f: (f["traded"].dt.dayofweek > 4) | (f["settled"].dt.dayofweek > 4),
               "no lot": lambda f: f["lots"] < 1},
    )  # fmt: skip


def panel(rng: Generator, n: int = 600) -> Walked:
    """600 persons in one to five years each, an income that grows, a status."""
    waves = rng.integers(1, 6, n)
    who = np.repeat(np.arange(n), waves)
    wave = np.concatenate([np.arange(w) for w in waves])
    base = rng.normal(2600, 700, n)
    income = np.round(np.maximum(base[who] * 1.03**wave + rng.normal(0, 120, len(who)), 0), -1).astype(int)
    frame = pd.DataFrame(
        {"person": 70_000 + who, "year": 2018 + wave, "income": income, "sex": rng.choice(["f", "m"], n)[who],
         "employed": np.where(rng.random(len(who)) < 0.8, "yes", "no")}
    )  # fmt: skip
    return Walked(
        name="panel", frame=frame, person="person", never={"another year": lambda f: ~f["year"].between(2010, 2030)}
    )


def wide(rng: Generator, n: int = 3000) -> Walked:
    """Sixty answers from 1 to 5 that hang on three attitudes, and an age."""
    attitude = rng.normal(0, 1, (n, 3))
    made = {
        f"q{i:02d}": np.clip(np.round(3 + attitude[:, i % 3] + rng.normal(0, 0.8, n)), 1, 5).astype(int)
        for i in range(60)
    }
    frame = pd.DataFrame({**made, "age": np.clip(45 + 12 * attitude[:, 0], 18, 90).astype(int)})
    never = {"answer beyond 1 to 5": lambda f: ~f.filter(regex="^q").isin([1, 2, 3, 4, 5]).all(axis=1)}
    return Walked(name="wide", frame=frame, never=never)


def few(rng: Generator, n: int = 60) -> Walked:
    """Sixty records."""
    frame = pd.DataFrame(
        {"dose": rng.choice([5, 10, 20], n), "weight": np.round(rng.normal(71, 12, n), 1),
         "arm": rng.choice(["drug", "placebo"], n), "healed": rng.choice(["no", "yes"], n)}
    )  # fmt: skip
    return Walked(name="few", frame=frame, never={"no multiple of 5": lambda f: ~f["dose"].isin([5, 10, 15, 20])})


def wages(rng: Generator, n: int = 2500) -> Walked:
    """German: semicolons, decimal commas, umlauts, marks from 1 to 6, a fifth of the hours blank."""
    place = rng.choice(["Köln", "München", "Görlitz", "Ulm"], n, p=[0.4, 0.3, 0.1, 0.2])
    pay = np.round(rng.gamma(5, 600, n) + 900 * (place == "München"), 2)
    frame = pd.DataFrame(
        {"Ort": place, "Gehalt": pay, "Note": rng.integers(1, 7, n),
         "Stunden": _some(rng, rng.integers(10, 45, n), 0.2),
         "verheiratet": rng.choice(["ja", "nein"], n)}
    )  # fmt: skip
    frame["Stunden"] = frame["Stunden"].astype("Int64")
    return Walked(
        name="wages", frame=frame, german=True, never={"mark beyond 1 to 6": lambda f: ~f["Note"].between(1, 6)}
    )


def diagnoses(rng: Generator, n: int = 4000) -> Walked:
    """Codes with leading zeros, codes with letters, days of stay, deaths among the old."""
    ward = rng.choice([f"{i:03d}" for i in range(1, 31)], n, p=rng.dirichlet(np.ones(30)))
    age = rng.integers(0, 101, n)
    frame = pd.DataFrame(
        {"ward": ward, "icd": rng.choice([f"{c}{i:02d}" for c in "IJK" for i in range(8)], n), "age": age,
         "days": 1 + rng.geometric(0.15, n), "died": (rng.random(n) < (age / 100) ** 3 / 2).astype(int)}
    )  # fmt: skip
    return Walked(
        name="diagnoses", frame=frame, codes=("ward", "icd"),
        never={"ward without zeros": lambda f: ~f["ward"].astype(str).str.fullmatch(r"\d{3}|\(other\)"),
               "died neither 0 nor 1": lambda f: ~f["died"].isin([0, 1])},
    )  # fmt: skip


def towns(rng: Generator, n: int = 10_000) -> Walked:
    """150 towns and 60 trades of very unequal sizes."""
    weights = 1 / np.arange(1, 151)
    town = rng.choice([f"town {i}" for i in range(150)], n, p=weights / weights.sum())
    trade = rng.choice([f"trade {i}" for i in range(60)], n)
    rent = np.round(300 + 4 * (150 - np.array([int(t[5:]) for t in town])) + rng.normal(0, 60, n), 0).astype(int)
    frame = pd.DataFrame({"town": town, "trade": trade, "rent": rent, "rooms": 1 + rng.binomial(24, 0.1, n)})
    return Walked(name="towns", frame=frame, never={"no room": lambda f: f["rooms"] < 1})


def answers(rng: Generator, n: int = 3000) -> Walked:
    """Twelve yes/no columns, each like the one before it."""
    kept = rng.random((n, 12)) < 0.75
    value = rng.random(n) < 0.4
    made = {}
    for i in range(12):
        value = np.where(kept[:, i], value, rng.random(n) < 0.4)
        made[f"has_{i}"] = np.where(value, "yes", "no")
    frame = pd.DataFrame(made)
    never = {"neither yes nor no": lambda f: ~f.isin(["yes", "no"]).all(axis=1)}
    return Walked(name="answers", frame=frame, never=never)


def funds(rng: Generator, n: int = 4000) -> Walked:
    """Ends of quarters, Mondays, returns around 0, nine tenths of the fees blank."""
    quarter = (np.datetime64("2015-01", "M") + 3 * rng.integers(1, 33, n)).astype("datetime64[D]") - 1
    monday = np.datetime64("2022-01-03") + 7 * rng.integers(0, 52, n)
    frame = pd.DataFrame(
        {"quarter": quarter, "priced": monday, "return": np.round(rng.standard_t(3, n) * 2, 2),
         "fee": _some(rng, np.round(rng.gamma(2, 0.4, n), 2), 0.9), "kind": rng.choice(["bond", "mixed", "share"], n)}
    )  # fmt: skip
    return Walked(
        name="funds", frame=frame, dates=("quarter", "priced"),
        never={"no end of a quarter": lambda f: ~f["quarter"].dt.is_quarter_end,
               "no Monday": lambda f: f["priced"].dt.dayofweek != 0},
    )  # fmt: skip


def survey(rng: Generator, n: int = 4000) -> Walked:
    """`NA` in numbers, questions that were skipped, shares from 0 to 100, ages."""
    works = rng.choice(["yes", "no"], n, p=[0.65, 0.35])
    hours = pd.Series(np.where(works == "yes", rng.integers(8, 50, n), -1)).replace(-1, np.nan).astype("Int64")
    frame = pd.DataFrame(
        {"age": rng.integers(18, 91, n), "works": works, "hours": hours,
         "home_office": np.clip(rng.normal(35, 40, n), 0, 100).round().astype(int),
         "region": rng.choice(["north", "east", "south", "west"], n), "children": rng.poisson(1.1, n)}
    )  # fmt: skip
    return Walked(
        name="survey", frame=frame, never={"share beyond 0 to 100": lambda f: ~f["home_office"].between(0, 100)}
    )


MADE: tuple[Callable[[Generator], Walked], ...] = (
    loans, reviews, trades, panel, wide, few, wages, diagnoses, towns, answers, funds, survey,
)  # fmt: skip


def tables(seed: int = 31) -> list[Walked]:
    """All twelve; the same seed gives the same files."""
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate(MADE)]
