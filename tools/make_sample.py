"""Makes the bundled sample tables from a documented model (docs/sample.md): python -m tools.make_sample [FOLDER]."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.importers.maxima import fine_bins
from tools.census98_sample import census98, census98_design, census98_schema
from tools.firecalls_sample import firecalls, firecalls_design, firecalls_schema
from tools.hospital_sample import hospital, hospital_schema
from tools.household_sample import households, households_schema

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDER = Path(__file__).resolve().parents[1] / "dpsyn_core" / "data"
PEOPLE = 20_000
SEED = 1940
NOT_APPLICABLE = 999_998
TOP_WAGE = 5001

# name, share of people, log of wage level, spread of log wages, log pay gap, share of black people, share of owners
CITIES = (
    ("Ashford", 0.24, 0.16, 0.62, 0.42, 0.08, 0.36),
    ("Bellmere", 0.16, 0.05, 0.50, 0.30, 0.03, 0.47),
    ("Carrow", 0.13, -0.08, 0.78, 0.55, 0.21, 0.33),
    ("Dunmore", 0.11, 0.10, 0.45, 0.22, 0.02, 0.52),
    ("Eastvale", 0.09, -0.16, 0.70, 0.38, 0.15, 0.41),
    ("Fairholt", 0.08, 0.22, 0.88, 0.60, 0.05, 0.45),
    ("Glenrock", 0.07, -0.02, 0.55, 0.48, 0.01, 0.58),
    ("Harlow", 0.05, -0.28, 0.60, 0.15, 0.30, 0.30),
    ("Ironton", 0.04, 0.12, 0.40, 0.65, 0.04, 0.49),
    ("Juniper", 0.03, -0.10, 0.95, 0.35, 0.01, 0.62),
)
RACES = ("White", "Black", "American Indian", "Chinese", "Japanese", "Other")
MARITAL = ("Never married", "Married", "Widowed", "Divorced", "Separated")
GRADES = (
    "No schooling", "Grades 1-4", "Grades 5-7", "Grade 8", "High school 1-3",
    "High school 4", "College 1-3", "College 4", "College 5+",
)  # fmt: skip
STATUS = ("Employed", "Unemployed", "Not in labor force", "Under 14")
# occupation, base share of men, of women, log wage effect, grade that suits it, share paid a wage
JOBS = (
    ("Professional", 0.06, 0.13, 0.45, 7, 0.85),
    ("Manager", 0.10, 0.04, 0.50, 6, 0.55),
    ("Clerical", 0.09, 0.26, 0.15, 5, 0.99),
    ("Sales", 0.08, 0.08, 0.10, 5, 0.92),
    ("Crafts", 0.19, 0.02, 0.28, 4, 0.90),
    ("Operative", 0.21, 0.20, 0.05, 3, 0.97),
    ("Private household", 0.01, 0.15, -0.85, 2, 0.99),
    ("Service", 0.08, 0.09, -0.25, 3, 0.96),
    ("Farmer", 0.06, 0.01, -0.60, 3, 0.05),
    ("Laborer", 0.12, 0.02, -0.30, 2, 0.99),
)
NO_JOB = "No occupation"
CLASSES = ("Works for wages", "Self-employed", "Unpaid family worker", "Not applicable")
AGE_POINTS = ((0, 1.0), (15, 1.08), (25, 1.05), (40, 0.85), (55, 0.58), (70, 0.26), (85, 0.05), (99, 0.004))


class Chance:
    """Uniform and normal draws from raw 64-bit words, so that no change of a library changes the sample."""

    def __init__(self, seed: int) -> None:
        self._words = np.random.PCG64(seed)

    def uniform(self, n: int) -> Floats:
        """On [0, 1), 53 bits each."""
        return (self._words.random_raw(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, n: int) -> Floats:
        """Box-Muller."""
        u, v = self.uniform(n), self.uniform(n)
        drawn: Floats = np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)
        return drawn

    def yes(self, probability: NDArray[np.floating[Any]] | float, n: int) -> NDArray[np.bool_]:
        """True with the given probabilities."""
        return self.uniform(n) < probability

    def pick(self, weights: Floats) -> Ints:
        """One column index a row, in proportion to the row's weights (n, k)."""
        cumulative = np.cumsum(weights, axis=1)
        at = self.uniform(len(weights))[:, None] * cumulative[:, -1:]
        chosen: Ints = np.minimum((at >= cumulative).sum(axis=1), weights.shape[1] - 1)
        return chosen

    def one_of(self, weights: list[float] | Floats, n: int) -> Ints:
        """Draws n indices with the same weights (k,)."""
        cumulative = np.cumsum(np.asarray(weights, dtype=np.float64))
        at = np.searchsorted(cumulative / cumulative[-1], self.uniform(n), side="right")
        return np.minimum(at, len(weights) - 1)


