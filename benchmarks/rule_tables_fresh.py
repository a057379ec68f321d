"""Tables with rules that no constant was tuned on: loans, households, a laboratory and a duty roster."""

from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.rule_tables import amount, listed, table_of
from dpsyn_core.schema.document import Schema

DAY_ZERO = np.datetime64("2018-01-01")


def _date(name: str, least: str, most: str, every: str = "month", **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "datetime", "min": least, "max": most, "bins": {"every": every}, **more}


def _count(name: str, most: int, least: int = 0, bins: int | None = None, **more: Any) -> dict[str, Any]:
    bins = most - least + 1 if bins is None else bins
    whole = {"name": name, "kind": "numeric", "dtype": "integer", "min": least, "max": most, "bins": {"count": bins}}
    return whole | more


def _text(days: Any) -> Any:
    return (DAY_ZERO + np.asarray(days)).astype(str)


def loans(n: int) -> tuple[pa.Table, Schema]:
    """Three dates in order, of which the last is blank for what was refused; a sum, and what students cannot have."""
    rng = np.random.default_rng(21)
    applied = rng.integers(0, 1400, n)
    decided = applied + rng.geometric(0.08, n)
    refused = rng.random(n) < 0.3
    paid = decided + 1 + rng.geometric(0.2, n)
    kind = rng.choice(["car", "home", "student"], n, p=[0.5, 0.2, 0.3])
    top = np.where(kind == "home", 190_000, np.where(kind == "car", 40_000, 15_000))
    principal = np.round(top * rng.beta(2, 4, n), -2).astype(int)
    fee = np.round(principal * rng.choice([0.01, 0.02], n), -1).astype(int)
    columns = {
        "applied": _text(applied), "decided": _text(decided), "paid": np.where(refused, "", _text(paid)),
        "outcome": np.where(refused, "refused", "granted"), "kind": kind,
        "principal": principal, "fee": fee, "owed": principal + fee,
    }  # fmt: skip
    document = {
        "version": 1, "name": "loans",
        "attributes": [
            _date("applied", "2018-01-01", "2022-12-31"), _date("decided", "2018-01-01", "2022-12-31"),
            _date("paid", "2018-01-01", "2022-12-31", missing=True), listed("outcome", ["granted", "refused"]),
            listed("kind", ["car", "home", "student"]), _count("principal", 200_000, 0, 50, step=10),
            _count("fee", 4_000, 0, 40, step=10), _count("owed", 204_000, 0, 51, step=10),
        ],
        "rules": [
            {"kind": "order", "lower": "applied", "upper": "decided"},
            {"kind": "order", "lower": "decided", "upper": "paid", "strict": True},
            {"kind": "blank", "column": "paid", "where": "outcome = refused", "only": True},
            {"kind": "sum", "column": "owed", "parts": ["principal", "fee"]},
            {"kind": "impossible", "where": "kind = student and principal >= 20000"},
        ],
    }  # fmt: skip
    return table_of(columns, n, rng), Schema.of(document)


def households(n: int) -> tuple[pa.Table, Schema]:
    """A count that is the sum of three, two orders with it, a map from districts, and ages by birthdays."""
    rng = np.random.default_rng(22)
    adults = 1 + rng.binomial(4, 0.25, n)
    children = rng.binomial(5, np.where(adults > 1, 0.3, 0.08))
    children = np.where(adults == 1, np.minimum(children, 3), children)
    elders = rng.binomial(2, 0.15, n)
    rooms = np.clip(adults + rng.poisson(1.5, n), 1, 12)
    bedrooms = np.clip(rooms - 1 - rng.binomial(2, 0.3, n), 0, None)
    districts = [f"d{i:02}" for i in range(18)]
    district = rng.choice(18, n, p=np.arange(18, 0, -1) / 171)
    region = np.array(["hill", "lake", "port"])[district % 3]
    born = rng.integers(-25_000, 0, n)
    birth = (DAY_ZERO + born).astype("datetime64[D]")
    months = birth.astype("datetime64[M]")
    day = (birth - months.astype("datetime64[D]")).astype(int)
    of = np.datetime64("2020-12-31", "M")
    age = ((of - months).astype(int) - (day > 30)) // 12
    columns = {
        "persons": adults + children + elders, "adults": adults, "children": children, "elders": elders,
        "rooms": rooms, "bedrooms": bedrooms, "district": np.array(districts)[district], "region": region,
        "born": birth.astype(str), "years": age,
    }  # fmt: skip
    document = {
        "version": 1, "name": "households",
        "attributes": [
            _count("persons", 12, 1), _count("adults", 5, 1), _count("children", 5), _count("elders", 2),
            _count("rooms", 12, 1), _count("bedrooms", 11), listed("district", districts),
            listed("region", ["hill", "lake", "port"]), _date("born", "1949-01-01", "2018-01-01", "year"),
            _count("years", 80, 0, 27),
        ],
        "rules": [
            {"kind": "sum", "column": "persons", "parts": ["adults", "children", "elders"]},
            {"kind": "order", "lower": "bedrooms", "upper": "rooms", "strict": True},
            {"kind": "follows", "column": "region", "of": ["district"]},
            {"kind": "follows", "column": "years", "of": ["born"], "part": "completed-years", "on": "2020-12-31"},
            {"kind": "impossible", "where": "adults = 1 and children in [4, 5]"},
        ],
    }  # fmt: skip
    return table_of(columns, n, rng), Schema.of(document)


