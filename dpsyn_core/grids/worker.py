"""Worker of a grid: `python -m dpsyn_core.grids.worker FOLDER`, a child process of the app.

Finds `job.json`, `schema.json` and the table, as a run does; leaves `grid.json` and `done.json`, or `error.json`.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from types import TracebackType

from dpsyn_core.errors import DPSynError, OutputError, SizeError
from dpsyn_core.jobs.folder import DONE, JOB, SCHEMA, Reporter, leave_fault, leave_refusal, take_table, write_json
from dpsyn_core.jobs.places import of_worker
from dpsyn_core.jobs.worker import NICENESS
from dpsyn_core.limits import forbid_core_dumps, limit_resources
from dpsyn_core.tables.confines import confine_process

RESULT = "grid.json"
FAULT = "The grid stopped because of a fault in the program; nothing was booked on the ledger. Start it again."


def run(folder: Path) -> None:
    """Makes the grid that the folder asks for."""
    started = time.time()
    report = Reporter(folder)
    report("loading the engine", 0, 1)
    from dpsyn_core.grids.document import GridSpec
    from dpsyn_core.grids.grid import grid
    from dpsyn_core.schema.document import Schema

    spec = GridSpec.model_validate_json((folder / JOB).read_text("utf-8"))
    schema = Schema.load(folder / SCHEMA)
    confine_process(of_worker())
    limit_resources(spec.memory_mb, spec.seconds)
    found = grid(take_table(folder, spec, schema), schema, spec, progress=report)
    write_json(folder / RESULT, found.model_dump(mode="json"))
    write_json(folder / DONE, {"seconds": time.time() - started})


def main(arguments: list[str] | None = None) -> int:
    """Makes one grid. Exit status 0, 2 for what the person got wrong, 1 for a fault of ours (as `dpsyn`)."""
    forbid_core_dumps()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    os.umask(0o077)
    folder = Path((arguments or sys.argv[1:])[0])
    sys.excepthook = partial(_fault, folder)
    try:
        run(folder)
    except MemoryError:
        return leave_refusal(folder, SizeError("the grid needs more memory than it may take; use fewer columns"))
    except OSError as error:
        msg = f"the job folder cannot be written ({error.strerror}); free disk space or set DPSYN_HOME elsewhere"
        return leave_refusal(folder, OutputError(msg))
    except DPSynError as error:
        return leave_refusal(folder, error)
    return 0


def _fault(folder: Path, kind: type[BaseException], _: BaseException, trace: TracebackType | None) -> None:
    leave_fault(folder, kind, trace, sentence=FAULT)


if __name__ == "__main__":
    sys.exit(main())
