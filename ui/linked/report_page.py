"""Report page of a run of linked tables: by link, by table, and what may be published."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.runs.trees.reference import LinkVerdict
from ui.linked import answered, comparing, files, outcome
from ui.report import columns, headline, pairs
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, literal, local, number, percent, t
from ui.shared.theme import lead, note, private_tag, public_tag, section, table
from ui.shared.theme import not_private as stamp

LINKS, ASKED, RELEASED = "links", "asked", "released"
MOST_CHARGES = 200  # rows of the table of what was released
METRICS = {"children": "children", "parent x child": "across", "siblings": "siblings"}


def page(space: Workspace, job: Job) -> None:
    """All of the page below the choice of the run."""
    schema = files.schema(space, job)
    if not files.manifest(job).private:
        stamp(t("stamp.run"))
    names = [one.name for one in schema.tables if one.columns is not None]
    asked = (ASKED,) if job.spec.questions else ()
    views = (*asked, RELEASED) if space.choices.safe else (LINKS, *(f"table {n}" for n in names), *asked, RELEASED)
    view = st.segmented_control(
        t("report.view"), views, default=views[0], required=True, format_func=_words, key=f"linked_view_{job.id}",
        label_visibility="collapsed",
    )  # fmt: skip
    if space.choices.safe:
        note(t("report.safe"))
    if view == ASKED:
        answered.panel(space, job)
        return
    if view == RELEASED or space.choices.safe:
        _released(space, job)
        return
    private_tag()
    with st.spinner(t("report.comparing")):
        found = comparing.links(space, job)
    if found is None:
        note(t("report.other_table"), "warning")
        return
    if view == LINKS:
        _links(space, job, found)
        return
    _table(space, job, str(view).removeprefix("table "))


def _words(view: str) -> str:
    if view == LINKS:
        return t("linked.view_links")
    if view == ASKED:
        return t("linked.view_asked")
    return t("report.released") if view == RELEASED else literal(view.removeprefix("table "))


def _links(space: Workspace, job: Job, found: list[LinkVerdict]) -> None:
    """What is kept of the relations across each link, and the figures that this rests on."""
    for keys in outcome.keys(space, job):
        scope = f"{keys.parent} > {keys.child}"
        mine = [v for v in found if v.scope == scope]
        section(t("linked.link", parent=keys.parent, child=keys.child))
        for verdict in mine:
            if verdict.kept is not None:
                told = {"kept": percent(verdict.kept, 0), "parent": keys.parent, "child": keys.child}
                lead(t(f"linked.kept_{METRICS[verdict.metric]}", **told))
            elif verdict.metric != "children":
                note(t(f"linked.nothing_{METRICS[verdict.metric]}", child=keys.child))
        rows = [
            [t(f"linked.metric_{METRICS[v.metric]}"), percent(v.value), percent(v.fresh),
             percent(v.unattached) if v.metric != "children" else "–"]
            for v in mine
        ]  # fmt: skip
        if rows:
            heads = [
                t("linked.metric"),
                t("linked.column_synthetic"),
                t("linked.column_fresh"),
                t("linked.column_apart"),
            ]
            table(heads, rows, alt=t("linked.scores_alt"))
        note(outcome.key_words(keys), "note" if keys.hold else "alarm")
        for verdict in mine:
            if verdict.worst is not None:
                named = t(f"linked.worst_{METRICS[verdict.metric]}", columns=" × ".join(verdict.columns),
                          worst=percent(verdict.worst))  # fmt: skip
                note(named)
    note(t("linked.scores_note"))


def _table(space: Workspace, job: Job, name: str) -> None:
    """One table by itself, with the panels of single tables."""
    shown = comparing.table(space, job, name)
    if shown is None:
        note(t("linked.only_keys"))
        return
    headline.headline(shown)
    panels = {"pairs": pairs.panel, "columns": columns.panel}
    view = st.segmented_control(
        t("report.view"), list(panels), default="pairs", required=True, format_func=lambda v: t(f"report.{v}"),
        key=f"linked_part_{job.id}_{name}", label_visibility="collapsed",
    )  # fmt: skip
    panels[str(view or "pairs")](shown)


def _released(space: Workspace, job: Job) -> None:
    """What holds of the released files, from released values alone."""
    found, manifest = files.checked(space, job), files.manifest(job)
    if all(one.publishable for one in found.values()):
        public_tag()
    if any(one.vouched for one in found.values()):
        note(t("released.vouched"), "warning")
    if all(one.holds for one in found.values()):
        note(t("linked.released", epsilon=amount(manifest.epsilon), delta=amount(manifest.delta)))
    for one in found.values():
        if not one.holds:
            note(t("released.unproved", sentence=one.sentence), "alarm")
    for keys in outcome.keys(space, job):
        note(outcome.key_words(keys), "note" if keys.hold else "alarm")
    rows = [
        [c.name, local((c.sigma or c.scale or 0.0) / (c.sensitivity or 1.0), ".3g"), number(c.cells)]
        for c in manifest.charges[:MOST_CHARGES]
    ]
    table([t("released.column"), t("linked.noise"), t("linked.cells")], rows, alt=t("released.alt"))
    note(t("linked.noise_note"))
