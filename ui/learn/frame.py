"""What every lab has: its question, a guess, what is found, two questions with folded answers, its source."""

import html
from importlib import import_module

import streamlit as st

from ui.learn import HOUR, LABS, guessing, sharing, shelf
from ui.learn.lab import forget_others
from ui.shared import languages
from ui.shared.access import classroom
from ui.shared.going import by_history
from ui.shared.text import catalogue, language, t
from ui.shared.theme import heading, note

PICK = "lab"


def page() -> None:
    """The Learn page: the shelf, or the lab that was taken from it."""
    name = choose()
    if name:
        show(name)
        return
    heading("learn")
    shelf.show(_open)


def warm() -> None:
    """What the first visitor of a class would wait for: a compiled kernel, the counts of the game, a chart."""
    from ui.learn import race
    from ui.learn.numbers import game, growing

    growing.grown(1.0, 0.5)
    game.best_plan()
    for across in (2, 1):
        race.chart(1.0, race.BEFOREHAND, across, False, language())


def choose() -> str:
    """The lab that is open, empty for the shelf; its short name is part of the link, so that a lesson can be shared."""
    if PICK not in st.session_state or by_history():
        asked = st.query_params.get(PICK, "")
        st.session_state[PICK] = asked if asked in LABS else ""
    name = str(st.session_state[PICK])
    if name:
        st.query_params[PICK] = name
    elif PICK in st.query_params:
        del st.query_params[PICK]
    if name and pinned():
        st.query_params[sharing.PIN] = "1"
    return name


def _open(lab: str) -> None:
    st.session_state[PICK] = lab


def pinned() -> bool:
    """Whether the visitor came by a link that shows one lab alone; it holds until the tab is closed."""
    if sharing.PIN not in st.session_state:
        st.session_state[sharing.PIN] = st.query_params.get(sharing.PIN) == "1"
    return bool(st.session_state[sharing.PIN])


def show(name: str) -> None:
    """One lab: its question, the guess, and once that is made the figure, what it shows, and the next lab."""
    forget_others(name, LABS)
    if pinned():
        note(t(f"learn.{name}.name"))
    else:
        st.button("← " + t("learn.all"), key="learn_shelf", type="tertiary", on_click=_open, args=("",))
    st.title(t(f"learn.{name}.question"), anchor=False)
    if f"learn.{name}.background" in catalogue():
        st.html(f"<p class='dp-lead'>{html.escape(t(f'learn.{name}.background'))}</p>")
    reason = guessing.panel(name)
    if reason is not None:
        found: dict[str, str] = import_module(f"ui.learn.{name}").show() or {}
        reason.html(f"<p class='dp-lead'>{html.escape(t(f'learn.{name}.finds', **found))}</p>")
        for i in (1, 2):
            with st.expander(t(f"learn.{name}.q{i}")):
                st.write(t(f"learn.{name}.a{i}", **found))
        if not pinned():
            after = following(name)
            words = t("learn.next", name=t(f"learn.{after}.name"))
            st.button(words, key="learn_next", type="primary", on_click=_open, args=(after,))
    note(t("learn.source", source=t(f"learn.{name}.source")))
    sharing.buttons(pins=not pinned())
    if classroom():  # where there is no side panel
        languages.choose()


def following(name: str) -> str:
    """The lab after this one: the next of the hour where it is one of them, else the next by its number."""
    row = HOUR if name in HOUR[:-1] else LABS
    return row[(row.index(name) + 1) % len(row)]
