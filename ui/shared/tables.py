"""The chooser of one table among those that are loaded; nothing is drawn where there is one."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ui.shared.choices import one_of
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
    if len(names) > 1 and title:
        section(title)
    return space.parts[one_name(names, key=f"{key}_{space.serial}", persist_state="session")]


def one_name(names: Sequence[str], *, key: str, called: Callable[[str], str] = literal, **more: Any) -> str:
    """The chosen name of a table; nothing is drawn where there is one. called, more: as of `one_of`."""
    return names[0] if len(names) == 1 else one_of(t("linked.which"), names, key=key, called=called, **more)


def turn(space: Workspace, key: str, name: str) -> None:
    """Chooses a table in the place of the visitor, before the page is drawn."""
    st.session_state[f"{key}_{space.serial}"] = name
