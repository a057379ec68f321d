"""Five more shapes, spoiled in ways that no other set has: employees, tickets, visits to clinics, invoices, pupils."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.spoiled_tables import COPIES, Spoiled, pair

N = 3000
JOBS = {
    "clerk": "office",
    "accountant": "office",
    "welder": "works",
    "fitter": "works",
    "driver": "transport",
    "planner": "transport",
    "buyer": "purchase",
}
SITES = {f"{10 + i}": name for i, name in enumerate(("Ulm", "Jena", "Kiel", "Bonn", "Celle", "Gera", "Hof", "Trier"))}
CURRENCIES = {"NO": "NOK", "SE": "SEK", "DK": "DKK", "FI": "EUR", "DE": "EUR"}
VAT = {"books": 7, "food": 7, "tools": 19, "services": 19, "exports": 0}


def employees(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Employees: a job belongs to one department, salaries rise with grade and age, few have a bonus or leave."""
    job = rng.choice(list(JOBS), n, p=np.array([6, 2, 5, 4, 4, 1, 1]) / 23)
    born = rng.integers(1959, 2005, n)
    grade = np.clip(np.round(2 + (2024 - born) / 14 + rng.normal(0, 1.2, n)), 1, 8).astype(int)
    salary = np.exp(10.2 + 0.12 * grade + 0.1 * np.isin(job, ["planner", "buyer"]) + rng.normal(0, 0.12, n))
    bonus = np.where(rng.random(n) < 0.1 + 0.05 * (grade > 5), np.round(salary * rng.uniform(0.02, 0.15, n), -1), 0)
    left = rng.random(n) < np.where(grade < 3, 0.3, 0.1)
    return pd.DataFrame(
        {
            "job": job,
            "department": [JOBS[j] for j in job],
            "born": born,
            "grade": grade,
            "salary": np.round(salary).astype(int),
            "bonus": bonus.astype(int),
            "city": rng.choice(["Stavanger", "Trondheim", "Drammen", "Moss"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "left": np.where(left, "yes", "no"),
        }
    )


def tickets(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Tickets of a help desk: opened in office hours of weekdays, slower year by year and in the afternoon."""
    day = rng.integers(0, 3 * 365, 3 * n)
    days = np.datetime64("2021-01-01") + day
    days = days[np.is_busday(days)][:n]
    hour = rng.choice(np.arange(8, 18), n, p=np.array([6, 9, 11, 10, 5, 7, 9, 8, 5, 3]) / 73)
    opened = days.astype("datetime64[s]") + (hour * 3600 + rng.integers(0, 3600, n)).astype("timedelta64[s]")
    years = (days - np.datetime64("2021-01-01")).astype(int) / 365
    urgent = rng.choice(["low", "normal", "high"], n, p=[0.3, 0.55, 0.15])
    center = 2.6 + 0.35 * years + 0.09 * (hour - 8) - 0.5 * (urgent == "high")
    minutes = np.round(np.exp(center + rng.normal(0, 0.6, n))).clip(1).astype(int)
    channel = rng.choice(["mail", "phone", "web"], n, p=[0.5, 0.3, 0.2])
    content = np.clip(np.round(5.4 - 0.35 * np.log(minutes) + rng.normal(0, 0.8, n)), 1, 5)
    silent = rng.random(n) < np.where(channel == "phone", 0.85, 0.1)
    return pd.DataFrame(
        {
            "opened": opened,
            "channel": channel,
            "priority": urgent,
            "minutes": minutes,
            "closed": opened + (minutes * 60).astype("timedelta64[s]"),
            "satisfaction": pd.array(np.where(silent, np.nan, content), dtype="Int64"),
            "reopened": np.where(rng.random(n) < 0.88, 0, 1 + rng.poisson(0.4, n)),
        }
    )


def clinics(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Visits to clinics: a code is one site, doses follow weight, a complication is rare."""
    code = rng.choice(list(SITES), n, p=np.array([9, 7, 6, 5, 4, 3, 2, 2]) / 38)
    sex = rng.choice(["f", "m"], n)
    height = np.round(rng.normal(np.where(sex == "m", 179, 166), 7, n)).astype(int)
    weight = np.round(rng.normal(0.9 * (height - 100) + 4, 9, n), 1).clip(38)
    dose = np.round(1.5 * weight + rng.normal(0, 8, n), 0).clip(20).astype(int)
    risk = rng.random(n) < np.where(weight > 90, 0.04, 0.008)
    return pd.DataFrame(
        {
            "site_code": code,
            "site": [SITES[c] for c in code],
            "visited": np.datetime64("2022-03-01") + rng.integers(0, 500, n),
            "sex": sex,
            "height": height,
            "weight": weight,
            "dose_mg": dose,
            "complication": np.where(risk, "yes", "no"),
        }
    )


def invoices(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Invoices: tax follows from goods, gross is net and tax, due after the issue, a date of payment where paid."""
    goods = rng.choice(list(VAT), n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    country = rng.choice(list(CURRENCIES), n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    season = np.array([6, 5, 6, 6, 7, 7, 5, 5, 8, 10, 15, 20]) / 100
    month = rng.choice(12, n, p=season)
    issued = (np.datetime64("2023-01") + month).astype("datetime64[D]") + rng.integers(0, 28, n)
    net = np.round(np.exp(rng.normal(5.2 + 0.5 * (month > 9), 0.8, n)))
    percent = np.array([VAT[g] for g in goods])
    tax = np.round(net * percent / 100, 2)
    due = issued + rng.choice([14, 30], n, p=[0.6, 0.4])
    paid = rng.random(n) < 0.85
    on = pd.Series(due + np.round(rng.normal(-3, 5, n)).astype(int)).where(paid)
    return pd.DataFrame(
        {
            "country": country,
            "currency": [CURRENCIES[c] for c in country],
            "goods": goods,
            "vat_percent": percent,
            "net": net,
            "vat": tax,
            "gross": np.round(net + tax, 2),
            "issued": issued,
            "due": due,
            "paid": np.where(paid, "yes", "no"),
            "paid_on": on,
        }
    )


def scores(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    """Pupils of forty schools, which explain a fifth of the variance of what they know."""
    school = rng.integers(0, 40, n)
    of_school = np.random.default_rng(44).normal(0, 20, 40)  # the same schools in each sample
    home = rng.normal(0, 1, n) + of_school[school] / 60
    known = np.round(500 + of_school[school] + 14 * home + rng.normal(0, 36, n)).astype(int)
    return pd.DataFrame(
        {
            "school": [f"S{s:02d}" for s in school],
            "books_at_home": np.clip(np.round(60 + 30 * home + rng.normal(0, 15, n)), 0, 200).astype(int),
            "sex": rng.choice(["girl", "boy"], n),
            "language": rng.choice(["same", "other"], n, p=[0.8, 0.2]),
            "class_level": rng.choice([8, 9, 10], n),
            "score": known,
            "passed": np.where(known + rng.normal(0, 25, n) > 470, "yes", "no"),
        }
    )


SHAPES: dict[str, Callable[..., pd.DataFrame]] = {
    "employees": employees,
    "tickets": tickets,
    "clinics": clinics,
    "invoices": invoices,
    "scores": scores,
}
MOVED = ("mean", "top", "bottom", "outside", "high", "rest")  # a number is larger or smaller
UNTIED = ("pair", "ratio", "v", "unrelated", "turned", "weaker", "group", "gaps")  # a column no longer goes with others


def spoiled() -> Iterator[Spoiled]:
    """All of them."""
    yield from _spoiled_employees()
    yield from _spoiled_tickets()
    yield from _spoiled_clinics()
    yield from _spoiled_invoices()
    yield from _spoiled_scores()


def _spoiled_employees() -> Iterator[Spoiled]:
    rng = np.random.default_rng(1400)
    real, fresh = pair(employees, 1400)
    half = rng.random(len(fresh)) < 0.5

    def of(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="employees", name=name, real=real, made=made, first=first, column=column)

    monthly = fresh["salary"].where(half, fresh["salary"] // 12)
    yield of("half of the salaries by month", fresh.assign(salary=monthly), "salary", *MOVED, *UNTIED)
    renamed = fresh["department"].replace("works", "workshop")
    yield of("a department renamed", fresh.assign(department=renamed), "department", "share", "blanked", "function")
    swapped = fresh.assign(salary=fresh["bonus"], bonus=fresh["salary"])
    yield of("salary and bonus exchanged", swapped, "", "zeros", *MOVED)
    by_fives = (fresh["salary"] / 5000).round().astype(int) * 5000
    yield of("salaries by five thousand", fresh.assign(salary=by_fives), "salary", "coarser")
    yield of("cities cut to four letters", fresh.assign(city=fresh["city"].str[:4]), "city", "share", "blanked")
    other = fresh["left"].map({"yes": "no", "no": "yes"})
    yield of("leavers and stayers exchanged", fresh.assign(left=other), "left", "share", "turned")
    leavers = fresh["left"] == "yes"
    even = pd.concat([fresh[leavers].sample(N // 2, replace=True, random_state=1), fresh[~leavers][: N // 2]])
    yield of("as many leavers as stayers", even, "left", "share")
    thrice = pd.concat([fresh[: N // 3]] * 3)
    yield of("each record three times", thrice, "", "few_records", "key", "repeated", "coarser")


def _spoiled_tickets() -> Iterator[Spoiled]:
    rng = np.random.default_rng(1410)
    real, fresh = pair(tickets, 1410)

    def of(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="tickets", name=name, real=real, made=made, first=first, column=column)

    later = pd.Timedelta(hours=9)
    zone = fresh.assign(opened=fresh["opened"] + later, closed=fresh["closed"] + later)
    yield of("times of another zone", zone, "", "cycle_hour", "course_hour", "times_hour", "day", "share")
    moved = pd.to_timedelta(rng.integers(0, 7, N), unit="D")
    weekend = fresh.assign(opened=fresh["opened"] + moved, closed=fresh["closed"] + moved)
    yield of("tickets at weekends", weekend, "", "cycle_weekday", "course_weekday", "weekdays", "day")
    filled = fresh["satisfaction"].fillna(int(fresh["satisfaction"].mean().round()))
    yield of("missing answers filled with the mean", fresh.assign(satisfaction=filled), "satisfaction", "blank")
    known = fresh["satisfaction"].dropna().sample(N, replace=True, random_state=2).to_numpy()
    anywhere = pd.Series(known).mask(pd.Series(rng.random(N) < fresh["satisfaction"].isna().mean()))
    yield of(
        "answers that lack anywhere",
        fresh.assign(satisfaction=anywhere.to_numpy()).astype({"satisfaction": "Int64"}),
        "satisfaction",
        "filter_blank",
        "blank_by",
        *UNTIED,
    )
    whole = pd.Timestamp("2024-01-01") - pd.Timestamp("2021-01-01")
    back = pd.Timestamp("2021-01-01") + (whole - (fresh["opened"].dt.normalize() - pd.Timestamp("2021-01-01")))
    back = back + (fresh["opened"] - fresh["opened"].dt.normalize())
    turned = fresh.assign(opened=back, closed=back + (fresh["closed"] - fresh["opened"]))
    yield of("faster from year to year", turned, "minutes", "pair", "ratio", "turned", "group")
    cut = fresh["minutes"].clip(upper=int(fresh["minutes"].quantile(0.93)))
    yield of("long tickets cut", fresh.assign(minutes=cut), "minutes", "high", "top", "between", "product")
    alone = fresh.assign(**{name: np.sort(fresh[name].to_numpy()) for name in ("minutes", "reopened", "priority")})
    yield of("columns sorted one by one", alone, "", "between", "relations", *UNTIED)


def _spoiled_clinics() -> Iterator[Spoiled]:
    rng = np.random.default_rng(1420)
    real, fresh = pair(clinics, 1420)

    def of(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="clinics", name=name, real=real, made=made, first=first, column=column)

    yield of("a site that is gone", fresh[fresh["site"] != "Kiel"], "", "share")
    loud = (fresh["weight"] + rng.normal(0, 25, N)).round(1)
    yield of("noise on weights", fresh.assign(weight=loud), "weight", *MOVED, *UNTIED)
    names = fresh["site"].map(dict(zip(SITES.values(), np.roll(list(SITES.values()), 1), strict=True)))
    yield of("sites under the next code", fresh.assign(site=names), "", "function", "combinations")
    often = fresh["complication"].where(rng.random(N) > 0.07, "yes")
    yield of("complications five times as often", fresh.assign(complication=often), "complication", "share")
    near = real[: N // 2].copy()
    near["weight"] = (near["weight"] + rng.normal(0, 0.3, len(near))).round(1)
    near["visited"] = near["visited"] + pd.to_timedelta(rng.integers(-1, 2, len(near)), unit="D")
    near["dose_mg"] += rng.integers(-1, 2, len(near))
    copied = pd.concat([near, fresh[N // 2 :]]).sample(frac=1, random_state=3)
    yield of("half a copy with noise", copied, "", *COPIES)
    pounds = (fresh["weight"] / 0.4536).round(1)
    yield of("weights in pounds", fresh.assign(weight=pounds), "weight", *MOVED)
    yield of("doses of the other patients", fresh.assign(dose_mg=rng.permutation(fresh["dose_mg"])), "dose_mg", *UNTIED)


def _spoiled_invoices() -> Iterator[Spoiled]:
    rng = np.random.default_rng(1430)
    real, fresh = pair(invoices, 1430)
    tenth = rng.random(len(fresh)) < 0.1

    def of(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="invoices", name=name, real=real, made=made, first=first, column=column)

    off = (fresh["gross"] * rng.uniform(0.98, 1.02, N)).round(2)
    yield of("totals a little off", fresh.assign(gross=off), "gross", "sum", "less")
    comma = fresh.assign(**{name: fresh[name].where(~tenth, fresh[name] * 10) for name in ("net", "vat", "gross")})
    yield of("a comma lost in every tenth", comma, "", *MOVED)
    wrong = fresh["currency"].where(rng.random(N) > 0.15, "EUR")
    yield of("currencies of other countries", fresh.assign(currency=wrong), "currency", "function")
    any_day = pd.Series(np.datetime64("2023-01-01") + rng.integers(0, 365, N))
    flat = fresh.assign(
        issued=any_day,
        due=any_day + (fresh["due"] - fresh["issued"]),
        paid_on=any_day + (fresh["paid_on"] - fresh["issued"]),
    )
    yield of("seasons lost", flat, "", "cycle_month", "course_month", "date", "day", *UNTIED)

    def exchanged(x: pd.Series) -> pd.Series:
        return pd.to_datetime(
            [f"{d.year}-{d.day:02d}-{d.month:02d}" if d.day <= 12 else d.strftime("%Y-%m-%d") for d in x]
        ).to_series(index=x.index)

    yield of(
        "days and months exchanged", fresh.assign(issued=exchanged(fresh["issued"])), "issued", "order", "proposed"
    )
    filled = fresh["paid_on"].fillna(fresh["due"])
    yield of("payments of the unpaid", fresh.assign(paid_on=filled), "paid_on", "filter_blank", "blank")
    minus = fresh.assign(**{name: fresh[name].where(~tenth, -fresh[name]) for name in ("net", "vat", "gross")})
    yield of("amounts below zero", minus, "", "outside", "bottom")


def _spoiled_scores() -> Iterator[Spoiled]:
    rng = np.random.default_rng(1440)
    real, fresh = pair(scores, 1440)

    def of(name: str, made: pd.DataFrame, column: str, *first: str) -> Spoiled:
        return Spoiled(shape="scores", name=name, real=real, made=made, first=first, column=column)

    anywhere = rng.permutation(fresh["school"])
    yield of("pupils of other schools", fresh.assign(school=anywhere), "school", "group_variance", "ratio", "unrelated")
    means = fresh.groupby("school")["score"].transform("mean").round().astype(int)
    yield of(
        "each pupil at the mean of the school", fresh.assign(score=means), "score", "more_variance", *MOVED, *UNTIED
    )
    shrunk = (fresh["score"].mean() + (fresh["score"] - fresh["score"].mean()) / 2).round().astype(int)
    yield of("scores nearer to their mean", fresh.assign(score=shrunk), "score", "top", "bottom", "stretch", *UNTIED)
    tens = (fresh["score"] / 20).round().astype(int) * 20
    yield of("scores by twenty", fresh.assign(score=tens), "score", "coarser")
    gaps = fresh["score"].where(fresh["school"] >= "S20", fresh["score"] + 60)
    yield of("half of the schools better", fresh.assign(score=gaps), "score", "more_variance", *MOVED, *UNTIED)


def good(count: int = 3) -> Iterator[tuple[str, int, pd.DataFrame, pd.DataFrame]]:
    """Shape, number, real table and fresh sample: the second in another order of rows and columns, the third longer."""
    for k, (shape, make) in enumerate(SHAPES.items()):
        for i in range(count):
            real, fresh = pair(make, 1460 + 10 * k + i)
            if i == 1:
                fresh = fresh.sample(frac=1, random_state=i)[list(reversed(fresh.columns))]
            if i == 2:
                fresh = pd.concat([fresh, make(np.random.default_rng(1490 + k), N // 3)])
            yield shape, i, real, fresh