def census(n: int = PEOPLE, seed: int = SEED) -> dict[str, NDArray[np.generic]]:
    """The people, one array a column, in the order of the table."""
    chance = Chance(seed)
    city = chance.one_of([c[1] for c in CITIES], n)
    level, spread, gap, black, owners = (np.array([c[i] for c in CITIES])[city] for i in range(2, 7))
    woman = chance.yes(0.505, n)
    ages, heights = zip(*AGE_POINTS, strict=True)
    years = np.interp(np.arange(100), ages, heights)
    age = chance.one_of(years, n)
    others = np.array([0.004, 0.002, 0.003, 0.001])
    races = np.column_stack([1 - black - others.sum(), black, np.tile(others, (n, 1))])
    race = chance.pick(races)
    child = age < 14

    marital = _marital(chance, age, woman)
    grade = _grade(chance, age, race, level)
    status = _status(chance, age, woman, marital, race)
    has_job = (status == 0) | (status == 1)
    job = _job(chance, woman, grade, race, has_job)
    worker = _class(chance, job, has_job, age)
    weeks = _weeks(chance, status, has_job)
    hours = np.where(status == 0, _hours(chance, job, n), 0)
    wage = _wage(chance, job, grade, age, woman, race, weeks, worker, level, spread, gap)
    wage = np.where(child, NOT_APPLICABLE, wage)
    size = _household(chance, age, marital)
    owns = chance.yes(np.clip(owners + 0.12 * (age > 45) - 0.10 * (size == 1) - 0.12 * (race != 0), 0.05, 0.9), n)
    in_group = chance.yes(0.02 + 0.05 * (age > 75), n)
    return {
        "CITY": np.array([c[0] for c in CITIES])[city],
        "SEX": np.array(["Male", "Female"])[woman.astype(int)],
        "AGE": age,
        "RACE": np.array(RACES)[race],
        "MARST": np.array(MARITAL)[marital],
        "EDUC": np.array(GRADES)[grade],
        "EMPSTAT": np.array(STATUS)[status],
        "OCC": np.array([*(j[0] for j in JOBS), NO_JOB])[job],
        "CLASSWKR": np.array(CLASSES)[worker],
        "WKSWORK": weeks,
        "HRSWORK": hours,
        "INCWAGE": wage,
        "OWNERSHP": np.where(in_group, "Group quarters", np.where(owns, "Owned", "Rented")),
        "FAMSIZE": np.where(in_group, 1, size),
    }


def _marital(chance: Chance, age: Ints, woman: NDArray[np.bool_]) -> Ints:
    first = np.where(woman, 21.5, 24.5)
    ever = np.where(age < 15, 0.0, 0.90 / (1 + np.exp(-(age - first) / 3.2)))
    widowed = np.clip((age - 40) / 60, 0, 0.8) * np.where(woman, 1.0, 0.45)
    weights = np.column_stack([1 - ever, ever * (1 - widowed) * 0.94, ever * widowed, ever * 0.025, ever * 0.03])
    return chance.pick(weights)


def _grade(chance: Chance, age: Ints, race: Ints, level: Floats) -> Ints:
    """Schooling: a latent score that rises for the younger, falls for those kept out of schools, bounded by age."""
    n = len(age)
    score = 3.9 - 0.028 * (age - 30) - 1.1 * (race == 1) - 0.8 * (race == 2) + 0.8 * level + 1.75 * chance.normal(n)
    reachable = np.select(
        [age < 6, age < 10, age < 13, age < 15, age < 17, age < 19, age < 22, age < 24],
        [0, 1, 2, 3, 4, 5, 6, 7],
        default=8,
    )
    score = np.where((age >= 6) & (age < 15), reachable - chance.yes(0.15, n), score)
    return np.clip(np.floor(score), 0, reachable).astype(np.int64)


