"""What every lab has: its question above, what to find and two questions with folded answers below, its source."""

from __future__ import annotations

import html
from importlib import import_module

import streamlit as st

from ui.learn import LABS
from ui.shared.text import t
from ui.shared.theme import note, section

PICK = "lab"
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)


def choose() -> str:
    """The lab that is open; its short name is part of the link, so that a lesson can be shared."""
    if PICK not in st.session_state:
        asked = st.query_params.get(PICK, LABS[0])
        st.session_state[PICK] = asked if asked in LABS else LABS[0]
    name = str(st.selectbox(t("learn.pick"), LABS, key=PICK, format_func=lambda n: t(f"learn.{n}.name")))
    st.query_params[PICK] = name
    return name


def show(name: str) -> None:
    """One lab, whole."""
    section(t(f"learn.{name}.question"))
    import_module(f"ui.learn.{name}").show()
    st.html(f"<p class='dp-lead'>{html.escape(t(f'learn.{name}.finds'))}</p>")
    for i in (1, 2):
        with st.expander(t(f"learn.{name}.q{i}")):
            st.write(t(f"learn.{name}.a{i}"))
    note(t("learn.source", source=t(f"learn.{name}.source")))


def epsilon(key: str, default: float = 1.0) -> float:
    """A slider over usual values of epsilon."""
    if key not in st.session_state and key not in st.query_params:
        st.session_state[key] = default
    return float(
        st.select_slider(t("learn.epsilon"), EPSILONS, key=key, bind="query-params", format_func=lambda e: f"{e:g}")
    )
