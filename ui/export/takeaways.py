"""To take away from a run, on the Export page: script, notebook, citation, and the settings as one file."""

import time
from functools import partial

import streamlit as st

from dpsyn_core.privacy import Manifest
from dpsyn_core.privacy import certificates as certificate
from dpsyn_core.report import takeaways
from dpsyn_core.runs import MANIFEST
from dpsyn_core.schema import METHOD
from ui.export import files
from ui.linked import files as trees
from ui.shared.downloads import download
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import certificate_words, t
from ui.shared.theme import note
from ui.synthesize import settings_file


def documents(space: Workspace, job: Job) -> dict[str, str]:
    """What repeats the run, by file name."""
    name = files.stem(space, job)
    if job.spec.linked:
        return trees.scripts(space, job, name)
    return {
        "run.sh": takeaways.shell_script(files.command(space, job), job.label),
        "run.py": takeaways.python_script(job.spec, job.label, name, query_vouched=job.spec.query_vouched),
        "run.ipynb": takeaways.notebook(job.spec, job.label, name, query_vouched=job.spec.query_vouched),
    }


def settings(space: Workspace, job: Job) -> None:
    """The settings as one file; none of a refit, which is made by `dpsyn refit` of no private table."""
    if job.spec.release is None and job.spec.method != METHOD:  # as an earlier version called systems of linked tables
        settings_file.button(settings_file.of_job(space, job), key="take_settings")


def scripts(space: Workspace, job: Job) -> None:
    """What repeats the run."""
    refit = job.spec.release is not None
    endings = ("sh",) if refit else ("sh", "py") if job.spec.linked else ("sh", "py", "ipynb")
    if not refit:
        note(t("linked.take_note" if job.spec.linked else "take.note"))
    with st.container(horizontal=True, gap="small"):
        for ending in endings:
            name = f"run.{ending}"
            download(t(f"take.{ending}"), name, partial(_document, space, job, name), key=f"take_{ending}")


def citation(job: Job) -> None:
    """How to cite the release."""
    manifest, year = Manifest.load(job.folder / MANIFEST), time.gmtime(job.created).tm_year
    st.code(certificate.citation(manifest, year, certificate_words()), language=None, wrap_lines=True)
    st.code(takeaways.bibtex(manifest, year, certificate_words()), language=None, wrap_lines=True)


def _document(space: Workspace, job: Job, name: str) -> str:
    return documents(space, job)[name]
