"""Jobs: child processes with their own folders; progress, cancel, ownership, queue, clean-up, typed failures."""

import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from dpsyn_core.child import Child
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.jobs.folder import DONE, ERROR, MANIFEST, PROGRESS, SYNTHETIC, write_json
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.runs.jobs.worker import COMPILED, READY, RUN, WARM
from dpsyn_core.schema.document import Schema
from ui.shared import jobs as module
from ui.shared.jobs import Job, JobError, Jobs

ROOT = Path(__file__).parents[2]
SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "toy",
        "attributes": [
            {"name": "a", "kind": "categorical", "values": ["x", "y"]},
            {"name": "b", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9, "bins": {"count": 5}},
        ],
    }
)
TABLE = pa.table({"a": ["x", "y"] * 200, "b": [str(i % 10) for i in range(400)]})


def spec(**changes):
    chosen = {"epsilon": 1.0, "delta": 1e-9, "method": "independent", "seed": 1, "dataset": "toy", "memory_mb": 4096,
              "query_vouched": False}  # fmt: skip
    return JobSpec(**(chosen | changes))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))
    return tmp_path


def start(jobs, owner="me", schema=SCHEMA, table=TABLE, **changes):
    return jobs.start(owner, spec(**changes), schema, table, label="toy", fingerprint="f")


def ended(job, seconds=300):
    deadline = time.monotonic() + seconds
    while job.live:
        assert time.monotonic() < deadline, job.progress()
        time.sleep(0.05)
    return job


def until(met, seconds=300):
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def sleeping(monkeypatch):
    """Makes every worker sleep, so that a test can look at one under way."""

    def spawn(argument, cwd):
        return Child([sys.executable, "-c", "import time; time.sleep(600)"], cwd=cwd)

    monkeypatch.setattr(module, "spawn", spawn)


@pytest.mark.slow
def test_a_run_leaves_table_manifest_and_charge_and_no_copy_of_the_private_table(home):
    job = ended(start(Jobs()))
    assert job.state == "done", job.failure()
    names = {p.name for p in job.folder.iterdir()}
    assert {SYNTHETIC, MANIFEST, DONE} <= names
    assert json.loads((job.folder / MANIFEST).read_text())["method"] == "independent"
    assert Ledger().summary("toy").runs == 1
    assert not (job.folder / "table.parquet").exists()


@pytest.mark.slow
def test_a_ready_worker_does_the_run_is_replaced_after_it_and_ends_with_the_app(home):
    jobs = Jobs()
    jobs.warm()
    ready = jobs._ready  # at once: nothing has to be compiled first
    assert ready is not None
    job = start(jobs)
    assert job.process is ready
    assert ended(job).state == "done", job.failure()
    until(lambda: jobs._ready not in (None, ready))
    jobs._ready.stdin.close()  # as when the app is gone
    assert jobs._ready.wait(300) == 0


@pytest.mark.parametrize(("says", "compiles"), [(COMPILED, True), (READY, False)])
def test_kernels_of_the_scores_are_compiled_where_those_of_a_run_were(home, monkeypatch, says, compiles):
    started = []

    def spawn(argument, *_, **__):
        started.append(argument)
        return Child([sys.executable, "-c", f"print({says.decode().strip()!r})"], stdout=subprocess.PIPE)

    monkeypatch.setattr(module, "spawn", spawn)
    before = set(threading.enumerate())
    Jobs().warm()
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
    assert started == [RUN, *([WARM] if compiles else [])]


def test_a_worker_says_whether_it_compiled(tmp_path):
    kernel = "from dpsyn_core.loading import MADE, compiled\n\n@compiled()\ndef twice(x):\n    return 2 * x\n\n"
    (tmp_path / "one.py").write_text(kernel + "twice(1)\nprint(MADE)\n")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(ROOT)}
    said = [subprocess.check_output([sys.executable, "one.py"], cwd=tmp_path, env=environment) for _ in range(2)]
    assert [s.strip() for s in said] == [b"['twice']", b"[]"]


