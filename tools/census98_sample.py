"""The bundled census of 98 columns, a model (docs/reference/sample.md) with a worked design in four parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PEOPLE = 10_000
# columns of the bundled people that this table takes over, as codes in the order of their values
CITIES, JOBS = 10, 11

# name, number of codes, the column it depends on, how much it does (1: it follows from it). Of a column with strength
# 1 the code is that of a public map; `div` columns are general codes of detailed ones.
DWELLING = (
    ("COUNTY", 30, "CITY", 0.9), ("SUPDIST", 10, "COUNTY", 1.0), ("ENUMDIST", 60, "COUNTY", 0.8),
    ("SEA", 6, "COUNTY", 1.0), ("URBAN", 2, "CITY", 0.9), ("METAREAD", 12, "CITY", 0.9),
    ("METAREA", 6, "METAREAD", 1.0),
    ("METRO", 4, "METAREA", 0.8), ("CITYPOP", 10, "CITY", 1.0), ("SIZEPL", 5, "CITY", 1.0), ("URBPOP", 10, "CITY", 1.0),
    ("WARD", 6, "CITY", 0.3), ("GQTYPED", 9, "FAMSIZE", 0.4), ("GQTYPE", 5, "GQTYPED", 1.0), ("GQ", 3, "GQTYPE", 1.0),
    ("GQFUNDS", 4, "GQTYPE", 0.7), ("FARM", 2, "URBAN", 0.8), ("OWNERSHPD", 6, "AGEGROUP", 0.3),
    ("OWNERSHP", 3, "OWNERSHPD", 1.0), ("RENT", 20, "OWNERSHPD", 0.5), ("VALUEH", 20, "OWNERSHPD", 0.5),
    ("SPLIT", 2, "GQ", 0.9), ("SLREC", 2, "", 0.0), ("RESPONDT", 3, "FAMSIZE", 0.4),
)  # fmt: skip
PERSON = (
    ("NCHLT5", 5, "AGEGROUP", 0.5), ("AGEMONTH", 13, "AGEGROUP", 0.6), ("MARRNO", 4, "MARST", 0.7),
    ("AGEMARR", 20, "MARST", 0.5), ("CHBORN", 10, "MARST", 0.5), ("RACED", 12, "CITY", 0.3), ("RACE", 6, "RACED", 1.0),
    ("HISPAND", 8, "RACED", 0.6), ("HISPAN", 4, "HISPAND", 1.0), ("BPLD", 60, "RACED", 0.4), ("BPL", 20, "BPLD", 1.0),
    ("MBPLD", 60, "BPLD", 0.7), ("MBPL", 20, "MBPLD", 1.0), ("FBPLD", 60, "BPLD", 0.7), ("FBPL", 20, "FBPLD", 1.0),
    ("NATIVITY", 5, "BPL", 0.8), ("CITIZEN", 4, "NATIVITY", 0.8), ("MTONGUED", 24, "BPL", 0.6),
    ("MTONGUE", 12, "MTONGUED", 1.0), ("SPANNAME", 2, "HISPAN", 0.8), ("HISPRULE", 6, "HISPAN", 0.8),
)  # fmt: skip
WORK = (
    ("SCHOOL", 2, "AGEGROUP", 0.9), ("HIGRADED", 24, "AGEGROUP", 0.4), ("HIGRADE", 12, "HIGRADED", 1.0),
    ("EDUCD", 24, "HIGRADED", 0.95), ("EDUC", 12, "EDUCD", 1.0), ("EMPSTATD", 12, "WORKS", 0.8),
    ("EMPSTAT", 4, "EMPSTATD", 1.0), ("LABFORCE", 2, "EMPSTATD", 1.0), ("OCC", 44, "JOB", 0.9),
    ("OCC1950", 22, "OCC", 1.0), ("IND", 40, "OCC", 0.6), ("IND1950", 20, "IND", 1.0), ("CLASSWKRD", 9, "JOB", 0.6),
    ("CLASSWKR", 3, "CLASSWKRD", 1.0), ("WKSWORK1", 53, "WORKS", 0.6), ("WKSWORK2", 7, "WKSWORK1", 1.0),
    ("HRSWORK1", 50, "WORKS", 0.6), ("HRSWORK2", 8, "HRSWORK1", 1.0), ("DURUNEMP", 30, "EMPSTAT", 0.7),
    ("UOCC", 44, "EMPSTAT", 0.7), ("UOCC95", 22, "UOCC", 1.0), ("UIND", 40, "UOCC", 0.7), ("UCLASSWK", 8, "UOCC", 0.6),
    ("INCWAGE", 60, "OCC1950", 0.5), ("INCNONWG", 3, "CLASSWKR", 0.5), ("OCCSCORE", 20, "OCC1950", 1.0),
    ("SEI", 22, "OCC1950", 1.0), ("PRESGL", 18, "OCC1950", 1.0), ("ERSCOR50", 16, "OCC1950", 1.0),
    ("EDSCOR50", 14, "OCC1950", 1.0), ("NPBOSS50", 12, "OCC1950", 1.0), ("SSENROLL", 3, "EMPSTAT", 0.6),
)  # fmt: skip
MOVES = (
    ("MIGRATE5D", 9, "AGEGROUP", 0.4), ("MIGRATE5", 4, "MIGRATE5D", 1.0), ("MIGPLAC5", 30, "MIGRATE5D", 0.6),
    ("MIGMET5", 12, "MIGPLAC5", 0.7), ("MIGTYPE5", 5, "MIGRATE5D", 0.7), ("MIGCITY5", 20, "MIGPLAC5", 0.6),
    ("MIGSEA5", 15, "MIGPLAC5", 0.8), ("SAMEPLAC", 3, "MIGRATE5D", 0.8), ("SAMESEA5", 3, "MIGRATE5D", 0.8),
    ("MIGCOUNTY", 30, "MIGPLAC5", 0.7), ("VETSTATD", 6, "AGEGROUP", 0.6), ("VETSTAT", 3, "VETSTATD", 1.0),
    ("VET1940", 5, "VETSTATD", 0.8), ("VETWWI", 2, "VETSTATD", 0.9), ("VETPER", 5, "VETSTATD", 0.8),
    ("VETCHILD", 3, "AGEGROUP", 0.7),
)  # fmt: skip
PARTS = (DWELLING, PERSON, WORK, MOVES)
# columns that come from the bundled people; AGEGROUP, WORKS and JOB are not in the table
GIVEN = {"CITY": CITIES, "FAMSIZE": 12, "SEX": 2, "AGE": 100, "MARST": 5}
SHARED = (("CITY", "FAMSIZE", "AGE"), ("CITY", "FAMSIZE", "SEX", "AGE", "MARST"), ("SEX", "AGE"), ("AGE",))


class Draws(Protocol):
    """What the generator of samples offers (`make_sample.Chance`)."""

    def uniform(self, n: int) -> Floats:
        """On [0, 1)."""

    def one_of(self, weights: list[float] | Floats, n: int) -> Ints:
        """Draws n indices with the same weights."""


def follows(size: int, source: int) -> Ints:
    """The public map of a column that follows from another: neighbouring codes together where it is coarser."""
    return np.arange(source) * size // source if size <= source else np.arange(source)


def census98(chance: Draws, people: Mapping[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """The columns of `people` (see GIVEN; text becomes the position of its value), and all others drawn from them."""
    n = PEOPLE
    age = people["AGE"][:n].astype(np.int64)
    made: dict[str, Ints] = {
        "CITY": _position(people["CITY"][:n]), "FAMSIZE": people["FAMSIZE"][:n].astype(np.int64) - 1,
        "SEX": _position(people["SEX"][:n]), "AGE": age, "MARST": _position(people["MARST"][:n]),
        "AGEGROUP": np.searchsorted([6, 14, 18, 25, 35, 50, 65], age, side="right"),
        "WORKS": _position(people["EMPSTAT"][:n]), "JOB": _position(people["OCC"][:n]),
    }  # fmt: skip
    for name, size, source, strength in (c for part in PARTS for c in part):
        weights = 1 / (1 + np.arange(size)) ** 0.7  # some codes are frequent, most are not
        free = chance.one_of(weights, n)
        if not source:
            made[name] = free
            continue
        before = made[source]
        most = _codes(source)
        told = follows(size, most)[before] if strength == 1 else (before * 5 + len(name)) % size
        made[name] = np.where(chance.uniform(n) < strength, told, free)
    return {name: made[name] for name in (*GIVEN, *(c[0] for part in PARTS for c in part))}


def _position(column: NDArray[np.generic]) -> Ints:
    found: Ints = np.unique(column, return_inverse=True)[1].astype(np.int64)
    return found


def _codes(name: str) -> int:
    sizes = {**GIVEN, "AGEGROUP": 8, "WORKS": 4, "JOB": JOBS, **{c[0]: c[1] for part in PARTS for c in part}}
    return sizes[name]


def census98_schema() -> dict[str, Any]:
    """The public list of codes of every column: 0 up to the number of its codes."""
    names = [*GIVEN, *(c[0] for part in PARTS for c in part)]
    return {
        "version": 1,
        "name": "census98",
        "unit": {"neighbours": "add-remove", "source": "public"},
        "n_records": None,
        "attributes": [
            {
                "name": name, "kind": "categorical", "values": list(range(_codes(name))), "ordered": name == "AGE",
                "other": False, "missing": False, "source": "public",
            }
            for name in names
        ],
    }  # fmt: skip


def census98_design() -> dict[str, Any]:
    """Four parts that share persons; general codes follow from detailed ones; pairs that a census taker would name."""
    exact = [(n, size, source) for part in PARTS for n, size, source, strength in part if strength == 1]
    general = {n for n, *_ in exact}
    detailed = {n: source for n, _, source in exact}

    def measured(name: str) -> str:
        """The detailed column that stands for a general one."""
        while name in detailed:
            name = detailed[name]
        return {"AGEGROUP": "AGE", "WORKS": "EMPSTATD", "JOB": "OCC"}.get(name, name)

    hierarchies = []
    for name, size, source in exact:
        codes, at = follows(size, _codes(source)), source
        while at in detailed:  # a derived column cannot be a source: the maps are composed
            codes, at = codes[follows(_codes(at), _codes(detailed[at]))], detailed[at]
        hierarchies.append({"general": name, "detailed": at, "codes": [int(c) for c in codes]})
    sets, parts = [], []
    for part, shared in zip(PARTS, SHARED, strict=True):
        free = [c for c in part if c[0] not in general]
        parts.append([*shared, *(c[0] for c in free)])
        sets += [[c[0], measured(c[2])] for c in free if c[2] and measured(c[2]) != c[0]]
    # who works, and at what, is told by age, sex and status
    sets += [
        ["EMPSTATD", "SEX", "AGE"], ["OCC", "EMPSTATD"], ["OCC", "SEX"], ["CITY", "AGE"], ["FAMSIZE", "AGE"],
        ["SEX", "AGE"], ["MARST", "AGE"], ["SEX", "MARST"], ["CITY", "FAMSIZE"],
    ]  # fmt: skip
    return {
        "bins": [
            {"attribute": "AGE", "edges": [6, 14, 18, 25, 35, 50, 65]},
            *({"attribute": n, "width": w} for n, w in (("BPLD", 3), ("MBPLD", 3), ("FBPLD", 3), ("INCWAGE", 6))),
        ],
        "hierarchies": hierarchies,
        "parts": parts,
        "marginals": [{"epsilon": 0, "sets": sets}],
    }
