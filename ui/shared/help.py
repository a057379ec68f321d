"""The help menu in the side panel: three steps, words, tags, and a link to the page as it stands."""

from urllib.parse import urlencode

import streamlit as st

from ui.shared.text import t
from ui.shared.theme import note

PARTS = ("start", "words", "owner", "guarantee", "labs")


def menu() -> None:
    """Folded away; the link is copied by the button in its field."""
    with st.popover(t("help.title"), width="stretch"):
        for part in PARTS:
            st.markdown(t(f"help.{part}"))
        st.markdown(f"**{t('help.link')}**")
        st.code(address(), language=None, wrap_lines=True)
        note(t("help.link_note"))


def address() -> str:
    """The page's address with every control that is part of it."""
    asked = {k: st.query_params.get_all(k) for k in st.query_params}
    page = str(st.context.url or "").split("?")[0]
    return f"{page}?{urlencode(asked, doseq=True)}" if asked else page
