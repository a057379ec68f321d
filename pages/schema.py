"""Schema page: what is public about each column, and where that knowledge comes from."""

import streamlit as st

from dpsyn_core.schema import confirm
from ui.linked import across, limits
from ui.linked import links as structure
from ui.schema import buying, editor, files, guide, misfits, public, rules, unit
from ui.schema import more as schema
from ui.shared import stamps, tables
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import counted, number, t
from ui.shared.theme import end_page, facts, heading, not_private, note, section
from ui.synthesize import design

space = workspace()
heading("schema")
if space.linked is None and (space.dataset is None or space.schema is None):
    st.info(t("schema.no_table"))
    if st.button(t("schema.to_data"), type="primary"):
        go_to("data")
    end_page()
if space.choices.safe and stamps.read(space):  # what was read from the data stands in the schema
    st.info(t("schema.safe"))
    end_page()
structure.section(space)
why = stamps.words(space)
if why:
    not_private(why)
part = tables.choose(space, key="schema_table", title=t("linked.kinds"))
editor.shows(part, space)
editor.sync(part)
if part.schema is None:
    note(t("linked.only_keys"))
else:
    domain = part.schema.domain()
    pairs = len(domain) * (len(domain) - 1) // 2
    facts(
        [
            (
                number(len(domain)),
                counted("schema.synthesized", len(domain)),
                t("schema.of", count=number(len(part.rows))),
            ),
            (number(pairs), counted("schema.pairs", pairs), t("schema.pairs_note")),
            (number(max(domain.sizes)), t("schema.largest"), t("schema.largest_note")),
        ]
    )
    # who is one individual is declared on the Data page, not with all else
    decided = part.schema.unit.identifier is not None and not part.one_of_linked
    unsure = len(part.schema.from_data) + (part.schema.unit_from_data and decided)
    unit.panel(space, key="schema")
    guide.panel(part)
    guided = any(a.source == "data" for a in part.schema.attributes)
    with st.expander(t("guide.table"), key="grid_expander") if guided else st.container():
        editor.table(part)
        sure = counted("schema.confirm", unsure)  # under the table that shows what is confirmed
        if unsure and st.button(sure, key="confirm_all", help=t("schema.confirm_help")):
            editor.take(part, confirm(part.schema, part.schema.from_data, unit=decided))
            editor.sync(part)
            st.rerun()
    editor.problems(part)
    schema.more(part)
    design.editor(space, choose=True)
    rules.panel(part, **structure.rules_of(space, part))
    public.panel(part)
    misfits.panel(part)
across.panel(space)
limits.left_out(space)
buying.panel(space)

left, right = st.columns([7, 5], gap="large")
with left:
    if part.schema is not None:
        section(t("schema.preview_title"))
        editor.bins_preview(part)
with right:
    files.load_and_save(space, part)
if why:
    note(t("schema.next_unsure"), "alarm")
if st.button(t("schema.next"), type="primary", key="schema_next", disabled=space.kept_schema is None):
    go_to("privacy")
