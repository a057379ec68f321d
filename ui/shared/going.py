"""Going to another page by a press."""

import math
from typing import Any, Literal, NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from ui.shared.text import ASSETS

# Two frames later the page is laid out. What begins in the upper part of the window is seen, and stays where it is.
REVEAL = """requestAnimationFrame(() => setTimeout(() => {
  const part = document.querySelector('.st-key-%s')
  const top = part?.getBoundingClientRect().top
  if (!part || (top > 0 && top < 0.4 * innerHeight)) return
  part.style.scrollMarginTop = '4rem'  // the names of the pages stay above it
  part.scrollIntoView({block: 'start', behavior: 'smooth'})
}, 150))"""


def one_entry_a_page() -> None:
    """Makes Back leave a page at one press, whatever was chosen on it."""
    script = (ASSETS / "history.js").read_text("utf-8")
    st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def reveal(key: str, mark: str) -> None:
    """Moves the container of this key into the window, once for each mark; where it is seen already, nothing moves."""
    seen = f"revealed_{key}"
    if st.session_state.get(seen) == mark:
        return
    st.session_state[seen] = mark
    st.html(f"<script>{REVEAL % key}</script>", unsafe_allow_javascript=True)


def by_history() -> bool:
    """Whether Back or Forward of the browser led here."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def keep(name: str, value: Any) -> None:
    """Fills a field whose value is part of the address, before it is drawn.

    Streamlit empties a field when Back or Forward leads to an address without it, and takes no other value in that
    run: so there is a second one. value: what the visitor chose.
    """
    if name in st.query_params and bound(name):
        return
    if by_history():
        st.rerun()
    st.session_state[name] = st.session_state.get(name, value)


def bound(name: str) -> Literal["query-params"] | None:
    """How a field of whole numbers hangs on the address: not at all where that holds a number without an end.

    Streamlit fails at such a number, and no link that somebody else made may stop a page.
    """
    try:
        return "query-params" if abs(float(st.query_params.get(name, "0"))) < math.inf else None
    except ValueError:  # no number, which Streamlit passes over
        return "query-params"


def go_to(page: str) -> NoReturn:
    """Ends this run and opens another page, by its name.

    Values that the address carried for fields of this page (epsilon, maximum rows per person) are dropped from it; the
    workspace keeps them. Without `query_params` Streamlit refuses to leave a page with bound fields.
    """
    st.switch_page(f"pages/{page}.py", query_params={})
