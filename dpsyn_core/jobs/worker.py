"""Worker: runs one job in a child process, in the job's own folder; `python -m dpsyn_core.jobs.worker FOLDER`.

With `--read` it reads one table instead, from a file that nobody vouches for; the folder's name comes on its input.

A folder holds what the job needs (`job.json`, `schema.json`, the table) and what it leaves: `progress.json`,
replaced atomically while it runs; then either `done.json` beside `synthetic.parquet`, `manifest.json` and
`measurements.json.gz`, or `error.json`. Messages of unexpected faults are dropped, for they may quote a value.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dpsyn_core.errors import DPSynError, InputError, OutputError, SizeError

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.runs.release import Release

PROGRESS, DONE, ERROR, JOB = "progress.json", "done.json", "error.json", "job.json"
SYNTHETIC, MANIFEST, MEASUREMENTS, SCHEMA = "synthetic.parquet", "manifest.json", "measurements.json.gz", "schema.json"
LOG = "worker.log"
WARM, READ = "--warm", "--read"
ASK, UPLOAD, DRAFT = "ask.json", "upload", "draft.json"  # in the folder of a table to be read
NICENESS = 10  # runs give way to pages: the app stays quick while they work
NICENESS_OF_READING = 5  # somebody waits for it, while the pages of all others wait for their turn
LIBRARIES = 768 * 2**20  # bytes of address space for libraries that are loaded after the limit is set
SPACING = 0.2  # seconds between two writes of the progress file
CURVE_POINTS = 240  # convergence values kept; beyond that every other one is dropped
CALM_READING = "The file could not be read because of a fault in the program; save it as CSV and try again."
CALM = "The run stopped because of a fault in the program. What it had charged stays spent; run it again."


class JobSpec(BaseModel):
    """What a job is asked to do. Paths are relative to the folder unless absolute."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    table: str = "table.parquet"
    delimiter: str | None = None
    encoding: str | None = None
    epsilon: float
    delta: float
    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    n_records: int | None = None
    seed: int
    dataset: str | None = None
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=3600, ge=1)


class ReadSpec(BaseModel):
    """A table to be read: the file `upload` of the folder under its own `name`, or a `path` on this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    path: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=300, ge=1)


def write_json(path: Path, value: object) -> None:
    """Replaces a file by JSON so that a reader sees the old one or the new one, never a part."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(value, file)
    part.replace(path)


class Reporter:
    """Progress callback that keeps `progress.json` current: stage, share done, stages passed, convergence curve."""

    def __init__(self, folder: Path) -> None:
        """Starts the clock."""
        self._path = folder / PROGRESS
        self._start = time.time()
        self._written = 0.0
        self._parent = os.getppid()
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
        if os.getppid() != self._parent:
            sys.exit(1)  # the app is gone, and nobody waits for this run
        now = time.time()
        if not changed and done < total and now - self._written < SPACING:
            return
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


def limits_memory() -> bool:
    """Whether this system keeps limits of memory: Linux does."""
    return sys.platform == "linux"


