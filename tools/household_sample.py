"""The bundled households and their persons, a documented model (docs/reference/sample.md) of two linked tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.hospital_sample import Draws

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
HOUSEHOLDS = 20_000
MOST = 8  # persons of a household
# name, share of households, log of income, share of renters
REGIONS = (
    ("North", 0.28, 0.05, 0.38),
    ("East", 0.17, -0.12, 0.46),
    ("South", 0.24, 0.10, 0.34),
    ("West", 0.19, 0.02, 0.41),
    ("Capital", 0.12, 0.28, 0.68),
)
TENURE = ("Owned", "Rented", "Rent free")
ROLES = ("Head", "Spouse", "Child", "Parent", "Other")
HEAD, SPOUSE, CHILD, PARENT, OTHER = range(5)
EDUCATION = ("Under 15", "Primary", "Lower secondary", "Upper secondary", "Bachelor", "Master or more")
WORK = ("Under 15", "Employed", "Self-employed", "Unemployed", "Student", "Retired", "At home")
OLDEST, TOP_INCOME = 99, 199_999


def households(chance: Draws, number: int = HOUSEHOLDS) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns of both tables: ages, schooling and work of one household hang together, and its income on them."""
    region = chance.pick(np.tile([r[1] for r in REGIONS], (number, 1)))
    head_age = np.clip(np.round(20 + 62 * (0.62 * chance.uniform(number) + 0.38 * chance.uniform(number))), 18, 95)
    head_sex = chance.yes(0.38, number).astype(np.int64)
    together = np.clip(0.75 - 0.0006 * (head_age - 48) ** 2, 0.08, 0.75)
    spouse = chance.yes(together, number)
    likely = np.clip(1.7 - np.abs(head_age - 40) / 16, 0, None) * np.where(spouse, 1.2, 0.4)
    children = np.zeros(number, dtype=np.int64)
    for _ in range(4):
        children += chance.yes(np.clip(likely / 3.2, 0, 0.9), number)
    parents = chance.yes(np.where(head_age < 62, 0.035, 0.0), number).astype(np.int64)
    others = chance.yes(0.07, number).astype(np.int64) + chance.yes(0.015, number)
    counts = np.stack([np.ones(number, dtype=np.int64), spouse.astype(np.int64), children, parents, others], axis=1)
    size = counts.sum(axis=1)
    home = np.repeat(np.arange(number), size)
    role = np.repeat(np.tile(np.arange(5), number), counts.ravel())
    n = len(home)
    age = _ages(chance, role, head_age[home], head_sex[home])
    drawn = chance.yes(0.5, n).astype(np.int64)
    sex = np.where(role == HEAD, head_sex[home], drawn)
    sex = np.where(role == SPOUSE, np.where(chance.yes(0.98, n), 1 - head_sex[home], head_sex[home]), sex)
    wealth = 0.8 * chance.normal(number) + np.array([r[2] for r in REGIONS])[region]
    learnt = wealth[home] + 0.7 * chance.normal(n) + np.where(age < 55, 0.25, -0.25)
    education = np.where(age < 15, 0, 1 + np.digitize(learnt, [-1.25, -0.45, 0.55, 1.35]))
    education = np.minimum(education, np.where(age < 18, 2, np.where(age < 22, 3, 5)))
    work = _work(chance, age, sex, education)
    earners = np.bincount(home, weights=np.isin(work, (1, 2)) * (0.6 + 0.22 * education), minlength=number)
    euros = (9_000 + 17_500 * earners) * np.exp(0.18 * wealth + 0.28 * chance.normal(number))
    income = np.clip(np.round(euros, -2), 0, TOP_INCOME - 99).astype(np.int64)
    rents = np.array([r[3] for r in REGIONS])[region] + np.where(head_age < 35, 0.25, 0.0) - income / 400_000
    tenure = np.where(chance.yes(np.clip(rents, 0.03, 0.95), number), 1, np.where(chance.yes(0.05, number), 2, 0))
    rooms = np.clip(np.round(1.6 + 0.55 * size + income / 60_000 + (tenure == 0) + 0.8 * chance.normal(number)), 1, 10)
    order = np.argsort(chance.uniform(n), kind="stable")  # persons of one household do not stand together
    keys = np.char.add("h", (100_000 + np.arange(number)).astype(str))
    parents_table = {
        "household_id": keys,
        "region": np.array([r[0] for r in REGIONS])[region],
        "tenure": np.array(TENURE)[tenure],
        "rooms": rooms.astype(np.int64),
        "income": income,
    }
    persons = {
        "household_id": keys[home],
        "role": np.array(ROLES)[role],
        "age": age,
        "sex": np.array(["male", "female"])[sex],
        "education": np.array(EDUCATION)[education],
        "work": np.array(WORK)[work],
    }
    return parents_table, {name: column[order] for name, column in persons.items()}


