"""The chooser of one table among those that are loaded; nothing is drawn where there is one."""

import streamlit as st

from ui.shared.state import Workspace
from ui.shared.text import literal, t
from ui.shared.theme import section


def choose(space: Workspace, *, key: str, title: str = "") -> Workspace:
    """Returns the table that a part of a page is about: the only one, or the one that the visitor chose below a title.

    Where nothing is loaded it is the empty workspace.
    """
    names = list(space.parts)
    if not names:
        return space
    name: str | None = names[0]
    if len(names) > 1:
        if title:
            section(title)
        name = st.segmented_control(
            t("linked.which"), names, default=names[0], required=True, key=f"{key}_{space.serial}",
            label_visibility="collapsed", format_func=literal, persist_state="session",
        )  # fmt: skip
    return space.parts[name or names[0]]


def turn(space: Workspace, key: str, name: str) -> None:
    """Chooses a table in the place of the visitor, before the page is drawn."""
    st.session_state[f"{key}_{space.serial}"] = name
