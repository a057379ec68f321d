"""Schema page of linked tables: the diagram, the links, and the kinds of columns of one table at a time."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.outside import file_word
from dpsyn_core.schema.draft.draft import confirm
from ui.linked import across, diagram, limits, loading, stamp
from ui.linked import links as links_editor
from ui.schema import editor, guide, rules
from ui.shared import uploads
from ui.shared.going import go_to
from ui.shared.state import Linked, Workspace
from ui.shared.text import counted, literal, sentence, t
from ui.shared.theme import not_private, note, section

INSIDE = [k for k in rules.KINDS if k != "unique"]  # keys would not fit rules about all records of a table
SHOWN, TAKEN = "linked_columns_shown", "linked_file_taken"


def page(space: Workspace, linked: Linked) -> None:
    """All of the page below its heading."""
    if space.choices.safe and stamp.words(linked):  # what was read from the data stands in the schemas
        st.info(t("schema.safe"))
        return
    why = linked.problem()
    left, right = st.columns([7, 5], gap="large")
    with right:
        section(t("linked.diagram"))
        diagram.draw(linked)
        if why:
            st.error(literal(sentence(ValueError(why))))
        if linked.unit_source == "data":
            _confirm_links(linked)
    with left:
        links_editor.panel(space, linked)
    if stamp.words(linked):
        not_private(stamp.words(linked))
    _columns(linked)
    across.panel(linked)
    limits.left_out(space, linked)
    _file(linked)
    if st.button(t("schema.next"), type="primary", key="linked_schema_next", disabled=bool(why)):
        go_to("privacy")


def _confirm_links(linked: Linked) -> None:
    with st.container(border=True, key="linked_source"):
        note(t("linked.stamp_links"), "alarm")
        if st.button(t("unit.known"), key="linked_known", help=t("linked.known_help")):
            limits.confirm(linked)
            st.rerun()


def _columns(linked: Linked) -> None:
    """The editor of single tables, on the table that is chosen."""
    section(t("linked.kinds"))
    names = list(linked.parts)
    name = names[0]
    if len(names) > 1:
        name = (
            st.segmented_control(
                t("linked.which"), names, default=names[0], required=True, key=f"linked_edit_{linked.serial}",
                label_visibility="collapsed", format_func=literal, persist_state="session",
            )
            or name
        )  # fmt: skip
    part, mark = linked.parts[name], (linked.serial, linked.version, name)
    if st.session_state.get(SHOWN) != mark:  # the table's widget keeps its edits by the numbers of rows
        st.session_state[SHOWN] = mark
        editor.redraw()
        for key in (guide.AT, guide.CHANGING):
            st.session_state.pop(key, None)
    if part.schema is None:
        note(t("linked.only_keys"))
        return
    editor.sync(part)
    guide.panel(part)
    with st.expander(t("guide.table"), key="linked_grid", expanded=True):
        editor.table(part)
    editor.problems(part)
    rules.panel(part, kinds=INSIDE, why_not=lambda s: linked.problem_with(name, s), key=f"rule_{name}")
    unsure = len(part.schema.from_data)
    if unsure and st.button(counted("schema.confirm", unsure), key="linked_confirm_all", help=t("schema.confirm_help")):
        editor.take(part, confirm(part.schema, part.schema.from_data))
        editor.sync(part)
        st.rerun()


def _file(linked: Linked) -> None:
    """The schema of all tables, in and out."""
    section(t("schemafile.title"))
    got = uploads.one(t("linked.file"), ["json"], key="linked_upload_schema")
    if got is not None and st.session_state.get(TAKEN) != got.file_id:
        try:
            loading.schema_file(linked, got.getvalue())
        except DPSynError as error:
            st.error(literal(sentence(error)))
        else:
            st.session_state[TAKEN] = got.file_id
            st.rerun()
    schema = linked.declared()
    if schema is None:
        note(t("linked.file_none"))
        return
    st.download_button(
        t("schemafile.download"), data=schema.dumps,
        file_name=f"{file_word(linked.name, 'tables')}.schema{'.NOT-PRIVATE' if schema.reasons else ''}.json",
        mime="application/json",
        on_click="ignore", key="linked_schema_download",
    )  # fmt: skip
    note(t("schemafile.note_read") if schema.reasons else t("schemafile.note"), "warning" if schema.reasons else "note")
