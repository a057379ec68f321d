"""Questions page: what will be asked of the table, and how far off each answer will be, before anything is spent."""

import streamlit as st

from ui.linked import asking
from ui.linked import questions as across
from ui.questions import expected, files, form, kept, listed
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import number, t
from ui.shared.theme import end_page, heading, note, section

space = workspace()
heading("questions")
linked, schema = space.linked, None if space.linked is None else space.linked.declared()
if linked is None and space.schema is None:
    st.info(t("schema.no_table"))
    end_page()
if linked is not None and schema is None:
    note(t("linked.undeclared"), "alarm")
    if st.button(t("linked.to_schema"), key="questions_schema"):
        go_to("schema")
    end_page()
mine = len(kept.lines(space)) if linked is None else len(linked.questions)
found = expected.forecasts(space) if linked is None else None
left, right = st.columns([8, 5], gap="large")
with right:
    if mine and linked is None:
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
        section(t("questions.mine") if mine == 1 else t("questions.mine_many", count=number(mine)))
    if linked is not None and schema is not None:
        across.declared(linked, schema)
        section(t("questions.new"))
        asking.form(linked, schema)
    else:
        if mine:
            listed.declared(space, found)
        form.panel(space)
        section(t("questions.suggested"))
        listed.suggested(space)
        if st.button(t("questions.own"), key="question_own"):
            form.begin()
            st.rerun()
with right:
    if linked is not None:
        section(t("questions.why_title"))
        note(t("linked.ask_why"))
    elif not mine:
        section(t("questions.why_title"))
        note(t("questions.why"))
        listed.buys()
    section(t("questions.file"))
    if linked is not None and schema is not None:
        across.file(linked, schema)
    else:
        files.panel(space)
if st.button(t("questions.next"), type="primary", key="questions_next"):
    go_to("synthesize")