def _status(chance: Chance, age: Ints, woman: NDArray[np.bool_], marital: Ints, race: Ints) -> Ints:
    men = np.interp(age, [14, 18, 22, 55, 65, 75, 90], [0.10, 0.55, 0.92, 0.93, 0.65, 0.22, 0.03])
    women = np.interp(age, [14, 18, 22, 30, 55, 65, 80], [0.06, 0.40, 0.55, 0.45, 0.30, 0.14, 0.02])
    women = women * np.where(marital == 1, 0.38, 1.0) * np.where(race == 1, 1.35, 1.0)
    active = np.clip(np.where(woman, women, men), 0, 0.97)
    idle = np.interp(age, [14, 20, 30, 55, 75], [0.35, 0.24, 0.12, 0.12, 0.16]) + 0.05 * (race == 1)
    weights = np.column_stack([active * (1 - idle), active * idle, 1 - active])
    return np.where(age < 14, 3, chance.pick(weights))


def _job(chance: Chance, woman: NDArray[np.bool_], grade: Ints, race: Ints, has_job: NDArray[np.bool_]) -> Ints:
    base = np.where(woman[:, None], np.array([j[2] for j in JOBS]), np.array([j[1] for j in JOBS]))
    suits = np.exp(-((grade[:, None] - np.array([j[4] for j in JOBS])) ** 2) / 5.0)
    barred = np.ones((len(grade), len(JOBS)))
    barred[race == 1] = [0.4, 0.25, 0.15, 0.2, 0.35, 0.7, 4.0, 2.2, 0.8, 2.0]
    return np.where(has_job, chance.pick(base * suits * barred), len(JOBS))


def _class(chance: Chance, job: Ints, has_job: NDArray[np.bool_], age: Ints) -> Ints:
    waged = np.append([j[5] for j in JOBS], 0.0)[job]
    family = np.where((job == 8) & (age < 25), 0.5, 0.01) * (1 - waged)
    return np.where(has_job, chance.pick(np.column_stack([waged, 1 - waged - family, family])), 3)


def _weeks(chance: Chance, status: Ints, has_job: NDArray[np.bool_]) -> Ints:
    n = len(status)
    full = chance.yes(np.where(status == 0, 0.66, 0.06), n)
    part = 1 + np.floor(51 * np.sqrt(chance.uniform(n)) * np.where(status == 0, 1.0, 0.75)).astype(np.int64)
    worked = chance.yes(np.where(status == 0, 0.985, 0.62), n)
    return np.where(has_job & worked, np.where(full, 52, np.minimum(part, 51)), 0)


def _hours(chance: Chance, job: Ints, n: int) -> Ints:
    usual = np.append([40, 48, 40, 48, 40, 40, 50, 48, 60, 40], 0)[job]
    heaped = chance.yes(0.62, n)
    loose = np.rint(usual + 9.0 * chance.normal(n) / 2).astype(np.int64) * 1
    return np.clip(np.where(heaped, usual, loose), 1, 98)


def _wage(
    chance: Chance, job: Ints, grade: Ints, age: Ints, woman: NDArray[np.bool_], race: Ints, weeks: Ints,
    worker: Ints, level: Floats, spread: Floats, gap: Floats,
) -> Ints:  # fmt: skip
    """Log-normal yearly wages: city, occupation, schooling, age, sex and race move the middle, the city its spread."""
    n = len(job)
    effect = np.append([j[3] for j in JOBS], 0.0)[job]
    middle = 6.95 + level + effect + 0.07 * (grade - 4) - 0.00055 * (age - 44.0) ** 2
    middle = middle - gap * woman - 0.30 * (race == 1) - 0.15 * (race > 1)
    yearly = np.exp(middle + spread * chance.normal(n)) * weeks / 52
    to = np.where(chance.yes(0.55, n), 100, np.where(chance.yes(0.6, n), 20, 1))
    wage = np.maximum(np.rint(yearly / to) * to, 1)
    wage = np.where(wage > TOP_WAGE - 1, TOP_WAGE, wage)
    return np.where((worker == 0) & (weeks > 0), wage, 0).astype(np.int64)


def _household(chance: Chance, age: Ints, marital: Ints) -> Ints:
    n = len(age)
    mean = np.select([age < 18, marital == 1, age > 60], [4.2, 2.6, 1.6], default=2.4)
    extra = np.floor(-np.log1p(-chance.uniform(n)) * mean * 0.75).astype(np.int64)
    size: Ints = np.clip(np.where(age < 18, 3, np.where(marital == 1, 2, 1)) + extra, 1, 12)
    return size


