"""Going to another page by a press."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st


def go_to(page: str) -> NoReturn:
    """Ends this run and opens another page, by its name.

    Values that the address carried for fields of this page (epsilon, maximum rows per person) are dropped from it; the
    workspace keeps them. Without `query_params` Streamlit refuses to leave a page with bound fields.
    """
    st.switch_page(f"pages/{page}.py", query_params={})