def _ages(chance: Draws, role: Ints, head: Floats, head_sex: Ints) -> Ints:
    """Ages by role, near that of the head: a spouse by few years, a child or a parent by a generation."""
    n = len(role)
    bell, level = chance.normal(n), chance.uniform(n)
    spouse = head + np.where(head_sex == 0, -2.3, 2.3) + 2.8 * bell
    child = np.clip(head - np.clip(29 + 5.5 * bell, 16, 48), 0, np.where(level < 0.9, 24, 60))
    parent = head + np.clip(28 + 5 * bell, 17, 45)
    other = 16 + 60 * level**1.4
    found = np.select(
        [role == HEAD, role == SPOUSE, role == CHILD, role == PARENT], [head, spouse, child, parent], other
    )
    least = np.where((role == CHILD) | (role == OTHER), 0, 18)
    return np.clip(np.round(found), least, OLDEST).astype(np.int64)


def _work(chance: Draws, age: Ints, sex: Ints, education: Ints) -> Ints:
    """By age, sex and schooling."""
    n = len(age)
    weights = np.zeros((n, len(WORK)))
    grown = (age >= 15) & (age < 67)
    weights[:, 0] = age < 15
    weights[:, 1] = grown * (0.5 + 0.06 * education)
    weights[:, 2] = grown * 0.09
    weights[:, 3] = grown * np.clip(0.14 - 0.02 * education, 0.02, 1)
    weights[:, 4] = np.where(age < 18, 8.0, np.where(age < 26, 0.6, 0.0)) * grown
    weights[:, 5] = np.where(age >= 67, 1.0, np.where(age >= 60, 0.7, 0.0))
    weights[:, 6] = grown * np.where(sex == 1, 0.16, 0.04)
    return chance.pick(weights)


def households_schema() -> dict[str, Any]:
    """The public description of both tables, version 2."""

    def listed(name: str, values: tuple[str, ...], *, ordered: bool = False) -> dict[str, Any]:
        return {
            "name": name, "kind": "categorical", "values": list(values), "ordered": ordered, "other": False,
            "missing": False, "source": "public",
        }  # fmt: skip

    def whole(name: str, least: int, most: int, count: int) -> dict[str, Any]:
        return {
            "name": name, "kind": "numeric", "dtype": "integer", "min": least, "max": most, "bins": {"count": count},
            "missing": False, "source": "public",
        }  # fmt: skip

    home = [listed("region", tuple(r[0] for r in REGIONS)), listed("tenure", TENURE), whole("rooms", 1, 10, 10)]
    home.append(whole("income", 0, TOP_INCOME, 40))
    person = [listed("role", ROLES), whole("age", 0, OLDEST, OLDEST + 1), listed("sex", ("male", "female"))]
    person += [listed("education", EDUCATION, ordered=True), listed("work", WORK)]
    return {
        "version": 2,
        "name": "households",
        "unit": {"neighbours": "add-remove", "source": "public"},
        "tables": [
            {"name": "households", "key": "household_id", "schema": _table("households", home)},
            {"name": "persons", "schema": _table("persons", person)},
        ],
        "links": [
            {
                "parent": "households", "child": "persons", "key": "household_id", "max_children": MOST,
                "roles": {"column": "role", "single": ["Head", "Spouse"]},
            }
        ],
    }  # fmt: skip


def _table(name: str, attributes: list[dict[str, Any]]) -> dict[str, Any]:
    unit = {"neighbours": "add-remove", "identifier": None, "max_records": 1}
    return {"version": 1, "name": name, "unit": unit, "n_records": None, "attributes": attributes}
