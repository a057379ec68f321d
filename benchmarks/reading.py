"""Reading, encoding, decoding and writing large tables: CPU seconds a step, and peak memory of a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.memory import peak_mb
from benchmarks.process import table
from benchmarks.tables import simulated
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import write_table

CASES = (
    ("1,000,000 x 14, CSV", "mixture", 1_000_000, 14, "csv"),
    ("662,000 x 98, CSV", "tree", 662_000, 98, "csv"),
    ("662,000 x 98, Parquet", "tree", 662_000, 98, "parquet"),
)
STEPS = ("read", "encode", "bound", "decode", "write CSV")


def prepare(folder: Path, kind: str, n: int, d: int, ending: str) -> tuple[Path, Path]:
    """Writes a simulated table: half its columns text, half numbers, and a column that names 3 records each."""
    made = simulated(kind, n, d, seed=1)  # type: ignore[arg-type]
    attributes: list[dict[str, Any]] = []
    columns = {"id": pa.array(np.arange(n) // 3)}
    for i, (name, size) in enumerate(zip(made.domain.names, made.domain.sizes, strict=True)):
        if i % 2:
            values = [f"value {v}" for v in range(size)]
            columns[name] = pa.array(values).take(pa.array(made.codes[i]))
            attributes.append({"name": name, "kind": "categorical", "values": values})
        else:
            columns[name] = pa.array(made.codes[i].astype(np.int64) * 100)
            bins = {"count": size}
            high = size * 100 - 1
            attributes.append(
                {"name": name, "kind": "numeric", "dtype": "integer", "min": 0, "max": high, "bins": bins}
            )
    unit = {"identifier": "id", "max_records": 2}
    schema = Schema.of({"version": 1, "name": "t", "unit": unit, "attributes": attributes})
    paths = folder / f"t.{ending}", folder / "t.schema.json"
    write_table(pa.table(columns), paths[0])
    schema.dump(paths[1])
    return paths


def job(source: Path, document: Path) -> None:
    """One walk through the steps; prints CPU seconds of each, and the peak of resident memory in MB."""
    codec = Codec(Schema.load(document))
    marks = [time.process_time()]
    frame = read_table(source)
    marks.append(time.process_time())
    encoded = codec.encode(frame)
    marks.append(time.process_time())
    codes = bound(encoded, 2)
    marks.append(time.process_time())
    peak = peak_mb()
    out = codec.decode(codes, rng=np.random.default_rng(0))
    marks.append(time.process_time())
    write_table(out, source.parent / "out.csv")
    marks.append(time.process_time())
    print(json.dumps({"cpu": np.diff(marks).tolist(), "peak": peak}))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job", nargs=2, type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        job(*args.job)
        return
    rows: list[list[object]] = []
    for label, kind, n, d, ending in CASES:
        with tempfile.TemporaryDirectory() as name:
            paths = prepare(Path(name), kind, n, d, ending)
            command = [sys.executable, "-m", "benchmarks.reading", "--job", *map(str, paths)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            got = json.loads(done.stdout.splitlines()[-1])
            rows.append([label, *(f"{s:.2f}" for s in got["cpu"]), f"{got['peak']:.0f}"])
    print(table(["table", *(f"{s}, CPU s" for s in STEPS), "peak MB up to the codes"], rows))


if __name__ == "__main__":
    main()
