"""Tables for measuring coverage: those that constants were chosen on, and the others, each with its population."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.tables import KINDS, Kind, Table, adult_codes, simulated
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import sample_schema, sample_table

LEARNT_ON = ("tree-10000x8", "clique-10000x8", "wide-10000x12")  # the constants of `questions/answers/calibration.py`
CHECKED_ON = ("sample", "mixture-15000x10", "deterministic-12000x12", "numbers-12000x9", "adult_codes")
TIMES = 10  # records of a simulated population, times those of its table


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table with a schema, and the codes of the population that its records were drawn from (None: unknown)."""

    table: Table
    schema: Schema
    population: np.ndarray | None = None


def case(name: str) -> Case:
    """One by name: `adult_codes`, `sample`, `numbers-RECORDSxATTRIBUTES` or a kind of `benchmarks.tables`."""
    if name == "adult_codes":
        made = adult_codes()
        if made.schema is None:
            msg = "adult_codes has no schema"
            raise SystemExit(msg)
        return Case(table=made, schema=made.schema)
    if name == "sample":
        schema = sample_schema()
        codes = Codec(schema).encode(sample_table()).codes
        return Case(table=Table(name=name, codes=codes, domain=schema.domain(), schema=schema), schema=schema)
    kind, _, shape = name.partition("-")
    n, d = (int(x) for x in shape.split("x"))
    if kind == "numbers":
        whole, schema = numbers(n * TIMES, d, 5)
        made = Table(name=name, codes=whole, domain=schema.domain(), schema=schema)
    elif kind in KINDS:
        made = simulated(_kind(kind), n * TIMES, d, 5)
        schema = listed(made)
        made = replace(made, domain=schema.domain())
    else:
        msg = f"unknown table '{name}'; known are {', '.join((*CHECKED_ON, *LEARNT_ON))} and KIND-NxD"
        raise SystemExit(msg)
    # records are drawn one by one from the same law, so that the first n are a sample of the population
    table = replace(made, name=name, codes=np.ascontiguousarray(made.codes[:, :n]), schema=schema)
    return Case(table=table, schema=schema, population=made.codes)


def _kind(name: str) -> Kind:
    return next(k for k in KINDS if k == name)


def listed(made: Table) -> Schema:
    """A schema of text values for simulated codes."""
    attributes = [
        {"name": a.name, "kind": "categorical", "values": [f"v{i}" for i in range(a.size)]}
        for a in made.domain.attributes
    ]
    return Schema.of({"version": 1, "name": made.name, "attributes": attributes})


def numbers(n: int, d: int, seed: int) -> tuple[np.ndarray, Schema]:
    """Half numbers of 40 bins that follow two common factors, half categories of 2 to 6 values that follow them too."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, n))
    rows, attributes = [], []
    for i in range(d):
        mixed = rng.normal(size=2) @ factors + rng.normal(size=n)
        if i % 2 == 0:
            skewed = np.exp(0.5 * mixed / mixed.std()) * 20
            rows.append(np.clip(skewed, 0, 99).astype(np.int64) * 40 // 100)
            attributes.append({"name": f"x{i}", "kind": "numeric", "min": 0, "max": 100, "bins": {"count": 40}})
            continue
        size = int(rng.integers(2, 7))
        cuts = np.sort(rng.normal(size=size - 1)) * mixed.std()
        rows.append(np.searchsorted(cuts, mixed))
        attributes.append({"name": f"g{i}", "kind": "categorical", "values": [f"v{k}" for k in range(size)]})
    schema = Schema.of({"version": 1, "name": "numbers", "attributes": attributes})
    return np.array(rows, dtype=np.uint8), schema
