"""Tables for measuring: the data folder's (DPSYN_DATA or ../shared/data) with their schemas, and simulated ones."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.schema.importers.parameters import import_file
from dpsyn_core.tables.read import read_table

DATA = Path(os.environ.get("DPSYN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
Kind = Literal["tree", "clique", "mixture", "wide", "skewed", "deterministic", "interaction", "outcomes", "islands"]
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
KINDS: tuple[Kind, ...] = (
    "tree", "clique", "mixture", "wide", "skewed", "deterministic", "interaction", "outcomes", "islands",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Table:
    """codes: unsigned (d, n). table and schema: where the codes came from, None for simulated codes."""

    name: str
    codes: np.ndarray
    domain: Domain
    table: Any = None
    schema: Schema | None = None


def _encoded(name: str, path: Path, schema: Schema) -> Table:
    table = read_table(path)
    return Table(name=name, codes=Codec(schema).encode(table).codes, domain=schema.domain(), table=table, schema=schema)


def adult_codes(*, ordered: bool = True) -> Table:
    """14 attributes, 48,842 records; every column holds whole numbers 0..size-1. ordered: say which are numbers."""
    sizes = json.loads((DATA / "adult_domain.json").read_text())
    attributes = [
        {"name": n, "kind": "categorical", "values": list(range(k)), "ordered": ordered and n in NUMBERS}
        for n, k in sizes.items()
    ]
    schema = Schema.of({"version": 1, "name": "adult_codes", "attributes": attributes})
    return _encoded("adult_codes", DATA / "adult_codes.csv.gz", schema)


def words(text: str) -> list[str]:
    return text.split()


WORKCLASS = words("? Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked")
EDUCATION = words(
    "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm Bachelors Masters "
    "Prof-school Doctorate"
)
MARITAL = words("Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse")
OCCUPATION = words(
    "? Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
    "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces"
)
RELATIONSHIP = words("Wife Own-child Husband Not-in-family Other-relative Unmarried")
RACE = words("White Asian-Pac-Islander Amer-Indian-Eskimo Other Black")
COUNTRY = words(
    "? United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South "
    "China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
    "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia "
    "El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"
)


def adult_raw_schema() -> Schema:
    """Adult as its documentation describes it: the UCI archive's list of values, and round public ranges."""

    def values(name: str, listed: list[str], *, ordered: bool = False) -> dict[str, Any]:
        return {"name": name, "kind": "categorical", "values": listed, "ordered": ordered}

    def whole(name: str, low: int, high: int, bins: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "kind": "numeric", "dtype": "integer", "min": low, "max": high, "bins": bins}

    gains = [0, 1, *range(1000, 10_000, 1000), *range(10_000, 30_000, 5000), 30_000, 99_998, 99_999]
    return Schema.of(
        {
            "version": 1,
            "name": "adult_raw",
            "attributes": [
                whole("age", 17, 90, {"count": 74}),
                values("workclass", WORKCLASS),
                whole("fnlwgt", 0, 1_500_000, {"count": 100}),
                values("education", EDUCATION, ordered=True),
                whole("educational-num", 1, 16, {"count": 16}),
                values("marital-status", MARITAL),
                values("occupation", OCCUPATION),
                values("relationship", RELATIONSHIP),
                values("race", RACE),
                values("gender", ["Female", "Male"]),
                whole("capital-gain", 0, 99_999, {"edges": gains}),
                whole("capital-loss", 0, 4500, {"edges": [0, 1, *range(250, 4500, 250)]}),
                whole("hours-per-week", 1, 99, {"count": 99}),
                values("native-country", COUNTRY),
                values("income", ["<=50K", ">50K"]),
            ],
        }
    )


def adult_raw() -> Table:
    """15 attributes as text and numbers, 48,842 records."""
    return _encoded("adult_raw", DATA / "adult_raw.csv.gz", adult_raw_schema())


