"""How soon a cancelled training is over, and what it leaves: `python -m benchmarks.cancel [--systems p3gm,dp-vae]`.

Starts a run of each deep system as the app does, on the bundled sample, with so many steps that it would take minutes;
cancels it when the first steps are taken; prints seconds until its process is gone, the files that are left in its
folder, files left in the scratch folder, and what the ledger holds. Once more in the phase before, while components
are summed or the run is being prepared, whichever it is in.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.process import table
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.systems.registry import config_class
from ui.shared.jobs import Job, Jobs

LONG = {"steps": 20_000, "sampling": 1.0, "target": "INCWAGE"}
SYSTEMS = ("p3gm", "p3gm-ae", "dp-vae", "dp-gm")
MOST = 300.0  # seconds that a run may take to reach the moment that is waited for


def reached(job: Job, stage: str) -> bool:
    """Whether the run has begun, or trains."""
    now = job.progress()
    return bool(now) if stage == "started" else now.get("stage") == stage and now["done"] > 1


def one(name: str, stage: str, folder: Path) -> list[object]:
    """A row: one run that is cancelled at a stage."""
    os.environ["DPSYN_HOME"] = str(folder / "home")
    os.environ["DPSYN_SCRATCH"] = str(folder / "scratch")
    jobs = Jobs()
    settings = {k: v for k, v in LONG.items() if k in config_class(name).model_fields}
    spec = JobSpec(
        query_vouched=False,
        epsilon=1.0,
        delta=1e-6,
        method=name,
        settings=settings,
        seed=1,
        dataset=name,
        memory_mb=8192,
    )
    job = jobs.start("me", spec, sample_schema(), sample_table(), label=name, fingerprint="f")
    deadline = time.monotonic() + MOST
    while job.live and not reached(job, stage):
        if time.monotonic() > deadline:
            msg = f"{name} did not come to '{stage}' within {MOST:g} s; it is at {job.progress()}"
            raise RuntimeError(msg)
        time.sleep(0.02)
    if not job.live:
        raise RuntimeError(job.failure())
    before = time.perf_counter()
    jobs.cancel(job.id, "me")
    seconds = time.perf_counter() - before
    left = sorted(p.name for p in job.folder.iterdir())
    scratch = folder / "scratch"
    kept = len(list(scratch.rglob("*"))) if scratch.exists() else 0
    runs = Ledger().summary(name).runs
    return [name, stage, f"{seconds:.2f}", job.state, ", ".join(left), kept, runs]


def main() -> int:
    """Prints a row a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    given = parser.parse_args()
    rows = []
    for name in given.systems.split(","):
        for stage in ("started", "training"):
            with tempfile.TemporaryDirectory() as folder:
                rows.append(one(name, stage, Path(folder)))
    heads = ["system", "cancelled while", "seconds", "state", "files left", "scratch files", "charged runs"]
    print(table(heads, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
