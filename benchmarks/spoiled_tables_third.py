"""Three more shapes, spoiled and unspoiled: flats, courses of students, and sensors hour by hour."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.spoiled_tables import COPIES, Spoiled, pair

N = 2500
DISTRICTS = {
    "Frogner": "Oslo",
    "Sagene": "Oslo",
    "Sentrum": "Bergen",
    "Laksevag": "Bergen",
    "Kallio": "Helsinki",
    "Toolo": "Helsinki",
    "Vesterbro": "Copenhagen",
    "Norrebro": "Copenhagen",
}
POINTS = {"A": 4.0, "B": 3.0, "C": 2.0, "D": 1.0, "F": 0.0}


def flats(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Flats: a district lies in one city, the floor is none above the last, renovated after it was built or never."""
    district = rng.choice(list(DISTRICTS), n)
    area = np.round(np.exp(rng.normal(4.1, 0.4, n))).clip(15, 300).astype(int)
    last = rng.integers(1, 12, n)
    built = rng.integers(1900, 2021, n)
    renewed = np.where(rng.random(n) < 0.4, np.minimum(2023, built + rng.integers(5, 80, n)), np.nan)
    price = np.round(14 + 6 * np.isin(district, ["Frogner", "Vesterbro"]) + rng.normal(0, 2, n), 1)
    return pd.DataFrame(
        {
            "district": district,
            "city": [DISTRICTS[d] for d in district],
            "area": area,
            "floors": last,
            "floor": (rng.random(n) * (last + 1)).astype(int),
            "built": built,
            "renovated": pd.array(renewed, dtype="Int64"),
            "rent_per_m2": price,
            "rent": np.round(price * area).astype(int),
            "lift": np.where(last > 4, "yes", rng.choice(["yes", "no"], n, p=[0.2, 0.8])),
        }
    )


