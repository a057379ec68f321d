"""Schema page: what is public about each column, and where that knowledge comes from."""

from functools import partial
from typing import Literal

import streamlit as st

from dpsyn_core.schema import confirm
from ui.linked import across, limits
from ui.linked import links as structure
from ui.schema import buying, columns, editor, files, guide, misfits, public, rules, unit
from ui.schema import more as schema
from ui.shared import stamps, tables
from ui.shared.going import go_to
from ui.shared.state import workspace
from ui.shared.text import counted, literal, number, t
from ui.shared.theme import end_page, heading, not_private, note, section
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
part = tables.choose(space, key="schema_table", title=t("linked.kinds"))
editor.shows(part, space)
editor.sync(part)
at = guide.screen(part)  # of the three questions about a table of one's own; None: they are answered
why = stamps.words(space) if at is None else stamps.shortly(space)
more = st.container()
if at is not None:
    with st.columns([9, 3])[1], st.popover(t("schemafile.title"), width="stretch"):
        files.load_and_save(space, part)
    if at > 0:  # of what the guide asks first
        unit.panel(space, key="schema")
    guide.panel(part, lambda: rules.panel(part, asked=True, **structure.rules_of(space, part)))
    structure.section(space)
    # a first visit needs nothing of what follows
    more = st.expander(t("guide.more"), key="guide_more", expanded=bool(part.memo.get("guide_buys")))
with more:
    count, file, onward = st.columns([6, 3, 3], vertical_alignment="center")
    with onward:
        open_still = [name for name, one in space.parts.items() if guide.screen(one) in (0, 1)] if at is None else []
        kind: Literal["primary", "secondary"] = "secondary" if (why and not open_still) or at is not None else "primary"
        press = partial(st.button, type=kind, width="stretch")
        if open_still:  # of linked tables, one after the other is described
            turn = partial(tables.turn, space, "schema_table", open_still[0])
            press(t("schema.next_table", name=literal(open_still[0])), key="schema_next_table", on_click=turn)
        elif press(t("schema.next"), key="schema_next", disabled=space.kept_schema is None):
            go_to("privacy")
    if at is None:
        with file, st.popover(t("schemafile.title"), width="stretch"):
            files.load_and_save(space, part)
        structure.section(space)
        if why:
            not_private(why)
    if part.schema is None:
        note(t("linked.only_keys"))
    else:
        # who is one individual is declared on the Data page, not with all else
        decided = part.schema.unit.identifier is not None and not part.one_of_linked
        unsure = len(part.schema.from_data) + (part.schema.unit_from_data and decided)
        if at is None:
            unit.panel(space, key="schema")
        guide.more(part)
        above = st.container()  # drawn below, after an edit of the table has been taken over
        with st.expander(t("guide.table"), key="grid_expander"):
            editor.table(part)
            sure = counted("schema.confirm", unsure)  # under the table that shows what is confirmed
            if unsure and st.button(sure, key="confirm_all", help=t("schema.confirm_help")):
                editor.take(part, confirm(part.schema, part.schema.from_data, unit=decided))
                editor.sync(part)
                st.rerun()
        with above:
            editor.problems(part)
            if at in (None, 2):
                columns.panel(part)
        if at != 2:
            rules.panel(part, **structure.rules_of(space, part))
        with st.container(horizontal=True, gap="small"):
            schema.more(part)
            design.editor(space, choose=True)
            public.panel(part)
            misfits.panel(part)
        if space.linked is None:
            buying.panel(space)
    with count:
        rows = columns.listed(part)
        section(t("schema.ready", count=number(sum(map(columns.ready, rows))), all=number(len(rows))))
across.panel(space)
limits.left_out(space)