def drug_deaths() -> Table:
    """31 attributes, 7,634 records, schema imported from parameters.json."""
    schema = import_file(
        DATA / "drug_deaths_parameters.json", DATA / "drug_deaths_column_datatypes.json", name="drug_deaths"
    )
    return _encoded("drug_deaths", DATA / "drug_deaths.csv.gz", schema)


def simulated(kind: Kind, n: int, d: int, seed: int) -> Table:
    """Codes with a known kind of dependence.

    tree: a random tree of dependences, sizes 2 to 40; clique: blocks of 4 attributes that depend on all of each
    other; mixture: 20 latent classes; wide: a tree of yes/no attributes; skewed: 100 values each, falling like
    1/rank^1.5; deterministic: blocks of 8 whose first attribute the others follow 99 times in 100; interaction: blocks
    of 3 attributes of 2 to 4 values, of which the third follows the sum of the others 7 times in 10, so that only all
    three together depend, and the second of a block follows that of the block before it 3 times in 10; outcomes: blocks
    of 3 of which two are independent causes of the third, as length of stay and ward are of a bill, so that a fit to
    pairs with the outcome alone makes the causes depend on each other; islands: every second attribute is a number of
    200 to 1,000 bins whose records lie in one to eight groups, some of them far apart, as places on a map do, and the
    attribute before it says which group in 9 of 10 records.
    """
    if kind == "islands":
        return _islands(n, d, seed)
    if kind == "outcomes":
        return _outcomes(n, d, seed)
    if kind == "interaction":
        return _interaction(n, d, seed)
    rng = np.random.default_rng(seed)
    if kind == "wide":
        sizes = np.full(d, 2)
    elif kind == "skewed":
        sizes = np.full(d, 100)
    elif kind == "clique":
        sizes = rng.integers(2, 11, d)
    else:
        sizes = np.minimum(2 + np.floor(rng.exponential(6.0, d)).astype(np.int64), 40)
    codes = np.empty((d, n), dtype=np.min_scalar_type(int(sizes.max()) - 1))
    classes = rng.integers(0, 20, n) if kind == "mixture" else np.zeros(0, dtype=np.int64)
    for i in range(d):
        parent, width = _parent(kind, i, codes, sizes, classes, rng)
        rows = _conditional("tree" if width == 1 else kind, width, int(sizes[i]), rng)
        codes[i] = _draw(rows, parent, n, rng)
    names = [f"a{i:03d}" for i in range(d)]
    domain = Domain(
        tuple(CodedAttribute(name=a, size=int(s), ordered=False) for a, s in zip(names, sizes, strict=True))
    )
    return Table(name=f"{kind}-{n}x{d}", codes=codes, domain=domain)


def _outcomes(n: int, d: int, seed: int) -> Table:
    """Values in order of every second cause and of outcomes; the others are categories in no order."""
    rng = np.random.default_rng(seed)
    sizes = np.array([(4, 9, 24)[i % 3] if i % 2 else (3, 12, 16)[i % 3] for i in range(d)])
    codes = np.empty((d, n), np.uint8)
    for i, size in enumerate(sizes.tolist()):
        if i % 3 < 2:
            codes[i] = rng.choice(size, n, p=rng.dirichlet(np.full(size, 2.0)))
            continue
        effects = [
            rng.normal(0, 1, int(sizes[j])) if j % 2 else np.linspace(-1, 1, int(sizes[j])) for j in (i - 2, i - 1)
        ]
        value = sum(e[codes[j]] * w for e, j, w in zip(effects, (i - 2, i - 1), (1.2, 0.8), strict=True))
        value = value + rng.normal(0, 0.4, n)
        edges = np.quantile(value, np.sort(rng.dirichlet(np.ones(size)).cumsum()[:-1]))
        codes[i] = np.searchsorted(edges, value)
    domain = Domain(
        tuple(
            CodedAttribute(name=f"a{i:03d}", size=int(s), ordered=i % 3 == 2 or i % 2 == 0) for i, s in enumerate(sizes)
        )
    )
    return Table(name=f"outcomes-{n}x{d}", codes=codes, domain=domain)


