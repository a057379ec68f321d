"""A project file as a stranger may hand it over: a real run of a small table, and a note that says what it likes."""

import functools
import io
import json
import tempfile
import zipfile
from pathlib import Path

from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.progress import silent
from dpsyn_core.runs.jobs.folder import MANIFEST, MEASUREMENTS, SCHEMA, SYNTHETIC, leave_release
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.runs.measurement import measure
from tests.app.hostile_files import parquet
from tests.app.test_jobs import SCHEMA as DECLARED
from tests.app.test_jobs import TABLE

NAMES = (SYNTHETIC, MANIFEST, MEASUREMENTS, SCHEMA)
# what version 2 of a project wrote of a run: its whole job
JOB = {
    "epsilon": 1.0, "delta": 1e-9, "method": "independent", "settings": {}, "n_records": None, "seed": 1,
    "dataset": "toy", "questions": None, "questions_share": None, "query_vouched": False, "public_table": None,
    "version": 1, "table": "table.parquet", "form": {}, "release": None, "maker": None, "where": None, "columns": None,
    "rules": [], "linked": [], "memory_mb": 4096, "seconds": 3600,
}  # fmt: skip


@functools.cache
def released():
    """The files that a run left."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        spec = JobSpec(epsilon=1.0, delta=1e-9, method="independent", seed=1, dataset="toy", query_vouched=False)
        facts = spec.facts(DECLARED, query_vouched=False)
        ledger = Ledger(folder / "ledger.sqlite3")
        measured = measure(source_of(TABLE), DECLARED, spec, facts=facts, ledger=ledger, progress=silent)
        leave_release(folder, spec, measured, silent)
        (folder / SCHEMA).write_text(DECLARED.dumps(), "utf-8")
        return {name: (folder / name).read_bytes() for name in NAMES}


def project(*, whole=False, **job):
    """A project of version 2 with one run, whose job says this; whole: with the private table."""
    note = {"spec": JOB | job, "label": "a run", "created": 1.0, "salt": "", "table": "", "own": whole}
    return packed({"version": 2, "dataset": "toy.csv", "ledger": "toy", "runs": [note]}, whole=whole)


def packed(document, *, whole=False, **more):
    """The zip of a project with this document; more: entries in place of, or beside, those of the run."""
    out = io.BytesIO()
    entries = {"project.json": json.dumps(document), "schema.json": DECLARED.dumps()}
    entries |= {f"runs/0/{name}": raw for name, raw in released().items()}
    if whole:
        entries["table.parquet"] = parquet(**{n: TABLE[n] for n in TABLE.column_names})
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in (entries | more).items():
            archive.writestr(name, raw)
    return out.getvalue()
