"""Conditional tables from one release: a fit under the condition against throwing records away. Simulated sample.

`python -m benchmarks.refit`; about two minutes. Error is the mean total variation distance from the real records that
meet the condition, over all 1-, 2- and 3-way marginals of the narrowed columns. Thrown away: the records of the run's
own table that meet it. Fitted: as many as the release says meet it, and 10,000.
"""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsyn_core.data import paths
from dpsyn_core.marginals.released_file import pack_measurements
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.refits.narrowing import narrowed
from dpsyn_core.refits.refit import opened, refit
from dpsyn_core.runs.release import synthesize
from dpsyn_core.runs.writing import Places, write_release
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.conditions import clauses
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.ruled import RuledColumn
from dpsyn_core.schema.rules import Meant
from dpsyn_core.tables.read import read_table

CONDITIONS = (
    "SEX = Female",
    "CITY = Bellmere",
    "CITY = Bellmere and AGE in [18, 30]",
    "RACE = Black and SEX = Male and AGE in [40, 70]",
)
MANY = 10_000  # records, more than any of the conditions but the first leaves
SEEDS = 2  # releases


def meeting(table: pa.Table, schema: Schema, where: str) -> pa.Table:
    """The records that meet a condition."""
    kept = np.ones(table.num_rows, dtype=bool)
    for clause in clauses(where):
        attribute = schema[clause.attribute]
        kept &= RuledColumn.read(table.column(clause.attribute), attribute).meets(Meant.of(attribute, clause))
    return table.filter(pa.array(kept))


def error(real: NDArray[np.integer], made: NDArray[np.integer], sizes: tuple[int, ...], k: int) -> float:
    """Mean total variation distance of all k-way marginals; codes are (attributes, records)."""

    def shares(codes: NDArray[np.integer], names: tuple[int, ...]) -> NDArray[np.float64]:
        flat = np.ravel_multi_index([codes[i].astype(np.intp) for i in names], [sizes[i] for i in names])
        counts = np.bincount(flat, minlength=int(np.prod([sizes[i] for i in names])))
        return np.asarray(counts / max(codes.shape[1], 1))

    sets = list(combinations(range(len(sizes)), k))
    return float(np.mean([np.abs(shares(real, s) - shares(made, s)).sum() / 2 for s in sets]))


def main() -> None:
    """Prints the table, means over releases."""
    table, path = paths("sample")
    schema, real = Schema.load(path), read_table(table)
    rows: dict[str, list[list[float]]] = {c: [] for c in CONDITIONS}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(SEEDS):
            ledger = Ledger(Path(folder) / "ledger.sqlite3")
            release = synthesize(real, schema, epsilon=1.0, delta=1e-9, rng=seed, ledger=ledger)
            file = Path(folder) / "r.dpsyn"
            places = Places(outs=(Path(folder) / "t.csv",), manifest=Path(folder) / "m.json", release=file)
            packed = pack_measurements(release.marginals, schema=schema)
            write_release(release, places, measurements=packed, columns=schema.output_names)
            given = opened(file)
            for where in CONDITIONS:
                codec = Codec(narrowed(schema, where).schema)
                sizes, truth = codec.domain.sizes, codec.encode(meeting(real, schema, where)).codes
                made = [
                    codec.encode(t).codes
                    for t in (
                        meeting(release.arrow, schema, where),
                        refit(given, rng=seed, where=where).arrow,
                        refit(given, rng=seed, where=where, n_records=MANY).arrow,
                    )
                ]
                rows[where].append(
                    [truth.shape[1], *(float(c.shape[1]) for c in made[:2])]
                    + [error(truth, c, sizes, k) for k in (1, 2, 3) for c in made]
                )
    print("| condition | records: real / thrown away / fitted | 1-way | 2-way | 3-way |\n|---|---|---|---|---|")
    for where, found in rows.items():
        mean = np.mean(found, axis=0)
        cells = [" / ".join(f"{e:.3f}".lstrip("0") for e in mean[3 + 3 * k : 6 + 3 * k]) for k in range(3)]
        print(f"| `{where}` | {' / '.join(f'{n:.0f}' for n in mean[:3])} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