def _islands(n: int, d: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    codes, attributes = np.empty((d, n), np.uint16), []
    group = np.zeros(n, np.int64)
    for i in range(d):
        if i % 2 == 0:
            size = int(rng.integers(1, 9))
            group = (rng.choice(size, n, p=rng.dirichlet(np.full(size, 3.0))) + group) % size
            known = np.where(rng.random(n) < 0.9, group, rng.integers(0, size, n))
            codes[i] = known
            attributes.append(CodedAttribute(name=f"a{i:03d}", size=max(size, 2)))
            continue
        bins = int(rng.integers(200, 1001))
        middles, spread = rng.uniform(0.1, 0.9, 8), rng.choice([0.005, 0.02, 0.1], 8)
        codes[i] = np.clip((middles[group] + spread[group] * rng.normal(0, 1, n)) * bins, 0, bins - 1)
        attributes.append(CodedAttribute(name=f"a{i:03d}", size=bins, ordered=True, number=True))
    return Table(name=f"islands-{n}x{d}", codes=codes, domain=Domain(tuple(attributes)))


def _interaction(n: int, d: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, d)
    codes = np.empty((d, n), np.uint8)
    for i, size in enumerate(sizes.tolist()):
        codes[i] = rng.choice(size, n, p=rng.dirichlet(np.full(size, 3.0)))
        if i % 3 == 2:
            followed = (codes[i - 1].astype(np.int64) + codes[i - 2]) % size
            codes[i] = np.where(rng.random(n) < 0.7, followed, codes[i])
        elif i % 3 == 1 and i > 3:
            codes[i] = np.where(rng.random(n) < 0.3, codes[i - 3] % size, codes[i])
    names = [f"a{i:03d}" for i in range(d)]
    domain = Domain(tuple(CodedAttribute(name=a, size=s) for a, s in zip(names, sizes.tolist(), strict=True)))
    return Table(name=f"interaction-{n}x{d}", codes=codes, domain=domain)


def _parent(
    kind: Kind, i: int, codes: np.ndarray, sizes: np.ndarray, classes: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """What attribute i depends on, as one code a record, and how many such codes there are."""
    if kind == "mixture":
        return classes, 20
    if kind == "clique":
        block = range(i - i % 4, i)
        key, width = np.zeros(codes.shape[1], dtype=np.int64), 1
        for j in block:
            key, width = key * sizes[j] + codes[j], width * int(sizes[j])
        return key, width
    if i == 0:
        return np.zeros(codes.shape[1], dtype=np.int64), 1
    if kind == "deterministic":
        if i % 8 == 0:
            return np.zeros(codes.shape[1], dtype=np.int64), 1
        return codes[i - i % 8], int(sizes[i - i % 8])
    j = int(rng.integers(max(0, i - 10), i))
    return codes[j], int(sizes[j])


def _conditional(kind: Kind, width: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Probabilities (width, size)."""
    if kind == "deterministic":
        rows = np.full((width, size), 0.01 / size)
        rows[np.arange(width), rng.integers(0, size, width)] += 0.99
        return rows
    if kind == "skewed":
        base = 1.0 / np.arange(1, size + 1) ** 1.5
        rows = base * rng.gamma(2.0, 0.5, (width, size))
    else:
        rows = rng.gamma(0.5, 1.0, (width, size)) + 1e-6
    shares: np.ndarray = rows / rows.sum(axis=1, keepdims=True)
    return shares


def _draw(rows: np.ndarray, parent: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """One code a record from its parent's row: one search in all rows laid end to end."""
    width, size = rows.shape
    cumulative = np.cumsum(rows, axis=1)
    cumulative[:, -1] = 1.0
    flat = (cumulative + np.arange(width)[:, None]).ravel()
    at = np.searchsorted(flat, parent + rng.random(n), side="right")
    drawn: np.ndarray = np.clip(at - parent.astype(np.int64) * size, 0, size - 1)
    return drawn
