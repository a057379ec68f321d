"""Worker: a child process of the app. `python -m dpsyn_core.runs.jobs.worker FOLDER` runs the job of a folder.

`--run` loads what a run needs, says so and waits for the folder on the standard input; `--read` reads one table
instead, whose folder comes the same way; `--warm` compiles what first runs need.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dpsyn_core.child import Child
from dpsyn_core.platforms import limit_resources
from dpsyn_core.runs.jobs.folder import (
    DONE,
    SCHEMA,
    Reporter,
    finish,
    leave_refit,
    leave_release,
    load_spec,
    take_table,
    with_public_table,
    write_json,
)
from dpsyn_core.runs.jobs.places import of_worker
from dpsyn_core.runs.jobs.reader import read_when_asked
from dpsyn_core.tables import confine_process

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.runs.release import Release
    from dpsyn_core.schema import Schema

WARM, READ, RUN = "--warm", "--read", "--run"
COMPILED = b"compiled\n"  # what a worker that is ready says where it found no kept kernels; READY: it found them
READY = b"ready\n"
FEW = 500  # records of the run that loads what runs need
ENOUGH = 20_000  # records of which larger sets than pairs are searched, for which kernels are compiled too
MANY_SETS = 200  # among which a choice takes a compiled kernel
NICENESS = 10  # runs give way to pages: the app stays quick while they work
NICENESS_OF_READING = 5  # somebody waits for it, while the pages of all others wait for their turn


def run(folder: Path) -> None:
    """Runs the job of a folder from reading to writing. Raises DPSynError; budget charged before it stays spent."""
    started = time.time()
    report = Reporter(folder)
    spec = load_spec(folder)
    report("loading the engine", 0, 1)
    if spec.release is not None:
        confine_process(of_worker())
        limit_resources(spec.memory_mb, spec.seconds)
        if spec.linked:
            from dpsyn_core.runs.jobs.linked import leave_linked_refit

            leave_linked_refit(folder, spec, report)
        else:
            leave_refit(folder, spec, report)
        write_json(folder / DONE, {"seconds": time.time() - started})
        return
    if spec.linked:
        from dpsyn_core.runs.jobs.linked import leave_linked

        confine_process(of_worker())
        limit_resources(spec.memory_mb, spec.seconds)
        leave_linked(folder, spec, report)
        write_json(folder / DONE, {"seconds": time.time() - started})
        return
    from dpsyn_core.measure import source_of
    from dpsyn_core.runs.measurement import measure
    from dpsyn_core.schema import Schema

    schema = Schema.load(folder / SCHEMA)
    task = with_public_table(folder, spec).task(schema)
    confine_process(of_worker())
    limit_resources(spec.memory_mb, spec.seconds)
    report("reading the table", 0, 1)
    table = take_table(folder, spec, schema)
    facts = spec.facts(schema, query_vouched=spec.query_vouched)
    measured = measure(source_of(table), schema, spec, facts=facts, task=task, progress=report)
    del table
    leave_release(folder, spec, measured, report)
    report("writing", 1, 1)
    write_json(folder / DONE, {"seconds": time.time() - started})


def warm() -> None:
    """Compiles the kernels of the default system and of the scores once."""
    import numpy as np

    from dpsyn_core.estimate import descend
    from dpsyn_core.evaluate import compare_tables, compute

    # noise decides whether a run chooses among so many sets that this kernel is taken
    descend(np.zeros((MANY_SETS, 2)), np.zeros((MANY_SETS, 2)), unit=1.0, power=0.5, least=0.0)
    few, schema, release = run_of_nobody(ENOUGH)
    compute(compare_tables(schema, release.arrow, few), ["tvd-2way", "range-queries", "nist-density"])


def run_of_nobody(records: int = FEW) -> tuple[pa.Table, Schema, Release]:
    """A run of the default system on a few simulated records, with its table and schema; its ledger is thrown away."""
    import tempfile

    from dpsyn_core.data import paths
    from dpsyn_core.privacy import Ledger
    from dpsyn_core.runs.synthesis import synthesize
    from dpsyn_core.schema import Schema
    from dpsyn_core.tables import read_table

    table, schema = paths("sample")
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite3")
        few, schema_of = read_table(table).slice(0, records), Schema.load(schema)
        return few, schema_of, synthesize(few, schema_of, epsilon=1.0, delta=1e-9, rng=0, ledger=ledger)


def folder_when_asked() -> Path | None:
    """Loads all that a run needs, says so, and waits for the folder. None: the input ended, for the app is gone."""
    import pyarrow.parquet  # noqa: F401 tables come and go in this form

    from dpsyn_core import loading
    from dpsyn_core.estimate import released_file  # noqa: F401
    from dpsyn_core.runs import writer as writing  # noqa: F401

    run_of_nobody()
    sys.stdout.buffer.write(COMPILED if loading.MADE else READY)
    sys.stdout.buffer.flush()
    line = sys.stdin.readline().strip()
    return Path(line) if line else None


def main(arguments: list[str] | None = None) -> int:
    """Runs one job. Exit status 0, 2 for what the person got wrong, 1 for a fault of ours (as `dpsyn`)."""
    given = arguments or sys.argv[1:]
    Child.begin(niceness=NICENESS_OF_READING if given == [READ] else NICENESS)
    if given == [WARM]:
        warm()
        return 0
    if given == [READ]:
        return read_when_asked()
    folder = Path(given[0])
    if given == [RUN]:
        asked = folder_when_asked()
        if asked is None:
            return 0
        folder = asked
        os.chdir(folder)

    def too_small() -> str:
        cap = load_spec(folder).memory_mb
        return f"the run needs more than its {cap} MB of memory; use fewer attributes or bins, or raise the limit"

    return finish(folder, run, too_small)


def serve(run: Callable[[Path], None], arguments: list[str] | None, *, small: str, fault: str) -> int:
    """`main` of a worker that makes one thing in the folder of its argument.

    Args:
        run: makes it.
        arguments: default those of the process.
        small: why it needs more memory than it may take, and what to do.
        fault: what to say of a fault of ours.
    """
    Child.begin(niceness=NICENESS)
    return finish(Path((arguments or sys.argv[1:])[0]), run, lambda: small, sentence=fault)


if __name__ == "__main__":
    sys.exit(main())
