"""Lab 26: synthetic stays that end before they begin, although every column and every pair is right."""

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import percent
from ui.shared.theme import facts, palette

LAB = Lab("logic")
KEPT: tuple[lesson.Kept, ...] = ("alone", "pairs", "rule")
WIDTHS = (1, 2, 7, 14, 30)
SHOWN = 500  # stays that are drawn


def figure(kept: lesson.Kept, width: int) -> Figure:
    """A dot a stay: day of admission and of discharge; those that cannot be stand out."""
    colours, made, out = palette(), lesson.synthetic(kept, width), chart()
    start, end, wrong = made.start[:SHOWN], made.end[:SHOWN], made.backwards[:SHOWN]
    out.add_trace(marks(start[~wrong], end[~wrong], LAB.say("right"), colours.accent, size=6))
    out.add_trace(marks(start[wrong], end[wrong], LAB.say("backwards"), colours.warning, "x", size=6))
    out.update_xaxes(title=LAB.say("x"), range=[-8, 400])
    out.update_yaxes(title=LAB.say("y"), range=[-8, 430])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b = st.columns([3, 2], gap="medium")
    kept, width = LAB.pick("kept", KEPT, "pairs", at=a), LAB.steps("width", WIDTHS, 7, at=b)
    made = lesson.synthetic(kept, width)
    backwards, lengths = percent(float(made.backwards.mean())), percent(float(made.wrong_length.mean()))
    facts((backwards, LAB.say("backwards"), LAB.say("real")), (lengths, LAB.say("lengths"), LAB.say("real")))
    LAB.tell(LAB.say("reading", backwards=backwards, lengths=lengths), figure, kept, width, height=420)
