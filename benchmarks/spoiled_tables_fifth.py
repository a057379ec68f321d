"""Ten more shapes: payments, farms, crashes, stars, contracts, laboratory tests, homes, a survey, matches and shops.

Tables of 300 to 30,000 records and 5 to 40 columns, some as programs of others write them, also harmless ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.spoiled_tables import COPIES, Spoiled, pair, released
from dpsyn_core.tables import read_table

CATEGORIES = {
    "groceries": "daily", "bakery": "daily", "chemist": "daily", "rent": "home", "power": "home", "fuel": "car",
    "garage": "car", "cinema": "leisure", "travel": "leisure", "salary": "income",
}  # fmt: skip
TYPICAL = dict(zip(CATEGORIES, (34, 7, 18, 780, 95, 62, 240, 22, 330, 2600), strict=True))
DISTRICTS = {f"{region}-{k}": region for region in ("North", "Hills", "Delta", "Coast") for k in range(1, 6)}
BUSY = np.array([1, 0, 0, 0, 0, 1, 4, 8, 9, 8, 8, 9, 11, 9, 8, 8, 10, 12, 11, 8, 5, 4, 3, 2])  # payments by hour
LIMITS = {"town": (30, 50), "rural": (70, 100), "motorway": (100, 130)}
PLANS = {"Prepaid": 9, "Month to month": 25, "One year": 21, "Two years": 17}
TESTS = {"GLU": ("mg/dL", 95, 0.22, 140), "CRP": ("mg/L", 3, 0.9, 5), "HB": ("g/dL", 13.8, 0.1, 17),
         "TSH": ("mIU/L", 1.9, 0.5, 4), "CREA": ("mg/dL", 0.9, 0.25, 1.2)}  # fmt: skip
HOMES = [f"H{k:02d}" for k in range(30)]
CLUBS = ["Arda", "Brena", "Corvo", "Delmar", "Estre", "Fjord", "Galen", "Harte", "Iris", "Juno", "Kappa", "Lumen"]
EPSILONS = (3.0, 10.0)  # of releases of an easy table, which lose nothing
MOVED = ("mean", "top", "bottom", "ratio", "outside", "rest", "high", "stretch", "above", "below")
UNTIED = ("pair", "v", "ratio", "unrelated", "relations", "weaker", "turned", "combinations")
SHARES = ("share", "group", "day", "hour", "weekday", "date", "times_hour", "times_month")


def payments(rng: np.random.Generator, n: int = 12_000) -> pd.DataFrame:
    """Payments: a category is in one group, only those in other money cost a fee, few happen at night."""
    names = np.array(list(CATEGORIES))
    kind = rng.choice(names, n, p=np.array([30, 12, 8, 3, 4, 14, 2, 10, 5, 1]) / 89)
    day = np.datetime64("2024-01-01") + rng.choice(364, n, p=np.tile([6, 5, 5, 6, 9, 10, 3], 52) / (44 * 52))
    hour = rng.choice(24, n, p=BUSY / BUSY.sum())
    size = np.array([TYPICAL[k] for k in kind]) * np.exp(rng.normal(0, 0.5, n))
    whole = rng.random(n) < 0.15
    cents = rng.choice([0.99, 0.95, 0.49, 0.29], n, p=[0.5, 0.2, 0.2, 0.1])
    spent = np.where(whole, np.ceil(size), np.floor(size) + cents)
    money = np.where(rng.random(n) < np.where(kind == "travel", 0.5, 0.03), rng.choice(["USD", "CHF"], n), "EUR")
    fee = np.where(money == "EUR", 0, np.round(0.0175 * spent + 0.1, 2))
    return pd.DataFrame(
        {
            "booked": day.astype("datetime64[s]") + (hour * 3600 + rng.integers(0, 3600, n)).astype("timedelta64[s]"),
            "category": kind,
            "category_group": [CATEGORIES[k] for k in kind],
            "amount": np.round(np.where(kind == "salary", spent, -spent), 2),
            "currency": money,
            "fee": fee,
            "by": rng.choice(["card", "transfer", "cash"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def farms(rng: np.random.Generator, n: int = 1500) -> pd.DataFrame:
    """Farms: areas add up, a district is in one region, most keep no cattle, and only those that do sell milk."""
    district = rng.choice(list(DISTRICTS), n)
    region = np.array([DISTRICTS[d] for d in district])
    arable = np.round(np.exp(rng.normal(2.6 + 0.6 * (region == "Delta"), 0.8, n)), 1)
    meadow = np.round(np.exp(rng.normal(2.0 + 0.8 * (region == "Hills"), 0.8, n)), 1)
    forest = np.where(rng.random(n) < 0.4, np.round(np.exp(rng.normal(1.5, 0.7, n)), 1), 0)
    cattle = np.where(rng.random(n) < np.where(region == "Hills", 0.75, 0.3), 1 + rng.poisson(0.9 * meadow), 0)
    milk = np.where(cattle > 0, np.round(cattle * rng.normal(6200, 700, n), -1), np.nan)
    organic = rng.random(n) < 0.07
    subsidy = np.round((arable + meadow) * rng.normal(260, 20, n) * np.where(organic, 1.5, 1))
    return pd.DataFrame(
        {
            "region": region,
            "district": district,
            "arable_ha": arable,
            "meadow_ha": meadow,
            "forest_ha": forest,
            "total_ha": np.round(arable + meadow + forest, 1),
            "cattle": cattle,
            "milk_kg": milk,
            "organic": np.where(organic, "yes", "no"),
            "subsidy": subsidy.astype(int),
            "heir": rng.choice(["known", "unknown", "none"], n, p=[0.4, 0.45, 0.15]),
        }
    )


def crashes(rng: np.random.Generator, n: int = 5000) -> pd.DataFrame:
    """Crashes: speeds are said in tens, young and old drivers, Fridays, few deaths, drink at night."""
    day = np.datetime64("2022-01-03") + rng.choice(728, n, p=np.tile([13, 13, 14, 14, 21, 15, 10], 104) / (100 * 104))
    night = rng.random(n) < 0.25
    hour = np.where(night, rng.choice([20, 21, 22, 23, 0, 1, 2], n), rng.choice(np.arange(6, 20), n))
    road = rng.choice(list(LIMITS), n, p=[0.55, 0.3, 0.15])
    limit = np.array([LIMITS[r][int(k)] for r, k in zip(road, rng.random(n) < 0.7, strict=True)])
    speed = np.clip(limit + rng.normal(2, 12, n), 5, 190)
    speed = np.where(rng.random(n) < 0.8, np.round(speed, -1), np.round(speed)).astype(int)
    drunk = rng.random(n) < np.where(night, 0.22, 0.02)
    age = np.clip(np.round(np.where(rng.random(n) < 0.6, rng.normal(24, 4, n), rng.normal(74, 5, n))), 17, 95)
    risk = 0.006 + 0.03 * (road == "rural") + 0.03 * drunk
    draw = rng.random(n)
    return pd.DataFrame(
        {
            "happened": day.astype("datetime64[s]") + (hour * 60 + rng.integers(0, 60, n)).astype("timedelta64[m]"),
            "road": road,
            "limit": limit,
            "speed": speed,
            "alcohol": np.where(drunk, "yes", "no"),
            "driver_age": age.astype(int),
            "severity": np.where(draw < risk, "fatal", np.where(draw < 0.2 + risk, "serious", "light")),
            "vehicles": 1 + rng.binomial(3, 0.25, n),
        }
    )


def stars(rng: np.random.Generator, n: int = 30_000) -> pd.DataFrame:
    """Stars: colour and brightness go together within each class, over all classes hardly; some have no distance."""
    kind = rng.choice(["dwarf", "giant", "white dwarf"], n, p=[0.6, 0.3, 0.1])
    z = rng.normal(0, 1, n)
    at = {"dwarf": (0.7, 6.0), "giant": (1.2, 1.0), "white dwarf": (0.2, 12.0)}
    color = np.array([at[k][0] for k in kind]) + 0.25 * z
    bright = np.array([at[k][1] for k in kind]) + 1.2 * z + rng.normal(0, 0.5, n)
    far = np.exp(rng.normal(5, 0.8, n))
    return pd.DataFrame(
        {
            "kind": kind,
            "color": np.round(color, 3),
            "brightness": np.round(bright, 3),
            "parallax": np.where(rng.random(n) < 0.2, np.nan, np.round(1000 / far, 4)),
            "motion": np.round(np.exp(rng.normal(3, 1, n)), 2),
        }
    )


def contracts(rng: np.random.Generator, n: int = 300) -> pd.DataFrame:
    """Contracts of few customers: a price belongs to a plan, what was paid is months times price."""
    plan = rng.choice(list(PLANS), n, p=[0.15, 0.45, 0.25, 0.15])
    months = 1 + rng.integers(0, 60, n)
    price = np.array([PLANS[p] for p in plan])
    leaves = rng.random(n) < np.where(plan == "Month to month", 0.5, 0.12) * np.where(months < 12, 1.5, 0.8)
    phone = pd.array(np.where(rng.random(n) < 0.3, np.nan, rng.integers(1, 6, n)), dtype="Int64")
    return pd.DataFrame(
        {
            "customer": [f"C{k:05d}" for k in rng.choice(90_000, n, replace=False)],
            "since": np.datetime64("2019-01-01") + rng.integers(0, 1800, n),
            "plan": plan,
            "price": price,
            "months": months,
            "paid": months * price,
            "paperless": rng.random(n) < 0.6,
            "lines": phone,
            "senior": rng.random(n) < 0.16,
            "support_calls": rng.poisson(1.2, n),
            "gb": np.round(rng.gamma(2, 9, n), 1),
            "left": np.where(leaves, "yes", "no"),
        }
    )


def tests(rng: np.random.Generator, n: int = 6000) -> pd.DataFrame:
    """Laboratory tests: a test has one unit and one limit, a flag says what lies above; high ones often fail."""
    code = rng.choice(list(TESTS), n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    center = np.array([TESTS[c][1] for c in code])
    value = center * np.exp(rng.normal(0, [TESTS[c][2] for c in code]))
    upper = np.array([TESTS[c][3] for c in code])
    value = np.round(value, 2)
    ward = rng.choice(["A", "B", "C", "emergency"], n, p=[0.3, 0.3, 0.2, 0.2])
    spoilt = rng.random(n) < np.where(ward == "emergency", 0.35, 0.03)
    taken = np.datetime64("2023-05-01T06:00") + (rng.integers(0, 200, n) * 1440 + rng.integers(0, 900, n))
    return pd.DataFrame(
        {
            "test": code,
            "unit": [TESTS[c][0] for c in code],
            "upper": upper,
            "result": np.where(spoilt, np.nan, value),
            "flag": np.where(spoilt, "none", np.where(value > upper, "high", "normal")),
            "ward": ward,
            "taken": taken.astype("datetime64[s]"),
            "reported": (taken + 20 + rng.integers(0, 400, n)).astype("datetime64[s]"),
            "age": np.clip(np.round(rng.normal(58, 18, n)), 1, 99).astype(int),
        }
    )


def homes(rng: np.random.Generator, n: int = 100) -> pd.DataFrame:
    """Thirty homes on each of n days: what one uses follows the day before, the week and the weather of all."""
    day = np.datetime64("2024-01-01") + np.arange(n)
    outside = np.round(4 - 9 * np.cos(np.arange(n) / 58) + 3 * np.sin(np.arange(n) * 1.7), 1)
    parts = []
    for k, name in enumerate(HOMES):
        noise = np.zeros(n)
        for i in range(1, n):
            noise[i] = 0.85 * noise[i - 1] + rng.normal(0, 0.5)
        weekend = np.where((np.arange(n) % 7) >= 5, 3.0, 0.0)
        used = 6 + (k % 5) * 1.5 - 0.15 * outside + weekend + noise
        parts.append(
            pd.DataFrame(
                {
                    "home": name,
                    "day": day,
                    "rooms": 2 + k % 5,
                    "tariff": ("flat", "night", "solar")[k % 3],
                    "outside": outside,
                    "kwh": np.round(used.clip(0.5), 2),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def survey(rng: np.random.Generator, n: int = 700) -> pd.DataFrame:
    """Forty answers of few people: thirty items of three traits, filters with their skips, and what half do not say."""
    traits = rng.normal(0, 1, (3, n))
    age = rng.integers(18, 91, n)
    works = rng.random(n) < np.where(age < 65, 0.7, 0.06)
    children = rng.random(n) < 0.55
    silent = rng.random(n) < np.where(works, 0.15, 0.75)
    columns: dict[str, Any] = {
        "age": age,
        "works": np.where(works, "yes", "no"),
        "hours": pd.array(np.where(works, np.clip(np.round(rng.normal(36, 9, n)), 5, 70), np.nan), dtype="Int64"),
        "sector": pd.Series(rng.choice(["trade", "care", "state", "industry"], n)).where(works),
        "children": np.where(children, "yes", "no"),
        "oldest": pd.array(np.where(children, np.clip(age - rng.integers(18, 40, n), 0, 60), np.nan), dtype="Int64"),
        "income": pd.array(np.where(silent, np.nan, np.round(np.exp(rng.normal(7.6, 0.5, n)), -1)), dtype="Int64"),
        "town": rng.choice(["village", "town", "city"], n),
        "weight": np.round(np.exp(rng.normal(0, 0.3, n)), 3),
        "mode": rng.choice(["web", "phone"], n, p=[0.7, 0.3]),
    }
    for k in range(30):
        score = 0.85 * traits[k // 10] + 0.5 * rng.normal(0, 1, n) + 0.3 * (k % 3 - 1)
        columns[f"q{k + 1:02d}"] = np.digitize(score, [-1.2, -0.4, 0.4, 1.2]) + 1
    return pd.DataFrame(columns)


def matches(rng: np.random.Generator, n: int = 2000) -> pd.DataFrame:
    """Matches: nobody plays against himself, goals say who won, more people come to good clubs."""
    home = rng.integers(0, 12, n)
    away = (home + rng.integers(1, 12, n)) % 12
    goals = rng.poisson(1.6 - 0.05 * home, n), rng.poisson(1.2 - 0.05 * away, n)
    people = np.exp(9 - 0.12 * home - 0.05 * away + rng.normal(0, 0.2, n))
    return pd.DataFrame(
        {
            "home": np.array(CLUBS)[home],
            "away": np.array(CLUBS)[away],
            "goals_home": goals[0],
            "goals_away": goals[1],
            "won_by": np.where(goals[0] > goals[1], "home", np.where(goals[0] < goals[1], "away", "none")),
            "people": np.round(people, -1).astype(int),
            "evening": np.where(rng.random(n) < 0.4, "yes", "no"),
        }
    )


def shops(rng: np.random.Generator, n: int = 4000) -> pd.DataFrame:
    """Staff of shops: women earn less in the east alone, and who gets a bonus depends on two things together."""
    region = rng.choice(["east", "west", "south"], n)
    sex = rng.choice(["f", "m"], n)
    shift = rng.choice(["day", "night"], n)
    store = rng.choice(["small", "large"], n)
    pay = np.exp(7.7 - 0.35 * ((region == "east") & (sex == "f")) + rng.normal(0, 0.15, n))
    bonus = rng.random(n) < np.where((shift == "day") == (store == "small"), 0.8, 0.2)
    return pd.DataFrame(
        {
            "region": region,
            "sex": sex,
            "shift": shift,
            "store": store,
            "years": rng.poisson(5, n),
            "pay": np.round(pay).astype(int),
            "bonus": np.where(bonus, "yes", "no"),
        }
    )


def simple(rng: np.random.Generator, n: int = 20_000) -> pd.DataFrame:
    """A table that is easy to release: five columns of few values, each tied to the one before."""
    a = rng.choice(["red", "green", "blue"], n, p=[0.5, 0.3, 0.2])
    b = np.where(rng.random(n) < 0.6, np.where(a == "red", "round", "flat"), rng.choice(["round", "flat"], n))
    c = np.where(rng.random(n) < 0.5, np.where(b == "round", 1, 3), rng.choice([1, 2, 3], n))
    d = np.clip(np.round(rng.normal(3 + c, 1.2, n)), 0, 9).astype(int)
    return pd.DataFrame({"color": a, "form": b, "size": c, "grade": d, "sold": np.where(rng.random(n) < 0.3, "y", "n")})


def as_file(frame: pd.DataFrame, **said: Any) -> pd.DataFrame:
    """The table as it is read from the CSV that a program wrote with these options of pandas."""
    text = frame.to_csv(**({"index": False} | said))
    table = read_table(text.encode())
    read = table.to_pandas()
    read.attrs = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items() if k != b"pandas"}
    return read


SHAPES: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "payments": payments, "farms": farms, "crashes": crashes, "stars": stars, "contracts": contracts, "tests": tests,
    "homes": homes, "survey": survey, "matches": matches, "shops": shops,
}  # fmt: skip


def _of(shape: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.random.Generator, Callable[..., Spoiled]]:
    real, fresh = pair(SHAPES[shape], seed)

    def of(name: str, made: pd.DataFrame, column: str, *first: str, **more: Any) -> Spoiled:
        return Spoiled(shape=shape, name=name, real=real, made=made, first=first, column=column, **more)

    return real, fresh, np.random.default_rng(seed), of


def spoiled() -> Iterator[Spoiled]:
    """All of them."""
    yield from _payments()
    yield from _farms()
    yield from _crashes()
    yield from _stars()
    yield from _contracts()
    yield from _tests()
    yield from _homes()
    yield from _survey()
    yield from _matches()
    yield from _shops()


def _payments() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("payments", 1500)
    far = real["amount"].abs().nlargest(60).index
    learnt = pd.concat([fresh.drop(fresh["amount"].abs().nlargest(60).index), real.loc[far]])
    yield of("the 60 greatest payments learnt by heart", learnt.sample(frac=1, random_state=1), "", *COPIES)
    rare = real["category"] == "salary"
    learnt = pd.concat([fresh[fresh["category"] != "salary"], real[rare]]).sample(frac=1, random_state=2)
    yield of("a copy of the rare category alone", learnt, "", *COPIES)
    yield of("all amounts above zero", fresh.assign(amount=fresh["amount"].abs()), "amount", *MOVED)
    yield of("cents rounded away", fresh.assign(amount=fresh["amount"].round()), "amount", "coarser", "share", "group")
    fee = rng.permutation(fresh["fee"])
    yield of("fees in any money", fresh.assign(fee=fee), "fee", "filter_zero", "combinations")
    clock = pd.to_timedelta(rng.integers(0, 86_400, len(fresh)), unit="s")
    yield of("payments at any hour", fresh.assign(booked=fresh["booked"].dt.normalize() + clock), "booked", *SHARES)


def _farms() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("farms", 1510)
    n = len(fresh)
    wrong = (fresh["total_ha"] * np.where(rng.random(n) < 0.12, rng.uniform(0.5, 0.9, n), 1)).round(1)
    yield of("areas of every eighth that do not add up", fresh.assign(total_ha=wrong), "total_ha", "sum")
    herd = 1 + rng.poisson(12, n)
    everybody = fresh["cattle"].where(fresh["cattle"] > 0, herd)
    milk = fresh["milk_kg"].fillna(pd.Series((herd * rng.normal(6200, 700, n)).round(-1)))
    yield of("everybody keeps cattle", fresh.assign(cattle=everybody, milk_kg=milk), "", "zeros", "blank")
    cap = fresh["subsidy"].quantile(0.9)
    capped = fresh.assign(subsidy=fresh["subsidy"].clip(upper=int(cap)))
    yield of("great subsidies cut", capped, "subsidy", *MOVED)
    yield of("no organic farm", fresh.assign(organic="no"), "organic", "fixed", "share")
    thousand = fresh["subsidy"].where(rng.random(n) < 0.5, fresh["subsidy"] / 1000)
    yield of("half of the subsidies in thousands", fresh.assign(subsidy=thousand), "subsidy", "fractions", *MOVED)
    lost = fresh["district"].where(rng.random(n) > 0.25, rng.permutation(fresh["district"]))
    yield of("a quarter of the farms in another district", fresh.assign(district=lost), "district", "function")


def _crashes() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("crashes", 1520)
    n = len(fresh)
    alive = fresh["severity"].replace("fatal", "serious")
    yield of("nobody dies", fresh.assign(severity=alive), "severity", "share", "group")
    exact = (fresh["speed"] + rng.integers(-5, 6, n)).clip(5)
    yield of("speeds no longer in tens", fresh.assign(speed=exact), "speed", "share", "group", "new_numbers", "heaps")
    age = fresh["driver_age"]
    one = np.clip(np.round(rng.normal(age.mean(), age.std(), n)), 17, 95).astype(int)
    yield of("drivers of one peak", fresh.assign(driver_age=one), "driver_age", *MOVED, "share", "group", "peaks")
    moved = fresh["happened"] + pd.to_timedelta(rng.integers(0, 7, n), unit="D")
    yield of("no Friday", fresh.assign(happened=moved), "happened", *SHARES)
    doubled = pd.concat([fresh.iloc[: n // 5]] * 5).sample(frac=1, random_state=3)
    yield of("each record five times", doubled, "", "repeated", "coarser", "key")
    yield of("few records of one year", fresh[fresh["happened"] < "2023"], "happened", "date", "top", "share", "group")


def _stars() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("stars", 1530)
    loose = fresh.assign(color=fresh.groupby("kind")["color"].transform(lambda s: rng.permutation(s)))
    yield of("colour by the class alone", loose, "color", *UNTIED)
    few = fresh.iloc[rng.integers(0, 40, len(fresh))].reset_index(drop=True)
    yield of("forty stars again and again", few, "", "coarser", "repeated", "all_same")
    moved = real.sample(frac=1, random_state=5)
    for name in ("color", "brightness", "parallax", "motion"):
        moved[name] = (moved[name] * (1 + rng.normal(0, 0.003, len(real)))).round(4)
    yield of("each real star with a little noise", moved, "", *COPIES)


def _contracts() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("contracts", 1540)
    half = pd.concat([real.iloc[:150], fresh.iloc[150:]]).sample(frac=1, random_state=6)
    yield of("half a copy of few", half, "", *COPIES)
    worth = fresh["paid"].where(rng.random(300) < 0.6, (fresh["paid"] * rng.uniform(0.7, 1.2, 300)).round().astype(int))
    yield of("paid by themselves in part", fresh.assign(paid=worth), "paid", "product", "proposed")
    again = fresh.assign(customer=rng.choice(fresh["customer"].iloc[:100], 300))
    yield of("customers twice", again, "customer", "key")
    words = fresh.assign(plan=fresh["plan"].str.lower().str.replace(" ", "_"))
    yield of("plans of other names", words, "plan", "reworded", "unreadable", "blanked", "share", "blank")
    rare = fresh.assign(plan=fresh["plan"].replace({"Prepaid": "_RARE_", "Two years": "_RARE_"}))
    yield of("rare plans as _RARE_", rare, "plan", "blanked", "blank", "share")
    before, after = as_file(real), as_file(fresh, index=True, na_rep="NA")
    after.columns = ["X", *after.columns[1:]]
    yield Spoiled(shape="contracts", name="a table of R", real=before, made=after, first=("further",))
    after = as_file(fresh.drop(columns=["gb"]).assign(lines=fresh["lines"].astype(float)))
    yield Spoiled(shape="contracts", name="a lacking column", real=before, made=after, first=("lacking",), column="gb")


def _tests() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("tests", 1550)
    n = len(fresh)
    flags = fresh["flag"].where(rng.random(n) < 0.5, rng.permutation(fresh["flag"]))
    yield of("flags that results deny", fresh.assign(flag=flags), "flag", *UNTIED, "filter_blank", "function")
    late = rng.random(n) < 0.08
    soon = fresh["reported"].where(~late, fresh["taken"] - pd.Timedelta("40min"))
    yield of("reported before taken", fresh.assign(reported=soon), "reported", "order", "proposed")
    blank = rng.permutation(fresh["result"].isna())
    known = fresh["result"].fillna(fresh.groupby("test")["result"].transform("median")).where(~blank)
    flag = np.where(blank, "none", np.where(known > fresh["upper"], "high", "normal"))
    anywhere = fresh.assign(result=known, flag=flag)
    yield of("failures in any ward", anywhere, "ward", *UNTIED, "blank", "group")
    hour = fresh.assign(taken=fresh["taken"].dt.floor("h"), reported=fresh["reported"].dt.ceil("h"))
    yield of("times by the hour", hour, "", "coarser")
    mixed = fresh.assign(unit=fresh["unit"].where(rng.random(n) > 0.05, rng.permutation(fresh["unit"])))
    yield of("few units of other tests", mixed, "unit", "function", "combinations")


def _homes() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("homes", 1560)
    yield of("weather of each home", fresh.assign(outside=rng.permutation(fresh["outside"])), "outside", "function")
    loose = fresh.assign(kwh=fresh.groupby("home")["kwh"].transform(lambda s: rng.permutation(s)))
    yield of("days of a home in any order", loose, "kwh", "before", "cycle_weekday", "cycle_month", *UNTIED)
    tariff = fresh.assign(tariff=rng.permutation(fresh["tariff"]))
    yield of("tariffs that change from day to day", tariff, "tariff", "function")
    twice = fresh.iloc[rng.integers(0, len(fresh), len(fresh))].sort_values(["home", "day"])
    yield of("days that come twice and others not", twice, "", "key")
    late = fresh.assign(kwh=fresh.groupby("home")["kwh"].shift(3).bfill())
    yield of("weekends on Tuesday and Wednesday", late, "kwh", "moved_weekday", "course_weekday")


def _survey() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("survey", 1570)
    n = len(fresh)
    some = (fresh["works"] == "no") & (rng.random(n) < 0.3)
    filled = fresh.assign(hours=fresh["hours"].where(~some, 40))
    yield of("hours of some who do not work", filled, "hours", "filter_blank")
    whole = fresh["income"].fillna(int(fresh["income"].median()))
    yield of("income of everybody", fresh.assign(income=whole), "income", "blank")
    yield of("one item turned", fresh.assign(q05=6 - fresh["q05"]), "q05", *UNTIED, "share", "mean", "group")
    items = [f"q{k + 1:02d}" for k in range(30)]
    yield of("items by themselves", fresh.assign(**{q: rng.permutation(fresh[q]) for q in items}), "", *UNTIED)
    aged = fresh.assign(age=fresh["age"].clip(25, 60))
    yield of("nobody young or old", aged, "age", "top", "bottom", "above", "below", "share", "group")


def _matches() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("matches", 1580)
    n = len(fresh)
    won = fresh["won_by"].where(rng.random(n) < 0.7, rng.permutation(fresh["won_by"]))
    yield of("winners that lost", fresh.assign(won_by=won), "won_by", *UNTIED, "function", "order", "proposed")
    self = fresh["away"].where(rng.random(n) < 0.9, fresh["home"])
    yield of("clubs against themselves", fresh.assign(away=self), "", "combinations")
    first = fresh.assign(goals_home=fresh["goals_home"].clip(upper=1), won_by=fresh["won_by"])
    yield of("at most one goal", first, "goals_home", "share", *MOVED)


def _shops() -> Iterator[Spoiled]:
    _, fresh, _, of = _of("shops", 1590)
    even = shops(np.random.default_rng(2590))
    log = np.where(even["region"].eq("east") & even["sex"].eq("f"), 0.35, 0) - 0.117 * even["sex"].eq("f")
    everywhere = even.assign(pay=(even["pay"] * np.exp(log)).round().astype(int))
    interaction = ("interaction", "turned", "weaker", "gaps", "pay_gap", "group_variance", "group", "ratio", *MOVED)
    yield of("the gap of the east in all regions", everywhere, "pay", *interaction)
    turned = fresh.assign(bonus=np.where(fresh["bonus"] == "yes", "no", "yes"))
    yield of("the bonus of the others", turned, "bonus", "interaction", "interaction_turned", *UNTIED)
    spread = fresh.assign(pay=(fresh["pay"].mean() + (fresh["pay"] - fresh["pay"].mean()) * 0.6).round().astype(int))
    yield of("pay nearer to its mean", spread, "pay", *MOVED)


def good() -> Iterator[tuple[str, int, pd.DataFrame, pd.DataFrame]]:
    """Shape, number, real table and one of which nothing may be said: fresh samples, and what other programs write."""
    for k, (shape, make) in enumerate(SHAPES.items()):
        real, fresh = (x.drop(columns="customer", errors="ignore") for x in pair(make, 1600 + k))
        yield shape, 0, real, fresh
    real, fresh = (x.drop(columns="customer") for x in pair(contracts, 1620))
    other = fresh.assign(lines=fresh["lines"].astype(float), price=fresh["price"].astype(float))
    for name in ("paperless", "senior"):
        other[name] = other[name].map({True: "TRUE", False: "FALSE"})
    yield "contracts", 1, as_file(real), as_file(other[list(reversed(other.columns))], na_rep="NA")
    yield "contracts", 2, as_file(real), as_file(fresh.astype({"months": float}), date_format="%Y-%m-%d %H:%M:%S")
    real, fresh = pair(tests, 1622)
    yield "tests", 1, as_file(real), as_file(fresh.sample(frac=0.5, random_state=1), float_format="%.4f", na_rep="NaN")
    real, fresh = pair(crashes, 1623)
    yield "crashes", 1, real, fresh.sample(frac=0.5, random_state=2).astype({"limit": float, "vehicles": float})
    real, fresh = pair(farms, 1624)
    more = pd.concat([fresh, farms(np.random.default_rng(1625), 3000)])
    yield "farms", 1, as_file(real), as_file(more, sep=";", decimal=",")
    real, fresh = pair(simple, 1626)
    yield "simple", 0, real, fresh
    for k, epsilon in enumerate(EPSILONS):
        yield "simple", 1 + k, real, released(real, epsilon, k).to_pandas()
