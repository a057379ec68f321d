"""The choice of language, in the side panel and at the foot of the labs; a link may ask for one (`?lang=de`)."""

import streamlit as st

from ui.shared.text import ASKED, CHOSEN, LANGUAGES, language, t

FIELD = "language_field"


def choose() -> None:
    """A row of the languages; the one that is read is part of the link when it was chosen."""
    st.session_state.setdefault(FIELD, language())
    st.segmented_control(
        t("side.language"),
        tuple(LANGUAGES),
        key=FIELD,
        required=True,
        format_func=LANGUAGES.__getitem__,
        on_change=_chosen,
        persist_state="session",
    )


def _chosen() -> None:
    picked = st.session_state.get(FIELD)
    if picked in LANGUAGES:
        st.session_state[CHOSEN] = picked
        st.query_params[ASKED] = picked
