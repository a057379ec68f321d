"""Export page: what may leave, in every format, with the certificate that a person can read."""

from functools import partial

import streamlit as st

from dpsyn_core.report import shell_command
from ui.export import files, takeaways
from ui.linked.files import QUESTIONS
from ui.report import released
from ui.shared import results
from ui.shared.blank_words import point_out_blank_words
from ui.shared.state import workspace
from ui.shared.text import t
from ui.shared.theme import end_page, heading, not_private, note, section
from ui.synthesize import runs

space = workspace()
heading("export")
with st.columns([4, 7])[0]:
    job = runs.choose(space, key="export_run")
if job is None:
    runs.empty()
    end_page()
if not results.manifest(space, job)["private"]:
    not_private(t("stamp.run"))
released.unproved(space, job)

left, right = st.columns(2, gap="large")
with left:
    files.tables(space, job)
    for schema in results.described(space, job):
        point_out_blank_words(schema)
    files.take()
    section(t("export.documents"))
    with st.container(horizontal=True, gap="small"):
        files.manifest_button(space, job, key="export_manifest")
        st.download_button(
            t("export.schema"),
            data=partial(files.schema_text, space, job),
            file_name=files.schema_name(space, job),
            mime="application/json",
            on_click="ignore",
            key="export_schema",
        )
        for name, text in files.asked_and_answered(space, job).items():
            label = t("linked.export_questions" if name == QUESTIONS else "linked.export_answers")
            key = f"export_{name.partition('.')[0]}"
            st.download_button(label, text, name, "application/json", on_click="ignore", key=key)
        if files.reusable(job):
            st.download_button(
                t("export.release"), data=partial(files.release, space, job),
                file_name=f"{files.stem(space, job)}.dpsyn", mime="application/zip", on_click="ignore",
                key="export_release", help=t("export.release_note"),
            )  # fmt: skip
    if files.read_schema(space, job):
        note(t("schemafile.note_read"), "warning")
with right:
    section(t("export.bundle"))
    note(t("linked.bundle_note" if job.spec.linked else "export.bundle_note"))
    st.download_button(
        t("export.bundle_button"),
        data=partial(files.bundle, space, job),
        file_name=f"{files.stem(space, job)}.zip",
        mime="application/zip",
        on_click="ignore",
        key="export_bundle",
    )
    st.code(shell_command(files.command(space, job), folded=True), language=None, wrap_lines=True)
if files.reusable(job):
    files.refit_form(space, job)
section(t("export.report"))
note(t("export.report_note"))
files.reports(space, job)
takeaways.panel(space, job)
section(t("export.certificate"))
st.code(files.certificate(job), language=None, wrap_lines=True)  # whole: a box that scrolls cannot be reached by keys
