"""Scale: seconds and peak memory of `dpsyn synth` on tables larger than memory, from Parquet to a folder of Parquet."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.process import dpsyn, measure, table
from benchmarks.tables import adult_codes

PART = 1_000_000  # records that are drawn and written at a time


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


def row(folder: Path, records: int, engine: str | None, memory: str | None, *, one_file: bool) -> list[object]:
    """One whole command."""
    source, schema, out = folder / f"{records}.parquet", folder / "schema.json", folder / f"out-{records}-{engine}"
    if not source.exists():
        resampled(source, schema, records)
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
    kind = "file" if one_file else "folder"
    return [f"{records:,} x 14", engine or "chosen", memory or "default", kind, f"{cost.wall:.0f}", f"{cost.cpu:.0f}",
            f"{cost.megabytes:.0f}"]  # fmt: skip


def main() -> None:
    """Prints one line a table and engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", default="10000000,100000000", help="sizes, with commas between them")
    parser.add_argument("--engines", default="stored", help="memory, stored, or both with a comma")
    parser.add_argument("--memory", help="what a run may use; default 1GB up to 10 million records, else 4GB")
    parser.add_argument("--file", action="store_true", help="write one Parquet file instead of a folder")
    parser.add_argument("--folder", type=Path, help="where tables are kept; default a temporary folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = args.folder or Path(name)
        folder.mkdir(exist_ok=True)
        rows = []
        resampled(folder / "1000.parquet", folder / "schema.json", 1000)
        row(folder, 1000, "stored", None, one_file=False)  # compiles the kernels, as a warm installation has them
        for records in map(int, args.records.split(",")):
            for engine in args.engines.split(","):
                memory = args.memory or ("1GB" if records <= 10_000_000 else "4GB")
                rows.append(row(folder, records, engine, memory, one_file=args.file))
                print(rows[-1], file=sys.stderr, flush=True)
    print(table(["table", "engine", "--memory", "output", "seconds", "CPU seconds", "peak MB"], rows))


if __name__ == "__main__":
    main()
