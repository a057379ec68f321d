"""Files of a run of linked tables where they differ from those of one table: formats, answers, report."""

import io
import json
import zipfile
from importlib.util import find_spec
from typing import Any

from dpsyn_core.runs import ANSWERS
from dpsyn_core.tables import EXCEL_ROWS
from ui.linked import relations
from ui.report import comparing
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import language


def endings(space: Workspace, job: Job) -> tuple[str, ...]:
    """The formats that are offered; tables of one file go into one file."""
    made = results.tables(space, job)
    excel = ("xlsx",) if all(table.num_rows <= EXCEL_ROWS for table in made.values()) else ()
    duckdb = ("duckdb",) if find_spec("duckdb") is not None else ()
    return ("csv" if results.tree(space, job).one_file else "zip", *excel, "sqlite", *duckdb)


def written(space: Workspace, job: Job, ending: str, stem: str) -> dict[str, bytes]:
    """What the command would write, by file name: a CSV file for each table ("zip", "csv"), else one file."""
    from dpsyn_core.runs import tree_bytes

    def make() -> dict[str, bytes]:
        return tree_bytes(results.tables(space, job), results.tree(space, job), ending, stem, beside=job.folder)

    return results.kept(space, ("file", job.id, ending), make)


def packed(files: dict[str, bytes | str]) -> bytes:
    """A zip of files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return out.getvalue()


def answers(space: Workspace, job: Job) -> list[dict[str, Any]]:
    """The answers to the questions of the run, as `LinkedAnswer.plain` gives them; none without any."""
    if not job.spec.questions:
        return []
    return results.kept(space, ("asked", job.id), lambda: json.loads((job.folder / ANSWERS).read_text("utf-8")))


def html(space: Workspace, job: Job, *, private: bool) -> str:
    """The report as one HTML file: from released values alone, or with the real tables for their owner."""
    from dpsyn_core.report import linked_html, linked_report

    real = comparing.real_tables(space, job) if private else None
    report = linked_report(
        results.tree(space, job),
        manifest=results.stated(job),
        receipts=results.receipts(space, job),
        keys=relations.keys(space, job),
        synthetic=comparing.separate(space, job),
        real=real,
        verdicts=(relations.verdicts(space, job) if private else None) or (),
    )
    return linked_html(report, language=language())
