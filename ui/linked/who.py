"""Who is one individual among linked tables, on the Data page: asked, as of one table, until a person has answered."""

import streamlit as st

from dpsyn_core.schema import candidates
from ui.linked import links
from ui.shared.state import Linked
from ui.shared.text import literal, t
from ui.shared.theme import note


def panel(linked: Linked) -> None:
    """The question, and what the answer means; the column that names persons of a panel is asked for on Schema."""
    if linked.panel is None:
        _ask(linked)
    else:
        st.markdown(literal(linked.who()))
    if linked.declared() is None:
        note(t("linked.undeclared"))


def _ask(linked: Linked) -> None:
    links.root_field(linked, links.field_key(linked, "who"), linked.root if linked.decided else None)
    if linked.decided:
        note(linked.who())
        return
    with st.container(border=True, key="whose_records"):
        note(t("linked.which_root", root=literal(linked.root), who=linked.who()), "warning")
        columns, keys = linked.parts[linked.root].schema, linked.keys_of(linked.root)
        named = [] if columns is None else candidates(columns)  # by their headers; no cell is read
        for column in [n for n in named if n not in keys][:1]:
            note(t("linked.persons_in_root", column=literal(column), root=literal(linked.root)), "warning")
        if st.button(t("linked.take_root", root=literal(linked.root)), key="take_root", type="primary"):
            links.decide(linked, linked.root)
            st.rerun()
