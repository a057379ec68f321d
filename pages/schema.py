"""Schema page: what is public about each column, and where that knowledge comes from."""

import streamlit as st

from dpsyn_core.schema.draft.draft import confirm
from ui.linked import schema_page
from ui.schema import buying, editor, files, guide, misfits, public, rules, unit
from ui.schema import more as schema
from ui.shared import stamps
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import counted, number, t
from ui.shared.theme import end_page, facts, heading, not_private, note, section
from ui.synthesize import design

space = workspace()
heading("schema")
if space.linked is not None:
    schema_page.page(space, space.linked)
    end_page()
if space.dataset is None or space.schema is None:
    st.info(t("schema.no_table"))
    if st.button(t("schema.to_data"), type="primary"):
        go_to("data")
    end_page()

editor.sync(space)
if space.choices.safe and space.schema.from_data:  # what was read from the data stands in the schema
    st.info(t("schema.safe"))
    end_page()
domain = space.schema.domain()
pairs = len(domain) * (len(domain) - 1) // 2
facts(
    [
        (
            number(len(domain)),
            counted("schema.synthesized", len(domain)),
            t("schema.of", count=number(len(space.rows))),
        ),
        (number(pairs), counted("schema.pairs", pairs), t("schema.pairs_note")),
        (number(max(domain.sizes)), t("schema.largest"), t("schema.largest_note")),
    ]
)
decided = space.schema.unit.identifier is not None  # who is one person is said on the Data page, not with all else
unsure = len(space.schema.from_data) + (space.schema.unit_from_data and decided)
if not space.schema.private:
    not_private(stamps.words(space.schema))
unit.panel(space, key="schema")
guide.panel(space)
guided = any(a.source == "data" for a in space.schema.attributes)
with st.expander(t("guide.table"), key="grid_expander") if guided else st.container():
    editor.table(space)
    sure = counted("schema.confirm", unsure)  # under the table that shows what is confirmed
    if unsure and st.button(sure, key="confirm_all", help=t("schema.confirm_help")):
        editor.take(space, confirm(space.schema, space.schema.from_data, unit=decided))
        editor.sync(space)
        st.rerun()
editor.problems(space)
schema.more(space)
design.editor(space, choose=True)
rules.panel(space)
public.panel(space)
misfits.panel(space)
buying.panel(space)

left, right = st.columns([7, 5], gap="large")
with left:
    section(t("schema.preview_title"))
    editor.bins_preview(space)
with right:
    files.load_and_save(space)
if not space.schema.private:
    note(t("schema.next_unsure"), "alarm")
if st.button(t("schema.next"), type="primary", key="schema_next"):
    go_to("privacy")