def census_schema() -> dict[str, Any]:
    """The public description of the people, as the schema file has it."""

    def values(name: str, listed: tuple[str, ...], *, ordered: bool = False, text: str = "") -> dict[str, object]:
        out = {"name": name, "kind": "categorical", "values": list(listed)}
        return out | {"ordered": ordered, "other": False, "missing": False, "source": "public", "description": text}

    def number(name: str, low: int, high: int, bins: dict[str, object], text: str, **more: object) -> dict[str, object]:
        out = {"name": name, "kind": "numeric", "dtype": "integer", "min": low, "max": high, "bins": bins}
        return out | {"missing": False, "source": "public", "description": text} | more

    wages = [0, 1, *range(100, 2000, 100), *range(2000, 4000, 250), 4000, 4500, TOP_WAGE]
    return {
        "version": 1,
        "name": "census1940",
        "unit": {"neighbours": "add-remove", "identifier": None, "max_records": 1},
        "n_records": None,
        "attributes": [
            values("CITY", tuple(c[0] for c in CITIES), text="City (invented)"),
            values("SEX", ("Male", "Female"), text="Sex"),
            number("AGE", 0, 99, {"count": 20}, "Age in years"),
            values("RACE", RACES, text="Race, in the census's words"),
            values("MARST", MARITAL, text="Marital status"),
            values("EDUC", GRADES, ordered=True, text="Highest grade of school"),
            values("EMPSTAT", STATUS, text="Employment status"),
            values("OCC", (*(j[0] for j in JOBS), NO_JOB), text="Occupation group"),
            values("CLASSWKR", CLASSES, text="Class of worker"),
            number("WKSWORK", 0, 52, {"edges": [0, 1, 14, 27, 40, 48, 50, 52]}, "Weeks worked last year"),
            number("HRSWORK", 0, 98, {"edges": [0, 1, 15, 30, 35, 40, 41, 48, 49, 60, 98]}, "Hours worked last week"),
            number(
                "INCWAGE", 0, TOP_WAGE, {"edges": wages}, "Yearly wage in dollars; 999998: not applicable (under 14)",
                special_values=[NOT_APPLICABLE],
            ),
            values("OWNERSHP", ("Owned", "Rented", "Group quarters"), text="Home owned or rented"),
            number("FAMSIZE", 1, 12, {"count": 12}, "Persons in the household"),
        ],
    }  # fmt: skip


# codes of the same people in the style of the public-use files: column, largest code, codes of its words in order
CODES: dict[str, tuple[int, tuple[int, ...]]] = {
    "CITY": (9999, (210, 570, 890, 1230, 1710, 2290, 2990, 3610, 4410, 6970)),
    "SEX": (2, (1, 2)),
    "RACE": (6, (1, 2, 3, 4, 5, 6)),
    "MARST": (6, (6, 1, 5, 4, 3)),
    "EDUC": (11, (0, 1, 2, 3, 4, 6, 7, 10, 11)),
    "EMPSTAT": (3, (1, 2, 3, 0)),
    "OCC": (998, (32, 156, 236, 296, 348, 466, 510, 595, 98, 988, 998)),
    "CLASSWKR": (9, (2, 1, 3, 0)),
    "OWNERSHP": (2, (1, 2, 0)),
}
# columns of numbers: largest code, listed numbers, codes explained in prose
NUMBERS: dict[str, tuple[int, range, tuple[str, ...]]] = {
    "AGE": (108, range(100), ()),
    "WKSWORK": (52, range(0), ()),
    "HRSWORK": (98, range(0), ()),
    "INCWAGE": (
        999_998,
        range(0),
        (f"{TOP_WAGE} = {TOP_WAGE} dollars or more (top code)", f"{NOT_APPLICABLE} = Not applicable (under 14)"),
    ),
    "FAMSIZE": (21, range(1, 13), ()),
}


def census_specification() -> dict[str, object]:
    """The people's columns as the challenge's specification would give them: every one an enumeration 0..maxval."""
    names = [str(a["name"]) for a in census_schema()["attributes"]]
    tops = {n: top for n, (top, _) in CODES.items()} | {n: top for n, (top, _, _) in NUMBERS.items()}
    return {n: {"type": "enum", "maxval": tops[n]} for n in names}


