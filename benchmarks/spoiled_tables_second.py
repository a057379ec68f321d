"""Eight further shapes, none of which the findings were adjusted to, spoiled and unspoiled: a second `spoiled_tables`.

Loans in German numbers, flights, orders, weather stations, pupils, a hospital, measurements without rules, ballots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.spoiled_tables import COPIES, Spoiled, pair

N = 3000
TOWNS = {
    "01067": ("Dresden", "Sachsen"),
    "04109": ("Leipzig", "Sachsen"),
    "09111": ("Chemnitz", "Sachsen"),
    "10115": ("Berlin", "Berlin"),
    "10969": ("Berlin", "Berlin"),
    "20095": ("Hamburg", "Hamburg"),
    "80331": ("München", "Bayern"),
    "90402": ("Nürnberg", "Bayern"),
    "86150": ("Augsburg", "Bayern"),
    "50667": ("Köln", "Nordrhein-Westfalen"),
    "44135": ("Dortmund", "Nordrhein-Westfalen"),
}
AIRPORTS = {
    "OSL": (60.2, 11.1),
    "CPH": (55.6, 12.7),
    "ARN": (59.6, 17.9),
    "HEL": (60.3, 25.0),
    "KEF": (64.0, -22.6),
    "RIX": (56.9, 24.0),
}
GOODS = {
    "lamp": "home",
    "chair": "home",
    "rug": "home",
    "pen": "office",
    "paper": "office",
    "stapler": "office",
    "tent": "outdoor",
    "boots": "outdoor",
    "stove": "outdoor",
}
PRICES = dict(zip(GOODS, (39, 89, 120, 2, 5, 9, 199, 110, 65), strict=True))
CLASSES = {
    f"{school[0]}-{year}{letter}": school
    for school in ("Amsel", "Birke", "Dohle")
    for year in (8, 9)
    for letter in "ab"
}
CHAPTERS = {
    "asthma": "lungs",
    "pneumonia": "lungs",
    "infarct": "heart",
    "angina": "heart",
    "delivery": "birth",
    "fracture": "bones",
    "hip": "bones",
}


def german(x: pd.Series, digits: int = 2) -> pd.Series:
    """Numbers as German offices write them: 1.234,50."""
    return x.map(lambda v: f"{v:,.{digits}f}".translate(str.maketrans(",.", ".,")))


def loans(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Loans: a code names a town and that a state, paid out after the application, numbers in German."""
    code = rng.choice(list(TOWNS), n, p=np.array([5, 6, 2, 8, 6, 9, 9, 4, 2, 7, 3]) / 61)
    asked = np.datetime64("2021-01-04") + rng.integers(0, 900, n)
    months = rng.choice([12, 24, 36, 48, 60, 72], n, p=[0.1, 0.2, 0.25, 0.2, 0.15, 0.1])
    amount = np.round(np.exp(rng.normal(9.1, 0.6, n)), -2).clip(500, 75_000)
    rate = np.round(3.5 + 0.02 * months + rng.normal(0, 0.8, n), 2).clip(0.9)
    fails = rng.random(n) < 1 / (1 + np.exp(3.2 - 0.35 * (rate - 4)))
    return pd.DataFrame(
        {
            "Antragsdatum": asked,
            "Auszahlung am": asked + 2 + rng.poisson(9, n),
            "Laufzeit (Monate)": months,
            "Betrag": german(pd.Series(amount)),
            "Zins %": german(pd.Series(rate)),
            "PLZ": code,
            "Ort": [TOWNS[c][0] for c in code],
            "Bundesland": [TOWNS[c][1] for c in code],
            "Ausfall": np.where(fails, "ja", "nein"),
        }
    )


