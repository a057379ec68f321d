"""The result of a run at a glance: headline, table, download."""

import streamlit as st

from dpsyn_core.privacy import Manifest
from dpsyn_core.runs import nearly_empty_tables
from ui.export import files
from ui.linked import relations
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, literal, local, number, t
from ui.shared.theme import facts, not_private, note, section

FEW = 9  # records shown of each table


def card(space: Workspace, job: Job) -> None:
    """Synthetic table, main entries of the manifest, downloads."""
    manifest = results.manifest(space, job)
    if not manifest["private"]:
        not_private(t("stamp.run"))
    section(t("outcome.title", label=job.label))
    delta = t("outcome.delta", delta=amount(manifest["delta"]))
    facts(*_sizes(space, job), (local(manifest["epsilon"], "g"), t("outcome.epsilon"), delta))
    _nearly_empty(space, job, Manifest.model_validate(manifest))
    for found in relations.keys(space, job) if job.spec.linked else ():
        note(relations.key_words(found), "note" if found.hold else "alarm")
    with st.container(horizontal=True, gap="small"):
        ending = files.endings(space, job)[0]
        files.table_button(space, job, ending, key=f"quick_{ending}")
        files.manifest_button(space, job, key="quick_manifest")
    made = results.tables(space, job)
    if job.spec.linked:
        note(t("linked.some", most=number(FEW)))
    columns = st.columns(len(made), gap="large") if len(made) <= 2 else [st.container() for _ in made]
    for column, (name, table) in zip(columns, made.items(), strict=False):
        with column:
            if job.spec.linked:
                st.markdown(f"**{literal(name)}**")
            else:
                note(t("outcome.table"))
            rows, key = table.slice(0, FEW).to_pandas(), f"synthetic_{job.id}_{name}"
            st.dataframe(rows, hide_index=True, key=key, alt=t("outcome.table"), placeholder="")


def _sizes(space: Workspace, job: Job) -> list[tuple[str, str, str]]:
    """How many records each synthetic table has."""
    if not job.spec.linked:
        records = results.manifest(space, job)["n_records"]
        return [(number(records), t("outcome.records"), t("outcome.records_note"))]
    made = results.tables(space, job)
    return [(number(table.num_rows), literal(name), t("outcome.records_note")) for name, table in made.items()]


def _nearly_empty(space: Workspace, job: Job, stated: Manifest) -> None:
    """Says which tables have so few records that they are hardly more than noise."""
    if job.spec.n_records is not None or job.spec.release is not None:
        return
    if job.spec.linked:
        for name, (records, noise) in nearly_empty_tables(stated).items():
            words = t("linked.nearly_empty", table=literal(name), records=number(records), noise=number(round(noise)))
            note(words, "warning")
    elif stated.nearly_empty and space.schema is not None and space.schema.n_records is None:
        small = number(round(stated.noise_of_records()))
        note(t("outcome.nearly_empty", records=number(stated.n_records), noise=small), "warning")
