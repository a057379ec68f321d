"""The folder of a job: the names of its files, and what a worker leaves there for the app.

A run finds `job.json`, `schema.json` and the table. While it works it replaces `progress.json`; it ends with
`done.json` beside `synthetic.parquet`, `manifest.json` and `measurements.json.gz`, or with `error.json`.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from dpsyn_core.errors import DPSynError, InputError, OutputError, SizeError
from dpsyn_core.files import put_private
from dpsyn_core.outside import below
from dpsyn_core.platforms import orphaned, parent, replace
from dpsyn_core.runs.jobs.spec import JobSpec

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.measure import Source
    from dpsyn_core.progress import Progress
    from dpsyn_core.runs.measurement import Measured
    from dpsyn_core.schema import Schema

Run = TypeVar("Run", bound=JobSpec)

PROGRESS, DONE, ERROR, JOB = "progress.json", "done.json", "error.json", "job.json"
SYNTHETIC, MANIFEST, MEASUREMENTS, SCHEMA = "synthetic.parquet", "manifest.json", "measurements.json.gz", "schema.json"
UPLOAD, DRAFT = "upload", "draft.json"  # in the folder of a table to be read
LOG = "worker.log"
SPACING = 0.2  # seconds between two writes of the progress file
CURVE_POINTS = 240  # convergence values kept; beyond that every other one is dropped
RUN_FAULT = "The run stopped because of a fault in the program. What it had charged stays spent; run it again."


def write_json(path: Path, value: object) -> None:
    """Replaces a file by JSON so that a reader sees the old one or the new one, never a part."""
    part = path.with_name(path.name + ".part")
    put_private(part, json.dumps(value).encode("utf-8"))
    replace(part, path)


def load_spec(folder: Path) -> JobSpec:
    """The job of a folder. Raises InputError when it is missing or wrong, naming the field."""
    try:
        return JobSpec.model_validate_json((folder / JOB).read_text("utf-8"))
    except OSError as error:
        msg = f"{folder.name} holds no {JOB}; start jobs from the app"
        raise InputError(msg) from error
    except ValidationError as error:
        first = error.errors()[0]
        msg = f"{JOB}: {'.'.join(str(p) for p in first['loc'])}: {first['msg']}"
        raise InputError(msg) from error


def in_place(folder: Path, spec: JobSpec) -> bool:
    """Whether the table lies outside the folder, and is read where it is."""
    return (folder / spec.table).parent != folder


def take_table(folder: Path, spec: JobSpec, schema: Schema) -> pa.Table | Source:
    """The private table; the copy of it in the folder is removed as soon as it is in memory."""
    path = folder / spec.table
    if not in_place(folder, spec):
        return _taken(path)
    from dpsyn_core.measure import choose, source_of_batches
    from dpsyn_core.tables import open_table

    batches = open_table(path, spec.form)
    memory = planned(spec.memory_mb)
    return source_of_batches(
        batches, choose(batches, engine=None, memory=memory, schema=schema), spec.form.strict, memory
    )


def take_tables(folder: Path, spec: JobSpec, schema: Schema) -> pa.Table | dict[str, pa.Table]:
    """The private linked tables by name, or the one file of a panel; the copies in the folder are removed at once."""
    out = {name: _taken(folder / place) for name, place in zip(spec.linked, spec.inputs, strict=True)}
    return out[schema.name] if schema.one_file else out


def _taken(path: Path) -> pa.Table:
    """A table from its copy, which is removed; closed before, for a thread of pyarrow may keep it open for a moment."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pa.OSFile(str(path)) as file:
        table = pq.read_table(file)
    path.unlink()
    return table


def planned(memory_mb: int) -> int:
    """Bytes that a run plans with: less than its limit, which libraries share."""
    return memory_mb * 2**20 * 3 // 4


def leave_release(folder: Path, spec: JobSpec, measured: Measured, progress: Progress) -> None:
    """Makes the records, and writes the manifest, the synthetic table and the released marginals.

    The memory of the run decides whether records are synthesized in shards, wherever the private table lies: that it is
    too large for the app, or was not, must not show in what is written.
    """
    from dpsyn_core.estimate import pack_measurements

    _write(folder, spec, measured, pack_measurements(measured.released, schema=measured.schema), progress)


def leave_refit(folder: Path, spec: JobSpec, progress: Progress) -> None:
    """Makes a table of the release file in the folder, and leaves what `leave_release` does; nothing is charged."""
    from dpsyn_core.runs.refits.refit import Changes, opened, prepared

    given = opened(below(folder, str(spec.release)))
    changes = Changes(
        method=spec.maker,
        n_records=spec.n_records,
        seed=spec.seed,
        where=spec.where,
        columns=spec.columns,
        rules=spec.rules,
    )
    put_private(folder / SCHEMA, given.released.schema.dumps().encode("utf-8"))
    _write(folder, spec, prepared(given, changes, progress=progress), given.measurements or b"", progress)


