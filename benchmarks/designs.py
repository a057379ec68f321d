"""Worked designs of marginal engineering: `python -m benchmarks.designs [--epsilons .3,1,3] [--seeds 3]`.

The two bundled tables that come with a design for dpsyn-2018 (calls to a fire brigade; a census of 98 columns in four
parts), by dpsyn-2018 with its design and without, and by rls, which knows no design. Prints medians: pairs and triples
(mean total variation distance), density and range score of the NIST 2018 challenge, the share of relations that are
kept, and the share of records that keep what the design says follows (general codes that fit their detailed ones).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import dpsyn, measure, table
from dpsyn_core.data import WORKED, worked_design
from dpsyn_core.evaluate.base import Score, compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.schema.sample import sample_schema, sample_table, write_sample
from dpsyn_core.systems.others.dpsyn2018.design import Design
from dpsyn_core.tables.read import read_table

SHOWN = ("tvd-2way", "tvd-3way", "nist-density", "nist-range", "relations")
HEADERS = ["table", "epsilon", "system", "pairs", "triples", "density", "range", "relations", "follow", "seconds"]


def following(name: str, codes: np.ndarray, names: list[str]) -> float:
    """The share of records in which every general code fits its detailed one, by the public maps of the design."""
    right = np.ones(codes.shape[1], dtype=bool)
    for h in Design.model_validate(worked_design(name)).hierarchies:
        right &= np.asarray(h.codes)[codes[names.index(h.detailed)]] == codes[names.index(h.general)]
    return float(right.mean())


def scored(name: str, made: Any) -> list[float]:
    """The measures of SHOWN, and the share of records that follow the public maps."""
    from dpsyn_core.schema.codec import Codec

    schema = sample_schema(name)
    found = compute(compare_tables(schema, made, sample_table(name)), list(SHOWN))
    values = [s.value if isinstance(s, Score) else float("nan") for s in (found[n] for n in SHOWN)]
    return [*values, following(name, Codec(schema).encode(made).codes, list(schema.domain().names))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilons", default=".3,1,3")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in WORKED:
            source, schema = write_sample(folder, name)
            settings = {
                "dpsyn-2018, designed": ["--set", f"design={json.dumps(worked_design(name))}"],
                "dpsyn-2018": [],
                "rls": [],
            }
            for epsilon in (float(e) for e in args.epsilons.split(",")):
                for system, more in settings.items():
                    found, seconds = [], []
                    for seed in range(args.seeds):
                        out = folder / "out.csv"
                        cost = measure(
                            dpsyn(
                                "synth", source, "--schema", schema, "--method", system.split(",")[0], *more,
                                "--epsilon", epsilon, "--delta", "1e-9", "--seed", seed, "--out", out,
                                "--manifest", folder / "manifest.json", "--quiet",
                            ),
                            home=folder / "home",
                        )  # fmt: skip
                        if cost.status:
                            sys.exit(cost.errors)
                        found.append(scored(name, read_table(out)))
                        seconds.append(cost.cpu)
                    middle = [statistics.median(f[i] for f in found) for i in range(len(found[0]))]
                    two, three, density, ranges, kept, follow = middle
                    rows.append(
                        [name, epsilon, system, f"{two:.3f}", f"{three:.3f}", f"{density:,.0f}", f"{ranges:,.0f}",
                         f"{kept:.2f}", f"{follow:.3f}", f"{statistics.median(seconds):.1f}"]
                    )  # fmt: skip
                    print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    print(table(HEADERS, rows))


if __name__ == "__main__":
    main()
