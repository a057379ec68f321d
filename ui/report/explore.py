"""Explore: one view of the report at a time, of one run or of two side by side, and all scores at the end."""

import streamlit as st

from ui.report import asked, columns, groups, incomes, learning, pairs, queries, rules
from ui.report.look import look
from ui.shared.choices import one_of
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import t
from ui.shared.theme import note
from ui.synthesize import runs

PANELS = {
    "columns": columns,
    "pairs": pairs,
    "groups": groups,
    "queries": queries,
    "incomes": incomes,
    "learning": learning,
}


def panel(space: Workspace, job: Job, table: str = "") -> None:
    """The choice of a view, the view, the rules of the schema, and the table of all scores where it is asked for."""
    asks = not job.spec.linked and len(asked.questions_of(space, job)) > 0
    views = ("asked", *PANELS) if asks else tuple(PANELS)
    others = runs.alike(space, job)
    left, right = st.columns([3, 1], vertical_alignment="bottom") if others else (st.container(), None)
    with left:
        view = one_of(t("report.view"), views, key="report_explore", called=lambda v: t(f"report.{v}"))
    chosen = [job]
    if right is not None:
        with right:
            second = runs.choose_second(job, others)
        chosen += [second] if second else []
    if view == "asked":
        asked.panel(space, job, private=True)
        return
    with st.spinner(t("report.comparing")):
        shown = look(space, chosen, table)
    if shown is None:
        note(t("report.other_table"), "warning")
        return
    PANELS[view].panel(shown)
    rules.panel(shown)
    if st.toggle(t("learning.all"), key="report_scores"):
        learning.scores(shown)