def limit_resources(memory_mb: int, seconds: int) -> None:
    """Caps memory beyond what the imports took, and wall time; where the system cannot, the job runs uncapped."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)  # the default action ends the process, even inside a compiled loop
    try:
        import resource
    except ImportError:  # not on Windows
        return
    try:
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except OSError:  # not Linux
        return
    cap = used + LIBRARIES + memory_mb * 2**20
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (cap if hard == resource.RLIM_INFINITY else min(cap, hard), hard))


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


def run(folder: Path) -> None:
    """Runs the job of a folder from reading to writing. Raises DPSynError; budget charged before it stays spent."""
    started = time.time()
    report = Reporter(folder)
    spec = load_spec(folder)
    report("loading the engine", 0, 1)
    from dpsyn_core.runs.release import synthesize
    from dpsyn_core.schema.document import Schema

    schema = Schema.load(folder / SCHEMA)
    limit_resources(spec.memory_mb, spec.seconds)
    report("reading the table", 0, 1)
    table = _table(folder, spec)
    release = synthesize(
        table,
        schema,
        epsilon=spec.epsilon,
        delta=spec.delta,
        method=spec.method,
        settings=spec.settings,
        n_records=spec.n_records,
        rng=spec.seed,
        dataset=spec.dataset,
        progress=report,
    )
    report("writing", 0, 1)
    _leave(folder, release)
    report("writing", 1, 1)
    write_json(folder / DONE, {"seconds": time.time() - started})


def _table(folder: Path, spec: JobSpec) -> pa.Table:
    path = folder / spec.table
    if path.parent == folder and path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        path.unlink()  # the copy of the private table is needed no longer than this
        return table
    from dpsyn_core.tables.read import read_table

    return read_table(path, delimiter=spec.delimiter, encoding=spec.encoding)


def _leave(folder: Path, release: Release) -> None:
    from dpsyn_core.report.released import dump_measurements
    from dpsyn_core.tables.write import write_table

    release.manifest.dump(folder / MANIFEST)
    write_table(release.arrow, folder / SYNTHETIC)
    dump_measurements(folder / MEASUREMENTS, release.marginals)


def _fault(folder: Path, kind: type[BaseException], trace: TracebackType | None, *, sentence: str = CALM) -> None:
    """Logs where a fault arose, without its message, and leaves a calm sentence for the page."""
    frames = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(trace)]
    (folder / LOG).write_text(f"{kind.__name__}\n" + "\n".join(frames) + "\n", encoding="utf-8")
    write_json(folder / ERROR, {"type": kind.__name__, "message": sentence})


def read_when_asked() -> int:
    """Loads what reading takes, waits for the name of a folder on the standard input, reads its table. Exit status.

    An input that ends without a name means that the app is gone.
    """
    from dpsyn_core.schema.drafting import draft
    from dpsyn_core.tables.read import read_table

    draft(read_table(b"a,b\n1,2\n3,4\n"), "loads all that reading needs")
    line = sys.stdin.readline().strip()
    if not line:
        return 0
    folder = Path(line)
    sys.excepthook = lambda kind, _error, trace: _fault(folder, kind, trace, sentence=CALM_READING)
    spec = ReadSpec.model_validate_json((folder / ASK).read_text("utf-8"))
    try:
        _read(folder, spec)
    except MemoryError:
        msg = f"reading the file takes more than {spec.memory_mb} MB of memory; give fewer columns or records"
        return _refuse(folder, SizeError(msg))
    except DPSynError as error:
        return _refuse(folder, error)
    except OSError as error:
        msg = f"the table cannot be handed over ({error.strerror}); free disk space or set DPSYN_HOME elsewhere"
        return _refuse(folder, OutputError(msg))
    return 0


def _read(folder: Path, spec: ReadSpec) -> None:
    """Reads, drafts a schema, hands both over."""
    from dpsyn_core.schema.drafting import draft
    from dpsyn_core.tables.handover import leave
    from dpsyn_core.tables.read import read

    limit_resources(spec.memory_mb, spec.seconds)
    source = (folder / UPLOAD).read_bytes() if spec.path is None else spec.path
    reading = read(source, name=spec.name, delimiter=spec.delimiter, encoding=spec.encoding)
    del source
    draft(reading.table, spec.name).dump(folder / DRAFT)
    leave(folder, reading)


def warm() -> None:
    """Compiles the kernels of the default system and of the scores once, on a few simulated records.

    The ledger of that run is thrown away: the records are nobody's.
    """
    import tempfile

    from dpsyn_core.data import paths
    from dpsyn_core.metrics.load import compare_tables
    from dpsyn_core.metrics.registry import compute
    from dpsyn_core.privacy.ledger import Ledger
    from dpsyn_core.runs.release import synthesize
    from dpsyn_core.schema.document import Schema
    from dpsyn_core.tables.read import read_table

    table, schema = paths("sample")
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite3")
        few, known = read_table(table).slice(0, 500), Schema.load(schema)
        made = synthesize(few, known, epsilon=1.0, delta=1e-9, rng=0, ledger=ledger)
    compute(compare_tables(known, made.arrow, few), ["tvd-2way", "range-queries", "nist-density"])


def main(arguments: list[str] | None = None) -> int:
    """Runs one job. Exit status 0, 2 for what the person got wrong, 1 for a fault of ours (as `dpsyn`)."""
    given = arguments or sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(NICENESS_OF_READING if given == [READ] else NICENESS)
    if given == [WARM]:
        warm()
        return 0
    os.umask(0o077)
    if given == [READ]:
        return read_when_asked()
    folder = Path(given[0])
    sys.excepthook = lambda kind, _error, trace: _fault(folder, kind, trace)
    try:
        run(folder)
    except MemoryError:
        cap = load_spec(folder).memory_mb
        msg = f"the run needs more than its {cap} MB of memory; use fewer attributes or bins, or raise the limit"
        return _refuse(folder, SizeError(msg))
    except OSError as error:
        msg = f"the job folder cannot be written ({error.strerror}); free disk space or set DPSYN_HOME elsewhere"
        return _refuse(folder, OutputError(msg))
    except DPSynError as error:
        return _refuse(folder, error)
    return 0


def _refuse(folder: Path, error: DPSynError) -> int:
    write_json(folder / ERROR, {"type": type(error).__name__, "message": str(error)})
    return 2 if isinstance(error, InputError) else 1


if __name__ == "__main__":
    sys.exit(main())
