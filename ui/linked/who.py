"""Who is one individual among linked tables, on the Data page: asked, as of one table, until a person has answered."""

from __future__ import annotations

import streamlit as st

from ui.linked import links
from ui.linked.starting import drops
from ui.shared.state import Linked
from ui.shared.text import literal, t
from ui.shared.theme import note


def panel(linked: Linked) -> None:
    """The question, and what the answer means; the column that names persons of a panel is asked for on Schema."""
    if linked.panel is None:
        _ask(linked)
    else:
        st.markdown(literal(linked.who()))
    schema = linked.declared()
    note(t("linked.undeclared") if schema is None else drops(schema))


def _ask(linked: Linked) -> None:
    options = {name: t("linked.each", root=name) for name in linked.parts}
    names = list(options)
    key = links.field_key(linked, "who")

    def answered() -> None:
        links.decide(linked, str(st.session_state[key]))

    st.selectbox(
        t("data.individual"), names, index=names.index(linked.root) if linked.decided else None, key=key,
        placeholder=t("data.individual_choose"), on_change=answered, help=t("linked.root_help"),
        format_func=options.__getitem__,
    )  # fmt: skip
    if linked.decided:
        note(linked.who())
        return
    with st.container(border=True, key="whose_records"):
        note(t("linked.which_root", root=literal(linked.root), who=linked.who()), "warning")
        if st.button(t("linked.take_root", root=literal(linked.root)), key="take_root", type="primary"):
            links.decide(linked, linked.root)
            st.rerun()