def _write(folder: Path, spec: JobSpec, measured: Measured, measurements: bytes, progress: Progress) -> None:
    from dpsyn_core.runs.parts import PendingRelease
    from dpsyn_core.runs.writer import Places, write_release

    places = Places(outs=(folder / SYNTHETIC,), manifest=folder / MANIFEST, measurements=folder / MEASUREMENTS)
    write_release(
        PendingRelease(measured=measured, memory=planned(spec.memory_mb)),
        places,
        measurements=measurements,
        progress=progress,
    )


def with_public_table(folder: Path, spec: Run) -> Run:
    """The run with the place of its public table in the folder, from which nothing is read once it is confined."""
    if spec.public_table is None:
        return spec
    return spec.model_copy(update={"public_table": str(below(folder, spec.public_table))})


def leave_refusal(folder: Path, error: DPSynError, sheets: tuple[str, ...] = ()) -> int:
    """Leaves the sentence of an error, and the sheets of a workbook of which another one may be the table.

    Returns:
        The exit status: 2 for what the person got wrong, else 1.
    """
    left = {"type": type(error).__name__, "message": str(error)}
    write_json(folder / ERROR, left | ({"sheets": list(sheets)} if sheets else {}))
    return 2 if isinstance(error, InputError) else 1


def leave_fault(
    folder: Path, kind: type[BaseException], trace: TracebackType | None, *, sentence: str = RUN_FAULT
) -> None:
    """Logs where an unexpected fault arose, and leaves a sentence for the page.

    The message of the error is dropped, for it may quote a private value.
    """
    frames = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(trace)]
    put_private(folder / LOG, (f"{kind.__name__}\n" + "\n".join(frames) + "\n").encode("utf-8"))
    write_json(folder / ERROR, {"type": kind.__name__, "message": sentence})


class Reporter:
    """Progress callback that keeps `progress.json` current: stage, share done, stages passed, convergence curve."""

    def __init__(self, folder: Path) -> None:
        """Starts the clock."""
        self._path = folder / PROGRESS
        self._start = time.time()
        self._written = 0.0
        self._parent = parent()
        self._stage = ""
        self._passed: list[str] = []
        self._curve: list[tuple[float, float]] = []
        self._curve_stage = ""
        self("starting", 0, 1)

    def __call__(self, stage: str, done: float, total: float, value: float | None = None) -> None:
        """Notes one step; writes at most every SPACING seconds, and at every change of stage."""
        changed = stage != self._stage
        if changed:
            if self._stage:
                self._passed.append(self._stage)
            self._stage = stage
        if value is not None:
            self._note(stage, value)
        now = time.time()
        if not changed and done < total and now - self._written < SPACING:
            return
        if orphaned(self._parent):
            sys.exit(1)  # the app is gone, and nobody waits for this run
        self._written = now
        write_json(
            self._path,
            {
                "stage": stage,
                "done": float(done),
                "total": float(total),
                "passed": self._passed,
                "seconds": now - self._start,
                "curve_stage": self._curve_stage,
                "curve": self._curve,
            },
        )

    def _note(self, stage: str, value: float) -> None:
        if stage != self._curve_stage:
            self._curve_stage, self._curve = stage, []
        self._curve.append((round(time.time() - self._start, 3), float(value)))
        if len(self._curve) > CURVE_POINTS:
            self._curve = self._curve[::2]


def finish(
    folder: Path,
    run: Callable[[Path], None],
    small: Callable[[], str],
    *,
    full: str = "the job folder cannot be written",
    sheets: Callable[[], tuple[str, ...]] = tuple,
    **sentence: str,
) -> int:
    """Runs a task of a child process; what is wrong is left in the folder as one sentence.

    Args:
        folder: of the task.
        run: does it.
        small: why it needs more memory than it may take, and what to do.
        full: what could not be written there.
        sheets: of a workbook that was refused, see `leave_refusal`.
        sentence: what to say of a fault of ours, see `leave_fault`.

    Returns:
        The exit status: 0, or 2 for what the person got wrong; a fault of ours ends the process with 1.
    """

    def fault(kind: type[BaseException], _: BaseException, trace: TracebackType | None) -> None:
        leave_fault(folder, kind, trace, **sentence)

    sys.excepthook = fault
    try:
        run(folder)
    except MemoryError:
        return leave_refusal(folder, SizeError(small()))
    except OSError as error:
        msg = f"{full} ({error.strerror}); free disk space or set DPSYN_HOME elsewhere"
        return leave_refusal(folder, OutputError(msg))
    except DPSynError as error:
        return leave_refusal(folder, error, sheets())
    return 0
