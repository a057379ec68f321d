"""Steps of the source documents, with and without: `python -m benchmarks.steps [--seeds 5]`.

Steps that an earlier version named and did not do. For records of `privsyn`: attributes that one pair alone connects
are drawn at the end (`append`), groups that nothing connects are made by themselves (`separate`), on two chains that
have nothing to do with each other, and on the bundled sample. For `dpsyn-2018` with parts alone: its sets are drawn
inside the parts; when they were drawn from all attributes, none of them lay in a part of six, and what was left were
one-ways, as `independent` has them. Prints mean two-way distances with their standard errors, at delta 1e-9.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance, run_system
from benchmarks.process import table
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import Domain
from dpsyn_core.schema.sample import sample_schema, sample_table

WITHOUT = {"append": False, "separate": False}


def blocks(count: int, length: int, size: int, n: int) -> tuple[np.ndarray, Domain]:
    """Chains of columns: each repeats the one before it every second time, and else draws a value of its own."""
    rng = np.random.default_rng(0)
    rows: list[np.ndarray] = []
    for i in range(count * length):
        one, two = rng.integers(0, size, (2, n))
        fresh = np.minimum(one, two)
        rows.append(fresh if i % length == 0 else np.where(rng.random(n) < 0.5, rows[-1], fresh))
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
    return f"{np.mean(found):.4f} ± {np.std(found, ddof=1) / np.sqrt(seeds):.4f}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
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