def flights(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Flights: two airports that are never the same, a distance that both decide, no delay where cancelled."""
    names = list(AIRPORTS)
    one, step = rng.integers(0, 6, n), rng.choice([1, 2, 3, 4, 5], n, p=[0.3, 0.2, 0.2, 0.1, 0.2])
    other = (one + step) % 6
    at = np.array(list(AIRPORTS.values()))
    far = np.round(np.hypot(*(at[one] - at[other]).T * [[111], [58]])).astype(int)
    leaves = np.datetime64("2024-03-01T05:00") + (rng.integers(0, 60, n) * 1440 + rng.integers(0, 200, n) * 5)
    minutes = 35 + far // 12 + rng.integers(-4, 12, n)
    cancelled = rng.random(n) < 0.06
    delay = np.where(cancelled, np.nan, np.round(rng.exponential(14, n) - 6))
    return pd.DataFrame(
        {
            "dep_time": leaves.astype("datetime64[s]"),
            "arr_time": (leaves + minutes.astype("timedelta64[m]")).astype("datetime64[s]"),
            "origin": np.array(names)[one],
            "dest": np.array(names)[other],
            "distance_km": far,
            "carrier": rng.choice(["SK", "DY", "AY", "BT"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "cancelled": cancelled,
            "delay_min": pd.array(delay, dtype="Int64"),
        }
    )


def orders(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Orders: an article has one department, a total follows, most have no discount, evenings have more."""
    article = rng.choice(list(GOODS), n, p=np.array([5, 4, 2, 9, 8, 3, 2, 4, 2]) / 39)
    units = 1 + rng.poisson(np.where(np.isin(article, ["pen", "paper"]), 3, 0.4))
    price = np.round(np.array([PRICES[a] for a in article]) * rng.choice([0.9, 1.0, 1.1], n), 2)
    gross = np.round(units * price, 2)
    discount = np.where(rng.random(n) < 0.2, np.round(gross * rng.uniform(0.05, 0.3, n), 2), 0.0)
    hour = rng.choice(
        24, n, p=np.array([1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 5, 6, 6, 5, 5, 6, 7, 9, 10, 9, 6, 3, 1]) / 107
    )
    placed = np.datetime64("2024-01-01T00:00:00") + (
        rng.integers(0, 200, n) * 86400 + hour * 3600 + rng.integers(0, 3600, n)
    ).astype("timedelta64[s]")
    return pd.DataFrame(
        {
            "placed": placed,
            "article": article,
            "department": [GOODS[a] for a in article],
            "units": units,
            "unit_price": price,
            "gross": gross,
            "discount": discount,
            "to_pay": np.round(gross - discount, 2),
            "ship_to": rng.choice(["NO", "SE", "DK", "FI", "IS"], n, p=[0.4, 0.3, 0.2, 0.09, 0.01]),
            "member": rng.random(n) < 0.3,
        }
    )


def stations(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Ten stations, day by day: warm summers, each day like the one before, rain on some days."""
    days = n // 10
    slow = np.zeros((10, days))
    for i in range(1, days):
        slow[:, i] = 0.85 * slow[:, i - 1] + rng.normal(0, 1.3, 10)
    year = np.sin((np.arange(days) - 100) / 365 * 2 * np.pi)
    warm = np.round(7 + 9 * year + slow + np.linspace(-4, 4, 10)[:, None], 1)
    wet = np.where(rng.random((10, days)) < 0.4, np.round(rng.exponential(5, (10, days)) + 0.1, 1), 0.0)
    day = np.datetime64("2023-01-01") + np.arange(days)
    return pd.DataFrame(
        {
            "station": np.repeat([f"S{i:02d}" for i in range(10)], days),
            "day": np.tile(day, 10),
            "temp": warm.reshape(-1),
            "rain_mm": wet.reshape(-1),
            "wind": np.round(rng.gamma(3, 1.6, days * 10), 1),
        }
    )


def pupils(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Pupils: a class has one school, three parts add up, a mark follows from the points."""
    room = rng.choice(list(CLASSES), n)
    books = rng.choice(["0-10", "11-100", "101+"], n, p=[0.3, 0.45, 0.25])
    skill = rng.normal(0, 1, n) + 0.6 * (books == "101+") - 0.4 * (books == "0-10")
    part = [np.clip(np.round(12 + 4 * skill + rng.normal(0, 2.5, n)), 0, 20).astype(int) for _ in range(3)]
    points = sum(part)
    mark = np.clip(np.round((6 - points / 12) * 2) / 2, 1, 6)
    return pd.DataFrame(
        {
            "Schule": [CLASSES[r] for r in room],
            "Klasse": room,
            "Lesen": part[0],
            "Rechnen": part[1],
            "Schreiben": part[2],
            "Punkte": points,
            "Note": mark,
            "Bücher": books,
            "Förderung": np.where(rng.random(n) < 0.1 + 0.15 * (skill < -1), "ja", "nein"),
            "Alter": rng.integers(13, 17, n),
        }
    )


def hospital(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Stays in a hospital: an age from two dates, a chapter of each diagnosis, no births by men, few deaths."""
    sex = rng.choice(["F", "M"], n)
    diagnosis = rng.choice(list(CHAPTERS), n, p=[0.15, 0.2, 0.15, 0.15, 0.1, 0.15, 0.1])
    diagnosis = np.where((diagnosis == "delivery") & (sex == "M"), "fracture", diagnosis)
    age = np.where(diagnosis == "delivery", rng.integers(19, 42, n), rng.integers(1, 95, n))
    enters = np.datetime64("2022-01-01") + rng.integers(0, 365, n)
    born = enters - age * 365 - age // 4 - rng.integers(1, 364, n)
    days = 1 + rng.poisson(2 + age / 15)
    dies = rng.random(n) < 0.01 + 0.08 * (age > 70) + 0.05 * (diagnosis == "infarct")
    cost = np.round(np.exp(7.2 + 0.09 * days + rng.normal(0, 0.4, n)), 2)
    return pd.DataFrame(
        {
            "birth_date": born,
            "admitted": enters,
            "discharged": enters + days,
            "sex": sex,
            "diagnosis": diagnosis,
            "chapter": [CHAPTERS[d] for d in diagnosis],
            "cost": cost,
            "died": np.where(dies, "yes", "no"),
        }
    )


def measures(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Eight numbers that go together and a class of cells; no rule holds."""
    kind = rng.choice(["A", "B", "C"], n, p=[0.5, 0.35, 0.15])
    middle = np.array([[0, 0], [1.2, -0.5], [-1, 1.5]])
    shared = rng.normal(0, 1, (n, 2)) + middle[np.searchsorted(["A", "B", "C"], kind)]
    loads = np.array([[1, 0.9, 0.7, 0, 0, 0.4, -0.8, 0.2], [0, 0.2, 0.5, 1, 0.9, 0.4, 0.1, -0.9]])
    x = shared @ loads + rng.normal(0, 0.5, (n, 8))
    frame = pd.DataFrame(
        np.round(x * [3, 1, 10, 5, 0.4, 2, 7, 1] + [40, 5, 100, 20, 2, 9, 60, 4], 3),
        columns=[f"g{i}" for i in range(8)],
    )
    return frame.assign(kind=kind)


def ballots(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Nine answers of yes and no that go together, and a district."""
    left = rng.normal(0, 1, n)
    asked = {
        f"q{i}": np.where(left * w + rng.normal(0, 1, n) > b, "yes", "no")
        for i, (w, b) in enumerate(zip([1, 1, -1, 0.5, -0.8, 0.3, 1.2, -0.4, 0.9], np.linspace(-1, 1, 9), strict=True))
    }
    return pd.DataFrame(asked).assign(district=rng.choice(["north", "east", "south", "west"], n))


SHAPES: dict[str, Callable[..., pd.DataFrame]] = {
    "loans": loans,
    "flights": flights,
    "orders": orders,
    "stations": stations,
    "pupils": pupils,
    "hospital": hospital,
    "measures": measures,
    "ballots": ballots,
}
IMPOSSIBLE = ("function", "combinations", "order", "between", "proposed", "sum", "less", "product", "filter_blank")


def _mixed(rng: np.random.Generator, column: pd.Series) -> pd.Series:
    return pd.Series(rng.permutation(column.to_numpy()), index=column.index, dtype=column.dtype)


class Spoiler:
    """A shape with its real table and a fresh sample, and what is done to the sample."""

    def __init__(self, shape: str, seed: int) -> None:
        """Draws both."""
        self.shape = shape
        self.real, self.fresh = pair(SHAPES[shape], seed)
        self.rng = np.random.default_rng(seed)

    def one(self, name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        """The spoiled table."""
        return Spoiled(shape=self.shape, name=name, real=self.real, made=made, first=first, column=column)

    def some(self, share: float) -> np.ndarray:
        """Records of the sample that are spoiled."""
        return self.rng.random(len(self.fresh)) < share


def spoiled() -> Iterator[Spoiled]:
    """All of them."""
    yield from _loans()
    yield from _flights()
    yield from _orders()
    yield from _stations()
    yield from _pupils()
    yield from _hospital()
    yield from _numbers_and_answers()


def _loans() -> Iterator[Spoiled]:
    s = Spoiler("loans", 500)
    half = pd.concat([s.real.iloc[::2], s.fresh.iloc[::2]]).sample(frac=1, random_state=1)
    yield s.one("half a copy", half, "", *COPIES)
    late = s.some(0.3)
    turned = s.fresh.copy()
    turned.loc[late, ["Antragsdatum", "Auszahlung am"]] = s.fresh.loc[
        late, ["Auszahlung am", "Antragsdatum"]
    ].to_numpy()
    yield s.one("paid out before it was asked for", turned, "Auszahlung am", "order", "proposed")
    state = s.fresh["Bundesland"].where(~s.some(0.25), _mixed(s.rng, s.fresh["Bundesland"]))
    yield s.one("towns in wrong states", s.fresh.assign(Bundesland=state), "Bundesland", "function")
    yield s.one(
        "German numbers read with points",
        s.fresh.assign(Betrag=s.fresh["Betrag"].str.replace(",00", "").str.replace(".", "") + "000,00"),
        "Betrag",
        "outside",
        "mean",
        "unreadable",
        "blanked",
    )
    yield s.one(
        "defaults exchanged",
        s.fresh.assign(Ausfall=s.fresh["Ausfall"].map({"ja": "nein", "nein": "ja"})),
        "Ausfall",
        "share",
        "turned",
    )
    yield s.one("400 of 3,000 records", s.fresh.iloc[:400], "", "few_records")


def _flights() -> Iterator[Spoiled]:
    s = Spoiler("flights", 510)
    noise = s.real.assign(
        distance_km=s.real["distance_km"] + s.rng.integers(-2, 3, N),
        dep_time=s.real["dep_time"] + pd.to_timedelta(s.rng.integers(-20, 20, N), unit="s"),
        arr_time=s.real["arr_time"] + pd.to_timedelta(s.rng.integers(-20, 20, N), unit="s"),
    )
    yield s.one("copy moved by seconds and kilometres", noise, "", *COPIES)
    swapped = s.fresh.rename(columns={"dep_time": "arr_time", "arr_time": "dep_time"})[list(s.fresh)]
    yield s.one("arrival before departure", swapped, "arr_time", "order", "proposed")
    far = _mixed(s.rng, s.fresh["distance_km"])
    yield s.one("distances of other routes", s.fresh.assign(distance_km=far), "distance_km", *IMPOSSIBLE)
    late = s.fresh["delay_min"].mask(s.fresh["cancelled"], 12)
    yield s.one("delays of cancelled flights", s.fresh.assign(delay_min=late), "delay_min", "filter_blank")
    home = s.fresh["dest"].where(~s.some(0.15), s.fresh["origin"])
    yield s.one(
        "flights to where they start", s.fresh.assign(dest=home), "dest", "combinations", "proposed", "function"
    )
    yield s.one("one carrier", s.fresh.assign(carrier="SK"), "carrier", "fixed")


def _orders() -> Iterator[Spoiled]:
    s = Spoiler("orders", 520)
    shop = s.fresh["department"].where(~s.some(0.2), "home")
    yield s.one("articles in a wrong department", s.fresh.assign(department=shop), "department", "function")
    yield s.one(
        "totals by themselves", s.fresh.assign(gross=_mixed(s.rng, s.fresh["gross"])), "gross", "product", "sum", "less"
    )
    cut = s.fresh["discount"].where(s.fresh["discount"] > 0, 3.0)
    made = s.fresh.assign(discount=cut, to_pay=(s.fresh["gross"] - cut).round(2))
    yield s.one("everybody has a discount", made, "discount", "zeros")
    yield s.one(
        "orders at midnight", s.fresh.assign(placed=s.fresh["placed"].dt.normalize()), "placed", "coarser", "cycle_hour"
    )
    yield s.one("no parcel to Iceland", s.fresh[s.fresh["ship_to"] != "IS"], "ship_to", "share")
    part = s.real.copy()
    touched = s.some(0.3)
    part.loc[touched, "unit_price"] = s.fresh.loc[touched, "unit_price"]
    part.loc[~touched, "ship_to"] = s.fresh.loc[~touched, "ship_to"]
    yield s.one("a copy with a third of the cells of one column changed", part, "", *COPIES, "product")
    units = s.fresh.assign(units=s.fresh["units"] + 0.5)
    yield s.one("half units", units, "units", "fractions", "product")


def _stations() -> Iterator[Spoiled]:
    s = Spoiler("stations", 530)
    apart = s.fresh.copy()
    rows = s.rng.permutation(N)
    apart[["temp", "rain_mm", "wind"]] = s.fresh[["temp", "rain_mm", "wind"]].to_numpy()[rows]
    yield s.one("days as if they were stations", apart, "", "before", "cycle_month", "pair", "unrelated", "relations")
    yield s.one(
        "rain every day",
        s.fresh.assign(rain_mm=s.fresh["rain_mm"].where(s.fresh["rain_mm"] > 0, 0.4)),
        "rain_mm",
        "zeros",
    )
    yield s.one("a station that is gone", s.fresh[s.fresh["station"] != "S03"], "station", "share")
    yield s.one(
        "winter in summer",
        s.fresh.assign(temp=(14 - s.fresh["temp"]).round(1)),
        "temp",
        "pair",
        "turned",
        "unrelated",
        "group",
        "course_month",
        "mean",
    )


def _pupils() -> Iterator[Spoiled]:
    s = Spoiler("pupils", 540)
    yield s.one(
        "classes in other schools", s.fresh.assign(Schule=_mixed(s.rng, s.fresh["Schule"])), "Schule", "function"
    )
    yield s.one(
        "points that are no sum",
        s.fresh.assign(Punkte=_mixed(s.rng, s.fresh["Punkte"])),
        "Punkte",
        "sum",
        "less",
        "function",
    )
    yield s.one("drawn again", s.real.sample(N, replace=True, random_state=4), "", *COPIES)
    yield s.one(
        "marks as numbers of a machine",
        s.fresh.assign(Note=s.fresh["Note"] + 0.17),
        "Note",
        "new_numbers",
        "outside",
        "share",
        "function",
        "mean",
        "fractions",
        "blanked",
    )
    yield s.one("no answer that can be read", s.fresh.assign(Lesen="k. A."), "Lesen", "unreadable")
    yield s.one("one age", s.fresh.assign(Alter=15), "Alter", "fixed")


def _hospital() -> Iterator[Spoiled]:
    s = Spoiler("hospital", 550)
    men = s.fresh.assign(sex=_mixed(s.rng, s.fresh["sex"]))
    yield s.one("births by men", men, "sex", "combinations", "function", "unrelated")
    early = s.fresh.assign(admitted=s.fresh["discharged"], discharged=s.fresh["admitted"])
    yield s.one("discharged before admitted", early, "discharged", "order", "proposed")
    place = pd.concat([s.real.iloc[:900], s.fresh.iloc[900:]])
    yield s.one("the first third copied", place, "", *COPIES)
    cut = s.fresh.assign(cost=s.fresh["cost"].clip(upper=s.fresh["cost"].quantile(0.95)))
    yield s.one("high costs cut", cut, "cost", "high", "rest", "mean", "top")
    yield s.one("nobody dies", s.fresh.assign(died="no"), "died", "fixed")
    blank = s.fresh.assign(diagnosis=s.fresh["diagnosis"].where(~s.some(0.2), None))
    yield s.one("diagnoses blank", blank, "diagnosis", "blank", "function", "filter_blank")
    text = s.fresh.assign(admitted=s.fresh["admitted"].dt.strftime("%d/%m/%Y"))
    yield s.one("dates of another form", text, "admitted", "reformed")


def _numbers_and_answers() -> Iterator[Spoiled]:
    s = Spoiler("measures", 560)
    spread = s.real.select_dtypes("number").std() * 0.02
    noise = s.rng.normal(0, 1, (N, 8)) * spread.to_numpy()
    near = s.real.assign(**{f"g{i}": (s.real[f"g{i}"] + noise[:, i]).round(3) for i in range(8)})
    yield s.one("copy with noise of 2 %", near.sample(frac=1, random_state=5), "", *COPIES)
    yield s.one("one column by itself", s.fresh.assign(g3=_mixed(s.rng, s.fresh["g3"])), "g3", "unrelated", "pair")
    flip = s.fresh.assign(g1=(2 * s.fresh["g1"].mean() - s.fresh["g1"]).round(3))
    yield s.one("one column turned", flip, "g1", "pair", "turned", "unrelated")
    apart = pd.DataFrame({n: _mixed(s.rng, s.fresh[n]) for n in s.fresh})
    yield s.one("unrelated columns", apart, "", "relations", "pair", "unrelated")
    s = Spoiler("ballots", 570)
    yield s.one("copy in another order", s.real.sample(frac=1, random_state=6), "", *COPIES)
    names = list(s.fresh)
    other = s.fresh.rename(columns={"q0": "q8", "q8": "q0"})[names]
    yield s.one("two questions exchanged", other, "", "share")
    flip = s.fresh.assign(q2=s.fresh["q2"].map({"yes": "no", "no": "yes"}))
    yield s.one("answers exchanged", flip, "q2", "share", "turned", "pair", "v", "unrelated", "combinations")
    yield s.one("an index", s.fresh.reset_index(names="index"), "index", "further")


def good(count: int = 2) -> Iterator[tuple[str, int, pd.DataFrame, pd.DataFrame]]:
    """Shape, number, real table and fresh sample; the second one as another program may write it."""
    for k, (shape, make) in enumerate(SHAPES.items()):
        for i in range(count):
            if shape == "stations":  # the same days, of which each table has half
                whole = make(np.random.default_rng(700 + i), 2 * N)
                chosen = np.random.default_rng(800 + i).permutation(2 * N) < N
                real, fresh = whole[chosen].reset_index(drop=True), whole[~chosen].reset_index(drop=True)
            else:
                real, fresh = pair(make, 600 + 10 * k + i)
            yield shape, i, real, other_types(fresh) if i else fresh


def other_types(fresh: pd.DataFrame) -> pd.DataFrame:
    """The same table with its columns in another order, categories for words and fractions of 0 for whole numbers."""
    out = fresh[list(reversed(list(fresh)))].copy()
    for name in out:
        if out[name].dtype == object or pd.api.types.is_string_dtype(out[name].dtype):
            out[name] = out[name].astype("category")
        elif out[name].dtype.kind == "i":
            out[name] = out[name].astype(float)
    return out