@pytest.mark.slow
def test_a_ready_worker_that_died_is_not_waited_for(home):
    jobs = Jobs()
    jobs._ready = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    jobs._ready.wait(300)
    assert ended(start(jobs)).state == "done"


def test_folders_and_files_are_for_this_user_alone(home, monkeypatch):
    sleeping(monkeypatch)
    jobs = Jobs()
    job = start(jobs)
    assert stat.S_IMODE(job.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((job.folder / "table.parquet").stat().st_mode) == 0o600
    jobs.cancel(job.id, "me")


def test_a_run_that_ends_while_somebody_looks_is_done_and_not_failed(home, monkeypatch):
    sleeping(monkeypatch)
    job = start(Jobs())

    class Ending:
        def poll(self):
            (job.folder / DONE).write_text("{}")
            return 0

    real, job.process = job.process, Ending()
    assert job.state == "done"
    real.end()


def test_somebody_elses_run_and_no_run_get_the_same_sentence(home, monkeypatch):
    sleeping(monkeypatch)
    jobs = Jobs()
    job = start(jobs)
    with pytest.raises(JobError) as theirs:
        jobs.get(job.id, "you")
    with pytest.raises(JobError) as none:
        jobs.get("0" * 16, "you")
    assert str(theirs.value) == str(none.value)
    with pytest.raises(JobError):
        jobs.cancel(job.id, "you")
    assert jobs.of("you") == []
    assert job.live
    jobs.cancel(job.id, "me")


def test_the_owners_token_is_not_written_to_disk(home, monkeypatch):
    sleeping(monkeypatch)
    jobs = Jobs()
    job = start(jobs, owner="a-secret-token")
    assert not [p for p in job.folder.iterdir() if p.suffix == ".json" and "a-secret-token" in p.read_text()]
    jobs.cancel(job.id, "a-secret-token")


@pytest.mark.slow
def test_cancel_ends_the_process_and_the_next_run_works(home, monkeypatch):
    with monkeypatch.context() as patch:
        sleeping(patch)
        jobs = Jobs()
        job = start(jobs)
        process = job.process
        jobs.cancel(job.id, "me")
        assert process.poll() is not None
        assert job.state == "cancelled"
        assert not (job.folder / "table.parquet").exists()
    assert ended(start(jobs)).state == "done"


def test_a_worker_that_ignores_the_request_is_killed(home, monkeypatch):
    import subprocess
    import sys

    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"

    def spawn(argument, cwd):
        process = Child([sys.executable, "-c", code], cwd=cwd, stdout=subprocess.PIPE)
        process.stdout.readline()
        return process

    monkeypatch.setattr(module, "spawn", spawn)
    monkeypatch.setattr(module, "GRACE", 0.2)
    jobs = Jobs()
    job = start(jobs)
    jobs.cancel(job.id, "me")
    assert job.process.poll() is not None
    assert job.state == "cancelled"


def test_runs_beyond_the_cores_wait_and_a_waiting_one_can_be_cancelled(home, monkeypatch):
    sleeping(monkeypatch)
    jobs = Jobs(parallel=1)
    first, second = start(jobs), start(jobs)
    assert (first.state, second.state) == ("running", "queued")
    jobs.cancel(second.id, "me")
    assert second.state == "cancelled"
    third = start(jobs)
    jobs.cancel(first.id, "me")
    assert third.state == "running"
    jobs.cancel(third.id, "me")


def test_one_owner_cannot_fill_the_queue(home, monkeypatch):
    sleeping(monkeypatch)
    jobs = Jobs(parallel=1)
    for _ in range(module.WAITING):
        start(jobs)
    with pytest.raises(JobError, match="wait for one to end"):
        start(jobs)
    start(jobs, owner="you")
    for owner in ("me", "you"):
        for job in jobs.of(owner):
            jobs.cancel(job.id, owner)


def test_old_runs_are_removed_and_newer_ones_kept(home, monkeypatch):
    sleeping(monkeypatch)
    monkeypatch.setattr(module, "KEPT", 2)
    jobs = Jobs()
    made = []
    for _ in range(4):
        job = start(jobs)
        jobs.cancel(job.id, "me")
        made.append(job)
    jobs.clean()
    assert [j.id for j in jobs.of("me")] == [made[3].id, made[2].id]
    assert not made[0].folder.exists()
    assert made[3].folder.exists()


@pytest.mark.slow
def test_a_new_server_takes_up_finished_runs_and_marks_broken_off_ones(home, monkeypatch):
    jobs = Jobs()
    done = ended(start(jobs))
    sleeping(monkeypatch)
    torn = start(jobs)
    again = Jobs()
    states = {j.id: j for j in again.of("me")}
    assert states[done.id].state == "done"
    assert states[torn.id].state == "failed"
    assert "app was closed" in states[torn.id].failure()
    assert not (torn.folder / "table.parquet").exists()
    torn.process.kill()
    torn.process.wait()


def test_a_new_server_removes_the_private_table_of_a_run_that_had_failed_when_the_app_was_killed(home, monkeypatch):
    sleeping(monkeypatch)
    torn = start(Jobs())
    write_json(torn.folder / ERROR, {"type": "SchemaError", "message": "refused before the table was read"})
    assert (torn.folder / "table.parquet").exists()
    again = Jobs().get(torn.id, "me")
    there = (torn.folder / "table.parquet").exists()  # before the server that was there first sees its worker end
    torn.process.kill()
    torn.process.wait()
    assert again.state == "failed" and not there


@pytest.mark.slow
def test_what_the_person_got_wrong_reaches_the_page_as_one_sentence(home):
    table = TABLE.rename_columns(["elsewhere", *TABLE.column_names[1:]])  # the schema's column 'a' is not there
    job = ended(start(Jobs(), table=table))
    assert job.state == "failed"
    assert "'a'" in job.failure()
    assert Ledger().summary("toy").runs == 0


@pytest.mark.slow
def test_a_run_above_its_memory_is_refused_in_a_sentence(home):
    """Records are made in shards that fit; what a run has to hold at once is the private table in the app."""
    table = pa.concat_tables([TABLE] * (60_000_000 // TABLE.num_rows)).combine_chunks()
    job = ended(start(Jobs(), table=table, memory_mb=64))
    assert job.state == "failed"
    assert "64 MB" in job.failure()


@pytest.mark.slow
def test_a_run_above_its_time_is_ended_and_says_so(home):
    job = ended(start(Jobs(), n_records=90_000_000, seconds=1, memory_mb=64_000))
    assert job.state == "failed"
    assert "limit of 1 s" in job.failure()


def test_a_run_is_renamed_by_its_owner_alone_and_keeps_the_name(tmp_path):
    files = {"synthetic.parquet": b""}
    jobs = Jobs(tmp_path)
    job = jobs.adopt("me", spec(), files, label="independent, epsilon 1", fingerprint="f", public={})
    jobs.rename(job.id, "me", "  before\nthe merger ")
    jobs.rename(job.id, "me", "   ")
    with pytest.raises(JobError):
        jobs.rename(job.id, "somebody else", "mine")
    assert job.label == "before the merger"
    assert Jobs(tmp_path).get(job.id, "me").label == "before the merger", "also after a restart"


def test_seconds_go_on_while_a_long_step_says_nothing(tmp_path):
    job = Job(id="a", owner="o", folder=tmp_path, spec=spec(), label="", created=0.0, fingerprint="")
    assert job.elapsed() == 0.0
    told = tmp_path / PROGRESS
    told.write_text(json.dumps({"stage": "writing", "done": 0, "total": 1, "seconds": 258.0}))
    os.utime(told, (time.time() - 300, time.time() - 300))
    assert 558 <= job.elapsed() < 600
