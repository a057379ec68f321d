"""Conditional tables from one release: a fit under the condition against throwing records away. Simulated tables.

`python -m benchmarks.refit [--tables sample,stays,season,register] [--records 20000] [--seeds 2]`; some minutes. Error
is the mean total variation distance from the real records that meet the condition, over all 1-, 2- and 3-way marginals
of the narrowed columns. Thrown away: the records of the run's own table that meet it. Fitted: as many as the release
says meet it, and 10,000. `--weights` compares the weight of the large fit (`refits.conditional`) with others.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.rules import TABLES
from dpsyn_core.data import paths
from dpsyn_core.estimate.marginals.released_file import pack_measurements
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.refits import conditional_tables as conditional
from dpsyn_core.runs.refits.refit import Reusable, opened, refit
from dpsyn_core.runs.refits.subset_schema import narrowed
from dpsyn_core.runs.release import Release
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.writer import Places, write_release
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.columns import RuleColumn
from dpsyn_core.schema.rules.condition import Condition
from dpsyn_core.tables.clause import clauses
from dpsyn_core.tables.read import read_table

CONDITIONS = {
    "sample": (
        "SEX = Female", "CITY = Bellmere", "CITY = Bellmere and AGE in [18, 30]",
        "RACE = Black and SEX = Male and AGE in [40, 70]",
    ),
    "stays": ("ward = Surgery", "ward = Cardiology and age in [70, 99]", "emergency = yes and los_days in [0, 2]"),
    "season": ("position = catcher", "league = National and games in [100, 162]", "homers in [10, 40]"),
    "register": ("pregnant = yes", "city = city3 and sex = f", "age in [60, 80] and marital = widowed"),
}  # fmt: skip
MANY = 10_000  # records, more than most of the conditions leave
WEIGHTS = (  # of the large fit: TRUST, HALVED, LARGER
    (0.75, 50.0, 4), (0.0, 50.0, 4), (0.5, 50.0, 4), (1.0, 50.0, 4), (0.75, 0.01, 4), (0.75, 500.0, 4), (0.75, 50.0, 1),
)  # fmt: skip


def meeting(table: pa.Table, schema: Schema, where: str) -> pa.Table:
    """The records that meet a condition."""
    kept = np.ones(table.num_rows, dtype=bool)
    for clause in clauses(where):
        attribute = schema[clause.attribute]
        kept &= RuleColumn.read(table.column(clause.attribute), attribute).meets(Condition.of(attribute, clause))
    return table.filter(pa.array(kept))


def error(real: NDArray[np.integer], made: NDArray[np.integer], sizes: tuple[int, ...], k: int) -> float:
    """Mean total variation distance of all k-way marginals; codes are (attributes, records)."""

    def shares(codes: NDArray[np.integer], names: tuple[int, ...]) -> NDArray[np.float64]:
        flat = np.ravel_multi_index([codes[i].astype(np.intp) for i in names], [sizes[i] for i in names])
        counts = np.bincount(flat, minlength=int(np.prod([sizes[i] for i in names])))
        return np.asarray(counts / max(codes.shape[1], 1))

    sets = list(combinations(range(len(sizes)), k))
    return float(np.mean([np.abs(shares(real, s) - shares(made, s)).sum() / 2 for s in sets]))


def table_of(name: str, records: int) -> tuple[pa.Table, Schema]:
    """A bundled or simulated table with its schema."""
    if name == "sample":
        table, path = paths("sample")
        return read_table(table), Schema.load(path)
    return TABLES[name](records)


def released(real: pa.Table, schema: Schema, seed: int, folder: Path) -> tuple[Release, Reusable]:
    """A run at epsilon 1, and its release file, opened."""
    release = synthesize(real, schema, epsilon=1.0, delta=1e-9, rng=seed, ledger=Ledger(folder / "ledger.sqlite3"))
    file = folder / f"r{seed}.dpsyn"
    places = Places(outs=(folder / f"t{seed}.csv",), manifest=folder / f"m{seed}.json", release=file)
    packed = pack_measurements(release.marginals, schema=schema)
    write_release(release, places, measurements=packed, columns=schema.output_names)
    return release, opened(file)


def errors(real: pa.Table, schema: Schema, where: str, made: list[pa.Table]) -> tuple[list[int], list[float]]:
    """Records of the real table that meet a condition and of the made ones, and the errors of these by order."""
    codec = Codec(narrowed(schema, where).schema)
    sizes, truth = codec.domain.sizes, codec.encode(meeting(real, schema, where), individuals=False).codes
    codes = [codec.encode(t, individuals=False).codes for t in made]
    found = [error(truth, c, sizes, k) for k in (1, 2, 3) for c in codes]
    return [truth.shape[1], *(c.shape[1] for c in codes)], found


def against_throwing_away(name: str, records: int, seeds: int) -> None:
    """Prints a line for each condition, means over releases."""
    real, schema = table_of(name, records)
    rows: dict[str, list[list[float]]] = {c: [] for c in CONDITIONS[name]}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(seeds):
            release, given = released(real, schema, seed, Path(folder))
            for where, lines in rows.items():
                made = [
                    meeting(release.arrow, schema, where),
                    refit(given, rng=seed, where=where).arrow,
                    refit(given, rng=seed, where=where, n_records=MANY).arrow,
                ]
                sizes, found = errors(real, schema, where, made)
                lines.append([*sizes[:3], *found])
    for where, lines in rows.items():
        mean = np.mean(lines, axis=0)
        cells = [" / ".join(f"{e:.3f}".lstrip("0") for e in mean[3 + 3 * k : 6 + 3 * k]) for k in range(3)]
        print(f"| {name}: `{where}` | {' / '.join(f'{n:.0f}' for n in mean[:3])} | {' | '.join(cells)} |", flush=True)


def by_weights(name: str, records: int, seeds: int) -> None:
    """Prints the mean 2-way error over the conditions of a table for each of WEIGHTS."""
    real, schema = table_of(name, records)
    usual = (conditional.TRUST, conditional.HALVED, conditional.LARGER)
    with tempfile.TemporaryDirectory() as folder:
        runs = [released(real, schema, seed, Path(folder))[1] for seed in range(seeds)]
        for weights in WEIGHTS:
            conditional.TRUST, conditional.HALVED, conditional.LARGER = weights
            found = [
                errors(real, schema, where, [refit(given, rng=1, where=where, n_records=MANY).arrow])[1][1]
                for given in runs
                for where in CONDITIONS[name]
            ]
            print(f"| {name} | {' / '.join(map(str, weights))} | {np.mean(found):.4f} |", flush=True)
    conditional.TRUST, conditional.HALVED, conditional.LARGER = usual


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(CONDITIONS))
    parser.add_argument("--records", type=int, default=20_000, help="of the simulated tables but the sample")
    parser.add_argument("--seeds", type=int, default=2, help="releases")
    parser.add_argument("--weights", action="store_true", help="compare weights of the large fit instead")
    args = parser.parse_args()
    if args.weights:
        print("| table | weight / halved at / times the records | 2-way |\n|---|---|---|")
    else:
        print("| condition | records: real / thrown away / fitted | 1-way | 2-way | 3-way |\n|---|---|---|---|---|")
    for name in args.tables.split(","):
        (by_weights if args.weights else against_throwing_away)(name, args.records, args.seeds)


if __name__ == "__main__":
    main()
