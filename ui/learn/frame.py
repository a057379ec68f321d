"""What every lab has: its question above, what to find and two questions with folded answers below, its source."""

from __future__ import annotations

import html
from importlib import import_module

import streamlit as st

from ui.learn import GROUPS, LABS, controls, guessing, sharing
from ui.shared import languages
from ui.shared.access import classroom
from ui.shared.going import by_history
from ui.shared.text import catalogue, language, t
from ui.shared.theme import heading, note, section

PICK = "lab"


def page() -> None:
    """The Learn page."""
    heading("learn")
    show(choose())


def warm() -> None:
    """What the first visitor of a class would wait for: a compiled kernel, the counts of the game, a chart."""
    from ui.learn import growing, race
    from ui.learn.numbers import game

    growing.grown(1.0, 0.5)
    game.best_plan()
    for across in (2, 1):
        race.chart(1.0, race.BEFOREHAND, across, False, language())


def choose() -> str:
    """The lab that is open; its short name is part of the link, so that a lesson can be shared."""
    if PICK not in st.session_state or (by_history() and st.query_params.get(PICK) in LABS):
        asked = st.query_params.get(PICK, LABS[0])
        st.session_state[PICK] = asked if asked in LABS else LABS[0]
    if pinned():
        name = str(st.session_state[PICK])
        st.query_params[PICK] = name
        st.query_params[sharing.PIN] = "1"
        st.html(f"<p class='dp-small'>{html.escape(t(f'learn.{name}.name'))}</p>")
        return name
    left, right = st.columns([3, 1], vertical_alignment="bottom", gap="small")
    with right, st.popover(t("learn.groups_of.all"), width="stretch"):
        _cards()
    with left:
        name = str(st.selectbox(t("learn.pick"), LABS, key=PICK, format_func=lambda n: t(f"learn.{n}.name")))
    st.query_params[PICK] = name
    return name


def _cards() -> None:
    """All labs in groups by lesson, each with its question; a press opens it."""
    for group, labs in GROUPS.items():
        note(t(f"learn.groups_of.{group}"))
        for lab in labs:
            words = f"{t(f'learn.{lab}.name')}: {t(f'learn.{lab}.question')}"
            st.button(words, key=f"card_{lab}", type="tertiary", on_click=_open, args=(lab,))


def _open(lab: str) -> None:
    st.session_state[PICK] = lab


def pinned() -> bool:
    """Whether the visitor came by a link that shows one lab alone; it holds until the tab is closed."""
    if sharing.PIN not in st.session_state:
        st.session_state[sharing.PIN] = st.query_params.get(sharing.PIN) == "1"
    return bool(st.session_state[sharing.PIN])


def show(name: str) -> None:
    """One lab, whole."""
    controls.forget_others(name, LABS)
    section(t(f"learn.{name}.question"))
    if f"learn.{name}.background" in catalogue():
        st.html(f"<p class='dp-lead'>{html.escape(t(f'learn.{name}.background'))}</p>")
    guessing.panel(name)
    import_module(f"ui.learn.{name}").show()
    st.html(f"<p class='dp-lead'>{html.escape(t(f'learn.{name}.finds'))}</p>")
    for i in (1, 2):
        with st.expander(t(f"learn.{name}.q{i}")):
            st.write(t(f"learn.{name}.a{i}"))
    note(t("learn.source", source=t(f"learn.{name}.source")))
    sharing.buttons(pins=not pinned())
    if classroom():  # where there is no side panel
        languages.choose()
