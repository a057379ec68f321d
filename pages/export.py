"""Export page: what may leave, in every format, with the certificate that a person can read."""

from functools import partial

import streamlit as st

from dpsyn_core.report.takeaways import shell_command
from ui.export import files, takeaways
from ui.linked import export_page
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
if job.spec.linked:
    export_page.page(space, job)
    end_page()
if not results.manifest(space, job)["private"]:
    not_private(t("stamp.run"))
found = results.checked(space, job)
if not found.holds:
    note(t("released.unproved", sentence=found.sentence), "alarm")
elif not found.own:
    note(t("released.another", sentence=found.sentence), "warning")

left, right = st.columns(2, gap="large")
with left:
    section(t("export.table"))
    with st.container(horizontal=True, gap="small"):
        offered = files.endings(space, job)
        for ending in offered:
            files.table_button(space, job, ending, key=f"export_{ending}", primary=ending == offered[0])
    labelled = files.labelled(space, job)
    if labelled:
        with st.container(horizontal=True, gap="small"):
            for ending in labelled:
                files.table_button(space, job, ending, key=f"export_{ending}")
        gone = files.left_out(space, job)
        note(t("export.labelled", what=gone) if gone else t("export.labelled_whole"))
    if len(offered) == 1:
        note(t("export.large"))
    elif "xlsx" in offered and files.excel_first(space, job):
        note(t("export.excel_first"))
    note(t("export.bytes"))
    point_out_blank_words(results.schema(space, job))
    files.take()
    section(t("export.documents"))
    with st.container(horizontal=True, gap="small"):
        files.manifest_button(space, job, key="export_manifest")
        st.download_button(
            t("export.schema"),
            data=partial(files.schema_text, space, job),
            file_name=f"schema{files.suffix(space, job)}.json",
            mime="application/json",
            on_click="ignore",
            key="export_schema",
        )
        if files.reusable(job):
            st.download_button(
                t("export.release"), data=partial(files.release, space, job),
                file_name=f"{files.stem(space, job)}.dpsyn", mime="application/zip", on_click="ignore",
                key="export_release", help=t("export.release_note"),
            )  # fmt: skip
with right:
    section(t("export.bundle"))
    note(t("export.bundle_note"))
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
