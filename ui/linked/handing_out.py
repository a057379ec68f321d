"""Reports of a run of linked tables as HTML files, and the bundle of everything that may be shared."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.privacy.manifest.certificate import certificate
from ui.linked import comparing, outcome
from ui.linked.files import (
    QUESTIONS,
    answers_text,
    checked,
    command,
    endings,
    manifest,
    manifest_text,
    packed,
    questions_text,
    schema,
    stem,
    suffix,
    tables,
    written,
)
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import certificate_words, t


def report_html(space: Workspace, job: Job, *, private: bool) -> str:
    """The report as one HTML file: from released values alone, or with the real tables for their owner."""
    from dpsyn_core.report.linked_page import linked_html, linked_report
    from dpsyn_core.runs.trees.reference import separate_tables

    def make() -> str:
        known = schema(space, job)
        parts = separate_tables(known, tables(space, job))
        real = comparing.real_tables(space, job) if private else None
        verdicts = comparing.links(space, job) if private else None
        report = linked_report(
            known, manifest=manifest(job), receipts=checked(space, job), keys=outcome.keys(space, job),
            synthetic=parts, real=real, verdicts=verdicts or (),
        )  # fmt: skip
        return linked_html(report)

    return results.kept(space, ("html", job.id, private), make)


def reports(space: Workspace, job: Job) -> None:
    """Download of the publishable report, and, when the owner ticks the box, of the one with the real tables."""
    st.download_button(
        t("export.report_public"), data=lambda: report_html(space, job, private=False),
        file_name=f"{stem(space, job)}-report.html", mime="text/html", on_click="ignore", key="linked_export_html",
    )  # fmt: skip
    if space.choices.safe or not results.same_table(space, job):
        return
    if st.checkbox(t("export.report_tick"), key="linked_export_private"):
        st.download_button(
            t("export.report_private"), data=lambda: report_html(space, job, private=True),
            file_name=f"{stem(space, job)}-report-PRIVATE.html", mime="text/html", on_click="ignore",
            key="linked_export_html_private",
        )  # fmt: skip


def bundle(space: Workspace, job: Job) -> bytes:
    """A zip of everything that may be shared: tables, database, manifest, certificate, schema, scripts."""
    from dpsyn_core.report import takeaways

    files: dict[str, bytes | str] = {}
    for ending in (endings(space, job)[0], "sqlite"):
        files |= written(space, job, ending)
    known = schema(space, job)
    files |= {
        "manifest.json": manifest_text(space, job),
        "certificate.txt": certificate(manifest(job), certificate_words()),
        takeaways.schema_file(known): known.dumps(),
        "report.html": report_html(space, job, private=False),
        "run.sh": takeaways.shell_script(command(space, job), job.label, schema=takeaways.schema_file(known)),
        "run.py": takeaways.linked_script(
            job.spec, known, job.label, stem(space, job), query_vouched=job.spec.query_vouched
        ),
        "README.txt": t("linked.readme", command=takeaways.shell_command(command(space, job))),
    }
    if job.spec.questions:
        files |= {QUESTIONS: questions_text(job), f"answers{suffix(space, job)}.json": answers_text(space, job)}
    return packed(files)
