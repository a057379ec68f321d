"""Worker of a comparison of systems: `python -m dpsyn_core.runs.choose.worker FOLDER`, a child process of the app.

Finds `job.json`, `schema.json` and the table, as a run does; leaves `grid.json` and `done.json`, or `error.json`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from dpsyn_core.platforms import limit_resources
from dpsyn_core.runs.jobs.folder import DONE, JOB, SCHEMA, Reporter, take_table, write_json
from dpsyn_core.runs.jobs.places import of_worker
from dpsyn_core.runs.jobs.worker import serve
from dpsyn_core.tables import confine_process

RESULT = "grid.json"
SMALL = "the comparison needs more memory than it may take; use fewer columns"
FAULT = "The comparison stopped because of a fault in the program; nothing was booked on the ledger. Start it again."


def run(folder: Path) -> None:
    """Makes the comparison that the folder asks for."""
    started = time.time()
    report = Reporter(folder)
    report("loading the engine", 0, 1)
    from dpsyn_core.runs.choose.comparison import compare_systems
    from dpsyn_core.runs.choose.document import ComparisonSpec
    from dpsyn_core.schema import Schema

    spec = ComparisonSpec.model_validate_json((folder / JOB).read_text("utf-8"))
    schema = Schema.load(folder / SCHEMA)
    confine_process(of_worker())
    limit_resources(spec.memory_mb, spec.seconds)
    result = compare_systems(take_table(folder, spec, schema), schema, spec, progress=report)
    write_json(folder / RESULT, result.model_dump(mode="json"))
    write_json(folder / DONE, {"seconds": time.time() - started})


def main(arguments: list[str] | None = None) -> int:
    """Makes one comparison. Exit status 0, 2 for what the person got wrong, 1 for a fault of ours (as `dpsyn`)."""
    return serve(run, arguments, small=SMALL, fault=FAULT)


if __name__ == "__main__":
    sys.exit(main())
