"""Guess first: a lab shows nothing until its question was guessed at, and then the truth beside everybody's guesses."""

import secrets
import statistics
import threading
from collections import Counter, OrderedDict
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.learn.numbers import guesses
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.faults import ShownFaults
from ui.shared.text import counted, literal, number, t
from ui.shared.theme import note, palette, show

MOST = 500  # guesses of a lab; the oldest go first
FRESH = 2.0  # seconds between two looks at the board
HEIGHT = 170
HIT, NEAR = 0.02, 0.1  # distances on the axis, as shares of its length
VISITOR, BOARD, OPEN, MINE = "guess_visitor", "guess_board", "guess_open", "guess_mine"
SHOWN = "open"  # in a link: no guess is asked for
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


def is_open(lab: str) -> bool:
    """Whether the visitor has guessed, or pressed to see the lab without a guess, or came by a link that shows it."""
    if st.query_params.get(SHOWN) == "1":
        del st.query_params[SHOWN]
        _open(lab)
    return bool(st.session_state.get(f"{OPEN}_{lab}"))


def panel(lab: str) -> DeltaGenerator | None:
    """The question and, before it is answered, its axis; afterwards the answer. None while the lab is hidden.

    What is returned is the place for the reason, which the lab knows once its controls are drawn.
    """
    with st.container(border=True, key="guess"):
        st.markdown(f"**{t('guess.title')}.** {literal(t(f'guess.of.{lab}'))}")
        if not is_open(lab):
            left, middle, right = st.columns([6, 2, 2], vertical_alignment="bottom", gap="medium")
            left.select_slider(t("guess.field"), guesses.AXES[lab].steps(), key=f"guess_{lab}", format_func=_short)
            of: dict[str, Any] = {"width": "stretch", "args": (lab,)}
            middle.button(t("guess.press"), key=f"guess_press_{lab}", type="primary", on_click=_compare, **of)
            right.button(t("guess.show"), key=f"guess_show_{lab}", on_click=_open, **of)
            _live(lab)
            return None
        left, right = st.columns([5, 6], gap="large")
        with left:
            st.markdown(f"**{literal(verdict(lab))}**")
            reason = st.container()
        with right:
            if not _live(lab):
                _board(lab)
    return reason


def _live(lab: str) -> bool:
    """The switch for a board that moves by itself, and the board where it is on."""
    live = st.toggle(t("guess.board"), key=f"{BOARD}_{lab}", help=t("guess.board_help"))
    if live:
        st.fragment(_board, run_every=FRESH)(lab)
    return live


def _open(lab: str) -> None:
    st.session_state[f"{OPEN}_{lab}"] = True


def _compare(lab: str) -> None:
    value = float(st.session_state[f"guess_{lab}"])
    put(lab, st.session_state.setdefault(VISITOR, secrets.token_hex(8)), value)
    st.session_state[f"{MINE}_{lab}"] = value
    _open(lab)


def verdict(lab: str) -> str:
    """The answer, and how the visitor's guess compares with it on the axis."""
    answer, mine = guesses.answer(lab), st.session_state.get(f"{MINE}_{lab}")
    if mine is None:
        return t("guess.shown", answer=_short(answer))
    axis = guesses.AXES[lab]
    off = axis.share(mine) - axis.share(answer)
    key = "hit" if abs(off) <= HIT else "near" if abs(off) <= NEAR else "high" if off > 0 else "low"
    return t(f"guess.{key}", answer=_short(answer), guess=_short(mine))


def _short(value: float) -> str:
    """Three digits of a number, or all of a whole one."""
    return number(value if value == int(value) else float(f"{value:.3g}") if abs(value) < 1000 else round(value))


def _board(lab: str) -> None:
    with ShownFaults():
        found, answer = of(lab), guesses.answer(lab) if is_open(lab) else None
        if not found and answer is None:
            note(t("guess.nobody"))
            return
        finding = counted("guess.count", len(found), middle=_short(statistics.median(found))) if found else ""
        figure = strip(guesses.AXES[lab], found, answer, st.session_state.get(f"{MINE}_{lab}"))
        alt = t("guess.alt", finding=finding or t("guess.nobody"))
        show(figure, key=f"guess_plot_{lab}", alt=alt, height=HEIGHT, with_files=False)
        if len(found) > 1:
            note(finding)


def strip(axis: guesses.Axis, found: list[float], answer: float | None, mine: float | None) -> Figure:
    """Guesses as dots on the axis of the question, equal ones above each other; the answer as a line once open."""
    colours, out, seen = palette(), chart(), Counter[float]()
    others, heights = list(found), []
    if mine in others:
        others.remove(mine)
        seen[mine] += 1  # the visitor's own is the lowest
    for value in others:
        seen[value] += 1
        heights.append(seen[value])
    top = max([3, *heights]) + 0.7
    if others:
        out.add_trace(marks(others, heights, t("guess.all"), colours.accent, cliponaxis=False))
    if mine is not None:
        look = {"size": 15, "cliponaxis": False}
        out.add_trace(marks([mine], [1], t("guess.field"), colours.warning, "diamond", **look))
    if answer is not None:
        out.add_trace(curve([answer, answer], [0, top], t("guess.answer"), colours.ink, width=3))
    ends: dict[str, object] = {"type": "log", "dtick": 1} if axis.log else {}
    out.update_xaxes(range=axis.ends(), tickformat=",~r", **ends)
    out.update_yaxes(range=[0, top], visible=False)
    # without a vertical axis, half of the first label such as 0.001 needs room of its own
    return out.update_layout(showlegend=True, margin={"l": 24})
