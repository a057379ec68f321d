"""What runs take, against what the app says before them: processor seconds and memory of every system by size.

Each run has a process of its own, as in the app. The sample is repeated to the wanted number of records; narrower
tables hold its first attributes, wider ones hold some of them twice. Processor seconds of one thread are what a run
takes on a quiet machine; they can be measured on a busy one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from benchmarks.memory import peak_mb
from dpsyn_core.data import paths
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.registry import config_class, names
from dpsyn_core.systems.settings import Size
from dpsyn_core.tables.read import read_table
from ui.synthesize.estimates import forecast

SIZES = ((20_000, 14), (100_000, 14), (20_000, 7), (20_000, 28), (2_000, 14))  # records, attributes
MOST = 60  # processor seconds after which a run is given up
PURE = ("field-groups", "privbayes")  # take no delta


def made(n: int, d: int) -> tuple[pa.Table, Schema]:
    """A table of n records and d attributes made from the sample, and its schema."""
    table, document = paths("sample")
    sample, known = read_table(table), Schema.load(document).document()
    attributes = known["attributes"][:d]
    twice = [a | {"name": f"{a['name']}_2"} for a in known["attributes"][: max(0, d - len(attributes))]]
    columns = {a["name"]: sample.column(a["name"].removesuffix("_2")) for a in (*attributes, *twice)}
    whole = pa.concat_tables([pa.table(columns)] * -(-n // sample.num_rows)).slice(0, n)
    return whole.combine_chunks(), Schema.of(known | {"attributes": attributes + twice})


def child(method: str, n: int, d: int) -> None:
    """Runs a system once and prints what it took."""
    import resource

    from dpsyn_core.runs.synthesis import synthesize

    resource.setrlimit(resource.RLIMIT_CPU, (MOST, MOST))
    table, schema = made(n, d)
    guarantee = config_class(method).guarantee
    unit = schema.unit.neighbours if schema.unit.neighbours in guarantee.neighbours else guarantee.neighbours[0]
    known = schema.document()
    known["unit"]["neighbours"] = unit
    schema = Schema.of(known | {"n_records": n})
    delta = 0.0 if method in PURE else 1e-9
    start, wall = time.process_time(), time.perf_counter()
    synthesize(table, schema, epsilon=1.0, delta=delta, method=method, rng=0, dataset="estimates")
    peak = peak_mb()
    took = {"cpu": time.process_time() - start, "wall": time.perf_counter() - wall, "mb": peak}
    print(json.dumps({"method": method, "n": n, "d": d} | took))


def measured(method: str, n: int, d: int, home: Path) -> dict[str, float | str | None] | None:
    """One run in a process of its own; None when it was given up."""
    command = [sys.executable, "-m", "benchmarks.estimates", "--child", method, str(n), str(d)]
    environment = {**os.environ, "DPSYN_HOME": str(home), "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return None
    took: dict[str, float | str | None] = json.loads(done.stdout.splitlines()[-1])
    return took


def main() -> int:
    """Prints a line of JSON a run: what it took, and what the app says before it, with the start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=3, metavar=("METHOD", "N", "D"), help=argparse.SUPPRESS)
    parser.add_argument("--methods", nargs="*", default=names())
    parser.add_argument("--sizes", type=int, nargs="*", default=range(len(SIZES)), help="which of the sizes, from 0")
    given = parser.parse_args()
    if given.child:
        child(given.child[0], int(given.child[1]), int(given.child[2]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for n, d in (SIZES[i] for i in given.sizes):
            size = Size.of(made(n, d)[1].domain(), n)
            for method in given.methods:
                got = measured(method, n, d, Path(folder))
                said = forecast(config_class(method)(), size)
                found: dict[str, object] = {"method": method, "n": n, "d": d, "cpu": None, **(got or {})}
                print(json.dumps(found | {"said": [said.low, said.high], "said_mb": said.megabytes}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
