"""Spark with one and two executors: seconds, speed-up, bytes to the driver, and what a large cluster would take.

python -m benchmarks.scale_spark [--records 20000000] [--identifier]

Resampled Adult codes in Parquet files, read by the executors of a cluster on this machine: encoding into their caches,
then all 91 pairs, three times. The model multiplies the constants that were measured; it is no measurement.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.tables import Table, adult_codes
from dpsyn_core.measure.spark import counter as counting
from dpsyn_core.measure.spark import tasks
from dpsyn_core.measure.spark.files import SparkFiles
from dpsyn_core.measure.spark.session import session
from dpsyn_core.progress import silent
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read_form import ReadForm

CHUNK = 1_000_000  # records of a file
MEMORY = 2048  # MB of an executor
REPEATS = 3
BILLION, MACHINES, CORES = 1_000_000_000, 16, 8


@dataclass(frozen=True, kw_only=True)
class Measured:
    """executors: with one core each. encoding: seconds until codes are cached. counting: of all pairs, the median."""

    executors: int
    encoding: float
    counting: float
    to_driver: int


def write_parts(folder: Path, table: Table, records: int, *, identifier: bool) -> Schema:
    """Files of resampled records; with an identifier, about three records each."""
    rng = np.random.default_rng(0)
    names = table.domain.names
    folder.mkdir()
    for number, start in enumerate(range(0, records, CHUNK)):
        n = min(CHUNK, records - start)
        rows = rng.integers(0, table.codes.shape[1], n)
        columns = {name: pa.array(table.codes[i][rows]) for i, name in enumerate(names)}
        if identifier:
            columns["person"] = pa.array(rng.integers(0, max(1, records // 3), n))
        pq.write_table(pa.table(columns), folder / f"part-{number:04}.parquet", row_group_size=CHUNK // 4)
    if table.schema is None:
        msg = "the table has no schema"
        raise SystemExit(msg)
    if not identifier:
        return table.schema
    document = table.schema.document()
    document["unit"] = {"neighbours": "add-remove", "identifier": "person", "max_records": 2}
    document["attributes"].append({"name": "person", "kind": "identifier"})
    return Schema.of(document)


def run(folder: Path, schema: Schema, executors: int) -> Measured:
    """One cluster: encode, then count all pairs."""
    sent: list[int] = []

    def watched(spark: Any, plan: Any) -> Any:
        table = tasks.collected(spark, plan)
        sent.append(table.nbytes)
        return table

    cluster = session(f"local-cluster[{executors},1,{MEMORY}]")
    with mock.patch.object(counting, "collected", watched), cluster as spark:
        spark.range(100).toArrow()  # executors are up
        start = time.perf_counter()
        with SparkFiles(folder, ReadForm()).open(schema, progress=silent) as opened:
            encoding = time.perf_counter() - start
            pairs = list(itertools.combinations(schema.domain().names, 2))
            seconds = []
            for _ in range(REPEATS + 1):
                start = time.perf_counter()
                opened.counter.marginals(pairs)
                seconds.append(time.perf_counter() - start)
        rounds = len(sent) // (REPEATS + 1)
        return Measured(
            executors=executors,
            encoding=encoding,
            counting=float(np.median(seconds[1:])),  # the first loads the kernels
            to_driver=sum(sent[-rounds:]) // rounds,
        )


def model(found: Sequence[Measured], records: int, schema: Schema) -> list[str]:
    """A billion records on 16 machines of 8 cores, from the constants of the run with most executors."""
    best = found[-1]
    cores = MACHINES * CORES
    encoding = BILLION / cores / (records / best.encoding / best.executors)
    count = BILLION / cores / (records / best.counting / best.executors)
    sizes = schema.domain().sizes
    cells = sum(a * b for a, b in itertools.combinations(sizes, 2))
    blocks = -(-BILLION // (1 << 19))
    cache = BILLION * len(sizes) * schema_bytes(sizes)
    shuffled = 8 * cells * max(cores, min(blocks, cores * 3))
    return [
        f"encoding: {records / best.encoding / best.executors:,.0f} records a second a core, so {encoding:,.0f} s",
        f"all {len(sizes) * (len(sizes) - 1) // 2} pairs: {records / best.counting / best.executors:,.0f} records a "
        f"second a core, so {count:,.1f} s a round",
        f"codes in the caches: {cache / 2**30:,.1f} GB, {cache / cores / 2**20:,.0f} MB a core",
        f"tables of a round: {shuffled / 2**20:,.0f} MB in the shuffle, {8 * cells / 2**20:,.1f} MB to the driver",
    ]


def schema_bytes(sizes: Sequence[int]) -> int:
    """Bytes of a code: all attributes have one type."""
    return int(np.min_scalar_type(max(sizes) - 1).itemsize)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--identifier", action="store_true", help="three records a person, of which two are kept")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "parts"
        schema = write_parts(folder, adult_codes(), args.records, identifier=args.identifier)
        print("| executors | encoding s | all pairs s | bytes to the driver a round |\n|---|---|---|---|")
        found = []
        for executors in (1, 2):
            found.append(run(folder, schema, executors))
            last = found[-1]
            print(f"| {executors} | {last.encoding:.1f} | {last.counting:.2f} | {last.to_driver:,} |", flush=True)
        speed = [found[0].encoding / found[1].encoding, found[0].counting / found[1].counting]
        print(f"\nspeed-up of two executors: encoding {speed[0]:.2f}, counting {speed[1]:.2f}")
        print(f"\nmodel of {BILLION:,} records on {MACHINES} x {CORES} cores:")
        for line in model(found, args.records, schema):
            print(f"- {line}")


if __name__ == "__main__":
    main()
