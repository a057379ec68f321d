"""Jobs: one child process a run, in a folder of its own; queue, progress, cancel, ownership, clean-up.

Folders live under DPSYN_HOME/jobs (mode 0700) and outlive page switches, refreshes and restarts of the app.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from dpsyn_core.child import Child
from dpsyn_core.errors import InputError
from dpsyn_core.files import home, open_private, put_private
from dpsyn_core.platforms import ended_late
from dpsyn_core.runs import COMPILED, CONFINES, DONE, ERROR, JOB, PROGRESS, RUN, SCHEMA, WARM, JobSpec, write_json
from ui.shared.access import classroom, limits

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.schema import LinkedSchema, Schema

State = Literal["queued", "running", "done", "failed", "cancelled"]
NOTE = "note.json"  # owner, label and what a comparison needs; read back after a restart
NOTED = ("owner", "label", "created", "fingerprint", "public")  # what the note holds
LABEL = 80  # characters of a run's name
KEPT = 8  # finished runs kept for one owner
OLDEST = 7 * 24 * 3600  # seconds after which any finished run is removed
WAITING = 4  # runs that one owner may have queued or running
CANCELLED = "Cancelled"  # the type that error.json gets from a cancel
WORKER = "dpsyn_core.runs.jobs.worker"  # the module that a child process runs
OVERDUE = 15  # seconds past its time limit after which the app ends a run that has not ended itself
GRACE = 1.5  # seconds between asking a worker to end and ending it


class JobError(InputError):
    """A job that cannot be started, or that belongs to somebody else."""


@dataclass
class Job:
    """One run as pages see it; `spec` and `label` are public, the folder is not."""

    id: str
    owner: str
    folder: Path
    spec: JobSpec
    label: str
    created: float
    fingerprint: str  # of schema and settings: tells whether a run is stale
    public: dict[str, Any] = field(default_factory=dict)
    process: Child | None = None
    begun: float = 0.0  # when its worker was started or told of it; 0 before

    @property
    def state(self) -> State:
        """Where the run stands, from its folder and its process."""
        ended = self.process is not None and self.process.poll() is not None  # asked first: it has left all by then
        if (self.folder / DONE).exists():
            return "done"
        left = _read(self.folder / ERROR)
        if left:
            return "cancelled" if left.get("type") == CANCELLED else "failed"
        if self.process is None:
            return "queued"
        return "failed" if ended else "running"

    @property
    def live(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("queued", "running")

    def made_from(self, serial: str) -> bool:
        """Whether it was made from the table of this name; a run from a project knows the name under a salt only."""
        mark = salted(serial, str(self.public.get("salt", "")))
        return hmac.compare_digest(mark.encode(), str(self.public.get("serial", "")).encode())

    def progress(self) -> dict[str, Any]:
        """What the worker last wrote; empty before it wrote anything."""
        return _read(self.folder / PROGRESS)

    def part_done(self, stage: str | None = None) -> float | None:
        """Which share of its stage is done; None in any other stage than one that is named, and before it says so."""
        seen = self.progress()
        here = bool(seen.get("total")) and stage in (None, seen.get("stage"))
        return min(1.0, seen["done"] / seen["total"]) if here else None

    def elapsed(self) -> float:
        """Seconds since the worker began, also while a long step says nothing; 0 before there is one."""
        try:
            since = time.time() - (self.folder / PROGRESS).stat().st_mtime
        except OSError:  # not written yet
            return max(0.0, time.time() - self.begun) if self.begun else 0.0
        return float(self.progress().get("seconds", 0.0)) + max(0.0, since)

    def seconds(self) -> float:
        """How long the finished run took."""
        return float(_read(self.folder / DONE).get("seconds", 0.0))

    def failure(self) -> str:
        """The sentence that a failed run left, or one for a worker that could leave none."""
        left = _read(self.folder / ERROR).get("message")
        if left:
            return str(left)
        status = self.process.returncode if self.process else None
        if ended_late(status):
            return self.late
        if status is None:
            return f"the app was closed while this run was under way; {self._spent}; run it again"
        return f"the run was ended from outside, often for want of memory; {self._spent}"

    @property
    def late(self) -> str:
        """The sentence for a run whose time is over."""
        return f"the run took longer than its limit of {self.spec.seconds} s; use fewer attributes or raise it"

    @property
    def _spent(self) -> str:
        charged = self.spec.charges and self.spec.release is None
        return "what it had charged stays spent" if charged else "nothing was booked on the ledger"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_down(job: Job) -> None:
    """Keeps a job in its folder, from which a later server takes it up."""
    write_json(job.folder / NOTE, {name: getattr(job, name) for name in NOTED})
    put_private(job.folder / JOB, job.spec.model_dump_json().encode("utf-8"))


def salted(serial: str, salt: str) -> str:
    """A table's name under a salt (hexadecimal), so that two marks of one table differ; the name itself without one."""
    return hmac.new(bytes.fromhex(salt), serial.encode(), hashlib.sha256).hexdigest() if salt else serial


