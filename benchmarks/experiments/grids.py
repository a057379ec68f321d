"""Which bins a number should have where nobody declares any: `python -m benchmarks.experiments.grids`.

Runs `rls` on tables of `benchmarks.numbers` with equal bins, with linear and logarithmic fine ones, and with both
(what `schema/grids.py` does without a scale). Prints the medians of their scores.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.number_tables import TABLES, Table
from benchmarks.numbers import METRICS, scores
from dpsyn_core.schema.document import Schema

GRIDS: dict[str, dict[str, Any]] = {
    "20 equal": {"bins": {"count": 20}},
    "200 equal": {"bins": {"count": 200}},
    "linear": {"scale": "linear"},
    "log": {"scale": "log"},
    "both": {},
}


def cut(table: Table, change: dict[str, Any]) -> Table:
    """The table with other bins of its numbers."""
    document = table.schema.document()
    for a in document["attributes"]:
        if a["kind"] == "numeric":
            for key in ("bins", "scale"):
                a.pop(key, None)
            a.update(change)
    return replace(table, schema=Schema.of(document))


def main() -> None:
    """Prints medians over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="heavy,functional")
    parser.add_argument("--grids", default=",".join(GRIDS))
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    print("table           grid        eps  " + "".join(f"{name:>11}" for name, _ in METRICS) + "    seconds")
    for name in args.tables.split(","):
        table = TABLES[name]()
        for grid in args.grids.split(","):
            for epsilon in map(float, args.epsilons.split(",")):
                runs = [scores(cut(table, GRIDS[grid]), "rls", epsilon, seed) for seed in range(args.seeds)]
                row = "".join(f"{m:11.4f}" for m in np.median([found for found, _ in runs], axis=0))
                seconds = np.median([s for _, s in runs])
                print(f"{table.name:<15} {grid:<9} {epsilon:5g}  {row} {seconds:10.1f}", flush=True)


if __name__ == "__main__":
    main()
