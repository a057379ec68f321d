"""Export page: the table, its certificate in plain sentences and its settings first, the rest by purpose."""

from functools import partial

import streamlit as st

from dpsyn_core.report import shell_command
from ui.export import files, takeaways
from ui.report import released
from ui.shared import results
from ui.shared.blank_words import point_out_blank_words
from ui.shared.downloads import download
from ui.shared.state import workspace
from ui.shared.text import literal, t
from ui.shared.theme import note, section
from ui.synthesize import runs

space = workspace()
job = runs.headed(space, "export")
private, stem = bool(results.manifest(space, job)["private"]), files.stem(space, job)
released.unproved(space, job)
files.take()

table, proof, settings = st.columns(3, gap="large")
with table:
    section(t("linked.export" if job.spec.linked else "export.table"))
    files.tables(space, job)
    for schema in results.described(space, job):
        point_out_blank_words(schema)
with proof:
    section(t("export.certificate"))
    checked = list(results.receipts(space, job).values())
    if checked and all(one.publishable for one in checked):
        st.write(t("export.may"))
    elif private and all(one.holds for one in checked) and any(one.vouched for one in checked):
        st.write(t("released.vouched"))
    st.write(literal(files.promised(job)))
    with st.container(horizontal=True, gap="small"):
        certificate = partial(files.certificate, job)
        download(t("export.certificate_button"), f"{stem}.certificate.txt", certificate, key="export_certificate")
        files.manifest_button(space, job, key="export_manifest")
with settings:
    section(t("export.settings"))
    with st.container(horizontal=True, gap="small"):
        takeaways.settings(space, job)
        described = partial(files.schema_text, space, job)
        download(t("export.schema"), files.schema_name(space, job), described, key="export_schema")
        for name, text in files.asked_and_answered(space, job).items():
            label = t("linked.export_questions" if name == files.QUESTIONS else "linked.export_answers")
            download(label, name, text, key=f"export_{name.partition('.')[0]}")
    if files.read_schema(space, job):
        note(t("schemafile.note_read"), "warning")

st.space("small")
about = t("linked.bundle_note" if job.spec.linked else "export.bundle_note")
whole = partial(files.bundle, space, job)
download(t("export.bundle_button"), f"{stem}.zip", whole, key="export_bundle", tip=about)
with st.expander(t("export.publish"), key="export_publish"):
    files.reports(space, job)
    takeaways.citation(job)
with st.expander(t("take.title"), key="export_repeat"):
    takeaways.scripts(space, job)
    st.code(shell_command(files.command(space, job), folded=True), language=None, wrap_lines=True)
if files.reusable(job):
    with st.expander(t("export.more"), key="export_more"):
        about, release = t("export.release_note"), partial(files.release, space, job)
        download(t("export.release"), f"{stem}.dpsyn", release, key="export_release", tip=about)
        files.refit_form(space, job)
if files.labelled(space, job):
    with st.expander(t("export.programs"), key="export_programs"):
        files.labelled_tables(space, job)
with st.expander(t("export.whole"), key="export_whole"):
    if not job.spec.linked:
        note(t("export.bytes"))
    st.code(files.certificate(job), language=None, wrap_lines=True)
