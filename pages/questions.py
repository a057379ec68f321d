"""Questions page: what will be asked, and how far off each answer will be, before anything is spent."""

import streamlit as st

from ui.questions import expected, files, form, kept, listed
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import number, t
from ui.shared.theme import end_page, heading, note, section

space = workspace()
left, onward = st.columns([8, 3], vertical_alignment="center")
with left:
    heading("questions")
if not space.serial or (space.linked is None and space.schema is None):
    st.info(t("schema.no_table"))
    end_page()
if space.kept_schema is None:
    note(t("linked.undeclared"), "alarm")
    if st.button(t("linked.to_schema"), key="questions_schema"):
        go_to("schema")
    end_page()
with onward:
    if st.button(t("questions.next"), type="primary", key="questions_next", width="stretch"):
        go_to("synthesize")
mine = len(kept.lines(space))
found = expected.forecasts(space)
left, right = st.columns([7, 6], gap="large")
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
    else:
        section(t("questions.why_title"))
        if space.linked is None:
            note(t("questions.why"))
            listed.buys()
        else:
            note(t("linked.ask_why"))
    section(t("questions.file"))
    files.panel(space)
with left:
    if mine:
        section(t("questions.mine") if mine == 1 else t("questions.mine_many", count=number(mine)))
        listed.declared(space, found)
    if space.linked is None:
        form.panel(space)
    section(t("questions.suggested"))
    listed.suggested(space)
    if space.linked is not None:
        form.panel(space)
    elif st.button(t("questions.own"), key="question_own"):
        form.begin()
        st.rerun()
