"""Twelve more tables for walks, unlike those of `walk_tables`: eleven made anew from a seed, and one of scikit-learn.

Loans with a fee, meter readings, opinions, laboratory values, matches, houses, a German account, school marks, places
within places, devices, handwritten digits, visits to a clinic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks import (
    walk_tables,
    walk_tables_eighth,
    walk_tables_fifth,
    walk_tables_fourth,
    walk_tables_ninth,
    walk_tables_seventh,
    walk_tables_sixth,
    walk_tables_tenth,
    walk_tables_third,
)
from benchmarks.walk_tables import Walked

ANSWERS = np.array(["strongly disagree", "disagree", "neither", "agree", "strongly agree"])


def library(rng: Generator, n: int = 700) -> Walked:
    """700 members with one to eight loans: dates, the days between them, and a fee that begins after 28 days."""
    loans = rng.integers(1, 9, n)
    who = np.repeat(np.arange(n), loans)
    m = len(who)
    days = np.clip(np.round(rng.gamma(4, 6, m)), 1, 90).astype(int)
    lent = np.datetime64("2023-01-02") + rng.integers(0, 540, m)
    frame = pd.DataFrame(
        {"member_id": [f"M{100_000 + w}" for w in who], "branch": rng.choice(["Central", "North", "Harbour"], m),
         "lent": lent, "returned": lent + days, "days_out": days, "fee": np.where(days > 28, (days - 28) / 4, 0.0)}
    )  # fmt: skip
    return Walked(
        name="library", frame=frame, dates=("lent", "returned"), person="member_id",
        never={"fee without a quarter": lambda f: (4 * f["fee"]) % 1 != 0},
    )  # fmt: skip


def meters(rng: Generator, n: int = 4380) -> Walked:
    """A reading every two hours, numbers around 0, and yes/no that is rarely yes."""
    at = pd.date_range("2023-01-01", periods=n, freq="2h")
    hour = at.hour.to_numpy()
    use = np.round(0.3 + 0.5 * np.exp(-((hour - 19) ** 2) / 8) + rng.gamma(1.5, 0.2, n), 3)
    sun = np.round(np.clip(np.sin((hour - 6) / 12 * np.pi), 0, None) * rng.uniform(0, 3, n), 3)
    frame = pd.DataFrame(
        {"read_at": at.strftime("%Y-%m-%dT%H:%M:%S"), "use_kwh": use, "solar_kwh": sun,
         "tariff": np.where((hour >= 7) & (hour < 21), "day", "night"), "estimated": rng.random(n) < 0.04}
    )  # fmt: skip
    return Walked(name="meters", frame=frame, dates=("read_at",), never={"sun below 0": lambda f: f["solar_kwh"] < 0})


def opinions(rng: Generator, n: int = 2400) -> Walked:
    """Answers in words that hang on one attitude, headers of whole sentences, post codes with zeros, weights."""
    attitude = rng.normal(0, 1, n)

    def answer(slope: float) -> np.ndarray:
        return np.asarray(ANSWERS[np.clip(np.round(2 + slope * attitude + rng.normal(0, 0.9, n)), 0, 4).astype(int)])

    party = pd.Series(rng.choice(["Red", "Blue", "Green", "would not vote"], n)).mask(rng.random(n) < 0.18)
    frame = pd.DataFrame(
        {"age group": rng.choice(["18-24", "25-34", "35-49", "50-64", "65+"], n),
         "post code": [f"{c:05d}" for c in rng.choice([1067, 1069, 4103, 4109, 6108, 9111], n)],
         "Q1: taxes are fair": answer(0.9), "Q2: I trust the council": answer(-0.8), "Q3: roads are good": answer(0.2),
         "weight": np.round(rng.gamma(9, 1 / 9, n), 4), "party": party}
    )  # fmt: skip
    return Walked(name="opinions", frame=frame, codes=("post code",), never={"weight": lambda f: f["weight"] < 0})


def laboratory(rng: Generator, n: int = 1600) -> Walked:
    """Codes 1, 2 and 9, values below a limit written `<0.5`, numbers below 0, a third of the cells blank."""
    protein = np.round(rng.lognormal(0, 1.4, n), 1)
    sodium = pd.Series(rng.normal(140, 3, n).round().astype(int)).astype("Int64").mask(rng.random(n) < 0.3)
    frame = pd.DataFrame(
        {"sex": rng.choice([1, 2, 9], n, p=[0.48, 0.5, 0.02]), "birth_year": rng.integers(1930, 2012, n),
         "crp": ["<0.5" if p < 0.5 else str(p) for p in protein], "ph": np.round(rng.normal(7.4, 0.05, n), 2),
         "sodium": sodium, "smoker": rng.choice(["Y", "N", "U"], n, p=[0.2, 0.7, 0.1]),
         "nadir": -np.round(rng.gamma(2, 2, n), 1)}
    )  # fmt: skip
    return Walked(
        name="laboratory", frame=frame, codes=("crp",),
        never={"sex beyond 1, 2 and 9": lambda f: ~f["sex"].isin([1, 2, 9]), "nadir above 0": lambda f: f["nadir"] > 0},
    )  # fmt: skip


def matches(rng: Generator, n: int = 1900) -> Walked:
    """Goals, their sum, who won, and crowds of nobody."""
    home, away = rng.poisson(1.6, n), rng.poisson(1.2, n)
    crowd = np.where(rng.random(n) < 0.12, 0, np.round(rng.lognormal(9.8, 0.5, n)).astype(int))
    frame = pd.DataFrame(
        {"season": rng.choice(["2019/20", "2020/21", "2021/22"], n), "home_goals": home, "away_goals": away,
         "total_goals": home + away, "result": np.where(home > away, "H", np.where(home < away, "A", "D")),
         "crowd": crowd, "red_cards": rng.binomial(3, 0.06, n)}
    )  # fmt: skip
    return Walked(name="matches", frame=frame, never={"below 0": lambda f: (f.select_dtypes("number") < 0).any(axis=1)})


def houses(rng: Generator, n: int = 3200) -> Walked:
    """Coordinates below 0, prices of 0 among heavy tails, years of 0, a listed value `other`."""
    price = np.where(rng.random(n) < 0.06, 0, np.round(np.exp(rng.normal(12.5, 0.9, n)), -2)).astype(int)
    frame = pd.DataFrame(
        {"lat": np.round(rng.normal(-33.9, 0.2, n), 5), "lon": np.round(rng.normal(-70.6, 0.2, n), 5), "price": price,
         "floor area (m2)": np.round(35 + price / 6000 + rng.gamma(2, 20, n), 1),
         "year_built": np.where(rng.random(n) < 0.1, 0, rng.integers(1890, 2024, n)),
         "heating": rng.choice(["gas", "oil", "heat pump", "none", "other"], n, p=[0.5, 0.2, 0.15, 0.05, 0.1]),
         "sold": np.datetime64("2020-01-01") + rng.integers(0, 1400, n)}
    )  # fmt: skip
    return Walked(
        name="houses", frame=frame, dates=("sold",),
        never={"no area": lambda f: f["floor area (m2)"] <= 0, "two others": lambda f: f["heating"] == "(other)"},
    )  # fmt: skip


def account(rng: Generator, n: int = 2200) -> Walked:
    """German: amounts written `1.234,56 EUR`, days written 31.12.2023, a column of one value."""
    amounts = [f"{v:,.2f} EUR".translate(str.maketrans(",.", ".,")) for v in rng.normal(20, 160, n)]
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D")
    frame = pd.DataFrame(
        {"Buchungstag": days.strftime("%d.%m.%Y"), "Betrag": amounts, "Währung": "EUR",
         "Kategorie": rng.choice(["Miete", "Gehalt", "Lebensmittel", "Übriges"], n, p=[0.1, 0.1, 0.6, 0.2]),
         "bestätigt": rng.choice(["ja", "nein"], n, p=[0.9, 0.1]), "Kurs": np.round(rng.normal(1.08, 0.03, n), 4)}
    )  # fmt: skip
    written = r"-?\d{1,3}(\.\d{3})*,\d\d EUR"
    return Walked(
        name="account", frame=frame, german=True, amounts=("Betrag",), days=("Buchungstag",),
        never={"amount in another form": lambda f: ~f["Betrag"].str.fullmatch(written),
               "day in another form": lambda f: ~f["Buchungstag"].str.fullmatch(r"\d\d\.\d\d\.2023")},
    )  # fmt: skip


def school(rng: Generator, n: int = 900) -> Walked:
    """Marks in letters and the points behind them, `n/a` among days, quarters, months without a day."""
    marks = np.array(["A+", "A", "B", "C", "D", "F"])
    at = rng.choice(6, n, p=[0.05, 0.2, 0.3, 0.25, 0.12, 0.08])
    frame = pd.DataFrame(
        {"class": [f"{a}{b}" for a, b in zip(rng.integers(5, 11, n), rng.choice(list("abc"), n), strict=True)],
         "maths": marks[at], "points": np.clip(np.round(96 - 12 * at + rng.normal(0, 5, n)), 0, 100).astype(int),
         "absent": pd.Series(rng.poisson(3, n).astype(str)).mask(rng.random(n) < 0.1, "n/a"),
         "term": rng.choice(["2022Q3", "2022Q4", "2023Q1", "2023Q2"], n),
         "born": [f"{y}-{m:02d}" for y, m in zip(rng.integers(2006, 2013, n), rng.integers(1, 13, n), strict=True)]}
    )  # fmt: skip
    return Walked(
        name="school", frame=frame, codes=("born",), never={"beyond 100": lambda f: ~f["points"].between(0, 100)}
    )


def places(rng: Generator, n: int = 20_000) -> Walked:
    """Towns within districts within regions, incomes with a heavy tail, a tax that follows from them."""
    region = rng.integers(0, 4, n)
    district = 6 * region + rng.integers(0, 6, n)
    town = 8 * district + np.minimum(rng.geometric(0.35, n) - 1, 7)
    income = np.round(np.exp(rng.normal(10.2 + 0.1 * region, 0.6, n)), -2).astype(int)
    frame = pd.DataFrame(
        {"region": [f"R{x}" for x in region], "district": [f"D{x:02d}" for x in district],
         "town": [f"T{x:03d}" for x in town], "income": income,
         "tax": np.round(income * np.where(income > 40_000, 0.3, 0.2)).astype(int),
         "household": np.clip(rng.poisson(1.4, n) + 1, 1, 9), "owner": rng.choice(["yes", "no"], n)}
    )  # fmt: skip
    return Walked(name="places", frame=frame, never={"nobody": lambda f: f["household"] < 1})


def devices(rng: Generator, n: int = 5000) -> Walked:
    """Numbers of 16 digits, numbers near 1e-7, True and False, five levels, codes such as 0x1F."""
    volt = rng.normal(0, 1, n)
    frame = pd.DataFrame(
        {"device": 9_007_199_254_740_000 + rng.integers(0, 12, n),
         "ok": np.where(rng.random(n) < 0.97, "True", "False"), "leak": rng.lognormal(-14, 1, n),
         "volt": np.round(230 + 4 * volt, 1),
         "amp": np.round(3 + 0.6 * volt + rng.normal(0, 0.2, n), 2), "level": rng.choice([0, 25, 50, 75, 100], n),
         "code": rng.choice(["0x1F", "0x2A", "0xFF"], n)}
    )  # fmt: skip
    return Walked(
        name="devices", frame=frame, never={"another level": lambda f: ~f["level"].isin([0, 25, 50, 75, 100])}
    )


def digits(_: Generator) -> Walked:
    """13 pixels of 1,797 handwritten digits, one of them always white, and the digit."""
    from sklearn.datasets import load_digits

    found = load_digits(as_frame=True).frame
    kept = [found.columns[i] for i in (0, 2, 3, 10, 18, 19, 20, 27, 34, 36, 42, 43, 60, 64)]
    frame = found[kept].astype(int)
    return Walked(name="digits", frame=frame, never={"beyond 0 to 16": lambda f: ~f.isin(range(17)).all(axis=1)})


def clinic(rng: Generator, n: int = 300) -> Walked:
    """300 visits: times of day, doses by arm, a follow-up that most do not have."""
    arm = rng.choice(["A", "B"], n)
    first = np.datetime64("2024-02-05") + rng.integers(0, 200, n)
    back = pd.Series(first + rng.integers(7, 60, n)).mask(rng.random(n) < 0.6)
    frame = pd.DataFrame(
        {"arm": arm, "dose_mg": np.where(arm == "A", rng.choice([50, 100], n), rng.choice([5, 10], n)),
         "visit": first, "follow_up": back, "pain": rng.integers(0, 11, n),
         "time": [f"{h:02d}:{m:02d}" for h, m in zip(rng.integers(8, 18, n), rng.choice([0, 30], n), strict=True)]}
    )  # fmt: skip
    return Walked(
        name="clinic", frame=frame, dates=("visit", "follow_up"),
        never={"pain beyond 0 to 10": lambda f: ~f["pain"].between(0, 10),
               "no multiple of 5": lambda f: f["dose_mg"] % 5 > 0},
    )  # fmt: skip


MADE: tuple[Callable[[Generator], Walked], ...] = (
    library, meters, opinions, laboratory, matches, houses, account, school, places, devices, digits, clinic,
)  # fmt: skip


def tables(seed: int = 131) -> list[Walked]:
    """All twelve; the same seed gives the same files."""
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate(MADE)]


SETS = {
    "first": walk_tables.tables,
    "second": tables,
    "third": walk_tables_third.tables,
    "fourth": walk_tables_fourth.tables,
    "fifth": walk_tables_fifth.tables,
    "sixth": walk_tables_sixth.tables,
    "seventh": walk_tables_seventh.tables,
    "eighth": walk_tables_eighth.tables,
    "ninth": walk_tables_ninth.tables,
    "tenth": walk_tables_tenth.tables,
}
