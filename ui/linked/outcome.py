"""The result of a run of linked tables at a glance: sizes, keys, downloads, a few synthetic records of each table."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.trees.keys import KeysOfLink, check_keys
from dpsyn_core.runs.trees.small_tables import nearly_empty_tables
from ui.linked import files
from ui.shared import results
from ui.shared.going import go_to
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, literal, local, number, t
from ui.shared.theme import facts, not_private, note, section
from ui.synthesize.runs import OPEN

FEW = 9  # records shown of each table


def keys(space: Workspace, job: Job) -> tuple[KeysOfLink, ...]:
    """The keys of the synthetic tables, counted once."""
    return results.kept(
        space, ("linked keys", job.id), lambda: check_keys(files.schema(space, job), files.tables(space, job))
    )


def key_words(found: KeysOfLink) -> str:
    """What holds of the keys of one link, in a sentence."""
    if not found.hold:
        return t("linked.keys_broken", parent=found.parent, child=found.child)
    return t(
        "linked.keys_hold", parent=found.parent, child=found.child, children=number(found.children),
        most=number(found.most), allowed=number(found.allowed), childless=number(found.childless),
    )  # fmt: skip


def card(space: Workspace, job: Job) -> None:
    """Sizes, budget, keys, downloads, the way to the report, records."""
    manifest = results.manifest(space, job)
    if not manifest["private"]:
        not_private(t("stamp.run"))
    section(t("outcome.title", label=job.label))
    made = files.tables(space, job)
    items = [(number(table.num_rows), literal(name), t("outcome.records_note")) for name, table in made.items()]
    items.append(
        (local(manifest["epsilon"], "g"), t("outcome.epsilon"), t("outcome.delta", delta=amount(manifest["delta"])))
    )
    if not space.choices.safe:  # reading and counting take a time that depends on the tables
        spent = sum(c.get("count", 1) for c in manifest["charges"])
        items.append((f"{local(job.seconds(), '.1f')} s", t("outcome.seconds"), t("outcome.charges", n=spent)))
    facts(items)
    empty = nearly_empty_tables(Manifest.model_validate(manifest)) if job.spec.n_records is None else {}
    for name, (records, noise) in empty.items():
        words = t("linked.nearly_empty", table=literal(name), records=number(records), noise=number(round(noise)))
        note(words, "warning")
    for found in keys(space, job):
        note(key_words(found), "note" if found.hold else "alarm")
    with st.container(horizontal=True, gap="small"):
        files.button(space, job, files.endings(space, job)[0], key="linked_quick_tables", primary=True)
        files.manifest_button(space, job, key="linked_quick_manifest")
        if st.button(t("outcome.report"), key="linked_quick_report"):
            st.session_state[OPEN] = job.id
            go_to("report")
    note(t("linked.some", most=number(FEW)))
    columns = st.columns(len(made), gap="large") if len(made) <= 2 else [st.container() for _ in made]
    for column, (name, table) in zip(columns, made.items(), strict=True):
        with column:
            st.markdown(f"**{literal(name)}**")
            st.dataframe(
                table.slice(0, FEW).to_pandas(), hide_index=True, key=f"linked_synthetic_{job.id}_{name}",
                alt=t("outcome.table"), placeholder="",
            )  # fmt: skip
