"""To take away from a run, on the Export page: script, notebook, citation, and the settings as one file."""

import time

import streamlit as st

from dpsyn_core.privacy import certificates as certificate
from dpsyn_core.report import takeaways
from dpsyn_core.schema import METHOD
from ui.export import files
from ui.shared import results
from ui.shared.downloads import download
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import certificate_words, t
from ui.shared.theme import note
from ui.synthesize import settings_file


def settings(space: Workspace, job: Job) -> None:
    """The settings as one file; none of a refit, which is made by `dpsyn refit` of no private table."""
    if job.spec.release is None and job.spec.method != METHOD:  # as an earlier version called systems of linked tables
        settings_file.button(settings_file.of_job(space, job), key="take_settings")


def scripts(space: Workspace, job: Job) -> None:
    """What repeats the run."""
    if job.spec.release is None:
        note(t("linked.take_note" if job.spec.linked else "take.note"))
    with st.container(horizontal=True, gap="small"):
        for name, text in files.scripts(space, job).items():
            ending = name.removeprefix("run.")
            download(t(f"take.{ending}"), name, text, key=f"take_{ending}")


def citation(job: Job) -> None:
    """How to cite the release."""
    manifest, year = results.stated(job), time.gmtime(job.created).tm_year
    st.code(certificate.citation(manifest, year, certificate_words()), language=None, wrap_lines=True)
    st.code(takeaways.bibtex(manifest, year, certificate_words()), language=None, wrap_lines=True)
