"""Guess first: a question whose answer is a number, and a live board of the guesses of everybody on this server."""

from __future__ import annotations

import math
import secrets
import statistics
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import streamlit as st

from ui.learn.numbers import guesses
from ui.shared.faults import ShownFaults
from ui.shared.text import counted, literal, number, t
from ui.shared.theme import dark, dressed, note, palette
from ui.shared.theme import show as drawn

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST = 500  # guesses of a lab; the oldest go first
FRESH = 2.0  # seconds between two looks at the board
BARS, HEIGHT = 12, 260
FAR = 3.0  # distances of the quartiles by which a guess may lie beyond them and still have a bar of its own
VISITOR, BOARD = "guess_visitor", "guess_board"
_guessed: dict[str, OrderedDict[str, float]] = {}
_lock = threading.Lock()


def put(lab: str, visitor: str, value: float) -> None:
    """Writes a guess on the board; a second one of the same visitor takes the place of the first."""
    with _lock:
        kept = _guessed.setdefault(lab, OrderedDict())
        kept.pop(visitor, None)
        kept[visitor] = value
        while len(kept) > MOST:
            kept.popitem(last=False)


def of(lab: str) -> list[float]:
    """All guesses of a lab, without names."""
    with _lock:
        return list(_guessed.get(lab, {}).values())


def read(text: str) -> float | None:
    """The number that somebody typed, with a point or a comma; None for no number."""
    plain = text.strip().rstrip("%").replace(" ", "").replace("\N{NO-BREAK SPACE}", "")
    if plain.count(",") == 1 and "." not in plain and not _thousands(plain):
        plain = plain.replace(",", ".")
    try:
        value = float(plain.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e9 else None


def _thousands(text: str) -> bool:
    """Whether a comma stands before three digits, as in 1,344, and not before decimals, as in 0,344."""
    whole, _, rest = text.partition(",")
    return len(rest) == 3 and whole not in ("0", "-0", "")


def panel(lab: str) -> None:
    """The question, a field, what is right once something was guessed, and the board where it is asked for."""
    with st.container(border=True, key="guess"):
        st.markdown(f"**{t('guess.title')}.** {literal(t(f'guess.of.{lab}'))}")
        left, middle, right = st.columns([3, 2, 4], vertical_alignment="bottom", gap="small")
        with left:
            text = st.text_input(t("guess.field"), key=f"guess_{lab}", placeholder=t("guess.placeholder"))
        with middle:
            pressed = st.button(t("guess.press"), key=f"guess_press_{lab}", width="stretch")
        with right:
            board = st.toggle(t("guess.board"), key=f"{BOARD}_{lab}", help=t("guess.board_help"))
        told = f"guess_told_{lab}"
        value = read(text or "")
        if text and value is None:
            note(t("guess.no_number", text=text[:40]), "alarm")
        if value is not None and (pressed or st.session_state.get(told) != value):
            visitor = st.session_state.setdefault(VISITOR, secrets.token_hex(8))
            put(lab, visitor, value)
            st.session_state[told] = value
        if st.session_state.get(told) is not None:
            said = number(_short(guesses.answer(lab)))
            note(t("guess.yours", answer=said, guess=number(st.session_state[told])))
        if board:
            st.fragment(_board, run_every=FRESH)(lab, told=st.session_state.get(told) is not None)


def _short(value: float) -> float:
    """Three digits of an answer, or all of a whole number."""
    return value if value == int(value) else float(f"{value:.3g}") if abs(value) < 1000 else round(value)


def _board(lab: str, *, told: bool) -> None:
    with ShownFaults():
        found = of(lab)
        if not found:
            note(t("guess.nobody"))
            return
        finding = counted("guess.count", len(found), middle=number(_short(statistics.median(found))))
        answer = guesses.answer(lab) if told else None
        low, high = ends(found, answer)
        beyond = sum(not low <= x <= high for x in found)
        finding += f" {counted('guess.beyond', beyond)}" if beyond else ""
        figure = dressed(bars(found, answer), is_dark=dark(), height=HEIGHT)
        drawn(figure, alt=t("guess.alt", finding=finding), key=f"guess_plot_{lab}", ready=True)
        note(finding)


def ends(found: list[float], answer: float | None) -> tuple[float, float]:
    """What the bars reach over: a guess far beyond all others would leave those in one bar, and counts in the last."""
    import numpy as np

    first, third = np.quantile(found, (0.25, 0.75))
    reach = FAR * max(third - first, 0.1 * abs(third))
    known = [*np.clip(found, first - reach, third + reach), *([] if answer is None else [answer])]
    low, high = float(min(known)), float(max(known))
    return low, high if high > low else low + 1


def bars(found: list[float], answer: float | None) -> go.Figure:
    """How many people guessed what; the answer as a line once the visitor has guessed."""
    import numpy as np
    import plotly.graph_objects as go

    low, high = ends(found, answer)
    counts, edges = np.histogram(np.clip(found, low, high), bins=BARS, range=(low, high))
    colours, middle = palette(), (edges[:-1] + edges[1:]) / 2
    out = go.Figure(
        go.Bar(x=middle, y=counts, width=np.diff(edges) * 0.92, marker={"color": colours.accent}, name=t("guess.y"),
               hovertemplate="%{y}<extra></extra>")
    )  # fmt: skip
    if answer is not None:
        line = {"color": colours.warning, "width": 2.5, "dash": "dash"}
        out.add_trace(
            go.Scatter(x=[answer, answer], y=[0, max(counts)], mode="lines", line=line, name=t("guess.answer"))
        )
    out.update_xaxes(title=t("guess.x"), tickformat=",~r")
    out.update_yaxes(title=t("guess.y"), rangemode="tozero", tickformat=",d", nticks=5)
    return out
