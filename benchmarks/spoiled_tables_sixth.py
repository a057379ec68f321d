"""Eight more shapes: parcels, visits of patients, river gauges, a survey of scales, a ledger, elections, claims, trees.

Tables of 420 to 40,000 records and 4 to 25 columns; the finding of each was written down before the report saw it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.spoiled_tables import COPIES, Spoiled, pair, released
from benchmarks.spoiled_tables_fifth import as_file

TOWNS = {
    "Dresden": ("01", "Sachsen"), "Leipzig": ("04", "Sachsen"), "Chemnitz": ("09", "Sachsen"),
    "Halle": ("06", "Sachsen-Anhalt"), "Erfurt": ("99", "Thüringen"), "Jena": ("07", "Thüringen"),
    "Berlin": ("10", "Berlin"), "Potsdam": ("14", "Brandenburg"), "Cottbus": ("03", "Brandenburg"),
    "Rostock": ("18", "Mecklenburg"), "Schwerin": ("19", "Mecklenburg"), "Kassel": ("34", "Hessen"),
}  # fmt: skip
DEPOTS = ["D1", "D2", "D3", "D4", "D5", "D6"]
CODES = ["E11.9", "E11.4", "E10.9", "I10.0", "I25.1", "N18.3", "J44.9", "E78.0"]
STATIONS = {f"S{k:02d}": base for k, base in enumerate((80, 95, 110, 120, 130, 140, 155, 165, 180, 200, 220, 240))}
DAYS = 700
ACCOUNTS = {
    f"{1 + k // 6}{k % 6}00": (name, ("assets", "debts", "income", "costs")[k // 6])
    for k, name in enumerate(
        ("Bank", "Cash", "Stock", "Plant", "Deposits", "Receivables", "Loans", "Payables", "Taxes due", "Pensions",
         "Accruals", "Prepaid", "Sales", "Services", "Interest", "Rents", "Licences", "Grants", "Wages", "Travel",
         "Repairs", "Energy", "Office", "Insurance")
    )
}  # fmt: skip
DESKS = [f"T{k:02d}" for k in range(60)]
CANTONS = ["Aar", "Birs", "Ems", "Glatt", "Inn", "Kander", "Linth", "Orbe"]
SPECIES = {
    "Spitzahorn": "Ahorn", "Bergahorn": "Ahorn", "Hängebirke": "Birke", "Moorbirke": "Birke", "Stieleiche": "Eiche",
    "Traubeneiche": "Eiche", "Winterlinde": "Linde", "Sommerlinde": "Linde", "Roßkastanie": "Kastanie",
    "Säulenpappel": "Pappel", "Hainbuche": "Hainbuche", "Gewöhnliche Esche": "Esche",
}  # fmt: skip
EPSILONS = (3.0, 5.0, 10.0)  # of releases of an easy table, which lose nothing


def parcels(rng: np.random.Generator, n: int = 12_000) -> pd.DataFrame:
    """Parcels: a postcode lies in a town, a town in a state; no post on Sundays; hours lie between two times."""
    town = rng.choice(list(TOWNS), n, p=np.array([9, 9, 5, 5, 4, 2, 24, 4, 2, 4, 2, 4]) / 74)
    code = np.array([f"{TOWNS[t][0]}{k}{7 - k}{k}" for t, k in zip(town, rng.integers(0, 5, n), strict=True)])
    days = np.datetime64("2024-01-01") + rng.integers(0, 364, n)
    days = days - ((days.astype(int) + 3) % 7 == 6).astype(int)  # Sundays to Saturdays
    express = rng.random(n) < 0.25
    hours = np.where(express, rng.gamma(6, 3, n), rng.gamma(9, 6, n)).round().astype(int) + 2
    accepted = days.astype("datetime64[m]") + rng.integers(8 * 60, 18 * 60, n)
    weight = np.round(rng.gamma(2, 2.2, n) + 0.1, 2)
    price = np.round(4.5 + 0.9 * weight + 6 * express + rng.gamma(2, 0.3, n), 2)
    extra = np.where(rng.random(n) < 0.78, 0.0, np.round(rng.gamma(3, 1.5, n) + 0.5, 2))
    signed = pd.Series(rng.choice(["recipient", "neighbour", "porter"], n, p=[0.6, 0.3, 0.1])).where(express)
    return pd.DataFrame({
        "depot": rng.choice(DEPOTS, n, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1]), "postcode": code, "town": town,
        "state": [TOWNS[t][1] for t in town], "accepted": accepted, "delivered": accepted + hours * 60,
        "transit_hours": hours, "weight_kg": weight, "price": price, "surcharge": extra,
        "express": np.where(express, "yes", "no"), "signed_by": signed,
        "returned": np.where(rng.random(n) < 0.006, "yes", "no"),
    })  # fmt: skip


def patients(rng: np.random.Generator, n: int = 1_400) -> pd.DataFrame:
    """Three to six visits of each patient, whose sex, year of birth and clinic stay; weights change little."""
    visits = rng.integers(3, 7, n)
    who = np.repeat(np.arange(n), visits)
    number = np.concatenate([np.arange(1, k + 1) for k in visits])
    start = np.datetime64("2019-01-01") + rng.integers(0, 900, n)
    day = start[who] + (number - 1) * 91 + rng.integers(-15, 16, len(who))
    female = rng.random(n) < 0.5
    born = rng.integers(1935, 2000, n)
    weight = np.round(rng.normal(74, 12, n)[who] + 6 * ~female[who] + rng.normal(0, 1.2, len(who)), 1)
    sugar = np.round(6.1 + 0.02 * (2020 - born[who]) + rng.normal(0, 0.7, len(who)) - 0.25 * (number - 1), 1)
    insulin = np.where(sugar > 7.4, "yes", "no")
    return pd.DataFrame({
        "person": [f"P{k:05d}" for k in who], "visit": number, "visited": day, "sex": np.where(female, "f", "m")[who],
        "born": born[who], "clinic": rng.choice(["north", "south", "city"], n, p=[0.5, 0.3, 0.2])[who],
        "diagnosis": rng.choice(CODES, n, p=[0.3, 0.1, 0.1, 0.2, 0.1, 0.08, 0.07, 0.05])[who],
        "weight": weight, "hba1c": sugar, "insulin": insulin,
    })  # fmt: skip


def gauges(rng: np.random.Generator, days: int = DAYS) -> pd.DataFrame:
    """Levels of twelve stations day by day: high in spring, each near that of the day before; rain on some days."""
    rows = []
    when = np.datetime64("2022-01-01") + np.arange(days)
    season = 25 * np.sin(2 * np.pi * (np.arange(days) - 10) / 365.25)
    for name, base in STATIONS.items():
        walk, x = np.zeros(days), rng.normal(0, 12)
        for t in range(days):
            x = 0.93 * x + rng.normal(0, 5)
            walk[t] = x
        level = np.round(base + season + walk).astype(int)
        rain = np.where(rng.random(days) < 0.62, 0.0, np.round(rng.gamma(1.2, 4, days) + 0.1, 1))
        flow = np.round(0.4 * level + rng.normal(0, 4, days), 1)
        rows.append(pd.DataFrame({"station": name, "day": when, "level_cm": level, "flow": flow, "rain_mm": rain}))
    return pd.concat(rows, ignore_index=True)


def scales(rng: np.random.Generator, n: int = 1_800) -> pd.DataFrame:
    """Sixteen items of two scales, the sum of the first eight, a mark of 0 to 10, and an income that the old omit."""
    trust, stress = rng.normal(0, 1, n), rng.normal(0, 1, n)
    items = {}
    for k in range(1, 17):
        x = 0.85 * (trust if k <= 8 else stress) + rng.normal(0, 0.75, n)
        items[f"q{k:02d}"] = np.digitize(x, [-1.4, -0.5, 0.5, 1.4]) + 1
    region = rng.choice(["north", "east", "south", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
    band = rng.choice(["18-34", "35-59", "60+"], n, p=[0.3, 0.4, 0.3])
    blank = rng.random(n) < np.where(band == "60+", 0.45, 0.04)
    income = pd.Series(rng.choice(["low", "middle", "high", "top"], n, p=[0.3, 0.4, 0.2, 0.1])).mask(blank)
    mark = np.clip(np.round(6 + 1.4 * trust + (region == "north") + rng.normal(0, 1.2, n)), 0, 10).astype(int)
    return pd.DataFrame({
        "wave": rng.choice([1, 2, 3], n), "region": region, "age_band": band, **items,
        "trust_sum": np.sum([items[f"q{k:02d}"] for k in range(1, 9)], axis=0), "mark": mark, "income_band": income,
        "weight": np.round(rng.lognormal(0, 0.25, n), 3),
    })  # fmt: skip


def ledger(rng: np.random.Generator, n: int = 40_000) -> pd.DataFrame:
    """Bookings: an account has a name and a class, a day a period; either debit or credit; no work at weekends."""
    account = rng.choice(list(ACCOUNTS), n, p=np.arange(24, 0, -1) / 300)
    day = np.datetime64("2023-01-01") + rng.integers(0, 365, n)
    weekday = (day.astype(int) + 3) % 7
    day = day - np.where(weekday > 4, weekday - 4, 0)
    day = np.where(day < np.datetime64("2023-01-01"), np.datetime64("2023-01-02"), day)
    amount = np.round(rng.lognormal(5.2, 1.1, n), 2)
    debit = rng.random(n) < np.where(np.char.startswith(account, "3"), 0.2, 0.65)
    shares = 1 / np.arange(2, 62)
    return pd.DataFrame({
        "account": account, "title": [ACCOUNTS[a][0] for a in account], "class": [ACCOUNTS[a][1] for a in account],
        "booked": day, "period": pd.Series(day).dt.strftime("%Y-%m"), "debit": np.where(debit, amount, 0.0),
        "credit": np.where(debit, 0.0, amount), "balance": np.where(debit, amount, -amount),
        "desk": rng.choice(DESKS, n, p=shares / shares.sum()),
    })  # fmt: skip


def elections(rng: np.random.Generator, n: int = 420) -> pd.DataFrame:
    """Results of places: votes of four parties add up to the valid ones, these and the invalid to all."""
    canton = rng.choice(CANTONS, n)
    voters = np.round(rng.lognormal(7.8, 0.9, n)).astype(int) + 60
    rate = np.clip(rng.normal(0.48, 0.05, n) + 0.02 * np.array([CANTONS.index(c) for c in canton]), 0.2, 0.9)
    cast = np.round(voters * rate).astype(int)
    invalid = np.round(cast * rng.uniform(0.004, 0.03, n)).astype(int)
    valid = cast - invalid
    lean = rng.normal(0, 0.25, n) + 0.12 * np.array([CANTONS.index(c) - 3.5 for c in canton])
    parts = np.exp(np.stack([1.1 + lean, 0.9 - lean, 0.2 + rng.normal(0, 0.2, n), rng.normal(-0.6, 0.3, n)]))
    votes = np.floor(parts / parts.sum(axis=0) * valid).astype(int)
    votes[0] += valid - votes.sum(axis=0)
    return pd.DataFrame({
        "place": [f"G{k:04d}" for k in range(n)], "canton": canton, "voters": voters, "cast": cast, "valid": valid,
        "invalid": invalid, **{f"party_{p}": v for p, v in zip("abcd", votes, strict=True)},
        "turnout": np.round(100 * cast / voters, 1),
    })  # fmt: skip


def claims(rng: np.random.Generator, n: int = 20_000) -> pd.DataFrame:
    """Car policies: few have a claim, the young more; an amount with a heavy tail goes with a claim."""
    age = np.clip(np.round(rng.normal(46, 15, n)), 18, 90).astype(int)
    bonus = np.clip(np.round(130 - 1.1 * (age - 18) + rng.normal(0, 15, n)), 50, 200).astype(int)
    count = rng.binomial(3, np.where(age < 30, 0.12, 0.035))
    amount = np.where(count > 0, np.round(rng.lognormal(7, 1, n) * np.maximum(count, 1)), 0).astype(int)
    fuel = rng.choice(["petrol", "diesel", "hybrid", "electric", "gas"], n, p=[0.52, 0.36, 0.083, 0.03, 0.007])
    parking = rng.choice(["garage", "street"], n, p=[0.45, 0.55])
    town = rng.choice(["town", "country"], n, p=[0.5, 0.5])
    mileage = np.round(rng.gamma(9, 1300, n) + 3500 * ((parking == "garage") == (town == "country")), -2).astype(int)
    return pd.DataFrame({
        "area": rng.choice(list("ABCDEF"), n, p=[0.25, 0.2, 0.2, 0.15, 0.12, 0.08]), "setting": town,
        "parking": parking,
        "fuel": fuel, "driver_age": age, "bonus": bonus, "mileage": mileage,
        "exposure": np.round(np.clip(rng.beta(2, 0.7, n), 0.01, 1), 2), "claims": count, "amount": amount,
    })  # fmt: skip


def trees(rng: np.random.Generator, n: int = 6_000) -> pd.DataFrame:
    """Trees of a town: a species has one genus; heights go with trunks; few have a day on which they were felled."""
    species = rng.choice(list(SPECIES), n, p=np.array([14, 8, 9, 3, 12, 4, 15, 8, 10, 5, 8, 4]) / 100)
    planted = rng.integers(1900, 2021, n)
    trunk = np.round(8 + 0.9 * (2022 - planted) + rng.normal(0, 9, n)).clip(6, 150).astype(int)
    height = np.round((3 + 0.16 * trunk + rng.normal(0, 1.6, n)).clip(2, 35), 1)
    poor = rng.random(n) < 0.12
    condition = np.where(poor, "schlecht", rng.choice(["gut", "mittel"], n, p=[0.65, 0.35]))
    felled = np.datetime64("2021-01-01") + rng.integers(0, 900, n)
    return pd.DataFrame({
        "species": species, "genus": [SPECIES[s] for s in species], "district": rng.choice(list("MNOSTW"), n),
        "planted": planted, "trunk_cm": trunk, "height_m": height,
        "crown_m": np.round(0.5 * height + rng.gamma(2, 0.8, n), 1),
        "condition": condition, "felled": pd.Series(felled).where(poor & (rng.random(n) < 0.999)),
    })  # fmt: skip


def courses(rng: np.random.Generator, n: int = 1_000) -> pd.DataFrame:
    """Marks of 0 to 100, passed from 50; hours differ by course."""
    course = rng.choice(["algebra", "biology", "chess", "drama", "ethics"], n)
    hours = np.round(rng.normal(12, 3, n) + 4 * (course == "algebra") - 4 * (course == "chess")).clip(1).astype(int)
    mark = np.round(38 + 2.2 * hours + rng.normal(0, 13, n)).clip(0, 100).astype(int)
    return pd.DataFrame({"course": course, "hours": hours, "mark": mark, "passed": np.where(mark >= 50, "yes", "no")})


def easy(rng: np.random.Generator, n: int = 25_000) -> pd.DataFrame:
    """Few values and plain relations."""
    size = rng.choice(["S", "M", "L"], n, p=[0.3, 0.45, 0.25])
    shop = rng.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1])
    colour = rng.choice(["red", "blue", "grey"], n, p=[0.3, 0.4, 0.3])
    kept = rng.random(n) < 0.5 + 0.2 * (size == "M") + 0.15 * (shop == "a")
    return pd.DataFrame({"size": size, "shop": shop, "colour": colour, "kept": np.where(kept, "yes", "no")})


SHAPES: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "parcels": parcels, "patients": patients, "gauges": gauges, "scales": scales, "ledger": ledger,
    "elections": elections, "claims": claims, "trees": trees, "courses": courses,
}  # fmt: skip
ORDER = ("order", "between", "proposed")
SPREAD = ("stretch", "above", "below", "top", "high", "bottom")


def _of(shape: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.random.Generator, Callable[..., Spoiled]]:
    real, fresh = pair(SHAPES[shape], seed)

    def spoil(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape=shape, name=name, real=real, made=made, first=first, column=column)

    return real, fresh, np.random.default_rng(seed), spoil


def _some(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    return rng.random(n) < share


def spoiled() -> Iterator[Spoiled]:
    """All of them."""
    yield from _of_parcels()
    yield from _of_patients()
    yield from _of_gauges()
    yield from _of_scales()
    yield from _of_ledger()
    yield from _of_elections()
    yield from _of_claims()
    yield from _of_trees()
    yield from _of_courses()


def _of_parcels() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("parcels", 1700)
    n = len(fresh)
    cut = fresh.assign(postcode=fresh["postcode"].str.lstrip("0"))
    yield of("postcodes without their zero", cut, "postcode", "reworded", "share", "blanked", "function", "unreadable")
    some = _some(rng, n, 0.3)
    away = fresh.assign(state=np.where(some, rng.permutation(fresh["state"]), fresh["state"]))
    yield of("a quarter of the towns in another state", away, "state", "function")
    some = _some(rng, n, 0.1)
    turned = fresh.assign(
        accepted=fresh["delivered"].where(some, fresh["accepted"]),
        delivered=fresh["accepted"].where(some, fresh["delivered"]),
    )
    yield of("a tenth delivered before they are accepted", turned, "delivered", *ORDER)
    minutes = fresh.assign(transit_hours=fresh["transit_hours"] * 60)
    yield of("hours as minutes", minutes, "transit_hours", "between", "outside")
    pounds = np.where(fresh["depot"] == "D2", 2.2046, 1) * fresh["weight_kg"]
    first = ("group", "more_variance", "ratio", "gaps", "weaker", "turned", "interaction", "mean", "outside", *SPREAD)
    yield of("one depot weighs in pounds", fresh.assign(weight_kg=pounds.round(2)), "weight_kg", *first)
    extra = fresh["surcharge"].where(fresh["surcharge"] > 0, np.round(rng.gamma(3, 1.5, n) + 0.5, 2))
    yield of("a surcharge on each parcel", fresh.assign(surcharge=extra), "surcharge", "zeros")
    none = fresh.assign(returned="no")
    yield of("no parcel comes back", none, "returned", "fixed", "share")
    many = fresh.assign(returned=np.where(_some(rng, n, 0.06), "yes", "no"))
    yield of("ten times as many come back", many, "returned", "share")
    shift = np.timedelta64(1, "D") * rng.integers(-3, 4, n)
    any_day = fresh.assign(accepted=fresh["accepted"] + shift, delivered=fresh["delivered"] + shift)
    yield of("post on Sundays", any_day, "accepted", "day")
    cents = fresh.assign(price=fresh["price"] + rng.uniform(-0.005, 0.005, n))
    yield of("prices of six decimals", cents, "price", "new_numbers", "fractions")
    late = fresh.assign(signed_by=fresh["signed_by"].where(~_some(rng, n, 0.5)))
    yield of("half of the signatures lost", late, "signed_by", "filter_blank", "blank")


def _of_patients() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("patients", 1710)
    n = len(fresh)
    third = real["person"].isin(real["person"].unique()[:460])
    other = fresh[~fresh["person"].isin(fresh["person"].unique()[:460])]
    yield of("a third of the patients copied", pd.concat([real[third], other]), "", *COPIES)
    jitter = real.assign(
        visited=real["visited"] + np.timedelta64(1, "D") * rng.integers(-2, 3, len(real)),
        weight=np.round(real["weight"] + rng.normal(0, 0.4, len(real)), 1),
        hba1c=np.round(real["hba1c"] + rng.choice([-0.1, 0, 0.1], len(real)), 1),
        person=[f"P{k:05d}" for k in rng.integers(0, 1400, len(real))],
    )
    yield of("visits moved by days, weights by grams", jitter.sample(frac=1, random_state=4), "", *COPIES)
    short = fresh.assign(diagnosis=fresh["diagnosis"].str[:3])
    yield of("codes cut to three letters", short, "diagnosis", "share", "blanked", "reworded", "unreadable")
    other = fresh.assign(insulin=np.where(_some(rng, n, 0.15), rng.permutation(fresh["insulin"]), fresh["insulin"]))
    yield of("insulin of some without high sugar", other, "insulin", "function", "combinations", "filter_zero")
    apart = fresh.assign(visit=rng.permutation(fresh["visit"]))
    yield of("visits numbered at random", apart, "visit", "pair", "ratio", "unrelated", "relations", "weaker")
    equal = fresh.assign(weight=np.round(70 + (fresh["weight"] - 70) * 0.5, 1))
    yield of("weights nearer to 70", equal, "weight", *SPREAD, "mean")
    future = fresh.assign(visited=fresh["visited"] + np.timedelta64(3653, "D"))
    yield of("visits ten years later", future, "visited", "date", "outside", *SPREAD)


def _of_gauges() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("gauges", 1720)
    n, size = len(fresh), len(STATIONS)
    back = fresh.assign(day=fresh["day"].max() - (fresh["day"] - fresh["day"].min()))
    yield of("days in reverse order", back, "level_cm", "course_month", "moved_month", "cycle_month", "pair")
    t = np.tile(np.arange(DAYS), size)
    flat = fresh["level_cm"] - np.round(25 * np.sin(2 * np.pi * (t - 10) / 365.25)).astype(int)
    still = fresh.assign(level_cm=flat, flow=np.round(0.4 * flat + rng.normal(0, 4, n), 1))
    yield of("no season", still, "", "cycle_month", "pair")
    order = np.lexsort((rng.random(n), t // 30, np.repeat(np.arange(size), DAYS)))
    mixed = fresh[["level_cm", "flow", "rain_mm"]].iloc[order].reset_index(drop=True)
    yield of("days of a month in any order", fresh.assign(**mixed), "level_cm", "before")
    raised = fresh.assign(level_cm=fresh["level_cm"] + 60 * (fresh["station"] == "S03"))
    first = ("group", "more_variance", "group_variance", "ratio", "gaps", "outside", "weaker", "turned")
    yield of("one gauge read 60 cm higher", raised, "level_cm", *first)
    wet = fresh.assign(rain_mm=fresh["rain_mm"].where(fresh["rain_mm"] > 0, np.round(rng.gamma(1.2, 4, n) + 0.1, 1)))
    yield of("rain on each day", wet, "rain_mm", "zeros")
    year = np.asarray(t >= 500)
    learnt = fresh.copy()
    learnt.loc[year, ["level_cm", "flow", "rain_mm"]] = real.loc[year, ["level_cm", "flow", "rain_mm"]].to_numpy()
    yield of("the last 200 days copied", learnt.astype(fresh.dtypes.to_dict()), "", *COPIES)
    other = fresh.assign(flow=rng.permutation(fresh["flow"]))
    yield of("flows of other days", other, "flow", "unrelated", "pair", "relations", "explained", "before", "gaps")


def _of_scales() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("scales", 1730)
    n, items = len(fresh), [f"q{k:02d}" for k in range(1, 17)]
    off = np.where(_some(rng, n, 0.2), fresh["trust_sum"] + rng.integers(2, 5, n), fresh["trust_sum"])
    yield of("sums of a fifth that are too high", fresh.assign(trust_sum=off), "trust_sum", "sum", "explained")
    turned = fresh.assign(q05=6 - fresh["q05"])
    turned["trust_sum"] = turned[items[:8]].sum(axis=1)
    yield of("one item with its scale turned", turned, "q05", "pair", "turned")
    same = _some(rng, n, 0.25)
    lazy = fresh.assign(**{q: np.where(same, 3, fresh[q]) for q in items})
    lazy["trust_sum"] = lazy[items[:8]].sum(axis=1)
    yield of("a quarter that crosses 3 everywhere", lazy, "", "share", *SPREAD, "pair", "repeated", "heaps")
    values = real["income_band"].dropna()
    income = pd.Series(rng.choice(values, n)).mask(_some(rng, n, 0.163))
    related = ("blank_group", "v", "ratio", "pair", "unrelated", "filter_blank", "relations")
    yield of("incomes blank at any age", fresh.assign(income_band=income), "income_band", *related)
    swapped = fresh.assign(region=fresh["region"].replace({"north": "west", "west": "north"}))
    yield of("north and west exchanged", swapped, "region", "share")
    block = fresh.assign(**{q: rng.permutation(fresh[q]) for q in items[8:]})
    first = ("unrelated", "pair", "relations", "combinations", "explained")
    yield of("each item of the second scale by itself", block, "", *first)
    yield of("weights of 1", fresh.assign(weight=1.0), "weight", "fixed")


def _of_ledger() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("ledger", 1740)
    n = len(fresh)
    names = [ACCOUNTS[a][0] for a in ACCOUNTS]
    nxt = dict(zip(names, names[1:] + names[:1], strict=True))
    wrong = fresh.assign(title=fresh["title"].map(nxt).where(_some(rng, n, 0.2), fresh["title"]))
    yield of("names of the next account in a fifth", wrong, "title", "function")
    some = _some(rng, n, 0.15)
    both = fresh.assign(credit=np.where(some & (fresh["credit"] == 0), fresh["debit"], fresh["credit"]))
    both["balance"] = (both["debit"] - both["credit"]).round(2)
    first = ("zeros", "filter_zero", "combinations", "order", "share", "function")
    yield of("credit where there is debit", both, "", *first)
    later = (fresh["booked"] + pd.Timedelta(31, "D")).dt.strftime("%Y-%m").str.replace("2024", "2023")
    moved = fresh.assign(period=np.where(_some(rng, n, 0.08), later, fresh["period"]))
    yield of("periods of the next month in some", moved, "period", "function")
    hundreds = (fresh["debit"] / 100).round().clip(lower=1) * 100
    rough = fresh["debit"].where(~_some(rng, n, 0.5) | (fresh["debit"] == 0), hundreds)
    rough = fresh.assign(debit=rough, balance=(rough - fresh["credit"]).round(2))
    yield of("half of the debits in hundreds", rough, "debit", "heaps", "coarser", "share")
    few = fresh.assign(desk=np.where(fresh["desk"].isin(DESKS[:3]), fresh["desk"], rng.choice(DESKS[:3], n)))
    yield of("three desks book all", few, "desk", "share")
    twice = pd.concat([fresh.iloc[: n * 3 // 4], fresh.iloc[: n // 4]])
    yield of("a quarter booked twice", twice, "", "repeated")
    hidden = pd.concat([real.iloc[:800], fresh.iloc[800:]]).sample(frac=1, random_state=5)
    yield of("800 real bookings among 40,000", hidden, "", *COPIES)
    gone = fresh[~fresh["booked"].dt.month.isin([8])]
    yield of("no booking in August", gone, "", "times_month", "share", "date", *SPREAD)
    cycle = fresh.assign(debit=-fresh["debit"], balance=(-fresh["debit"] - fresh["credit"]).round(2))
    yield of("debits below zero", cycle, "debit", "outside", "mean", "rest")


def _of_elections() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("elections", 1750)
    n = len(fresh)
    more = fresh.assign(party_a=np.round(fresh["party_a"] * 1.3).astype(int))
    yield of("votes of one party a third more", more, "party_a", "sum", "order")
    twice = fresh.assign(place=rng.choice(fresh["place"], n))
    yield of("places that come twice", twice, "place", "key")
    rates = fresh.assign(turnout=rng.permutation(fresh["turnout"]))
    first = ("unrelated", "pair", "ratio", "gaps", "group_variance", "explained", "relations", "product", "turned")
    yield of("turnout of the other places", rates, "turnout", *first)
    near = real.copy()
    for name in ("voters", "cast", "valid", "party_a", "party_b", "party_c", "party_d"):
        near[name] = (real[name] * rng.uniform(0.99, 1.01, n)).round().astype(int)
    near["place"] = rng.permutation(near["place"])
    yield of("each place a hundredth off", near, "", "near_copies")
    yield of("60 places", fresh.iloc[:60], "", "few_records")
    share = fresh.assign(turnout=(fresh["turnout"] / 100).round(3))
    yield of("turnout as a share of 1", share, "turnout", "outside")


def _of_claims() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("claims", 1760)
    n, some = len(fresh), fresh["claims"] > 0
    paid = fresh["amount"].where(~_some(rng, n, 0.1) | some, np.round(rng.lognormal(7, 1, n)))
    yield of(
        "amounts of some without a claim", fresh.assign(amount=paid.astype(int)), "amount", "filter_zero", "function"
    )
    heavy = rng.lognormal(6.05, 1.7, n) * np.maximum(fresh["claims"], 1)  # of the same mean
    wild = fresh.assign(amount=np.where(some, heavy.round(), 0).astype(int))
    yield of("a tail that is too heavy", wild, "amount", "rest", *SPREAD)
    end = int(fresh["amount"][some].quantile(0.9))
    yield of("amounts cut at a limit", fresh.assign(amount=fresh["amount"].clip(upper=end)), "amount", *SPREAD, "rest")
    mixed = rng.permutation(n)
    safe = fresh.assign(claims=fresh["claims"].to_numpy()[mixed], amount=fresh["amount"].to_numpy()[mixed])
    first = ("unrelated", "pair", "ratio", "v", "weaker", "gaps", "group", "relations", "explained")
    yield of("the young claim no more than others", safe, "", *first)
    turned = fresh.assign(bonus=(2 * fresh["bonus"].mean() - fresh["bonus"]).round().clip(50, 200).astype(int))
    yield of("a bonus that grows with age", turned, "bonus", "pair", "turned", "outside", *SPREAD)
    tens = fresh.assign(driver_age=fresh["driver_age"].round(-1))
    yield of("ages in tens", tens, "driver_age", "coarser", "heaps")
    yield of("a full year for all", fresh.assign(exposure=1.0), "exposure", "fixed")
    liquid = fresh.assign(fuel=fresh["fuel"].replace({"gas": "petrol"}))
    yield of("no car of gas", liquid, "fuel", "share")
    low = fresh["mileage"] - 3500 * ((fresh["parking"] == "garage") == (fresh["setting"] == "country"))
    plain = fresh.assign(mileage=low + 3500 * _some(rng, n, 0.5))
    yield of("mileage by parking alike everywhere", plain, "mileage", "interaction")
    other = fresh.assign(mileage=low + 3500 * ((fresh["parking"] == "garage") != (fresh["setting"] == "country")))
    yield of("mileage by parking the other way round", other, "mileage", "interaction_turned", "interaction")


def _of_trees() -> Iterator[Spoiled]:
    _, fresh, rng, of = _of("trees", 1770)
    n = len(fresh)
    torn = fresh.assign(species=[s.encode().decode("latin-1") for s in fresh["species"]])
    yield of("umlauts torn", torn, "species", "reworded", "share", "blanked", "unreadable", "function")
    point = fresh.assign(height_m=fresh["height_m"] * 10)
    yield of("heights without their point", point, "height_m", "outside")
    crossed = fresh.rename(columns={"trunk_cm": "height_m", "height_m": "trunk_cm"})[list(fresh.columns)]
    yield of("trunks and heights exchanged", crossed, "", "outside", "mean", "fractions", *SPREAD)
    ends = fresh.assign(condition=fresh["condition"].replace({"gut": "mittel", "mittel": "gut"}))
    yield of("good and fair exchanged", ends, "condition", "share")
    days = fresh["felled"].where(fresh["felled"].notna() | ~_some(rng, n, 0.2), np.datetime64("2022-05-05"))
    yield of("healthy trees felled", fresh.assign(felled=days), "felled", "filter_blank", "blank")
    text = fresh.assign(felled=fresh["felled"].dt.strftime("%d.%m.%Y"), planted=fresh["planted"].astype(float))
    foreign = text.drop(columns="district").rename_axis("Unnamed: 0").reset_index()
    yield of("a lacking column, an index, other dates", foreign, "", "lacking")
    genus = fresh.assign(genus=np.where(fresh["genus"] == "Birke", "Eiche", fresh["genus"]))
    yield of("birches called oaks", genus, "genus", "function", "share")
    young = fresh.assign(trunk_cm=rng.permutation(fresh["trunk_cm"]))
    yield of("trunks of other trees", young, "trunk_cm", "unrelated", "pair", "relations", "explained")


def _of_courses() -> Iterator[Spoiled]:
    real, fresh, rng, of = _of("courses", 1780)
    n = len(fresh)
    yield of("a copy in another order", real.sample(frac=1, random_state=6), "", *COPIES)
    flip = np.where(_some(rng, n, 0.07), np.where(fresh["passed"] == "yes", "no", "yes"), fresh["passed"])
    yield of("some pass below 50", fresh.assign(passed=flip), "passed", "function", "combinations")
    hours = fresh.assign(course=rng.permutation(fresh["course"]))
    first = ("ratio", "gaps", "group", "group_variance", "unrelated", "weaker", "relations")
    yield of("hours alike in all courses", hours, "", *first)
    easy_marks = fresh.assign(mark=(fresh["mark"] + 12).clip(upper=100))
    easy_marks["passed"] = np.where(easy_marks["mark"] >= 50, "yes", "no")
    yield of("marks twelve higher", easy_marks, "mark", "mean", *SPREAD)


def good() -> Iterator[tuple[str, int, pd.DataFrame, pd.DataFrame]]:
    """Shape, number, real table and one of which nothing may be said."""
    for k, (shape, make) in enumerate(SHAPES.items()):
        real, fresh = pair(make, 1800 + k)
        if shape == "patients":  # without its number, nothing says which visits are those of one person
            real, fresh = (x.drop_duplicates("person") for x in (real, fresh))
        yield shape, 0, *(x.drop(columns=["person", "place"], errors="ignore") for x in (real, fresh))
    real, fresh = pair(trees, 1820)
    yield "trees", 1, as_file(real), as_file(fresh.sort_values("height_m"), sep=";", decimal=",")
    real, fresh = pair(claims, 1821)
    yield "claims", 1, as_file(real), as_file(fresh[list(reversed(fresh.columns))].astype({"claims": float}))
    real, fresh = pair(ledger, 1822)
    yield "ledger", 1, real, fresh.sample(frac=0.3, random_state=7).sort_values(["booked", "account"])
    real, fresh = pair(gauges, 1823)
    yield "gauges", 1, real, fresh.sample(frac=1, random_state=8)
    real, fresh = pair(easy, 1824)
    for k, epsilon in enumerate(EPSILONS):
        yield "easy", k, real, released(real, epsilon, k).to_pandas()
