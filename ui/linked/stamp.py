"""Why a run of these linked tables would be NOT PRIVATE, in words, with the way to where that is mended."""

from __future__ import annotations

import streamlit as st

from ui.shared.going import go_to
from ui.shared.stamps import some
from ui.shared.state import Linked
from ui.shared.text import counted, number, t
from ui.shared.theme import not_private


def undecided(linked: Linked) -> list[str]:
    """Columns of all tables that were described by looking at the data, as table.column; keys are none of them."""
    out = []
    for name, part in linked.parts.items():
        keys = linked.keys_of(name) if linked.panel is None else [linked.panel.person]
        if part.schema is not None:
            out += [f"{name}.{column}" for column in part.schema.from_data if column not in keys]
    return out


def words(linked: Linked) -> str:
    """One sentence for each kind of reason; empty where all is public."""
    read, out = undecided(linked), []
    if read:
        out.append(t("schema.stamp", count=number(len(read)), names=some(read)))
    if linked.unit_source == "data":
        out.append(t("linked.stamp_links"))
    schema = linked.declared()
    if not out and schema is not None and schema.reasons:
        out.append("; ".join(schema.reasons))
    return " ".join(out)


def box(linked: Linked, *, key: str) -> None:
    """The red box, with the button that leads to the Schema page; nothing where all is public."""
    why = words(linked)
    if not why:
        return
    count = len(undecided(linked))
    with st.container(key=f"stamp_{key}"):
        not_private(t("stamp.draft") if count else why)
        press = counted("guide.to_guide", count) if count else t("stamp.to_schema")
        if st.button(press, key=key, type="primary"):
            go_to("schema")