def laboratory(n: int) -> tuple[pa.Table, Schema]:
    """Values between two bounds, a difference of them, and a ratio that shares a column with a sum."""
    rng = np.random.default_rng(23)
    low = np.round(rng.gamma(9, 5, n) + 20, 1)
    wide = np.round(rng.gamma(4, 12, n) + 1, 1)
    high = np.round(low + wide, 1)
    value = np.round(low + wide * rng.beta(2, 2, n), 1)
    good = np.round(np.clip(rng.normal(55, 14, n), 20, 110), 0)
    bad = np.round(np.clip(rng.normal(120, 32, n), 30, 250), 0)
    rest = np.round(np.clip(rng.gamma(3, 9, n), 2, 100), 0)
    whole = good + bad + rest
    ratio = np.round(whole / good, 1)
    smoker = rng.random(n) < 0.3
    packs = np.where(smoker, np.round(rng.gamma(2, 0.6, n), 1), -1)
    columns = {
        "low": low, "value": value, "high": high, "wide": wide, "good": good.astype(int), "bad": bad.astype(int),
        "rest": rest.astype(int), "whole": whole.astype(int), "ratio": ratio, "smoker": np.where(smoker, "yes", "no"),
        "packs": np.where(smoker, packs.astype(str), "-1"),
    }  # fmt: skip
    document = {
        "version": 1, "name": "laboratory",
        "attributes": [
            amount("low", 20, 200, 36, 0.1), amount("value", 20, 500, 48, 0.1), amount("high", 20, 500, 48, 0.1),
            amount("wide", 0, 400, 40, 0.1), _count("good", 110, 20, 30), _count("bad", 250, 30, 44),
            _count("rest", 100, 0, 25), _count("whole", 460, 50, 41), amount("ratio", 1, 20, 38, 0.1),
            listed("smoker", ["yes", "no"]), amount("packs", 0, 12, 24, 0.1) | {"special_values": [-1]},
        ],
        "rules": [
            {"kind": "order", "lower": "low", "upper": "value"},
            {"kind": "order", "lower": "value", "upper": "high"},
            {"kind": "difference", "column": "wide", "of": "high", "minus": "low"},
            {"kind": "sum", "column": "whole", "parts": ["good", "bad", "rest"]},
            {"kind": "ratio", "column": "ratio", "of": "whole", "by": ["good"]},
            {"kind": "blank", "column": "packs", "where": "smoker = no", "value": -1, "only": True},
        ],
    }  # fmt: skip
    return table_of(columns, n, rng), Schema.of(document)


def roster(n: int) -> tuple[pa.Table, Schema]:
    """Shifts with a start and an end in minutes, the weekday of a date, a grade by role, and no shift twice."""
    rng = np.random.default_rng(24)
    role = rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])
    date = rng.integers(0, 365, n)
    weekday = (date % 7 + 1).astype(int)  # 2018 began on a Monday
    role = np.where((role == 3) & (weekday > 5), 2, role)
    start = rng.choice([360, 840, 1080], n, p=[0.5, 0.3, 0.2]) + 15 * rng.integers(-2, 3, n)
    long = np.where(role < 2, 480, 360) + 15 * rng.integers(-4, 5, n)
    end = np.minimum(start + long, 1739)
    columns = {
        "employee": rng.integers(1, 5000, n), "date": _text(date), "weekday": weekday,
        "role": np.array(["nurse", "aide", "medic", "chief"])[role],
        "grade": np.array(["g2", "g1", "g3", "g3"])[role], "start": start, "end": end, "minutes": end - start,
    }  # fmt: skip
    document = {
        "version": 1, "name": "roster",
        "attributes": [
            _count("employee", 5000, 1, 50), _date("date", "2018-01-01", "2018-12-31", "month"),
            _count("weekday", 7, 1), listed("role", ["nurse", "aide", "medic", "chief"]),
            listed("grade", ["g1", "g2", "g3"]), _count("start", 1200, 300, 60), _count("end", 1740, 300, 48),
            _count("minutes", 700, 0, 35),
        ],
        "rules": [
            {"kind": "follows", "column": "weekday", "of": ["date"], "part": "weekday"},
            {"kind": "follows", "column": "grade", "of": ["role"]},
            {"kind": "difference", "column": "minutes", "of": "end", "minus": "start"},
            {"kind": "impossible", "where": "role = chief and weekday in [6, 7]"},
            {"kind": "unique", "together": ["employee", "date", "start"]},
        ],
    }  # fmt: skip
    return table_of(columns, n, rng), Schema.of(document)