def census_codebook() -> str:
    """What the codes mean, as a codebook.cbk: one section a column, words behind codes, prose for numbers."""
    out = ["Description: 20,000 simulated people of 1940; cities are invented", "File Type:  rectangular", ""]
    for attribute in census_schema()["attributes"]:
        name = attribute["name"]
        out.append(f"{name}\t\t{attribute['description'].split(';')[0]}")
        top, listed, prose = NUMBERS.get(name, (0, range(0), ()))
        if name in CODES:
            top, codes = CODES[name]
            listed_words = sorted(zip(codes, attribute["values"], strict=True))
        else:
            listed_words = [(i, str(i)) for i in listed]
        out += [f"{code:0{len(str(top))}d}\t\t{words}" for code, words in listed_words]
        out += [f" {line}" for line in prose]
        out.append("")
    return "\n".join(out)


# what goes with what in any census, said without looking: for dpsyn-2018 on the coded people, by budget
ALWAYS: tuple[tuple[float, str], ...] = (
    (4, "CITY SEX INCWAGE"), (1, "AGE EMPSTAT"), (1, "AGE MARST"), (1, "AGE EDUC"), (1, "SEX OCC"),
    (1, "EMPSTAT OCC"), (1, "OCC CLASSWKR"), (1, "EMPSTAT WKSWORK"), (1, "OCC HRSWORK"), (1, "CITY RACE"),
    (1, "MARST FAMSIZE"), (1, "OCC INCWAGE"), (1, "WKSWORK INCWAGE"), (1, "CITY OWNERSHP"),
)  # fmt: skip
OFTEN: tuple[tuple[float, str], ...] = (
    (4, "CITY SEX INCWAGE"), (1, "SEX AGE MARST"), (1, "SEX AGE EMPSTAT"), (1, "AGE EDUC"), (1, "SEX EMPSTAT OCC"),
    (1, "EDUC OCC"), (1, "RACE OCC"), (1, "EMPSTAT OCC CLASSWKR"), (1, "EMPSTAT WKSWORK"), (1, "OCC HRSWORK"),
    (1, "CITY RACE"), (1, "RACE OWNERSHP"), (1, "AGE FAMSIZE"), (1, "MARST FAMSIZE"), (1, "OWNERSHP FAMSIZE"),
    (1, "AGE OWNERSHP"), (1, "OCC INCWAGE"), (1, "WKSWORK INCWAGE"), (1, "CLASSWKR INCWAGE"), (1, "AGE INCWAGE"),
    (1, "EDUC INCWAGE"), (1, "RACE EDUC"), (1, "CITY EDUC"), (1, "EMPSTAT HRSWORK"), (1, "CITY OWNERSHP"),
)  # fmt: skip
AGES_COARSE, AGES_FINE = [14, 18, 22, 30, 40, 50, 65, 75], [6, 10, 14, 16, 18, 20, 22, 25, *range(30, 85, 5)]
WAGES_COARSE = [1, 200, 400, 600, 800, 1000, 1300, 1600, 2000, 2500, 3500]
WAGES_FINE = [1, *range(100, 2000, 100), *range(2000, 4000, 250), 4000, 4500]


def census_design() -> dict[str, object]:
    """The design that ships with the coded people: coarser bins and fewer sets below epsilon 1."""

    def sets(listed: tuple[tuple[float, str], ...]) -> list[object]:
        return [n.split() if w == 1 else {"attributes": n.split(), "weight": w} for w, n in listed]

    def bins(ages: list[int], wages: list[int]) -> list[dict[str, object]]:
        starts = fine_bins(0, TOP_WAGE - 1)["edges"]  # codes count the schema's bins, not dollars
        return [
            {"attribute": "AGE", "edges": ages},
            {"attribute": "WKSWORK", "edges": [1, 14, 27, 40, 48, 50, 52]},
            {"attribute": "HRSWORK", "edges": [1, 15, 30, 35, 40, 41, 48, 49, 60]},
            {"attribute": "INCWAGE", "edges": [int(np.searchsorted(starts, w)) for w in wages]},
        ]

    return {
        "bins": bins(AGES_COARSE, WAGES_COARSE),
        "marginals": [{"epsilon": 0, "sets": sets(ALWAYS)}],
        "budgets": [{"epsilon": 1, "bins": bins(AGES_FINE, WAGES_FINE), "sets": sets(OFTEN)}],
    }


