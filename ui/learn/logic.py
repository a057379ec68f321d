"""Lab 26: synthetic stays that end before they begin, although every column and every pair is right."""

from typing import cast

import streamlit as st

from ui.learn.controls import pick, steps
from ui.learn.kept import tell
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import percent, t
from ui.shared.theme import facts, palette

KEPT = ("alone", "pairs", "rule")
WIDTHS = (1, 2, 7, 14, 30)
SHOWN = 500  # stays that are drawn


def figure(kept: str, width: int) -> Figure:
    """A dot a stay: day of admission and of discharge; those that cannot be stand out."""
    colours, made = palette(), lesson.synthetic(cast("lesson.Kept", kept), width)
    start, end, wrong = made.start[:SHOWN], made.end[:SHOWN], made.backwards[:SHOWN]
    out = chart()
    for name, which, colour, symbol in (
        ("right", ~wrong, colours.accent, "circle"),
        ("backwards", wrong, colours.warning, "x"),
    ):
        out.add_trace(marks(start[which], end[which], t(f"learn.logic.{name}"), colour, symbol, size=6))
    out.update_xaxes(title=t("learn.logic.x"), range=[-8, 400])
    out.update_yaxes(title=t("learn.logic.y"), range=[-8, 430])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b = st.columns([3, 2], gap="medium")
    kept = str(pick(t("learn.logic.kept"), KEPT, key="logic_kept", default="pairs", at=a))
    width = int(steps(t("learn.logic.width"), WIDTHS, 7, key="logic_width", at=b))
    made = lesson.synthetic(cast("lesson.Kept", kept), width)
    backwards, lengths = percent(float(made.backwards.mean())), percent(float(made.wrong_length.mean()))
    facts(
        (backwards, t("learn.logic.backwards"), t("learn.logic.real")),
        (lengths, t("learn.logic.lengths"), t("learn.logic.real")),
    )
    reading = t("learn.logic.reading", backwards=backwards, lengths=lengths)
    tell("logic", reading, figure, kept, width, height=420)
