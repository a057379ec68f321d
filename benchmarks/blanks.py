"""Blank numbers and empty cells: `python -m benchmarks.blanks [--epsilons .3,1,10] [--seeds 3]`.

Films (30,000, simulated): a tenth have a budget, which depends on votes among them. The rank correlation of budget and
votes among the films that have both, real and synthetic, and how many these are.

Homes (20,000, simulated): thirteen codes that exclude each other, such as rent and owners. Impossible: synthetic
records with a combination of two codes that no real record has; pairs: mean distance. Seeded noise; prints Markdown.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.engine import mean_distance
from benchmarks.number_tables import Table, category, number, of_columns
from benchmarks.process import table as markdown
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.schema.codec import Codec
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise


def films(n: int = 30_000, seed: int = 5) -> Table:
    """Votes of all films, and the budgets of some."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    has = rng.random(n) < 1 / (1 + np.exp(2.8 - z))
    budget = np.exp(14 + 1.6 * (0.78 * z + 0.62 * rng.normal(size=n))).clip(1000, 2e8).round(-3)
    columns: dict[str, Any] = {
        "votes": np.exp(4 + 2 * z + 0.5 * rng.normal(size=n)).clip(5, 150_000).round().astype(int),
        "budget": pa.array([int(b) if h else None for b, h in zip(budget, has, strict=True)], type=pa.int64()),
        "length": rng.normal(88 + 3 * z, 22).clip(1, 400).round().astype(int),
        "year": np.clip(2005 - rng.gamma(1.4, 18, n), 1893, 2005).astype(int),
        "genre": rng.integers(0, 6, n),
    }
    attributes = [
        number("votes", 5, 150_000), {**number("budget", 0, 200_000_000), "missing": True}, number("length", 1, 400),
        number("year", 1893, 2005), category("genre", range(6)),
    ]  # fmt: skip
    return of_columns("films", columns, attributes)


def homes(n: int = 20_000, seed: int = 7) -> Table:
    """Codes of persons and dwellings: children do not work, owners pay no rent, tenants have no value of a house."""
    rng = np.random.default_rng(seed)
    age, group = rng.choice(9, n, p=rng.dirichlet(np.full(9, 6.0))), rng.choice(3, n, p=[0.95, 0.03, 0.02])
    own = np.where(group > 0, 0, 1 + (rng.random(n) < 0.3 + 0.05 * age))
    adult, dense = age >= 2, rng.integers(0, 6, n)
    work = np.where(adult, np.where(rng.random(n) < 0.65 - 0.06 * np.maximum(age - 5, 0), 1, 2), 0)
    married = np.where(adult, rng.choice(5, n, p=[0.4, 0.3, 0.1, 0.1, 0.1]), 0)
    columns = {
        "age": age, "group": group, "own": own, "density": dense,
        "rent": np.where(own == 1, 1 + rng.choice(7, n, p=rng.dirichlet(np.full(7, 3.0))), 0),
        "value": np.where(own == 2, 1 + np.clip(dense + rng.integers(-1, 3, n), 0, 7), 0), "work": work,
        "industry": np.where(work == 1, 1 + rng.choice(10, n, p=rng.dirichlet(np.full(10, 2.0))), 0),
        "income": np.where(adult, 1 + np.clip(rng.normal(3 + 1.2 * (work == 1), 1.6).astype(int), 0, 8), 0),
        "married": married, "school": np.where(adult, 2 + rng.integers(0, 7, n), age),
        "children": np.where((married == 1) | (rng.random(n) < 0.2), rng.integers(0, 4, n), 0),
        "served": np.where(adult, 1 + (rng.random(n) < 0.07), 0),
    }  # fmt: skip
    return of_columns("homes", columns, [category(k, range(int(c.max()) + 1)) for k, c in columns.items()])


def made(table: Table, codes: np.ndarray, epsilon: float, seed: int) -> np.ndarray:
    """One synthetic table of `rls`."""
    task = Task.of(table.schema, Budget(epsilon=epsilon, delta=1e-9))
    system = configure("rls", {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, task.domain), gate=gate)
    return system.synthesize(measured, None, rng=np.random.default_rng(seed))


def impossible(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Share of synthetic records with a combination of two codes that no real record has."""
    bad = np.zeros(synthetic.shape[1], dtype=bool)
    for i, j in combinations(range(len(real)), 2):
        seen = np.zeros((int(real[i].max()) + 1, int(real[j].max()) + 1), dtype=bool)
        seen[real[i], real[j]] = True
        bad |= ~seen[synthetic[i], synthetic[j]]
    return float(bad.mean())


def both(codes: np.ndarray, blank: int) -> tuple[float, int]:
    """Rank correlation of votes and budget among the films that have both, and their number."""
    held = codes[1] != blank
    return float(spearmanr(codes[0][held], codes[1][held])[0]), int(held.sum())


def main() -> int:
    """Prints a table for films and one for homes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilons", default=".3,1,10")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    of_films, of_homes = [], []
    for epsilon in map(float, given.epsilons.split(",")):
        table = films()
        codes, blank = Codec(table.schema).encode(table.table).codes, table.schema.domain()["budget"].size - 1
        ranks = [both(made(table, codes, epsilon, seed), blank) for seed in range(given.seeds)]
        real, (rank, held) = both(codes, blank), np.median(ranks, axis=0)
        of_films.append([f"{epsilon:g}", f"{real[0]:.3f}", f"{rank:.3f}", real[1], int(held)])
        table = homes()
        codes, domain = Codec(table.schema).encode(table.table).codes, table.schema.domain()
        runs = [made(table, codes, epsilon, seed) for seed in range(given.seeds)]
        wrong = np.median([impossible(codes, run) for run in runs])
        pairs = np.median([mean_distance(codes, run, domain) for run in runs])
        of_homes.append([f"{epsilon:g}", f"{wrong:.1%}", f"{pairs:.4f}"])
    print(markdown(["films, epsilon", "rank correlation, real", "synthetic", "have both, real", "synthetic"], of_films))
    print()
    print(markdown(["homes, epsilon", "impossible records", "pairs"], of_homes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