ITEMS = (
    "bread", "milk", "butter", "eggs", "cheese", "apples", "bananas", "tomatoes", "lettuce", "onions", "potatoes",
    "rice", "pasta", "sauce", "beans", "chicken", "fish", "coffee", "tea", "sugar", "flour", "chocolate", "crisps",
    "beer", "wine", "soap", "nappies", "pet food",
)  # fmt: skip
TASTES = {  # latent kinds of baskets: share, and what they raise
    "breakfast": (0.28, ("bread", "milk", "butter", "eggs", "coffee")),
    "pasta night": (0.20, ("pasta", "sauce", "tomatoes", "cheese", "onions", "wine")),
    "salad": (0.16, ("lettuce", "tomatoes", "cheese", "apples", "fish")),
    "baking": (0.12, ("flour", "sugar", "eggs", "butter", "chocolate")),
    "evening": (0.14, ("beer", "crisps", "chocolate")),
    "family": (0.10, ("nappies", "milk", "bananas", "soap", "rice", "chicken")),
}
CUSTOMERS = 3000
MOST_BASKETS = 6


def baskets(customers: int = CUSTOMERS, seed: int = SEED + 1) -> dict[str, NDArray[np.generic]]:
    """Shopping baskets: each customer has a favourite taste and 1 to 6 baskets of items bought (1) or not (0)."""
    chance = Chance(seed)
    names = list(TASTES)
    favourite = chance.one_of([TASTES[t][0] for t in names], customers)
    visits = 1 + np.minimum(np.floor(-np.log1p(-chance.uniform(customers)) * 1.6), MOST_BASKETS - 1).astype(np.int64)
    customer = np.repeat(np.arange(customers), visits)
    n = len(customer)
    strange = chance.one_of([TASTES[t][0] for t in names], n)
    taste = np.where(chance.yes(0.7, n), favourite[customer], strange)
    usual = 0.04 + 0.10 * (np.arange(len(ITEMS)) % 5 == 0)
    raised = np.array([[0.62 if item in TASTES[t][1] else 0.0 for item in ITEMS] for t in names])
    order = np.argsort(chance.uniform(n), kind="stable")
    bought = {
        item: chance.yes(np.maximum(usual[i], raised[taste, i]), n).astype(np.int64)[order]
        for i, item in enumerate(ITEMS)
    }
    return {"customer": np.char.add("c", (100_000 + customer[order]).astype(str)), **bought}


def baskets_schema() -> dict[str, Any]:
    """The public description of the baskets: at most 3 baskets a customer are kept."""
    items = [
        {"name": i, "kind": "categorical", "values": [0, 1], "ordered": False, "other": False, "missing": False,
         "source": "public"}
        for i in ITEMS
    ]  # fmt: skip
    return {
        "version": 1,
        "name": "baskets",
        "unit": {"neighbours": "add-remove", "identifier": "customer", "max_records": 3, "source": "public"},
        "n_records": None,
        "attributes": [{"name": "customer", "kind": "identifier", "source": "public"}, *items],
    }


def to_csv(columns: dict[str, NDArray[np.generic]]) -> bytes:
    """The columns as CSV; no cell of the samples needs quotation marks."""
    text = [c.astype(str) for c in columns.values()]
    lines = text[0]
    for column in text[1:]:
        lines = np.char.add(np.char.add(lines, ","), column)
    return ("\n".join([",".join(columns), *lines.tolist()]) + "\n").encode()


def compressed(data: bytes) -> bytes:
    """Gzip without a time stamp or a name."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def main(folder: Path) -> None:
    """Writes the samples and their schemas."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table, schema in (
        ("sample", census(), census_schema()),
        ("baskets", baskets(), baskets_schema()),
        ("hospital", hospital(Chance(SEED + 2)), hospital_schema()),
        ("firecalls", firecalls(Chance(SEED + 4)), firecalls_schema()),
        ("census98", census98(Chance(SEED + 5), census()), census98_schema()),
    ):
        (folder / f"{name}.csv.gz").write_bytes(compressed(to_csv(table)))
        (folder / f"{name}.schema.json").write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
    for name, table in zip(("households", "persons"), households(Chance(SEED + 3)), strict=True):
        (folder / f"{name}.csv.gz").write_bytes(compressed(to_csv(table)))
    (folder / "households.schema.json").write_text(json.dumps(households_schema(), indent=2) + "\n", encoding="utf-8")
    (folder / "sample.specification.json").write_text(json.dumps(census_specification(), indent=1) + "\n", "utf-8")
    for name, design in (
        ("sample", census_design()), ("firecalls", firecalls_design()), ("census98", census98_design())
    ):  # fmt: skip
        (folder / f"{name}.design.json").write_text(json.dumps(design) + "\n", "utf-8")
    (folder / "sample.codebook.cbk").write_text(census_codebook(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
