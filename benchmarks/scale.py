"""Scale: seconds and peak memory of `dpsyn synth` on tables larger than memory, from Parquet to a folder of Parquet."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.process import dpsyn, measure, table
from benchmarks.tables import adult_codes
from dpsyn_core.schema.document import Schema

PART, WIDE_PART = 1_000_000, 50_000  # records that are drawn and written at a time
ADULT = 14  # columns of Adult


def resampled(path: Path, schema: Path, records: int) -> None:
    """Adult codes drawn again with replacement, row group by row group, and their schema."""
    adult = adult_codes()
    if adult.schema is None:
        sys.exit("Adult codes have no schema: give the data set (benchmarks.tables)")
    adult.schema.dump(schema)
    whole, rng = adult.table.combine_chunks(), np.random.default_rng(0)
    with pq.ParquetWriter(path, whole.schema, compression="zstd") as writer:
        for start in range(0, records, PART):
            writer.write_table(whole.take(rng.integers(0, whole.num_rows, min(PART, records - start))))


def wide(path: Path, schema: Path, records: int, columns: int) -> None:
    """Columns of 2 to 12 values: each follows one of many groups of people, and the groups follow a common one."""
    rng = np.random.default_rng(0)
    groups, classes = max(1, columns // 20), 6
    of_common = rng.dirichlet(np.ones(classes), size=(groups, 4))
    sizes = [2 + j % 11 for j in range(columns)]
    of_class = [rng.dirichlet(np.full(k, 0.7), size=classes) for k in sizes]
    attributes = [
        {"name": f"c{j:03}", "kind": "categorical", "values": [str(v) for v in range(k)]} for j, k in enumerate(sizes)
    ]
    Schema.of({"version": 1, "name": "wide", "attributes": attributes}).dump(schema)
    writer = None
    for start in range(0, records, WIDE_PART):
        n = min(WIDE_PART, records - start)
        common = rng.integers(0, 4, n)
        own = [draw(of_common[g][common], rng) for g in range(groups)]
        drawn = {a["name"]: draw(of_class[j][own[j % groups]], rng) for j, a in enumerate(attributes)}
        part = pa.table({name: pa.array(column.astype(np.uint8)) for name, column in drawn.items()})
        writer = writer or pq.ParquetWriter(path, part.schema, compression="zstd")
        writer.write_table(part)
    if writer is not None:
        writer.close()


def draw(shares: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """A value for each row of shares (records, values)."""
    ends = shares.cumsum(axis=1)
    return np.asarray((rng.random((len(ends), 1)) > ends[:, :-1]).sum(axis=1))


def row(
    folder: Path, records: int, columns: int, engine: str | None, memory: str | None, *, one_file: bool
) -> list[object]:
    """One whole command."""
    name = f"{records}x{columns}"
    source, schema, out = folder / f"{name}.parquet", folder / f"{columns}.json", folder / f"out-{name}-{engine}"
    if not source.exists():
        made = resampled if columns == ADULT else partial(wide, columns=columns)
        made(source, schema, records)
    more = [*(("--engine", engine) if engine else ()), *(("--memory", memory) if memory else ())]
    target = f"{out}.parquet" if one_file else f"{out}/"
    command = dpsyn(
        "synth", source, "--schema", schema, "--epsilon", 1, "--delta", "1e-9", "--out", target,
        "--manifest", folder / f"{out.name}.json", "--quiet", *more,
    )  # fmt: skip
    shutil.rmtree(out, ignore_errors=True)  # of an earlier run, where tables are kept
    cost = measure(command, home=folder / "home")
    if cost.status:
        sys.exit(f"{' '.join(command)} exited {cost.status}: {cost.errors}")
    kind, stated = "file" if one_file else "folder", (folder / f"{out.name}.json").stat().st_size
    costs = [f"{x:.0f}" for x in (cost.wall, cost.cpu, cost.megabytes, stated / 1000)]
    return [f"{records:,} x {columns}", engine or "chosen", memory or "default", kind, *costs]


def main() -> None:
    """Prints one line a table and engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="10000000,100000000", help="sizes, with commas between them")
    parser.add_argument("--columns", type=int, default=ADULT, help="another number draws a simulated table so wide")
    parser.add_argument("--engines", default="stored", help="memory, stored, or both with a comma")
    parser.add_argument("--memory", help="what a run may use; default 1GB up to 10 million records, else 4GB")
    parser.add_argument("--file", action="store_true", help="write one Parquet file instead of a folder")
    parser.add_argument("--folder", type=Path, help="where tables are kept; default a temporary folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = args.folder or Path(name)
        folder.mkdir(exist_ok=True)
        rows = []
        row(
            folder, 1000, ADULT, "stored", None, one_file=False
        )  # compiles the kernels, as a warm installation has them
        for records in map(int, args.records.split(",")):
            for engine in args.engines.split(","):
                memory = args.memory or ("1GB" if records <= 10_000_000 else "4GB")
                rows.append(row(folder, records, args.columns, engine, memory, one_file=args.file))
                print(rows[-1], file=sys.stderr, flush=True)
    print(table(["table", "engine", "--memory", "output", "seconds", "CPU seconds", "peak MB", "manifest KB"], rows))


if __name__ == "__main__":
    main()
