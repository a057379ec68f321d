"""Steps of the source documents, with and without: `python -m benchmarks.steps [--seeds 5]`.

Steps that an earlier version named and did not do. For records of `privsyn`: attributes that one pair alone connects
are drawn at the end (`append`), groups that nothing connects are made by themselves (`separate`), on two chains that
have nothing to do with each other, and on the bundled sample. For `dpsyn-2018` with parts alone: its sets are drawn
inside the parts; when they were drawn from all attributes, none of them lay in a part of six, and what was left were
one-ways, as `independent` has them. Prints mean two-way distances with their standard errors, at delta 1e-9.

`--only close` prints one table: two close chains, in which each column is equal to the one before with chance .8, at
three sizes. There records with the steps of `privsyn` and without them are made from the same released tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance, run_system
from benchmarks.process import table
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import Domain
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure

WITHOUT = {"append": False, "separate": False}


def blocks(
    count: int, length: int, size: int, n: int, *, same: float = 0.5, even: bool = False
) -> tuple[np.ndarray, Domain]:
    """Chains of columns: each repeats the one before it in a share of cases, and else draws a value of its own.

    same: that share. even: values that are drawn are equally frequent; else the smaller of two of them.
    """
    rng = np.random.default_rng(0)
    rows: list[np.ndarray] = []
    for i in range(count * length):
        one, two = rng.integers(0, size, (2, n))
        fresh = one if even else np.minimum(one, two)
        rows.append(fresh if i % length == 0 else np.where(rng.random(n) < same, rows[-1], fresh))
    return np.array(rows, dtype=np.uint8), Domain.of({f"x{i:02d}": size for i in range(count * length)})


def error(
    name: str, codes: np.ndarray, domain: Domain, epsilon: float, seeds: int,
    settings: Mapping[str, Any], parts: Sequence[Sequence[str]] = (),
) -> str:  # fmt: skip
    """Mean distance of pairs, those inside parts where there are some, and its standard error over runs."""
    found = []
    for seed in range(seeds):
        made = run_system(name, codes, domain, epsilon=epsilon, seed=seed, settings=settings).codes
        each = []
        for part in parts or [domain.names]:
            kept = [domain.index(n) for n in part]
            each.append(mean_distance(codes[kept], made[kept], domain.project(part)))
        found.append(np.mean(each))
    return f"{np.mean(found):.4f} ± {spread(np.array(found)):.4f}"


def close(seeds: int, n: int, epsilon: float) -> list[list[str]]:
    """Distances of pairs inside two close chains and of all pairs, without both steps and with them, run by run."""
    codes, domain = blocks(2, 6, 6, n, same=0.8, even=True)
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=1e-9))
    parts = [domain.names[:6], domain.names[6:], domain.names]
    found: list[list[list[float]]] = []
    for seed in range(seeds):
        system = configure("privsyn", {}).calibrate(task)
        gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
        measured = system.measure(MemoryCounter(codes, domain), gate=gate)
        found.append([])
        for chosen in (WITHOUT, {}):
            made = configure("privsyn", chosen).calibrate(task)
            out = made.synthesize(measured, None, rng=np.random.default_rng(seed))
            each = [[domain.index(n) for n in part] for part in parts]
            one, two, whole = (
                mean_distance(codes[k], out[k], domain.project(p)) for k, p in zip(each, parts, strict=True)
            )
            found[-1].append([(one + two) / 2, whole])
    runs = np.array(found)  # runs, without and with, inside and all
    return [
        [
            f"{n:,}",
            f"{epsilon:g}",
            said,
            *(f"{runs[:, k, i].mean():.4f} ± {spread(runs[:, k, i]):.4f}" for k in (0, 1)),
            f"{(runs[:, 1, i] - runs[:, 0, i]).mean():+.4f} ± {spread(runs[:, 1, i] - runs[:, 0, i]):.4f}",
        ]
        for i, said in enumerate(("inside the chains", "all"))
    ]


def spread(values: np.ndarray) -> float:
    """The standard error of the mean of some runs."""
    return float(values.std(ddof=1) / len(values) ** 0.5)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["close"], help="this table alone")
    given = parser.parse_args()
    seeds = given.seeds
    sizes = ((2_000, 1.0), (20_000, 0.2), (40_000, 0.1))
    closed = [r for n, epsilon in sizes for r in close(seeds, n, epsilon)]
    print(table(["records", "epsilon", "pairs of two chains of chance .8", "without", "with", "difference"], closed))
    if given.only:
        return
    rows = []
    schema = sample_schema()
    sample = Codec(schema).encode(sample_table()).codes, schema.domain()
    for said, (codes, domain) in {"two chains of six": blocks(2, 6, 12, 10_000), "sample": sample}.items():
        cells = [error("privsyn", codes, domain, 0.3, seeds, chosen) for chosen in (WITHOUT, {})]
        rows.append(["`privsyn`: append and separate", said, 0.3, *cells])
    codes, domain = blocks(4, 6, 12, 10_000)
    parts = [list(domain.names[i : i + 6]) for i in range(0, 24, 6)]
    rows.append([
        "`dpsyn-2018`: sets inside parts", "pairs inside four chains of six", 1,
        error("independent", codes, domain, 1.0, seeds, {}, parts),
        error("dpsyn-2018", codes, domain, 1.0, seeds, {"design": {"parts": parts}}, parts),
    ])  # fmt: skip
    print(table(["step", "table", "epsilon", "without", "with"], rows))


if __name__ == "__main__":
    main()
