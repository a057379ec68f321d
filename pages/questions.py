"""Questions page: what will be asked of the table, and how far off each answer will be, before anything is spent."""

import streamlit as st

from ui.linked import questions_page
from ui.questions import expected, files, form, kept, listed
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import number, t
from ui.shared.theme import end_page, heading, note, section

space = workspace()
heading("questions")
if space.linked is not None:
    questions_page.page(space, space.linked)
    end_page()
if space.schema is None:
    st.info(t("schema.no_table"))
    end_page()
mine = kept.lines(space)
found = expected.forecasts(space)
left, right = st.columns([8, 5], gap="large")
with right:
    if mine:
        section(t("questions.share_title"))
        if not expected.cannot(space):
            expected.share_field(space)
            found = expected.forecasts(space)
            if found is not None:
                expected.cost(found)
        if found is not None:
            expected.assumption(space)
with left:
    if mine:
        section(t("questions.mine") if len(mine) == 1 else t("questions.mine_many", count=number(len(mine))))
        listed.declared(space, found)
    form.panel(space)
    section(t("questions.suggested"))
    listed.suggested(space)
    if st.button(t("questions.own"), key="question_own"):
        form.begin()
        st.rerun()
with right:
    if not mine:
        section(t("questions.why_title"))
        note(t("questions.why"))
        listed.buys()
    section(t("questions.file"))
    files.panel(space)
if st.button(t("questions.next"), type="primary", key="questions_next"):
    go_to("synthesize")
