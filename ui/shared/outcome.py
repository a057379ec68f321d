"""The result of a run at a glance: headline, figure of pairs, table, download."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.privacy import Manifest
from dpsyn_core.report import figures
from dpsyn_core.runs import nearly_empty_tables
from ui.export import files
from ui.linked import relations
from ui.report import comparing
from ui.report.pairs import MOST_MAPPED
from ui.shared import results
from ui.shared.going import go_to
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, figure_words, literal, local, number, percent, t
from ui.shared.theme import facts, not_private, note, private_tag, section, show
from ui.synthesize.runs import OPEN

FEW = 9  # records shown of each table


def card(space: Workspace, job: Job) -> None:
    """Synthetic table, main entries of the manifest, pairwise TVD, downloads, link to the report."""
    manifest = results.manifest(space, job)
    if not manifest["private"]:
        not_private(t("stamp.run"))
    section(t("outcome.title", label=job.label))
    items = _sizes(space, job)
    items.append(
        (local(manifest["epsilon"], "g"), t("outcome.epsilon"), t("outcome.delta", delta=amount(manifest["delta"])))
    )
    compared = None if space.choices.safe or job.spec.linked else comparing.of(space, job)
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
    _nearly_empty(space, job, Manifest.model_validate(manifest))
    for found in relations.keys(space, job) if job.spec.linked else ():
        note(relations.key_words(found), "note" if found.hold else "alarm")
    with st.container(horizontal=True, gap="small"):
        ending = files.endings(space, job)[0]
        files.table_button(space, job, ending, key=f"quick_{ending}", primary=True)
        files.manifest_button(space, job, key="quick_manifest")
        if st.button(t("outcome.report"), key="quick_report"):
            st.session_state[OPEN] = job.id
            go_to("report")
    made = results.tables(space, job)
    if job.spec.linked:
        note(t("linked.some", most=number(FEW)))
    columns = st.columns(2, gap="large") if len(made) <= 2 else [st.container() for _ in made]
    for column, (name, table) in zip(columns, made.items(), strict=False):
        with column:
            if job.spec.linked:
                st.markdown(f"**{literal(name)}**")
            else:
                note(t("outcome.table"))
            st.dataframe(
                table.slice(0, FEW).to_pandas(), hide_index=True, key=f"synthetic_{job.id}_{name}",
                alt=t("outcome.table"), placeholder="",
            )  # fmt: skip
    if compared is not None:
        with columns[1]:
            private_tag()
            figure = figures.pair_map(pairs.names, pairs.tvd, most=MOST_MAPPED, words=figure_words())
            show(figure, key=f"map_{job.id}")
            note(figure.caption)


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
