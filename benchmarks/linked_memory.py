"""Memory and time of linked tables by size: `python -m benchmarks.linked_memory [--persons 1e6,4e6] [--memory 1GB]`.

Simulated households with their persons, from Parquet to CSV by the command `dpsyn synth`, in a process of its own each.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.linked_tables import census

PERSONS = 2.789  # of a household


def write_tables(roots: int, folder: Path) -> None:
    """Households, persons and their schema."""
    shaped = census(77, roots)
    for name, table in shaped.tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    shaped.schema.dump(folder / "schema.json")


def measured(roots: int, folder: Path, memory: str) -> tuple[int, float, float]:
    """Persons, seconds of processor time, and the most memory in MB, of one run."""
    # in a process of its own: what this one had at its peak would count as the run's
    writing = get_context("spawn").Process(target=write_tables, args=(roots, folder))
    writing.start()
    writing.join()
    named = [f"--table={n}={folder / n}.parquet" for n in ("households", "persons")]
    words = ["synth", *named, "--schema", str(folder / "schema.json"), "--epsilon=1", "--delta=1e-9", "--quiet"]
    words += [f"--memory={memory}"] if memory else []
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "dpsyn_core", *words, "--out", f"{folder / 'out'}/"],
        os.environ | {"DPSYN_HOME": str(folder / "home")},
    )
    _, status, used = os.wait4(child, 0)
    if status:
        msg = f"the run of {roots:,} households ended with status {status}"
        raise RuntimeError(msg)
    persons = pq.read_metadata(folder / "persons.parquet").num_rows
    return persons, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Prints one line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--persons", default="1e6,2e6,4e6")
    parser.add_argument("--memory", default="", help="that a run may use; from what needs more on, counted from disk")
    args = parser.parse_args()
    print("| households | persons | processor seconds | peak MB |\n|---|---|---|---|", flush=True)
    for wanted in map(float, args.persons.split(",")):
        roots = round(wanted / PERSONS)
        with tempfile.TemporaryDirectory() as folder:
            persons, seconds, peak = measured(roots, Path(folder), args.memory)
            print(f"| {roots:,} | {persons:,} | {seconds:.0f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