def hashed(owner: str) -> str:
    """An owner's name on disk: never the token itself."""
    return hashlib.sha256(owner.encode()).hexdigest()[:32]


def _forget_table(job: Job) -> None:
    """Removes the job's own copies of private tables; a file named by its path on this machine stays."""
    for path in (job.folder / place for place in job.spec.inputs):
        if path.parent == job.folder:
            path.unlink(missing_ok=True)


def spawn(
    argument: str,
    cwd: Path,
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    worker: str = WORKER,
) -> Child:
    """Starts a worker of this installation; its results and errors go to files in its folder, not to its output."""
    within = limits()
    confined = {} if within is None else {CONFINES: within.model_dump_json()}
    return Child.module(worker, argument, cwd=cwd, stdin=stdin, stdout=stdout, env=confined)


class Jobs:
    """All runs of this server. Safe to call from many sessions at once."""

    def __init__(
        self,
        folder: Path | None = None,
        parallel: int | None = None,
        *,
        worker: str = WORKER,
        spec: type[JobSpec] = JobSpec,
    ) -> None:
        """Takes up the folders that an earlier server left.

        Args:
            folder: of all jobs; None is `jobs` in DPSYN_HOME.
            parallel: how many run at once; None: one a core, at most 4.
            worker: the module that does a job in a child process.
            spec: the document that tells it what to do.
        """
        self._worker, self._spec = worker, spec
        self.folder = folder or home() / "jobs"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.parallel = parallel or max(1, min(4, os.cpu_count() or 1))
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}
        self._ready: Child | None = None
        self._keep = False
        for path in sorted(self.folder.iterdir()):
            self._take_up(path)
        self.clean()

    def _take_up(self, path: Path) -> None:
        note, found = _read(path / NOTE), _read(path / JOB)
        try:
            spec = self._spec.model_validate(found) if note and found else None
        except ValidationError:  # of a version that took more from a project than values
            spec = None
        if spec is None:
            shutil.rmtree(path, ignore_errors=True)
            return
        job = Job(id=path.name, folder=path, spec=spec, **{name: note[name] for name in NOTED})
        if job.state == "queued":  # its server is gone, and with it the process
            write_json(path / ERROR, {"type": "Stopped", "message": job.failure()})
            _forget_table(job)
        self._jobs[job.id] = job

    def start(
        self,
        owner: str,
        spec: JobSpec,
        schema: Schema | LinkedSchema | None,
        table: pa.Table | Mapping[str, pa.Table] | None,
        *,
        label: str,
        fingerprint: str,
        public: dict[str, Any] | None = None,
        files: dict[str, bytes] | None = None,
    ) -> Job:
        """Queues a run. `table` None: the worker reads `spec.table` itself (a path on this machine).

        table: of linked tables, those that `spec.linked` names.

        schema None: the worker finds it in one of the files, which are put into its folder by their names.

        Raises JobError when too many of the owner's runs wait, or when this server is for a class.
        """
        if classroom():
            msg = "this server is for a class and runs nothing; start the app without --class for runs"
            raise JobError(msg)
        mine = hashed(owner)
        with self._lock:
            if sum(j.live for j in self._jobs.values() if j.owner == mine) >= WAITING:
                msg = f"{WAITING} of your runs are waiting or under way; wait for one to end, or cancel one"
                raise JobError(msg)
            job_id = secrets.token_hex(8)
            folder = self.folder / job_id
            folder.mkdir(mode=0o700)
            if table is not None:
                import pyarrow.parquet as pq

                given = [table[name] for name in spec.linked] if isinstance(table, Mapping) else [table]
                for one, place in zip(given, spec.inputs, strict=True):
                    with open_private(folder / place) as file:
                        pq.write_table(one, file)
            for name, content in (files or {}).items():
                put_private(folder / name, content)
            if schema is not None:
                put_private(folder / SCHEMA, schema.dumps().encode("utf-8"))
            job = Job(job_id, mine, folder, spec, label, time.time(), fingerprint, public or {})
            _write_down(job)
            self._jobs[job_id] = job
            self._next()
            self.clean()
            return job

    def adopt(
        self,
        owner: str,
        spec: JobSpec,
        files: dict[str, bytes],
        *,
        label: str,
        fingerprint: str,
        public: dict[str, Any],
    ) -> Job:
        """Takes up a finished run that a project brought, with its released files (by name, already checked).

        It counts as made now, for runs of more than a week ago are removed.
        """
        job_id = secrets.token_hex(8)
        folder = self.folder / job_id
        folder.mkdir(mode=0o700)
        for name, raw in files.items():
            put_private(folder / name, raw)
        job = Job(job_id, hashed(owner), folder, spec, label, time.time(), fingerprint, public)
        _write_down(job)
        write_json(folder / DONE, {})
        with self._lock:
            self._jobs[job_id] = job
            self.clean()
        return job

    def _next(self) -> None:
        """Starts waiting runs while there is room, oldest first."""
        with self._lock:
            states = [(j, j.state) for j in sorted(self._jobs.values(), key=lambda j: j.created)]
            room = self.parallel - sum(s == "running" for _, s in states)
            for job, state in states:
                if state == "queued" and room > 0:
                    self._launch(job)
                    room -= 1

    def _launch(self, job: Job) -> None:
        job.begun = time.time()
        other = {} if self._worker == WORKER else {"worker": self._worker}
        job.process = self._hand_over(job) or spawn(str(job.folder), cwd=job.folder, **other)  # type: ignore[arg-type]
        threading.Thread(target=self._wait, args=(job,), daemon=True).start()

    def _wait(self, job: Job) -> None:
        if job.process is not None:
            try:
                job.process.wait(job.spec.seconds + OVERDUE)
            except subprocess.TimeoutExpired:
                write_json(job.folder / ERROR, {"type": "SizeError", "message": job.late})
                job.process.end()
        _forget_table(job)
        self._next()
        self._refill()

    def warm(self) -> None:
        """Makes a worker ready, so that a run begins at once. If it had to compile, kernels of the scores come next."""
        self._keep = True
        self._refill()
        first = self._ready

        def then() -> None:
            if first is not None and first.stdout is not None and first.stdout.readline() == COMPILED:
                spawn(WARM, self.folder).wait()

        threading.Thread(target=then, daemon=True).start()

    def _refill(self) -> None:
        """Starts the next worker where none is ready; not beside a run, which has the processor to itself."""
        with self._lock:
            if self._keep and self._ready is None and not self.running():
                self._ready = spawn(RUN, self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _hand_over(self, job: Job) -> Child | None:
        """The worker that is ready, after it was told the folder of the run; None where there is none."""
        child, self._ready = self._ready, None
        if child is None or child.poll() is not None:
            return None
        return child if child.tell(f"{job.folder.absolute()}\n".encode()) else None

    def of(self, owner: str) -> list[Job]:
        """The owner's runs, newest first."""
        mine = hashed(owner)
        with self._lock:
            return sorted((j for j in self._jobs.values() if j.owner == mine), key=lambda j: -j.created)

    def get(self, job_id: str, owner: str) -> Job:
        """One run. Raises JobError for a run that is gone or that belongs to somebody else (the same sentence)."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None or not secrets.compare_digest(job.owner, hashed(owner)):
            msg = "no run of yours has this address; open one of your runs from the Synthesize page"
            raise JobError(msg)
        return job

    def cancel(self, job_id: str, owner: str) -> None:
        """Ends a run: asks, then ends its process. Returns when the process is gone. The charge stays."""
        job = self.get(job_id, owner)
        with self._lock:
            if not job.live:
                return
            process = job.process
            if process is None:
                write_json(job.folder / ERROR, {"type": CANCELLED, "message": ""})
        if process is not None:
            process.end(GRACE)
            if not (job.folder / DONE).exists():
                write_json(job.folder / ERROR, {"type": CANCELLED, "message": ""})
        _forget_table(job)
        self._next()

    def rename(self, job_id: str, owner: str, label: str) -> None:
        """Gives a run another name, on disk too; a blank one changes nothing. Raises JobError."""
        job, label = self.get(job_id, owner), " ".join(label.split())[:LABEL]
        if label:
            with self._lock:
                job.label = label
                write_json(job.folder / NOTE, {**_read(job.folder / NOTE), "label": label})

    def remove(self, job_id: str, owner: str) -> None:
        """Removes a finished run with its files."""
        job = self.get(job_id, owner)
        if not job.live:
            self._drop(job)

    def _drop(self, job: Job) -> None:
        with self._lock:
            self._jobs.pop(job.id, None)
        shutil.rmtree(job.folder, ignore_errors=True)

    def clean(self) -> None:
        """Removes runs that are too old, and each owner's finished runs beyond KEPT."""
        with self._lock:
            finished = [j for j in sorted(self._jobs.values(), key=lambda j: -j.created) if not j.live]
            seen: dict[str, int] = {}
            for job in finished:
                seen[job.owner] = seen.get(job.owner, 0) + 1
                if seen[job.owner] > KEPT or time.time() - job.created > OLDEST:
                    self._drop(job)

    def running(self) -> int:
        """How many runs of all owners are under way (a number, nothing else about them)."""
        with self._lock:
            return sum(j.state == "running" for j in self._jobs.values())
