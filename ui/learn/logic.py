"""Lab 26: synthetic stays that end before they begin, although every column and every pair is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import streamlit as st

from ui.learn.controls import pick, steps
from ui.learn.kept import draw
from ui.learn.numbers import bounds as lesson
from ui.shared.text import percent, t
from ui.shared.theme import facts, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

KEPT = ("alone", "pairs", "rule")
WIDTHS = (1, 2, 7, 14, 30)
SHOWN = 500  # stays that are drawn


def figure(kept: str, width: int) -> go.Figure:
    """A dot a stay: day of admission and of discharge; those that cannot be stand out."""
    import plotly.graph_objects as go

    colours, made = palette(), lesson.synthetic(cast("lesson.Kept", kept), width)
    start, end, wrong = made.start[:SHOWN], made.end[:SHOWN], made.backwards[:SHOWN]
    out = go.Figure()
    for name, which, colour, symbol in (
        ("right", ~wrong, colours.accent, "circle"),
        ("backwards", wrong, colours.warning, "x"),
    ):
        marker = {"color": colour, "size": 6, "symbol": symbol}
        out.add_trace(
            go.Scatter(x=start[which], y=end[which], mode="markers", name=t(f"learn.logic.{name}"), marker=marker)
        )
    out.update_xaxes(title=t("learn.logic.x"), range=[-8, 400])
    out.update_yaxes(title=t("learn.logic.y"), range=[-8, 430])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b = st.columns([3, 2], gap="medium")
    with a:
        kept = str(
            pick(t("learn.logic.kept"), KEPT, key="logic_kept", words=lambda k: t(f"learn.logic.{k}"), default="pairs")
        )
    with b:
        width = int(steps(t("learn.logic.width"), WIDTHS, 7, key="logic_width"))
    made = lesson.synthetic(cast("lesson.Kept", kept), width)
    backwards, lengths = percent(float(made.backwards.mean())), percent(float(made.wrong_length.mean()))
    facts(
        [
            (backwards, t("learn.logic.backwards"), t("learn.logic.real")),
            (lengths, t("learn.logic.lengths"), t("learn.logic.real")),
        ]
    )
    reading = t("learn.logic.reading", backwards=backwards, lengths=lengths)
    draw(figure, kept, width, alt=t("learn.logic.alt", reading=reading), key="logic_plot", height=420)
    st.write(reading)
