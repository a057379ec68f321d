"""Export page: what may leave, in every format, with the certificate that a person can read."""

import streamlit as st

from ui import export, results, runs
from ui.state import workspace
from ui.text import t
from ui.theme import end_page, heading, not_private, note, section

space = workspace()
heading("export")
with st.columns([4, 7])[0]:
    job = runs.choose(space, key="export_run")
if job is None:
    runs.empty()
    end_page()
if not results.manifest(space, job)["private"]:
    not_private(t("stamp.run"))

left, right = st.columns(2, gap="large")
with left:
    section(t("export.table"))
    with st.container(horizontal=True, gap="small"):
        for ending in ("csv", "parquet", "xlsx"):
            export.table_button(space, job, ending, key=f"export_{ending}", primary=ending == "csv")
    section(t("export.papers"))
    with st.container(horizontal=True, gap="small"):
        export.manifest_button(space, job, key="export_manifest")
        st.download_button(
            t("export.schema"),
            data=lambda: export.schema_text(space, job),
            file_name=f"schema{export.suffix(space, job)}.json",
            mime="application/json",
            on_click="ignore",
            key="export_schema",
        )
with right:
    section(t("export.bundle"))
    note(t("export.bundle_note"))
    st.download_button(
        t("export.bundle_button"),
        data=lambda: export.bundle(space, job),
        file_name=f"{export.stem(space, job)}.zip",
        mime="application/zip",
        on_click="ignore",
        key="export_bundle",
    )
    st.code(export.command(space, job).replace(" --", " \\\n  --"), language=None, wrap_lines=True)
section(t("export.report"))
note(t("export.report_note"))
export.reports(space, job)
section(t("export.certificate"))
st.code(export.certificate(job), language=None, height=460, wrap_lines=True)
