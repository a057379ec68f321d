"""Invented tables of several shapes, fresh samples of the same population, and what is done to spoil a fresh sample.

Each spoiled table names the kinds of finding of which one must come first, and a column that it must name.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from dpsyn_core.privacy import Ledger
from dpsyn_core.runs import synthesize
from dpsyn_core.schema import Schema, draft

N = 4000
PLACES = {
    "Oslo": "Norway", "Bergen": "Norway", "Tromso": "Norway", "Turku": "Finland", "Espoo": "Finland",
    "Vaasa": "Finland", "Lund": "Sweden", "Malmo": "Sweden", "Umea": "Sweden", "Kiruna": "Sweden",
    "Aarhus": "Denmark", "Odense": "Denmark",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoiled:
    """A synthetic table of which something is wrong. first: kinds of finding of which one must come first."""

    shape: str
    name: str
    real: pd.DataFrame
    made: pd.DataFrame
    first: tuple[str, ...]
    column: str = ""
    unit: tuple[str, int] | None = None


def stays(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Hotel stays: a city has one country, nights lie between two dates, a total is a product."""
    city = rng.choice(list(PLACES), n, p=np.array([9, 6, 2, 7, 5, 1, 4, 6, 2, 1, 5, 3]) / 51)
    arrival = np.datetime64("2023-01-01") + rng.integers(0, 700, n)
    nights = 1 + rng.poisson(2, n)
    rooms = rng.choice([1, 2, 3], n, p=[0.8, 0.15, 0.05])
    north = np.isin(city, ["Tromso", "Umea", "Kiruna"])
    rate = np.round(rng.normal(110, 25, n) + 30 * north - 8 * np.minimum(nights, 4), 0).clip(30).astype(int)
    kind = np.where(rng.random(n) < 0.3 + 0.3 * (nights < 2), "business", "leisure")
    return pd.DataFrame({
        "city": city, "country": [PLACES[c] for c in city], "arrival": arrival, "departure": arrival + nights,
        "nights": nights, "rooms": rooms, "rate": rate, "bill": rate * nights, "purpose": kind,
    })  # fmt: skip


