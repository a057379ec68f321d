"""Files of a run of linked tables: folder, workbook, databases, manifest, certificate, schema, and what repeats it."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.outside import file_word
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.report.takeaways import schema_file
from dpsyn_core.runs.jobs.folder import MANIFEST, SCHEMA
from dpsyn_core.runs.jobs.linked import ANSWERS, synthetic_places
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.tables.write import EXCEL_ROWS
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import plain, t

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.runs.verify.receipts import Receipt

QUESTIONS = "questions.json"  # what the command is told to ask; in the bundle
MIMES = {
    "zip": "application/zip",
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "sqlite": "application/vnd.sqlite3",
    "duckdb": "application/octet-stream",
}


def schema(space: Workspace, job: Job) -> LinkedSchema:
    """The schema that the run was made with."""
    return results.kept(space, ("schema", job.id), lambda: LinkedSchema.load(job.folder / SCHEMA))


def tables(space: Workspace, job: Job) -> dict[str, pa.Table]:
    """The synthetic tables by name."""
    import pyarrow.parquet as pq

    def make() -> dict[str, pa.Table]:
        return {n: pq.read_table(p) for n, p in synthetic_places(job.folder, schema(space, job)).items()}

    return results.kept(space, ("synthetic", job.id), make)


def manifest(job: Job) -> Manifest:
    """The manifest as the run wrote it."""
    return Manifest.load(job.folder / MANIFEST)


def checked(space: Workspace, job: Job) -> dict[str, Receipt]:
    """For each table, whether it and the schema are still those of the manifest."""
    from dpsyn_core.runs.verify.receipts import receipt

    def make() -> dict[str, Receipt]:
        known = schema(space, job)
        places = synthetic_places(job.folder, known)
        return {n: receipt(p, job.folder / MANIFEST, schema=known) for n, p in places.items()}

    return results.kept(space, ("receipt", job.id), make)


def suffix(space: Workspace, job: Job) -> str:
    """What file names end with where a run has no guarantee, or its files are not those of its manifest."""
    if not results.manifest(space, job)["private"]:
        return "-NOT-PRIVATE"
    return "" if all(found.holds for found in checked(space, job).values()) else "-NOT-PROVED"


def stem(space: Workspace, job: Job) -> str:
    """File name without its ending."""
    return f"{file_word(str(job.public.get('dataset', '')), 'tables').lower()}-synthetic{suffix(space, job)}"


def endings(space: Workspace, job: Job) -> tuple[str, ...]:
    """The formats that are offered; tables of one file go into one file."""
    made = tables(space, job)
    excel = ("xlsx",) if all(table.num_rows <= EXCEL_ROWS for table in made.values()) else ()
    duckdb = ("duckdb",) if find_spec("duckdb") is not None else ()
    return ("csv" if schema(space, job).one_file else "zip", *excel, "sqlite", *duckdb)


def written(space: Workspace, job: Job, ending: str) -> dict[str, bytes]:
    """What the command would write, by file name: a CSV file for each table ("zip", "csv"), else one file."""
    from dpsyn_core.runs.trees.export import places_of, staged_trees

    def make() -> dict[str, bytes]:
        known = schema(space, job)
        with tempfile.TemporaryDirectory(dir=job.folder) as folder:
            out = Path(folder) if ending in ("zip", "csv") else Path(folder) / f"tables.{ending}"
            places = places_of(out, known)
            with staged_trees([tables(space, job)], known, places.outs):
                pass
            if out.is_dir():
                return {p.name: p.read_bytes() for p in places.outs}
            return {f"{stem(space, job)}.{ending}": places.outs[0].read_bytes()}

    return results.kept(space, ("file", job.id, ending), make)


def file_bytes(space: Workspace, job: Job, ending: str) -> bytes:
    """The download of a format: one file, or the folder packed."""
    found = written(space, job, ending)
    return (
        packed(found | {"manifest.json": manifest_text(space, job)}) if ending == "zip" else next(iter(found.values()))
    )


def packed(files: dict[str, bytes | str]) -> bytes:
    """A zip of files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return out.getvalue()


def button(space: Workspace, job: Job, ending: str, *, key: str, primary: bool = False) -> None:
    """Download of all tables in one format; made when it is asked for."""
    st.download_button(
        t(f"linked.export_{ending}"),
        data=lambda: file_bytes(space, job, ending),
        file_name=f"{stem(space, job)}.{ending}",
        mime=MIMES[ending],
        on_click="ignore",
        key=key,
        type="primary" if primary else "secondary",
    )


def manifest_text(space: Workspace, job: Job) -> str:
    """The manifest with the digests of all files that are offered here, so that each is known as the release's own."""
    text = (job.folder / MANIFEST).read_text("utf-8")
    if not all(found.holds for found in checked(space, job).values()):
        return text
    known = manifest(job)
    if known.digests is None:
        return text
    listed = endings(space, job)
    each = [_digest(content) for content in written(space, job, listed[0]).values()]
    others = {e: _digest(content) for e in listed[1:] for content in written(space, job, e).values()}
    tables = tuple(
        d.model_copy(update={"files": {**d.files, "csv": own}})
        for d, own in zip(known.digests.tables, each if known.digests.tables else (), strict=True)
    )
    files = {**known.digests.files, "csv": each[0], **others}
    return known.written(known.digests.model_copy(update={"files": files, "tables": tables})).to_json()


def answers(space: Workspace, job: Job) -> list[dict[str, Any]]:
    """The answers to the questions that the run was told, as `LinkedAnswer.plain` gives them; none without any."""
    if not job.spec.questions:
        return []
    return results.kept(space, ("asked", job.id), lambda: json.loads((job.folder / ANSWERS).read_text("utf-8")))


def answers_text(space: Workspace, job: Job) -> str:
    """The answers as a file."""
    return json.dumps(answers(space, job), indent=2, ensure_ascii=False) + "\n"


def questions_text(job: Job) -> str:
    """The questions of a run as a file for the command."""
    return json.dumps(job.spec.questions, indent=2, ensure_ascii=False) + "\n"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def manifest_button(space: Workspace, job: Job, *, key: str) -> None:
    """Download of the manifest."""
    st.download_button(
        t("export.manifest"),
        data=lambda: manifest_text(space, job),
        file_name=f"{stem(space, job)}.manifest.json",
        mime="application/json",
        on_click="ignore",
        key=key,
    )


def command(space: Workspace, job: Job) -> list[str]:
    """The words of the command that repeats the run on the owner's tables: the same post-processing, new noise."""
    spec, known, name = job.spec, schema(space, job), stem(space, job)
    if known.one_file:
        given, out = ["YOUR_TABLE.csv"], f"{name}.csv"
    else:
        given = [w for table in known.tables for w in ("--table", f"{table.name}=YOUR_{table.name}.csv")]
        out = f"{name}/"
    words = ["dpsyn", "synth", *given, "--schema", schema_file(known), "--epsilon", plain(spec.epsilon)]
    words += ["--delta", plain(spec.delta)]
    words += ["--set", f"effort={plain(spec.settings['effort'])}"] if "effort" in spec.settings else []
    words += ["--questions", QUESTIONS] if spec.questions else []
    words += ["--n-records", str(spec.n_records)] if spec.n_records is not None else []
    return [*words, "--seed", str(spec.seed), f"--dataset={spec.dataset or known.ledger_name}", "--out", out]
