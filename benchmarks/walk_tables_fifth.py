"""Three more tables for walks, with columns that change on their way through a program; made anew from a seed.

A counselling centre (headers in two languages, months in words, postcodes with zeros, clients with several rows),
donations (months as Mar-22, codes 001 to 104, versions 1.1 and 1.10, TRUE and FALSE), pupils (three languages, euros).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.walk_tables import Walked

PLACES = np.array(["01067", "01099", "01307", "04109", "04229", "06108", "08056", "09111", "99084", "07743"])
MONTHS = np.array(["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
                   "November", "Dezember"])  # fmt: skip
CODES = {"001": 0.0, "002": 0.3, "007": 0.8, "010": -0.4, "023": 1.4, "104": 2.2}
VERSIONS = ["1.1", "1.10", "1.2", "2.0"]


def _rows(rng: Generator, n: int, share: float) -> np.ndarray:
    """People 0, 1, 2 ..., of whom some have two rows or three, in any order."""
    people = int(n * share)
    return np.asarray(rng.permutation(np.concatenate([np.arange(people), rng.choice(people, n - people)])))


def advice(rng: Generator, n: int = 3600) -> Walked:
    """Debts that two thirds do not have, ratings of 1 to 10, free text, decimal commas; some clients come again."""
    who = _rows(rng, n, 0.88)
    home, born = rng.choice(PLACES, n)[who], np.clip(rng.normal(1978, 17, n).astype(int), 1931, 2006)[who]
    debt = np.where(rng.random(n) < 0.35, np.round(np.exp(rng.normal(8.2, 1.3, n)), 2), np.nan)
    topic = np.where(
        np.isnan(debt), rng.choice(["Wohnen", "Familie", "Arbeit", "Sonstiges"], n, p=[0.3, 0.35, 0.25, 0.1]),
        rng.choice(["Schulden", "Wohnen", "Familie"], n, p=[0.75, 0.15, 0.1]),
    )  # fmt: skip
    minutes = np.clip(np.round(rng.gamma(3, 12, n) + 20 * (topic == "Schulden")), 5, 180).astype(int)
    rating = np.clip(np.round(8 - 0.02 * minutes + rng.normal(0, 1.6, n)), 1, 10)
    frame = pd.DataFrame({
        "Client ID": [f"K-{i:05d}" for i in who], "Monat": rng.choice(MONTHS, n), "PLZ": home, "Geburtsjahr": born,
        "Thema": topic, "Debt amount": debt, "Dauer (min)": minutes,
        "Satisfaction 1-10": pd.Series(rating).mask(rng.random(n) < 0.4).astype("Int64"),
        "Notiz": [f"{t}, {k} Termine vereinbart" for t, k in zip(topic, rng.integers(1, 300, n), strict=True)],
    })  # fmt: skip
    return Walked(
        name="advice", frame=frame, german=True, codes=("PLZ",), person="Client ID",
        never={"rating": lambda f: ~f["Satisfaction 1-10"].fillna(1).between(1, 10),
               "postcode": lambda f: ~f["PLZ"].isin([*PLACES, "(other)"])},
    )  # fmt: skip


def donations(rng: Generator, n: int = 5200) -> Walked:
    """Gifts with a heavy tail that four in five did not make, codes with zeros, a date before the month or none."""
    code = rng.choice(list(CODES), n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    level = np.array([CODES[c] for c in code])
    gave = rng.random(n) < 1 / (1 + np.exp(1.7 - 0.5 * level))
    month = pd.Series(pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"))
    before = np.where(rng.random(n) < 0.6, 0, rng.geometric(0.3, n))
    last = month - pd.to_timedelta(rng.integers(20, 900, n), "D")
    score = np.clip(np.round(6.5 + level + rng.normal(0, 2, n)), 0, 10)
    frame = pd.DataFrame({
        "month": month.dt.strftime("%b-%y"), "campaign_code": code,
        "channel": rng.choice(["e-mail", "post", "phone", "street"], n, p=[0.5, 0.25, 0.05, 0.2]),
        "amount": np.where(gave, np.round(np.exp(rng.normal(3 + level, 0.9, n)), 2), np.nan),
        "gift_aid": np.where(gave, np.where(rng.random(n) < 0.6, "TRUE", "FALSE"), ""),
        "recommend_0_10": pd.Series(score).mask(rng.random(n) < 0.25).astype("Int64"),
        "version": rng.choice(VERSIONS, n, p=[0.4, 0.3, 0.2, 0.1]),
        "age": np.clip(rng.normal(52, 16, n), 18, 97).astype(int), "gifts_before": before,
        "last_gift": last.dt.strftime("%d/%m/%Y").where(before > 0),
    })  # fmt: skip
    return Walked(
        name="donations", frame=frame, codes=("campaign_code", "version", "gift_aid"),
        never={"score": lambda f: ~f["recommend_0_10"].fillna(0).between(0, 10),
               "version": lambda f: ~f["version"].isin([*VERSIONS, "(other)"]),
               "TRUE or FALSE": lambda f: ~f["gift_aid"].fillna("TRUE").isin(["TRUE", "FALSE"])},
    )  # fmt: skip


def pupils(rng: Generator, n: int = 2400) -> Walked:
    """Marks by halves, days of absence with a tail, fees in euros that nearly half do not pay, three languages."""
    who = _rows(rng, n, 0.8)
    school = rng.choice(["Grundschule Süd", "École Victor Hugo", "St. Mary's", "Gesamtschule Ost"], n)[who]
    absent = np.where(rng.random(n) < 0.55, 0, rng.negative_binomial(1, 0.12, n))
    fee = np.round(np.exp(rng.normal(4.2, 1, n)), 2)
    swap = str.maketrans(",.", ".,")
    frame = pd.DataFrame({
        "Schüler-Nr.": who + 100_000, "école": school,
        "Quartal": rng.choice(["2023-Q1", "2023-Q2", "2023-Q3", "2023-Q4", "2024-Q1"], n), "absence days": absent,
        "Note": np.clip(np.round((2.6 + 0.04 * absent + rng.normal(0, 0.8, n)) * 2) / 2, 1, 6),
        "Distance (km)": np.round(rng.gamma(1.5, 2.2, n), 1),
        "repas à la cantine": rng.choice(["oui", "non"], n, p=[0.62, 0.38]), "Klassenstufe": rng.integers(1, 5, n),
        "Förderbedarf": pd.Series(rng.choice(["Sprache", "Lernen", "Emotional"], n)).mask(rng.random(n) < 0.88),
        "Elternbeitrag": pd.Series([f"{x:,.2f} €".translate(swap) for x in fee]).mask(rng.random(n) < 0.45),
    })  # fmt: skip
    return Walked(
        name="pupils", frame=frame, german=True, person="Schüler-Nr.", amounts=("Elternbeitrag",),
        never={"mark": lambda f: ~f["Note"].isin(np.arange(2, 13) / 2)},
    )  # fmt: skip


def tables(seed: int = 171) -> list[Walked]:
    """All three; the same seed gives the same files."""
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate((advice, donations, pupils))]
