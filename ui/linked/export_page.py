"""Export page of a run of linked tables: folder, workbook, databases with declared foreign keys, documents, scripts."""

from __future__ import annotations

import time
from functools import partial

import streamlit as st

from dpsyn_core.privacy.manifest import certificate
from dpsyn_core.report import takeaways
from ui.linked import files, handing_out
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import certificate_words, t
from ui.shared.theme import not_private, note, section


def page(space: Workspace, job: Job) -> None:
    """All of the page below the choice of the run."""
    manifest, known = files.manifest(job), files.schema(space, job)
    if not manifest.private:
        not_private(t("stamp.run"))
    for found in files.checked(space, job).values():
        if not found.holds:
            note(t("released.unproved", sentence=found.sentence), "alarm")
    left, right = st.columns(2, gap="large")
    with left:
        section(t("linked.export"))
        with st.container(horizontal=True, gap="small"):
            offered = files.endings(space, job)
            for ending in offered:
                files.button(space, job, ending, key=f"linked_export_{ending}", primary=ending == offered[0])
        note(t("linked.export_note") if not known.one_file else t("linked.export_one"))
        note(t("linked.export_keys"))
        section(t("export.documents"))
        with st.container(horizontal=True, gap="small"):
            files.manifest_button(space, job, key="linked_export_manifest")
            _document(t("export.schema"), known.dumps(), takeaways.schema_file(known), "application/json")
            if job.spec.questions:
                _document(t("linked.export_questions"), files.questions_text(job), files.QUESTIONS, "application/json")
                named = f"answers{files.suffix(space, job)}.json"
                _document(t("linked.export_answers"), files.answers_text(space, job), named, "application/json")
        if known.reasons:
            note(t("schemafile.note_read"), "warning")
    with right:
        section(t("export.bundle"))
        note(t("linked.bundle_note"))
        st.download_button(
            t("export.bundle_button"), data=partial(handing_out.bundle, space, job),
            file_name=f"{files.stem(space, job)}-bundle.zip", mime="application/zip", on_click="ignore",
            key="linked_export_bundle",
        )  # fmt: skip
        command = files.command(space, job)
        st.code(takeaways.shell_command(command, folded=True), language=None, wrap_lines=True)
        section(t("take.title"))
        note(t("linked.take_note"))
        with st.container(horizontal=True, gap="small"):
            script = takeaways.linked_script(
                job.spec, known, job.label, files.stem(space, job), query_vouched=job.spec.query_vouched
            )
            repeat = takeaways.shell_script(command, job.label, schema=takeaways.schema_file(known))
            _document(t("take.sh"), repeat, "run.sh", "text/x-shellscript")
            _document(t("take.py"), script, "run.py", "text/x-python")
    section(t("export.report"))
    note(t("export.report_note"))
    handing_out.reports(space, job)
    section(t("take.cite"))
    year = time.gmtime(job.created).tm_year
    st.code(certificate.citation(manifest, year, certificate_words()), language=None, wrap_lines=True)
    st.code(takeaways.bibtex(manifest, year, certificate_words()), language=None, wrap_lines=True)
    section(t("export.certificate"))
    st.code(certificate.certificate(manifest, certificate_words()), language=None, wrap_lines=True)


def _document(label: str, content: str, name: str, mime: str) -> None:
    st.download_button(label, data=content, file_name=name, mime=mime, on_click="ignore", key=f"linked_document_{name}")
