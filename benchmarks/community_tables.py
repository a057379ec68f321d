"""Tables of the Collaborative Research Cycle's 24 columns: those of NIST, or people made here, and what they cannot be.

NIST's excerpts (ma2019.csv and others of its repository SDNist, public domain) are not in this one. `made` has their
columns and the same logic: children have no income and no marriage, people in group quarters own nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpsyn_core.schema.domain import CodedAttribute, Domain

N = "N"  # not applicable
TEN = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
ALL = (
    "PUMA", *TEN[:3], "HISP", "RAC1P", "NOC", "NPF", *TEN[4:6], "DENSITY", "INDP", "INDP_CAT", "EDU", "PINCP",
    "PINCP_DECILE", "POVPIP", "DVET", "DREM", "DPHY", "DEYE", "DEAR", "WGTP", "PWGTP",
)  # fmt: skip
# public cuts of what has many values; everything else has a cell for each value
CUTS = {
    "DENSITY": (0, 50, 100, 250, 500, 1000, 2000, 3500, 5000, 10_000, 20_000),
    "PINCP": (-20_000, 0, 1, 5000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 40_000, 50_000, 60_000, 75_000,
              90_000, 110_000, 150_000, 200_000, 300_000, 500_000),
    "POVPIP": (0, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 300, 350, 400, 450, 501),
    "WGTP": (0, 1, 25, 50, 75, 100, 125, 150, 200, 300, 500),
    "PWGTP": (0, 1, 25, 50, 75, 100, 125, 150, 200, 300, 500),
}  # fmt: skip
Words = dict[str, np.ndarray]
Marks = dict[str, np.ndarray]
Rule = tuple[str, tuple[str, ...], Callable[[Words], np.ndarray]]


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """codes: (24 or fewer, records); words: column -> what its codes stand for; bins stand for their lower end."""

    name: str
    codes: np.ndarray
    domain: Domain
    words: dict[str, list[str]]

    def read(self, codes: np.ndarray) -> Words:
        """Columns of text of codes on this domain."""
        return {n: np.array(self.words[n])[codes[i]] for i, n in enumerate(self.domain.names)}


def made(n: int = 8_000, seed: int = 0) -> pd.DataFrame:
    """People of invented households, one record each."""
    rng = np.random.default_rng(seed)

    def drawn(values: Any, chances: Any) -> np.ndarray:
        return rng.choice(values, n, p=np.array(chances) / sum(chances))

    age = np.clip(np.round(rng.gamma(3.2, 13, n)), 0, 99).astype(int)
    child, quarters = age < 15, np.where(rng.random(n) < 0.04, rng.integers(2, 4, n), 1)
    house = quarters == 1
    puma = drawn([f"25-{i:05d}" for i in range(503, 508)], [30, 25, 20, 15, 10])
    density = np.array([420, 1300, 2600, 5200, 11_000])[np.searchsorted(np.unique(puma), puma)] + rng.integers(0, 90, n)
    sex, race, hisp = (
        drawn([1, 2], [49, 51]),
        drawn(range(1, 10), [70, 9, 1, 1, 1, 8, 1, 5, 4]),
        drawn(range(5), [88, 4, 4, 1, 3]),
    )
    schooling = np.clip(np.round(5.5 + rng.normal(0, 2.2, n) + (density > 2000) + (race == 6)), 1, 12).astype(int)
    grown = np.minimum(schooling, np.clip((age - 2) // 2, 1, 12))
    married = rng.random(n) < 1 / (1 + np.exp(3 - age / 12))
    widowed = rng.random(n) < np.clip((age - 55) / 90, 0, 1)
    msp = np.where(widowed, 4, np.where(married, 1, np.where(age > 40, 5, 6)))
    works = ~child & (rng.random(n) < np.where((age > 18) & (age < 66), 0.8, 0.18))
    trade = np.clip(rng.poisson(schooling), 0, 18)
    pay = np.exp(8.6 + 0.16 * schooling + 0.25 * (sex == 1) + 0.02 * np.minimum(age, 55) + rng.normal(0, 0.7, n))
    income = np.where(works, pay, rng.gamma(1.0, 9000, n) * (age > 20)).round(-1).astype(int)
    decile = np.searchsorted(np.quantile(income[~child], np.linspace(0.1, 0.9, 9)), income, side="right")
    size = np.minimum(1 + rng.poisson(np.where(married, 2.2, 1.1)), 6)
    kids = np.where(size > 1, rng.binomial(np.maximum(size - 1, 0), 0.45), 0)
    poor = np.clip((income + 25_000 * married) / (130 + 47 * size), 0, 501).astype(int)
    owns = rng.random(n) < 1 / (1 + np.exp(2.2 - age / 30 - income / 60_000))
    hard = 1 / (1 + np.exp(5.2 - age / 18))

    def limited(base: float) -> np.ndarray:
        return np.where(rng.random(n) < base * hard + 0.01, 1, 2)

    def text(values: np.ndarray, known: np.ndarray | bool = True) -> np.ndarray:
        return np.where(known, values.astype(str), N)

    veteran = rng.random(n) < np.where(sex == 1, 0.02, 0.004)
    return pd.DataFrame(
        {
            "PUMA": puma, "AGEP": text(age), "SEX": text(sex), "MSP": text(msp, ~child), "HISP": text(hisp),
            "RAC1P": text(race), "NOC": text(kids, house), "NPF": text(size, house & (size > 1)),
            "HOUSING_TYPE": text(quarters), "OWN_RENT": text(np.where(house, np.where(owns, 1, 2), 0)),
            "DENSITY": text(density), "INDP": text(trade * 400 + 170, works), "INDP_CAT": text(trade, works),
            "EDU": text(grown, age >= 3), "PINCP": text(income, ~child), "PINCP_DECILE": text(decile, ~child),
            "POVPIP": text(poor, house), "DVET": text(rng.integers(1, 7, n), veteran & (age > 17)),
            "DREM": text(limited(0.8), age >= 5), "DPHY": text(limited(1.4), age >= 5), "DEYE": text(limited(0.5)),
            "DEAR": text(limited(0.9)), "WGTP": text(rng.gamma(4, 24, n).astype(int), house),
            "PWGTP": text(1 + rng.gamma(4, 24, n).astype(int)),
        }
    )  # fmt: skip


def coded(name: str, table: pd.DataFrame, columns: tuple[str, ...]) -> Cycle:
    """Codes of some columns. Values are those of the dictionary, which for a public excerpt are those that it has."""
    codes, words, attributes = [], {}, []
    for column in columns:
        cells = table[column].astype(str).to_numpy()
        known = cells != N
        if column in CUTS:
            edges = np.array(CUTS[column])
            at = np.zeros(len(cells), np.int64)
            at[known] = np.clip(np.searchsorted(edges, cells[known].astype(float), side="right") - 1, 0, len(edges) - 1)
            listed = [str(e) for e in edges]
        else:
            plain = sorted(set(cells[known]), key=lambda v: (len(v), v))
            if column == "AGEP":
                plain = [str(v) for v in range(100)]
            place = {v: i for i, v in enumerate(plain)}
            at = np.array([place.get(v, 0) for v in cells])
            listed = plain
        special = int(not known.all())
        words[column] = listed + [N] * special
        codes.append(np.where(known, at, len(listed)))
        ordered = column in CUTS or column in ("AGEP", "EDU", "PINCP_DECILE", "NOC", "NPF")
        attributes.append(CodedAttribute(name=column, size=len(words[column]), ordered=ordered, special=special))
    return Cycle(name=name, codes=np.stack(codes).astype(np.uint16), domain=Domain(tuple(attributes)), words=words)


def of_nist(folder: Path, excerpt: str) -> pd.DataFrame:
    """One of NIST's excerpts. Raises SystemExit where the folder has none."""
    path = folder / f"{excerpt}.csv"
    if not path.exists():
        msg = f"{folder} has no {excerpt}.csv; take it from the folder of ACS excerpts of NIST's repository SDNist"
        raise SystemExit(msg)
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if absent := [c for c in ALL if c not in table.columns]:
        msg = f"{path.name} lacks the columns {', '.join(absent)}; an ACS excerpt has all 24"
        raise SystemExit(msg)
    return table


