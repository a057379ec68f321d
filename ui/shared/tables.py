"""The chooser of one table among those that are loaded; nothing is drawn where there is one."""

from __future__ import annotations

import streamlit as st

from ui.shared.state import Workspace
from ui.shared.text import literal, t


def choose(space: Workspace, *, key: str) -> Workspace:
    """Returns the table that a part of a page is about: the only one, or the one that the visitor chose."""
    names = list(space.parts)
    name: str | None = names[0]
    if len(names) > 1:
        name = st.segmented_control(
            t("linked.which"), names, default=names[0], required=True, key=f"{key}_{space.serial}",
            label_visibility="collapsed", format_func=literal, persist_state="session",
        )  # fmt: skip
    return space.parts[name or names[0]]
