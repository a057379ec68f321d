"""The unit of privacy on pages: whether a look at the table decided it, and the button that confirms it."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.schema.identifying import LADDER
from dpsyn_core.suggest.drafting import confirm
from ui.schema.rows import typed_source
from ui.shared.state import Workspace
from ui.shared.text import number, t
from ui.shared.theme import note


def panel(space: Workspace, *, key: str) -> None:
    """Says that the unit was read from the data, with the way to confirm it; nothing where it is public."""
    schema = space.schema
    if schema is None or not schema.unit_from_data:
        return
    unit = schema.unit
    who = t("data.each_row") if unit.identifier is None else t("data.named_by", column=unit.identifier)
    with st.container(border=True, key=f"unit_{key}"):
        note(t("unit.read", who=who, most=number(unit.max_records)), "alarm")
        if st.button(t("unit.known"), key=f"unit_known_{key}", help=t("unit.known_help")):
            space.schema = confirm(schema, (), unit=True)
            st.rerun()


def see(space: Workspace) -> None:
    """Remembers, for as long as this visitor is here, that they saw how many rows people have in this table."""
    if space.dataset is not None:
        space.looked.add(space.dataset.serial)


def source(space: Workspace, identifier: str | None) -> str:
    """Where a unit comes from that this visitor chooses now."""
    if space.schema is None or space.dataset is None:
        return "public"
    return typed_source(space.schema, identifier, looked=space.dataset.serial in space.looked)


def ladder() -> str:
    """The limits that are proposed, the same for every table and without pointing at one."""
    return ", ".join(map(number, LADDER))