def _number(cells: np.ndarray) -> np.ndarray:
    return np.where(cells == N, "nan", cells).astype(float)


def _child(name: str) -> Callable[[Words], np.ndarray]:
    return lambda t: (_number(t["AGEP"]) < 15) & (t[name] != N)


def _too_learned(age: int, most: int) -> Callable[[Words], np.ndarray]:
    return lambda t: (_number(t["AGEP"]) < age) & (_number(t["EDU"]) >= most)


def _adult_without(t: Words) -> np.ndarray:
    lacks = np.zeros(len(t["AGEP"]), bool)
    for name in ("MSP", "PINCP", "PINCP_DECILE", "EDU", "DPHY", "DREM"):
        if name in t:
            lacks |= t[name] == N
    return (_number(t["AGEP"]) > 15) & lacks


def _quarters(name: str) -> Callable[[Words], np.ndarray]:
    return lambda t: (_number(t["HOUSING_TYPE"]) > 1) & (t[name] != N)


# group, the columns that are needed, what is wrong: SDNist's list
RULES: tuple[Rule, ...] = (
    *(("age", ("AGEP", c), _child(c)) for c in ("DVET", "MSP", "PINCP", "PINCP_DECILE", "INDP", "INDP_CAT")),
    ("age", ("AGEP", "EDU"), _too_learned(15, 12)),
    ("age", ("AGEP", "EDU"), _too_learned(5, 5)),
    ("age", ("AGEP", "EDU"), lambda t: (_number(t["AGEP"]) < 3) & (t["EDU"] != N)),
    ("age", ("AGEP",), _adult_without),
    *(("age", ("AGEP", c), lambda t, c=c: (_number(t["AGEP"]) < 5) & (t[c] != N)) for c in ("DPHY", "DREM")),
    ("work", ("INDP", "INDP_CAT"), lambda t: (t["INDP"] == N) != (t["INDP_CAT"] == N)),
    ("housing", ("NOC", "NPF"), lambda t: _number(t["NOC"]) >= _number(t["NPF"])),
    ("housing", ("HOUSING_TYPE", "NOC"), _quarters("NOC")),
    ("housing", ("HOUSING_TYPE", "NPF"), _quarters("NPF")),
    ("housing", ("HOUSING_TYPE", "OWN_RENT"), lambda t: (_number(t["HOUSING_TYPE"]) > 1) & (t["OWN_RENT"] != "0")),
    ("housing", ("HOUSING_TYPE", "OWN_RENT"), lambda t: (t["HOUSING_TYPE"] == "1") & (t["OWN_RENT"] == "0")),
    ("housing", ("HOUSING_TYPE", "NOC"), lambda t: (t["HOUSING_TYPE"] == "1") & (t["NOC"] == N)),
)


def inconsistent(table: Words) -> dict[str, float]:
    """Shares of records that cannot be, by group and at all."""
    n = len(next(iter(table.values())))
    out: Marks = {group: np.zeros(n, bool) for group in ("age", "work", "housing")}
    for group, needed, wrong in RULES:
        if all(c in table for c in needed):
            out[group] |= wrong(table)
    return {g: float(m.mean()) for g, m in out.items()} | {
        "any": float(np.logical_or.reduce(list(out.values())).mean())
    }