def courses(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Courses: points follow from a letter, who fails passes nothing, a few pay fees, exams come after enrolment."""
    hours = np.round(rng.gamma(4, 3, n), 1)
    ability = 0.12 * hours + rng.normal(0, 1, n)
    letter = np.array(list("FDCBA"))[np.digitize(ability, [0.2, 1.0, 1.7, 2.6])]
    enrolled = np.datetime64("2023-08-15") + rng.integers(0, 40, n)
    foreign = rng.random(n) < 0.15
    return pd.DataFrame(
        {
            "enrolled_on": enrolled,
            "exam_on": enrolled + 80 + rng.integers(0, 30, n),
            "hours": hours,
            "grade": letter,
            "points": [POINTS[g] for g in letter],
            "passed": letter != "F",
            "origin": np.where(foreign, rng.choice(["CN", "IN", "US"], n), "home"),
            "fee": np.where(foreign, np.round(rng.normal(9000, 1500, n), -1), 0).astype(int),
            "subject": rng.choice(["law", "art", "physics", "history"], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def sensors(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Five sensors hour by hour: warm afternoons, each hour like the one before, doors that are mostly shut."""
    hours = n // 5
    slow = np.zeros((5, hours))
    for i in range(1, hours):
        slow[:, i] = 0.9 * slow[:, i - 1] + rng.normal(0, 0.4, 5)
    day = np.sin((np.arange(hours) % 24 - 9) / 24 * 2 * np.pi)
    when = np.datetime64("2024-05-01T00:00:00") + np.arange(hours).astype("timedelta64[h]")
    heat = 19 + 4 * day + slow
    return pd.DataFrame(
        {
            "sensor": np.repeat([f"room-{i}" for i in range(5)], hours),
            "time": np.tile(when.astype("datetime64[s]"), 5),
            "celsius": np.round(heat, 1).reshape(-1),
            "humidity": np.round(60 - heat + rng.normal(0, 2, heat.shape)).reshape(-1),
            "opened": np.where(rng.random(hours * 5) < 0.75, 0, rng.poisson(4, hours * 5) + 1),
        }
    )


SHAPES: dict[str, Callable[..., pd.DataFrame]] = {
    "flats": flats,
    "courses": courses,
    "sensors": sensors,
}


def _mixed(rng: np.random.Generator, column: pd.Series) -> pd.Series:
    return pd.Series(rng.permutation(column.to_numpy()), index=column.index, dtype=column.dtype)


def spoiled() -> Iterator[Spoiled]:
    """All of them."""
    rng = np.random.default_rng(900)
    real, fresh = pair(flats, 900)
    some = rng.random(N) < 0.3

    def flat(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="flats", name=name, real=real, made=made, first=first, column=column)

    yield flat("districts in other cities", fresh.assign(city=fresh["city"].where(~some, "Oslo")), "city", "function")
    yield flat(
        "floors above the last", fresh.assign(floor=fresh["floor"] + np.where(some, 6, 0)), "floor", "order", "proposed"
    )
    yield flat(
        "renovated before it was built",
        fresh.assign(renovated=fresh["renovated"] - 60),
        "renovated",
        "order",
        "proposed",
    )
    yield flat("rents by themselves", fresh.assign(rent=_mixed(rng, fresh["rent"])), "rent", "product", "pair")
    yield flat("rents in thousands", fresh.assign(rent=fresh["rent"] / 1000), "rent", "product", "fractions", "outside")
    yield flat("a quarter of a copy", pd.concat([real[:625], fresh[625:]]).sample(frac=1, random_state=1), "", *COPIES)
    yield flat("areas by tens", fresh.assign(area=fresh["area"] // 10 * 10), "area", "coarser", "product")

    left, other = pair(courses, 910)

    def course(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="courses", name=name, real=left, made=made, first=first, column=column)

    yield course("points of other grades", other.assign(points=_mixed(rng, other["points"])), "points", "function")
    yield course(
        "exams before enrolment",
        other.assign(exam_on=other["enrolled_on"] - pd.Timedelta(days=9)),
        "exam_on",
        "order",
        "proposed",
    )
    yield course(
        "fees for everybody", other.assign(fee=other["fee"].where(other["fee"] > 0, 500)), "fee", "zeros", "filter_zero"
    )
    yield course(
        "work that does not help",
        other.assign(hours=(24 - other["hours"]).clip(0).round(1)),
        "hours",
        "turned",
        "ratio",
        "unrelated",
        "mean",
        "pair",
        "outside",
        "group",
    )
    yield course("physics is gone", other[other["subject"] != "physics"], "subject", "share")
    near = left.assign(
        hours=(left["hours"] + rng.normal(0, 0.15, N)).round(1).clip(0),
        enrolled_on=left["enrolled_on"] + pd.to_timedelta(rng.integers(0, 2, N), unit="D"),
    )
    yield course("a copy a little moved", near.sample(frac=1, random_state=2), "", *COPIES)

    hour, again = pair(sensors, 920)

    def sensor(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="sensors", name=name, real=hour, made=made, first=first, column=column)

    apart = again.copy()
    apart[["celsius", "humidity", "opened"]] = again[["celsius", "humidity", "opened"]].to_numpy()[rng.permutation(N)]
    yield sensor("hours as if they were persons", apart, "", "before", "cycle_hour", "unrelated")
    yield sensor(
        "warm nights", again.assign(celsius=(38 - again["celsius"]).round(1)), "celsius", "course_hour", "pair"
    )
    yield sensor("one sensor", again.assign(sensor="room-1"), "sensor", "fixed", "key")
    yield sensor(
        "moist when warm", again.assign(humidity=82 - again["humidity"]), "humidity", "pair", "course_hour", "turned"
    )


def good(count: int = 3) -> Iterator[tuple[str, int, pd.DataFrame, pd.DataFrame]]:
    """Shape, number, real table and fresh sample; of sensors the same hours, of which each table has half."""
    for k, (shape, make) in enumerate(SHAPES.items()):
        for i in range(count):
            if shape == "sensors":
                whole = make(np.random.default_rng(940 + i), 2 * N)
                chosen = np.random.default_rng(950 + i).permutation(2 * N) < N
                yield shape, i, whole[chosen].reset_index(drop=True), whole[~chosen].reset_index(drop=True)
                continue
            real, fresh = pair(make, 960 + 10 * k + i)
            yield shape, i, real, fresh
