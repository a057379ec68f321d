"""Six more tables for walks, as offices and machines write them; made anew from a seed.

A German school register (decimal commas, 31.12.2015), a web log (times of day, sizes of 0), a survey (answers in words,
"don't know", 99 for no answer), an inventory (codes like 00123, stocks below 0), readings of sensors (negative, ties,
-999 for nothing), a payroll (thousands with commas, one mistyped wage that makes its range a hundred times too long).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.walk_tables import Walked

AGREE = np.array(["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"])
PATHS = {"/": 0.3, "/search": 0.22, "/cart": 0.12, "/api/items": 0.2, "/login": 0.1, "/static/app.js": 0.06}
WINDS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]


def _german(days: np.ndarray) -> pd.Series:
    return pd.Series(days).dt.strftime("%d.%m.%Y")


def register(rng: Generator, n: int = 2800) -> Walked:
    """Pupils: average marks with one decimal, days of joining and leaving, a way in kilometres, yes and no."""
    year = rng.integers(5, 13, n)
    joined = np.datetime64("2014-08-01") + 365 * (12 - year) + rng.integers(0, 40, n)
    left = joined + rng.integers(200, 1500, n)
    poor = rng.random(n) < 0.22
    mark = np.clip(np.round(2.4 + 0.5 * poor + rng.normal(0, 0.7, n), 1), 1, 6)
    away = np.where(rng.random(n) < 0.3, 0, np.round(rng.gamma(1.2, 5 + 4 * poor, n))).astype(int)
    frame = pd.DataFrame({
        "Klasse": [f"{y}{k}" for y, k in zip(year, rng.choice(list("abc"), n), strict=True)],
        "Geschlecht": rng.choice(["w", "m", "d"], n, p=[0.49, 0.5, 0.01]),
        "Eintritt": _german(joined), "Austritt": _german(left).where(rng.random(n) < 0.35),
        "Notenschnitt": mark, "Fehltage": away, "Schulweg (km)": np.round(rng.gamma(1.6, 2.1, n), 1),
        "Lernmittelbefreiung": np.where(poor, "ja", "nein"),
        "Religion": rng.choice(["ev.", "rk.", "isl.", "ohne", "Ethik"], n, p=[0.3, 0.24, 0.12, 0.24, 0.1]),
        "Größe in m": np.round(1.38 + 0.05 * (year - 5) + rng.normal(0, 0.07, n), 2),
    })  # fmt: skip
    return Walked(
        name="register", frame=frame, german=True, days=("Eintritt", "Austritt"),
        never={"mark": lambda f: ~f["Notenschnitt"].between(1, 6), "days away": lambda f: f["Fehltage"] < 0},
    )  # fmt: skip


def weblog(rng: Generator, n: int = 9000) -> Walked:
    """Requests: second of a month with a busy afternoon, status, bytes that are often 0, milliseconds with a tail."""
    day = rng.integers(0, 31, n)
    second = np.clip(rng.normal(15 * 3600, 4 * 3600, n), 0, 86399).astype(int)
    path = rng.choice(list(PATHS), n, p=list(PATHS.values()))
    wrong = rng.random(n) < np.where(path == "/login", 0.3, 0.04)
    status = np.where(wrong, rng.choice([403, 404, 500], n, p=[0.3, 0.5, 0.2]),
                      rng.choice([200, 304, 302], n, p=[0.78, 0.16, 0.06]))  # fmt: skip
    size = np.where(np.isin(status, (304, 302)), 0, np.round(np.exp(rng.normal(9, 1.4, n)))).astype(int)
    frame = pd.DataFrame({
        "time": np.datetime64("2024-03-01") + day * np.timedelta64(86400, "s") + second,
        "method": np.where(path == "/cart", "POST", "GET"), "path": path, "status": status, "bytes": size,
        "duration_ms": np.round(np.exp(rng.normal(3.2, 1.1, n)) + 0.002 * np.sqrt(size), 1),
        "bot": rng.random(n) < 0.18, "country": pd.Series(rng.choice(["DE", "US", "FR", "NA", "IN"], n)),
        "referrer": pd.Series(rng.choice(["google", "direct", "mail"], n)).mask(rng.random(n) < 0.4),
    })  # fmt: skip
    return Walked(
        name="weblog", frame=frame, dates=("time",), blanks=False,
        never={"status": lambda f: ~f["status"].isin([200, 302, 304, 403, 404, 500]), "size": lambda f: f["bytes"] < 0},
    )  # fmt: skip


def survey(rng: Generator, n: int = 3200) -> Walked:
    """Five answers in words with "Don't know", a scale of 0 to 10 with 99 for no answer, weights, bands of age."""
    trust = rng.normal(0, 1, n)
    items = {}
    for i, k in enumerate((0.9, 0.7, -0.6, 0.4, 0.0), 1):
        answer = AGREE[np.clip(np.round(2 + k * trust + rng.normal(0, 0.8, n)), 0, 4).astype(int)]
        items[f"Q{i}"] = np.where(rng.random(n) < 0.03 * i, "Don't know", answer)
    scale = np.clip(np.round(5.6 + 1.6 * trust + rng.normal(0, 1.4, n)), 0, 10).astype(int)
    frame = pd.DataFrame({
        "age_band": rng.choice(["18-29", "30-44", "45-59", "60+"], n, p=[0.2, 0.27, 0.28, 0.25]), **items,
        "trust_0_10": np.where(rng.random(n) < 0.06, 99, scale),
        "weight": np.round(np.exp(rng.normal(0, 0.35, n)), 4), "region_code": rng.choice(["01", "02", "09", "11"], n),
        "interviewed": np.datetime64("2023-02-01") + rng.integers(0, 45, n),
        "children": rng.choice(["none", "1", "2", "3 or more", "refused"], n, p=[0.5, 0.2, 0.2, 0.06, 0.04]),
    })  # fmt: skip
    return Walked(
        name="survey", frame=frame, dates=("interviewed",), codes=("region_code",),
        never={"scale": lambda f: ~(f["trust_0_10"].between(0, 10) | (f["trust_0_10"] == 99))},
    )  # fmt: skip


def inventory(rng: Generator, n: int = 4200) -> Walked:
    """Stocks in warehouses: numbers of articles with zeros in front, backorders below 0, prices by group, weights."""
    article = rng.choice(150, n, p=(w := 1 / np.arange(1, 151)) / w.sum())
    group = np.array(["tools", "paint", "garden", "wood"])[article % 4]
    price = np.round(np.exp(np.array([3.2, 2.5, 3.0, 1.8])[article % 4] + 0.01 * article), 2)
    stock = np.round(rng.gamma(1.4, 20, n) - 8).astype(int)
    counted = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    frame = pd.DataFrame({
        "article": [f"{a * 37 + 123:05d}" for a in article], "warehouse": rng.choice(["01", "02", "07"], n),
        "shelf": [f"{a}-{b:02d}" for a, b in zip(rng.choice(list("ABC"), n), rng.integers(1, 13, n), strict=True)],
        "group": group, "stock": stock, "unit_price": price, "stock_value": np.round(stock * price, 2),
        "reorder_at": rng.choice([0, 5, 10, 25, 50], n), "last_counted": counted,
        "next_delivery": pd.Series(counted + rng.integers(1, 30, n)).where(stock < 10),
        "discontinued": (rng.random(n) < 0.08).astype(int),
    })  # fmt: skip
    return Walked(
        name="inventory", frame=frame, dates=("last_counted", "next_delivery"), codes=("article", "warehouse"),
        never={"article": lambda f: ~f["article"].isin([*frame["article"], "(other)"]),
               "yes or no": lambda f: ~f["discontinued"].isin([0, 1])},
    )  # fmt: skip


def sensors(rng: Generator, n: int = 7500) -> Walked:
    """Readings every ten minutes: temperatures below 0 in halves, rain that is mostly 0.0, -999 for nothing."""
    when = np.datetime64("2024-01-01T00:00") + 10 * np.sort(rng.integers(0, 13_000, n))
    days = (when - when[0]) / np.timedelta64(1, "D")
    warm = 2 - 9 * np.cos(days / 91 * np.pi) + rng.normal(0, 3, n)
    rain = np.where(rng.random(n) < 0.82, 0.0, np.round(rng.gamma(0.8, 2, n), 1))
    frame = pd.DataFrame({
        "read_at": when, "site": rng.choice(["ridge", "valley", "lake"], n, p=[0.5, 0.3, 0.2]),
        "temperature": np.round(warm * 2) / 2, "dew_point": np.round(warm - rng.gamma(2, 1.5, n), 1),
        "rain_mm": rain, "wind": rng.choice(WINDS, n), "battery_V": np.round(rng.normal(3.9, 0.12, n), 2),
        "level_cm": np.where(rng.random(n) < 0.04, -999, np.round(rng.normal(-12, 25, n))).astype(int),
        "flag": pd.Series(rng.choice(["S", "E"], n)).mask(rng.random(n) < 0.93),
    })  # fmt: skip
    return Walked(
        name="sensors", frame=frame, dates=("read_at",),
        never={"halves": lambda f: (f["temperature"] * 2 % 1).fillna(0) != 0, "rain": lambda f: f["rain_mm"] < 0},
    )  # fmt: skip


def payroll(rng: Generator, n: int = 5000) -> Walked:
    """Wages by grade and sex, hours, a bonus that few have, deductions below 0; one wage has two zeros too many."""
    grade = rng.choice(["E5", "E8", "E9a", "E11", "E13"], n, p=[0.25, 0.3, 0.2, 0.15, 0.1])
    step = pd.Series(grade).map({"E5": 0, "E8": 1, "E9a": 1.6, "E11": 2.4, "E13": 3}).to_numpy()
    sex = np.where(rng.random(n) < 0.62 - 0.08 * step, "f", "m")
    hours = np.where(rng.random(n) < np.where(sex == "f", 0.45, 0.12), rng.choice([19.5, 25, 30], n), 39)
    gross = np.round((2750 + 640 * step + 120 * (sex == "m") + rng.normal(0, 180, n)) * hours / 39, 2)
    gross[rng.integers(n)] *= 100
    bonus = np.where(rng.random(n) < 0.12, np.round(rng.gamma(2, 350, n), -1), 0).astype(int)
    frame = pd.DataFrame({
        "staff_no": 40_000 + rng.permutation(n), "grade": grade, "sex": sex, "weekly_hours": hours,
        "gross": [f"{x:,.2f}" for x in gross], "bonus": bonus, "deductions": -np.round(gross.clip(0, 9e3) * 0.2, 2),
        "entry_date": pd.Series(np.datetime64("1990-01-01") + rng.integers(0, 12_000, n)).dt.strftime("%m/%d/%Y"),
        "month": rng.choice(["2024-01", "2024-02", "2024-03"], n),
        "sick_days": np.where(rng.random(n) < 0.6, 0, rng.geometric(0.25, n)),
    })  # fmt: skip
    return Walked(
        name="payroll", frame=frame,
        never={"hours": lambda f: ~f["weekly_hours"].between(19.5, 39), "bonus": lambda f: f["bonus"] < 0,
               "deductions": lambda f: f["deductions"] > 0},
    )  # fmt: skip


def tables(seed: int = 191) -> list[Walked]:
    """All six; the same seed gives the same files."""
    made = (register, weblog, survey, inventory, sensors, payroll)
    return [make(np.random.default_rng([seed, i])) for i, make in enumerate(made)]
