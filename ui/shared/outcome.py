"""The result of a run at a glance: headline, figure of pairs, table, download."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.report import figures
from ui.export import files
from ui.report import comparing
from ui.report.pairs import MOST_MAPPED
from ui.shared import results
from ui.shared.going import go_to
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, figure_words, local, number, percent, t
from ui.shared.theme import facts, not_private, note, private_tag, section, show
from ui.synthesize.runs import OPEN


def card(space: Workspace, job: Job) -> None:
    """Synthetic table, main entries of the manifest, pairwise TVD, downloads, link to the report."""
    manifest = results.manifest(space, job)
    if not manifest["private"]:
        not_private(t("stamp.run"))
    section(t("outcome.title", label=job.label))
    table = results.synthetic(space, job)
    items = [
        (number(manifest["n_records"]), t("outcome.records"), t("outcome.records_note")),
        (local(manifest["epsilon"], "g"), t("outcome.epsilon"), t("outcome.delta", delta=amount(manifest["delta"]))),
    ]
    compared = None if space.choices.safe else comparing.of(space, job)
    if compared is not None:
        pairs = comparing.pairs(space, job, compared)
        beside = t("outcome.floor", floor=percent(pairs.floor))
        if pairs.unrelated is not None:
            beside += "; " + t("outcome.unrelated", unrelated=percent(pairs.unrelated))
        items.append((percent(pairs.mean), t("outcome.pairs"), beside))
    if not space.choices.safe:  # reading and counting take a time that depends on the table
        spent = sum(c.get("count", 1) for c in manifest["charges"])
        items.append((f"{local(job.seconds(), '.1f')} s", t("outcome.seconds"), t("outcome.charges", n=spent)))
    facts(items)
    stated = Manifest.model_validate(manifest)
    asked = job.spec.n_records is not None or job.spec.release is not None
    if stated.nearly_empty and not asked and space.schema is not None and space.schema.n_records is None:
        noise = number(round(stated.noise_of_records()))
        note(t("outcome.nearly_empty", records=number(stated.n_records), noise=noise), "warning")
    row = st.container(horizontal=True, gap="small")
    with row:
        if results.synthetic_of(space, job) is None:
            files.csv_button(space, job, key="quick_csv", primary=True)
        else:
            files.table_button(space, job, "parquet", key="quick_parquet", primary=True)
        files.manifest_button(space, job, key="quick_manifest")
        if st.button(t("outcome.report"), key="quick_report"):
            st.session_state[OPEN] = job.id
            go_to("report")
    left, right = st.columns(2, gap="large")
    with left:
        note(t("outcome.table"))
        st.dataframe(
            table.slice(0, 9).to_pandas(),
            hide_index=True,
            key=f"synthetic_{job.id}",
            alt=t("outcome.table"),
            placeholder="",
        )
    if compared is not None:
        with right:
            private_tag()
            figure = figures.pair_map(pairs.names, pairs.tvd, most=MOST_MAPPED, words=figure_words())
            show(figure, key=f"map_{job.id}")
            note(figure.caption)
