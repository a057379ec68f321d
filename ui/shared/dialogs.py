"""Dialogs: each behind a button, and open until it is closed, whatever is pressed in it."""

from collections.abc import Callable

import streamlit as st

from ui.shared.faults import ShownFaults
from ui.shared.going import by_history
from ui.shared.text import literal

OPEN = "dialog_open"  # in the visitor's session: the one that is open


def behind(name: str, title: str, draw: Callable[[], None]) -> None:
    """A button, and while its dialog is open what `draw` puts into it.

    A page that is run again closes a dialog that it does not draw again; the session says which one it has to.
    """
    if by_history():  # Back led away from an open one, and Forward leads here again
        close()
    if st.button(literal(f"{title} …"), key=f"open_{name}", type="tertiary"):
        st.session_state[OPEN] = name
    if st.session_state.get(OPEN) == name:
        st.dialog(title, width="large", on_dismiss=close)(ShownFaults()(draw))()


def close() -> None:
    """Leaves no dialog open."""
    st.session_state.pop(OPEN, None)
