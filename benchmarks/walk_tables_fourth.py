"""Six more tables for walks, of kinds that the other sets do not have; made anew from a seed.

Parking fines, a survey in German, wells with values below a limit, marks of exams, flights, calls for help.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.walk_tables import Walked

FINES = np.array([10, 15, 25, 40, 55, 110])
MARKS = np.array([1.0, 1.3, 1.7, 2.0, 2.3, 2.7, 3.0, 3.3, 3.7, 4.0, 5.0])
AGREED = np.array(["stimme gar nicht zu", "stimme eher nicht zu", "teils/teils", "stimme eher zu", "stimme völlig zu"])
PORTS = {"LHR": "GB", "LGW": "GB", "CDG": "FR", "NCE": "FR", "FRA": "DE", "MUC": "DE", "ZRH": "CH", "OSL": "NO"}


def parking(rng: Generator, n: int = 5000) -> Walked:
    """Times to the minute, fines of six amounts, sixty streets, officers 001 to 040, a day of payment or none."""
    at = np.datetime64("2022-01-03T07:00") + rng.integers(0, 700, n) * np.timedelta64(1, "D")
    at = at + np.clip(rng.normal(280, 170, n), 0, 840).astype(int) * np.timedelta64(1, "m")
    street = np.minimum(rng.zipf(1.4, n), 60)
    fine = rng.choice(FINES, n, p=[0.3, 0.25, 0.2, 0.12, 0.1, 0.03])
    days = rng.gamma(2, 9, n).astype(int)
    paid = pd.Series((at + days * np.timedelta64(1, "D")).astype("datetime64[D]")).mask(rng.random(n) < fine / 200)
    frame = pd.DataFrame(
        {"issued": pd.Series(at).dt.strftime("%d/%m/%Y %H:%M"), "street": [f"Street {s:02d}, centre" for s in street],
         "fine": fine, "officer": [f"{o:03d}" for o in rng.integers(1, 41, n)], "paid_on": paid,
         "vehicle": rng.choice(["car", "van", "lorry", "motorcycle"], n, p=[0.78, 0.14, 0.02, 0.06])}
    )  # fmt: skip
    return Walked(
        name="parking", frame=frame, dates=("paid_on",), codes=("officer",),
        never={"another fine": lambda f: ~f["fine"].isin(FINES)},
    )  # fmt: skip


def citizens(rng: Generator, n: int = 2600) -> Walked:
    """Answers in German words and yes/no that hang on one attitude, umlauts, blank cells, rents with decimal commas."""
    mood = rng.normal(0, 1, n)
    items = ("Ich fühle mich hier wohl", "Nachts ist es hell genug", "Lärm stört mich häufig")
    frame = pd.DataFrame({"Geschlecht": rng.choice(["weiblich", "männlich", "divers"], n, p=[0.52, 0.46, 0.02])})
    for item, sign in zip(items, (1, 1, -1), strict=True):
        shown = AGREED[np.digitize(sign * mood + rng.normal(0, 1, n), [-1.6, -0.5, 0.5, 1.6])]
        frame[item] = pd.Series(shown).mask(rng.random(n) < 0.07)
    for k, item in enumerate(("besitzt ein Auto", "wohnt zur Miete", "hat ein Ehrenamt", "pendelt über 30 km")):
        yes = rng.random(n) < 1 / (1 + np.exp(-mood * (-1) ** k))
        frame[item] = pd.Series(np.where(yes, "ja", "nein")).mask(rng.random(n) < 0.05)
    frame["Zufriedenheit"] = np.clip(np.round(6 + 1.7 * mood + rng.normal(0, 1, n)), 0, 10).astype(int)
    frame["Miete je m²"] = pd.Series(np.round(8 + rng.gamma(3, 1.5, n) + mood.clip(0), 2)).mask(rng.random(n) < 0.2)
    return Walked(
        name="citizens", frame=frame, german=True,
        never={"Zufriedenheit": lambda f: ~f["Zufriedenheit"].between(0, 10)},
    )  # fmt: skip


def wells(rng: Generator, n: int = 3000) -> Walked:
    """Water of wells: values below a limit written `<0.05`, heights below zero, tiny numbers with powers of ten."""
    depth = -np.round(rng.gamma(2, 14, n), 1)
    nitrate = np.round(np.exp(rng.normal(1.5 + depth / 40, 1.2, n)), 2)
    text = np.where(nitrate < 0.5, "<0.5", nitrate.astype(str))
    frame = pd.DataFrame(
        {"county": rng.choice(["Kent", "Essex", "Devon", "Fife"], n, p=[0.4, 0.3, 0.2, 0.1]), "level_m": depth,
         "nitrate_mg_l": text, "arsenic_g_l": [f"{x:.2e}" for x in np.exp(rng.normal(-13, 0.8, n))],
         "ph": np.round(rng.normal(7.2, 0.4, n), 1), "temperature": np.round(11 + depth / 30 + rng.normal(0, 1, n), 1)}
    )  # fmt: skip
    return Walked(name="wells", frame=frame, never={"above the ground": lambda f: f["level_m"] > 0})


def exams(rng: Generator, n: int = 1900) -> Walked:
    """Marks of eleven values with decimal commas that follow from points, attempts, long names of programmes."""
    names = [
        "Betriebswirtschaftslehre (Bachelor)",
        "Wirtschaftsinformatik (Bachelor)",
        "Lehramt Gymnasium, Mathematik",
    ]
    attempt = rng.choice([1, 2, 3], n, p=[0.8, 0.16, 0.04])
    points = np.clip(np.round(rng.normal(36 - 4 * attempt, 11, n)), 0, 60).astype(int)
    mark = MARKS[np.clip((58 - points) // 3, 0, 10)]
    frame = pd.DataFrame(
        {"Studiengang": rng.choice(names, n, p=[0.5, 0.3, 0.2]), "Versuch": attempt, "Punkte": points,
         "Note": mark, "bestanden": np.where(mark <= 4, "ja", "nein")}
    )  # fmt: skip
    return Walked(
        name="exams", frame=frame, german=True,
        never={"Note": lambda f: ~f["Note"].round(1).isin(MARKS), "Punkte": lambda f: ~f["Punkte"].between(0, 60)},
    )  # fmt: skip


def flights(rng: Generator, n: int = 7000) -> Walked:
    """Times of day, delays on both sides of zero, blanks where a flight was cancelled, airports and their countries."""
    port = rng.choice(list(PORTS), n, p=[0.25, 0.1, 0.2, 0.05, 0.15, 0.12, 0.08, 0.05])
    start = np.clip(rng.normal(13 * 60, 240, n), 330, 1375).astype(int) // 5 * 5
    late = np.round(rng.normal(-4, 9, n) + (rng.random(n) < 0.2) * rng.exponential(start / 25, n)).astype(int)
    gone = rng.random(n) < 0.03
    frame = pd.DataFrame(
        {"departs": [f"{m // 60:02d}:{m % 60:02d}" for m in start], "airport": port,
         "country": [PORTS[p] for p in port], "delay_min": pd.Series(late).astype("Int64").mask(gone),
         "cancelled": gone, "aircraft": rng.choice(["A320", "A321", "B738", "E190"], n, p=[0.45, 0.2, 0.25, 0.1]),
         "seats_sold": pd.Series(rng.binomial(180, 0.83, n)).astype("Int64").mask(gone)}
    )  # fmt: skip
    return Walked(name="flights", frame=frame, never={"seats": lambda f: ~f["seats_sold"].dropna().between(0, 200)})


def calls(rng: Generator, n: int = 3300) -> Walked:
    """Calls for help: priorities, hours with a heavy tail, several tags in one cell, a score that most do not give."""
    level = rng.choice(4, n, p=[0.05, 0.2, 0.5, 0.25])
    hours = np.round(np.exp(rng.normal(np.array([0.5, 1.6, 2.8, 3.6])[level], 1)), 1)
    tags = np.array(["login", "login, VPN", "printer", "printer, driver, Windows", "mail", "hardware, laptop"])
    again = rng.poisson(0.15, n)
    score = pd.Series(np.clip(5 - np.log1p(hours) / 2 + rng.normal(0, 0.8, n), 1, 5).round().astype(int))
    frame = pd.DataFrame(
        {"opened": np.datetime64("2024-01-01") + rng.integers(0, 366, n), "priority": [f"P{k + 1}" for k in level],
         "tags": rng.choice(tags, n), "hours_open": hours, "reopened": again,
         "score": score.astype("Int64").mask(rng.random(n) < 0.7), "remote": rng.choice(["TRUE", "FALSE"], n)}
    )  # fmt: skip
    return Walked(
        name="calls", frame=frame, dates=("opened",), never={"score": lambda f: ~f["score"].dropna().between(1, 5)}
    )


def tables(seed: int = 331) -> list[Walked]:
    """All six; the same seed gives the same files."""
    makers = (parking, citizens, wells, exams, flights, calls)
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate(makers)]