def answers(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """A survey with filters: who does not work has no hours, who has no children no age of the youngest."""
    age = rng.integers(18, 91, n)
    work = np.where(rng.random(n) < np.where(age < 65, 0.75, 0.08), "yes", "no")
    hours = np.where(work == "yes", np.round(rng.normal(36, 8, n)).clip(4, 70), np.nan)
    children = np.where(age > 24, rng.poisson(1.1, n), 0).clip(0, 6)
    youngest = np.where(children > 0, np.round(rng.random(n) * (age - 18)).clip(0, 50), np.nan)
    mood = np.clip(np.round(3 + 0.6 * (work == "yes") - 0.02 * (age - 50) + rng.normal(0, 1, n)), 1, 5).astype(int)
    trust = np.clip(np.round(mood + rng.normal(0, 0.9, n)), 1, 5).astype(int)
    party = rng.choice(["left", "centre", "right", "green", "none"], n, p=[0.28, 0.3, 0.25, 0.11, 0.06])
    rare = np.where(rng.random(n) < 0.008, "abroad", np.where(rng.random(n) < 0.5, "town", "village"))
    return pd.DataFrame({
        "age": age, "works": work, "hours": pd.array(hours, dtype="Int64"), "children": children,
        "youngest": pd.array(youngest, dtype="Int64"), "mood": mood, "trust": trust, "party": party, "lives": rare,
    })  # fmt: skip


def wages(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """People with schooling and wages, which many do not have; lower bounds below upper ones."""
    age, sex = rng.integers(18, 80, n), rng.choice(["f", "m"], n)
    school = np.clip(np.round(rng.normal(12, 3, n)), 0, 20).astype(int)
    paid = rng.random(n) < np.where(age < 65, 0.7, 0.1)
    wage = np.exp(9.4 + 0.09 * (school - 12) + 0.012 * (age - 40) - 0.25 * (sex == "f") + rng.normal(0, 0.5, n))
    wage = np.where(paid, np.round(wage), 0).astype(int)
    rent = np.round(rng.lognormal(6.3, 0.35, n) + wage * 0.01).astype(int)
    low = np.round(rng.normal(115, 14, n)).astype(int)
    high = low + rng.integers(20, 60, n)
    tax = np.round(wage * 0.2).astype(int)
    return pd.DataFrame({
        "age": age, "sex": sex, "schooling": school, "wage": wage, "tax": tax, "net": wage - tax, "rent": rent,
        "diastolic": low - 35, "systolic": high, "smoker": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
    })  # fmt: skip


def meters(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """One meter, hour by hour: a daily cycle, warm and cold weeks, and each value like the one before."""
    hours = np.arange(n)
    when = np.datetime64("2024-01-01T00:00:00") + hours.astype("timedelta64[h]")
    slow = np.zeros(n)
    noise = rng.normal(0, 0.3, n)
    for i in range(1, n):
        slow[i] = 0.97 * slow[i - 1] + noise[i]
    day = np.sin((hours % 24 - 7) / 24 * 2 * np.pi)
    use = np.round(3 + 1.2 * day + 0.8 * slow + rng.normal(0, 0.2, n), 2)
    warm = np.round(8 + 4 * day - 2 * slow + rng.normal(0, 0.5, n), 1)
    return pd.DataFrame({"time": when.astype("datetime64[s]"), "use": use, "temperature": warm,
                         "tariff": np.where((hours % 24 >= 7) & (hours % 24 < 20), "day", "night")})  # fmt: skip


def cards(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Few short categories: most combinations occur again and again."""
    a = rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1])
    b = np.where(rng.random(n) < 0.7, np.where(np.isin(a, ["a", "b"]), "x", "y"), rng.choice(["x", "y", "z"], n))
    c = rng.choice(["1", "2", "3"], n, p=[0.5, 0.3, 0.2])
    e = np.where((b == "x") ^ (rng.random(n) < 0.15), "in", "out")
    return pd.DataFrame({"suit": a, "side": b, "level": [f"l{v}" for v in c], "state": e})


def visits(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Patients with several visits each, one a month: a panel."""
    people = n // 8
    who = np.repeat(np.arange(people), 8)
    month = np.tile(np.arange(8), people)
    level = np.repeat(rng.normal(130, 14, people), 8)
    drug = np.repeat(rng.choice(["none", "a", "b"], people, p=[0.4, 0.35, 0.25]), 8)
    pressure = np.round(level - 2 * month * (drug == "a") + rng.normal(0, 5, len(who))).astype(int)
    start = np.datetime64("2023-01-01")
    return pd.DataFrame({"person": [f"p{i}" for i in who], "visit": start + 30 * month, "drug": drug,
                         "pressure": pressure, "weight": np.round(np.repeat(rng.normal(78, 12, people), 8)
                                                                  + rng.normal(0, 1, len(who)), 1)})  # fmt: skip


SHAPES: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "stays": stays, "answers": answers, "wages": wages, "meters": meters, "cards": cards,
}  # fmt: skip
COPIES = ("copies", "same", "places", "near_copies")


def pair(make: Callable[[np.random.Generator], pd.DataFrame], seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A real table and a fresh sample of the same population."""
    return make(np.random.default_rng(seed)), make(np.random.default_rng(seed + 1000))


def arrow(frame: pd.DataFrame) -> pa.Table:
    """The table without an index, with what its file said of its decimals."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table.replace_schema_metadata(frame.attrs) if frame.attrs else table


def schema_of(real: pd.DataFrame, unit: tuple[str, int] | None = None) -> Schema:
    """A draft of the real table of which every entry is declared public."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = draft(arrow(real), name="table").document()
    document["attributes"] = [a | {"source": "public"} for a in document["attributes"]]
    if unit is not None:
        document["unit"] |= {"identifier": unit[0], "max_records": unit[1]}
        document["attributes"] = [a for a in document["attributes"] if a["name"] != unit[0]]
    return Schema.of(document)


def released(real: pd.DataFrame, epsilon: float, seed: int) -> pa.Table:
    """What the default system makes of the table."""
    with tempfile.TemporaryDirectory() as folder:
        book = Ledger(Path(folder) / "ledger.db")
        return synthesize(arrow(real), schema_of(real), epsilon=epsilon, delta=1e-9, rng=seed, ledger=book).arrow


def spoiled() -> Iterator[Spoiled]:
    """All of them."""
    yield from _copied()
    yield from _of_stays()
    yield from _of_answers()
    yield from _of_wages()
    yield from _of_time()
    yield from _of_people()
    yield from _of_others()


def _mixed(rng: np.random.Generator, column: pd.Series) -> pd.Series:
    return pd.Series(rng.permutation(column.to_numpy()), index=column.index, dtype=column.dtype)


def _copied() -> Iterator[Spoiled]:
    rng = np.random.default_rng(5)
    for k, (shape, make) in enumerate(SHAPES.items()):
        real, fresh = pair(make, 10 + k)
        yield Spoiled(shape=shape, name="copy", real=real, made=real.copy(), first=COPIES)
        if shape in ("cards", "meters"):
            continue
        half = pd.concat([real.iloc[: N // 2], fresh.iloc[N // 2 :]]).sample(frac=1, random_state=3)
        yield Spoiled(shape=shape, name="half a copy, in another order", real=real, made=half, first=COPIES)
        again = real.iloc[rng.integers(0, N, N)]
        yield Spoiled(shape=shape, name="real records drawn again", real=real, made=again, first=COPIES)
    real, fresh = pair(wages, 12)
    near = real.assign(wage=real["wage"] + rng.integers(-9, 10, N), rent=real["rent"] + rng.integers(-5, 6, N))
    yield Spoiled(shape="wages", name="copy with small noise", real=real, made=near, first=COPIES)
    tenth = pd.concat([real.iloc[: N // 10], fresh.iloc[N // 10 :]])
    yield Spoiled(shape="wages", name="a tenth of a copy", real=real, made=tenth, first=COPIES)


def _of_stays() -> Iterator[Spoiled]:
    real, fresh = pair(stays, 20)
    rng = np.random.default_rng(6)
    some = rng.random(N) < 0.44

    def one(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="stays", name=name, real=real, made=made, first=first, column=column)

    other = fresh["country"].where(~some, _mixed(rng, fresh["country"]))
    yield one("cities in wrong countries", fresh.assign(country=other), "country", "function")
    wrong = fresh["country"].where(~fresh["city"].isin(["Oslo", "Bergen", "Lund", "Turku"]), "Denmark")
    yield one("cities in one wrong country", fresh.assign(country=wrong), "country", "function")
    turned = fresh.copy()
    turned.loc[some, ["arrival", "departure"]] = fresh.loc[some, ["departure", "arrival"]].to_numpy()
    yield one("stays that end before they begin", turned, "arrival", "order", "between", "proposed")
    yield one("nights that are not those of the dates", fresh.assign(nights=_mixed(rng, fresh["nights"])), "nights",
              "between", "product", "proposed")  # fmt: skip
    yield one("bills that are no products", fresh.assign(bill=_mixed(rng, fresh["bill"])), "bill", "product")
    yield one("rates a third higher", fresh.assign(rate=(fresh["rate"] * 1.3).round().astype(int)), "rate",
              "product", "mean")  # fmt: skip
    yield one("a city that is gone", fresh[fresh["city"] != "Odense"], "city", "share")
    yield one("one country in all records", fresh.assign(country="Norway"), "country", "fixed", "function")
    yield one("dates half a year later", fresh.assign(arrival=fresh["arrival"] + pd.Timedelta(days=180),
                                                     departure=fresh["departure"] + pd.Timedelta(days=180)),
              "", "date", "outside")  # fmt: skip
    shuffled = pd.DataFrame({n: _mixed(rng, fresh[n]) for n in fresh})
    yield one("unrelated columns", shuffled, "", "relations", "function", "between", "product", "order", "proposed")
    yield one("all records the same", fresh.iloc[[7] * N], "", "all_same")


def _of_answers() -> Iterator[Spoiled]:
    real, fresh = pair(answers, 30)
    rng = np.random.default_rng(7)

    def one(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="answers", name=name, real=real, made=made, first=first, column=column)

    works = _mixed(rng, fresh["works"])
    yield one("a filter against its skips", fresh.assign(works=works), "works", "filter_blank")
    full = fresh["hours"].fillna(0)
    yield one("skips that are filled with 0", fresh.assign(hours=full), "hours", "blank", "filter_blank", "outside")
    yield one("a class of 0.8 % gone", fresh[fresh["lives"] != "abroad"], "lives", "share")
    yield one("ages with fractions", fresh.assign(age=fresh["age"] + 0.37), "age", "fractions")
    yield one("moods turned round", fresh.assign(mood=6 - fresh["mood"]), "mood", "pair", "unrelated", "turned")
    yield one("moods unrelated", fresh.assign(mood=_mixed(rng, fresh["mood"])), "mood",
              "pair", "unrelated", "relations", "v")  # fmt: skip
    yield one("parties that are new", fresh.assign(party=fresh["party"].replace("green", "pirate")), "party", "share")
    yield one("50 records", fresh.iloc[:50], "", "few_records")
    blank = fresh["party"].where(rng.random(N) > 0.3, None)
    yield one("blank cells", fresh.assign(party=blank), "party", "blank")
    yield one("ages up to 150", fresh.assign(age=fresh["age"].where(rng.random(N) > 0.1, 150)), "age",
              "outside", "mean")  # fmt: skip


def _of_wages() -> Iterator[Spoiled]:
    real, fresh = pair(wages, 40)
    rng = np.random.default_rng(8)

    def one(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="wages", name=name, real=real, made=made, first=first, column=column)

    def paid(wage: pd.Series) -> pd.DataFrame:
        tax = (wage * 0.2).round().astype(int)
        return fresh.assign(wage=wage, tax=tax, net=wage - tax)

    some = (fresh["wage"] == 0) & (rng.random(N) < 0.5)
    yield one("half of the zeros gone", paid(fresh["wage"].where(~some, 9000)), "", "zeros", "mean", "rest")
    top = fresh["wage"].clip(upper=int(fresh["wage"].quantile(0.97)))
    yield one("high wages cut", paid(top), "", "high", "rest", "mean")
    yield one("net that is no difference", fresh.assign(net=_mixed(rng, fresh["net"])), "net", "less", "sum")
    yield one("diastolic above systolic", fresh.assign(diastolic=fresh["systolic"], systolic=fresh["diastolic"]), "",
              "order", "proposed")  # fmt: skip
    schooling = 24 - fresh["schooling"]
    yield one("the effect of schooling turned", fresh.assign(schooling=schooling.clip(0, 20)), "schooling",
              "turned", "pair", "unrelated")  # fmt: skip
    sex = fresh["sex"].map({"f": "m", "m": "f"})
    yield one("the sexes exchanged", fresh.assign(sex=sex), "sex", "turned", "group", "v", "ratio")
    yield one("rents of one value", fresh.assign(rent=700), "rent", "fixed")
    yield one("smokers twice as many", fresh.assign(smoker=rng.choice(["no", "yes"], N, p=[0.6, 0.4])), "smoker",
              "share")  # fmt: skip


def _of_time() -> Iterator[Spoiled]:
    real = meters(np.random.default_rng(50))
    rng = np.random.default_rng(9)
    fresh = meters(np.random.default_rng(1050))

    def one(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="meters", name=name, real=real, made=made, first=first, column=column)

    rows = rng.permutation(N)
    apart = fresh.assign(use=fresh["use"].to_numpy()[rows], temperature=fresh["temperature"].to_numpy()[rows])
    yield one("hours as if they were persons", apart, "", "before", "cycle_hour", "unrelated", "relations", "pair")
    flat = fresh["use"] - fresh.groupby(fresh["time"].dt.hour)["use"].transform("mean") + fresh["use"].mean()
    yield one("a daily cycle that is flat", fresh.assign(use=flat.round(2)), "use", "cycle_hour", "pair", "group",
              "ratio")  # fmt: skip


def _of_people() -> Iterator[Spoiled]:
    real, fresh = pair(visits, 60)
    yield Spoiled(shape="visits", name="one row of eight of each person", real=real, made=fresh.iloc[:500],
                  first=("rows",), unit=("person", 1))  # fmt: skip


def _of_others() -> Iterator[Spoiled]:
    real, fresh = pair(answers, 70)

    def one(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="answers", name=name, real=real, made=made, first=first, column=column)

    yield one("a column that lacks", fresh.drop(columns="mood"), "mood", "lacking")
    yield one("an index column", fresh.reset_index(names="Unnamed: 0"), "Unnamed: 0", "further")
    real, fresh = pair(stays, 71)
    day = fresh["arrival"].dt.strftime("%d.%m.%Y")
    yield Spoiled(shape="stays", name="dates of another form", real=real, made=fresh.assign(arrival=day),
                  first=("reformed",), column="arrival")  # fmt: skip
    real, fresh = pair(wages, 72)
    text = fresh["wage"].map("about {}".format)
    yield Spoiled(shape="wages", name="a column of words for numbers", real=real, made=fresh.assign(wage=text),
                  first=("unreadable",), column="wage")  # fmt: skip
    renamed = fresh.rename(columns={"schooling": "Schooling."})
    yield Spoiled(shape="wages", name="another header", real=real, made=renamed, first=("renamed",), column="schooling")


def good(count: int = 4) -> Iterator[tuple[str, int, pd.DataFrame, pd.DataFrame]]:
    """Shape, number, real table and fresh sample; of records in another order for all but series."""
    for k, (shape, make) in enumerate(SHAPES.items()):
        for i in range(count):
            if shape == "meters":  # the same weather does not come again: other hours of the same series
                whole = meters(np.random.default_rng(100 + i), 2 * N)
                chosen = np.random.default_rng(300 + i).permutation(2 * N) < N
                yield shape, i, whole[chosen].reset_index(drop=True), whole[~chosen].reset_index(drop=True)
                continue
            real, fresh = pair(make, 200 + 10 * k + i)
            yield shape, i, real, fresh
