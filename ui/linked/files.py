"""Files of a run of linked tables where they differ from those of one table: formats, digests, answers, commands."""

import hashlib
import io
import json
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpsyn_core.privacy import Manifest
from dpsyn_core.report import takeaways
from dpsyn_core.runs import ANSWERS, MANIFEST
from dpsyn_core.schema import METHOD
from dpsyn_core.tables import EXCEL_ROWS
from ui.linked import relations
from ui.report import comparing
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import language, plain

QUESTIONS = "questions.json"  # what the command asks; in the bundle


def endings(space: Workspace, job: Job) -> tuple[str, ...]:
    """The formats that are offered; tables of one file go into one file."""
    made = results.tables(space, job)
    excel = ("xlsx",) if all(table.num_rows <= EXCEL_ROWS for table in made.values()) else ()
    duckdb = ("duckdb",) if find_spec("duckdb") is not None else ()
    return ("csv" if results.tree(space, job).one_file else "zip", *excel, "sqlite", *duckdb)


def written(space: Workspace, job: Job, ending: str, stem: str) -> dict[str, bytes]:
    """What the command would write, by file name: a CSV file for each table ("zip", "csv"), else one file."""
    from dpsyn_core.runs import places_of, staged_trees

    def make() -> dict[str, bytes]:
        known = results.tree(space, job)
        with tempfile.TemporaryDirectory(dir=job.folder) as folder:
            out = Path(folder) if ending in ("zip", "csv") else Path(folder) / f"tables.{ending}"
            places = places_of(out, known)
            with staged_trees([results.tables(space, job)], known, places.outs):
                pass
            if out.is_dir():
                return {p.name: p.read_bytes() for p in places.outs}
            return {f"{stem}.{ending}": places.outs[0].read_bytes()}

    return results.kept(space, ("file", job.id, ending), make)


def table_bytes(space: Workspace, job: Job, ending: str, stem: str) -> bytes:
    """The download of a format: one file, or the folder with its manifest, packed."""
    found: dict[str, bytes | str] = {**written(space, job, ending, stem)}
    if ending != "zip":
        return written(space, job, ending, stem)[next(iter(found))]
    return packed(found | {"manifest.json": manifest_text(space, job, stem)})


def packed(files: dict[str, bytes | str]) -> bytes:
    """A zip of files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return out.getvalue()


def manifest_text(space: Workspace, job: Job, stem: str) -> str:
    """The manifest with the digests of all files that are offered here, so that each is known as the release's own."""
    text = (job.folder / MANIFEST).read_text("utf-8")
    known = Manifest.load(job.folder / MANIFEST)
    if not results.holds(space, job) or known.digests is None:
        return text
    listed = endings(space, job)
    each = [_digest(content) for content in written(space, job, listed[0], stem).values()]
    others = {e: _digest(content) for e in listed[1:] for content in written(space, job, e, stem).values()}
    tables = tuple(
        d.model_copy(update={"files": {**d.files, "csv": own}})
        for d, own in zip(known.digests.tables, each if known.digests.tables else (), strict=True)
    )
    files = {**known.digests.files, "csv": each[0], **others}
    return known.written(known.digests.model_copy(update={"files": files, "tables": tables})).to_json()


def answers(space: Workspace, job: Job) -> list[dict[str, Any]]:
    """The answers to the questions of the run, as `LinkedAnswer.plain` gives them; none without any."""
    if not job.spec.questions:
        return []
    return results.kept(space, ("asked", job.id), lambda: json.loads((job.folder / ANSWERS).read_text("utf-8")))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def command(space: Workspace, job: Job, stem: str) -> list[str]:
    """The words of the command that repeats the run on the owner's tables: the same post-processing, new noise."""
    spec, known = job.spec, results.tree(space, job)
    rows = ["--n-records", str(spec.n_records)] if spec.n_records is not None else []
    if spec.release is not None:
        out = f"{stem}.csv" if known.one_file else f"{stem}/"
        how = ["--where", spec.where] if spec.where else []
        how += ["--columns", json.dumps(spec.columns)] if spec.columns is not None else []
        return ["dpsyn", "refit", "RELEASE.dpsyn", *how, *rows, "--seed", str(spec.seed), "--out", out]
    if known.one_file:
        given, out = ["YOUR_TABLE.csv"], f"{stem}.csv"
    else:
        given = [w for table in known.tables for w in ("--table", f"{table.name}=YOUR_{table.name}.csv")]
        out = f"{stem}/"
    words = ["dpsyn", "synth", *given, "--schema", takeaways.schema_file(known), "--epsilon", plain(spec.epsilon)]
    words += ["--delta", plain(spec.delta), *(["--method", spec.method] if spec.method != METHOD else [])]
    words += [w for k, v in spec.settings.items() for w in ("--set", f"{k}={json.dumps(v)}")]
    words += ["--public-table", f"{known.root.name}=PUBLIC_{known.root.name}.csv"] if spec.public_table else []
    words += ["--questions", QUESTIONS] if spec.questions else []
    words += ["--questions-share", plain(spec.questions_share)] if spec.questions_share is not None else []
    return [*words, *rows, "--seed", str(spec.seed), f"--dataset={spec.dataset or known.ledger_name}", "--out", out]


def scripts(space: Workspace, job: Job, stem: str) -> dict[str, str]:
    """What repeats the run, by file name."""
    known = results.tree(space, job)
    shell = takeaways.shell_script(command(space, job, stem), job.label, schema=takeaways.schema_file(known))
    if job.spec.release is not None:
        return {"run.sh": shell}
    python = takeaways.linked_script(job.spec, known, job.label, stem, query_vouched=job.spec.query_vouched)
    return {"run.sh": shell, "run.py": python}


def html(space: Workspace, job: Job, *, private: bool) -> str:
    """The report as one HTML file: from released values alone, or with the real tables for their owner."""
    from dpsyn_core.report import linked_html, linked_report

    real = comparing.real_tables(space, job) if private else None
    report = linked_report(
        results.tree(space, job),
        manifest=Manifest.load(job.folder / MANIFEST),
        receipts=results.receipts(space, job),
        keys=relations.keys(space, job),
        synthetic=comparing.separate(space, job),
        real=real,
        verdicts=(relations.verdicts(space, job) if private else None) or (),
    )
    return linked_html(report, language=language())
