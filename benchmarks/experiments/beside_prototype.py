"""`rls` beside the plain prototype that it grew from, on every table of `benchmarks.accuracy` and every budget.

`python -m benchmarks.experiments.beside_prototype [--tables ...] [--epsilons .1,.3,1,3,10] [--seeds 2]` prints the mean
2- and 3-way total variation distances at full resolution of both, medians over runs with the noise of production, and
marks with * where the prototype is closer by more than 2 %.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from benchmarks.accuracy import DELTA, EPSILONS, load
from benchmarks.engine import mean_distance, run_system
from benchmarks.process import table as markdown
from benchmarks.prototype import prototype
from benchmarks.tables import Table

TABLES = (
    "wide-20000x12,interaction-20000x12,skewed-5000x8,deterministic-10000x16,mixture-30000x15,tree-20000x20,"
    "clique-30000x16,drug_deaths,adult_raw,adult_codes"
)
LEVEL = 1.02  # how much closer the prototype may be before it counts


def medians(data: Table, made: list[np.ndarray]) -> np.ndarray:
    """Of the mean 2- and 3-way distance."""
    found: np.ndarray = np.median(
        [[mean_distance(data.codes, codes, data.domain, k) for k in (2, 3)] for codes in made], axis=0
    )
    return found


def main() -> int:
    """Prints a row for every table, a column for every budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--epsilons", default=",".join(f"{e:g}" for e in EPSILONS))
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    epsilons, rows = [float(e) for e in given.epsilons.split(",")], []
    for name in given.tables.split(","):
        data, row = load(name), list[object]([name])
        for e in epsilons:
            runs = range(given.seeds)
            plain = [prototype(data.codes, data.domain, epsilon=e, delta=DELTA, seed=s) for s in runs]
            own = [run_system("rls", data.codes, data.domain, epsilon=e, delta=DELTA, seed=s).codes for s in runs]
            rls, other = medians(data, own), medians(data, plain)
            worse = "*" if (rls > LEVEL * other).any() else ""
            row.append(f"{rls[0]:.4f} / {rls[1]:.4f}, {other[0]:.4f} / {other[1]:.4f}{worse}")
            print(f"{name} {e:g}: {row[-1]}", file=sys.stderr, flush=True)
        rows.append(row)
    print(markdown(["table", *(f"{e:g}" for e in epsilons)], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
