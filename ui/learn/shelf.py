"""The shelf: a path of one hour, and all labs by lesson, as cards with a picture, the question and the minutes."""

import base64
import html
from collections.abc import Callable, Iterable
from functools import cache

import streamlit as st

from ui.learn import GROUPS, HOUR
from ui.shared.text import ASSETS, t
from ui.shared.theme import section

PICTURES = ASSETS / "labs"  # drawn from the labs' own figures by `python -m tools.lab_pictures`

Kinds = dict[str, tuple[int, int, int]]  # of labs: number, minutes, level


def show(choose: Callable[[str], None]) -> None:
    """All cards; a press on one opens its lab."""
    known = {lab: kind for labs in GROUPS.values() for lab, kind in labs.items()}
    _row("hour", t("learn.hour", minutes=sum(known[lab][1] for lab in HOUR)), HOUR, known, choose)
    for group, labs in GROUPS.items():
        _row(group, t(f"learn.groups_of.{group}"), labs, known, choose)


def _row(name: str, title: str, labs: Iterable[str], known: Kinds, choose: Callable[[str], None]) -> None:
    section(title)
    with st.container(key=f"shelf_{name}"):
        for lab in labs:
            _, minutes, level = known[lab]
            with st.container(border=True, key=f"card_{name}_{lab}"):
                st.html(f"<img class='dp-picture' alt='' src='data:image/svg+xml;base64,{picture(lab)}'>")
                words, key = t(f"learn.{lab}.question"), f"card_{name}_{lab}_press"
                st.button(words, key=key, type="tertiary", on_click=choose, args=(lab,))
                about = t("learn.card", minutes=minutes, level=t(f"learn.level_{level}"))
                st.html(f"<p class='dp-small'>{html.escape(t(f'learn.{lab}.name'))} · {html.escape(about)}</p>")


@cache
def picture(lab: str) -> str:
    """The thumbnail of a lab, an SVG in base 64: Streamlit takes drawings out of what it is given as HTML."""
    return base64.b64encode((PICTURES / f"{lab}.svg").read_bytes()).decode()
