"""Files of a figure: every figure leaves as SVG, PNG and CSV, with its title and a source line, made in the browser."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from importlib import resources

import streamlit as st

from ui.shared.text import t

KINDS = ("svg", "png", "csv")
READS_PRIVATE = "figures_read_private"  # in the visitor's session: a tag of private data stands above


@lru_cache(maxsize=1)
def _script() -> str:
    return (resources.files("dpsyn_core.report") / "assets" / "figure_files.js").read_text("utf-8")


def from_private(private: bool) -> None:
    """Remembers what the figures that follow are made from; their files say so."""
    st.session_state[READS_PRIVATE] = private


def buttons(key: str, title: str) -> None:
    """Three small buttons below a figure. key: of its widget; title: what the file says above it."""
    private = st.session_state.get(READS_PRIVATE, False)
    source = t("figure_file.source_private" if private else "figure_file.source")
    shared = {
        "data-figure-key": re.sub(r"[^a-zA-Z0-9_-]", "-", key.strip()), "data-figure-name": f"figure-{_plain(key)}",
        "data-title": title, "data-source": source,
    }  # fmt: skip
    values = " ".join(f"{name}='{html.escape(value, quote=True)}'" for name, value in shared.items())
    row = "".join(
        f"<button type='button' data-figure-file='{kind}' {values} "
        f"aria-label='{html.escape(t('figure_file.as', kind=kind.upper()), quote=True)}'>{kind.upper()}</button>"
        for kind in KINDS
    )
    st.html(f"<div class='dp-files'>{row}</div><script>{_script()}</script>", unsafe_allow_javascript=True)


def _plain(key: str) -> str:
    return re.sub(r"[^a-zA-Z0-9]+", "-", key).strip("-").lower() or "1"
