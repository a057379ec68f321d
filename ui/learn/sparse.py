"""Lab 22: a long watch for one alarm: the sparse vector pays once, noise on every day pays every day."""

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure
from ui.shared.text import number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("sparse")
DAYS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
GAPS = (5, 10, 20, 50, 100, 200)


def figure(gap: float, eps: float, days: int) -> Figure:
    """Chance of naming the right day against the length of the watch, for both ways."""
    sparse, each = ([chance(d, gap, eps) for d in DAYS] for chance in (lesson.found_by_sparse, lesson.found_by_each))
    lines = ("sparse", sparse, hues()[0], "solid"), ("each", each, hues()[1], "dash")
    out = LAB.curves(DAYS, *lines, mode="lines+markers")
    out.add_vline(x=days, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=LAB.say("x"), type="log", tickvals=DAYS, range=[-0.05, 2.75])
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[0, 1.03])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    days, gap, eps = LAB.steps("days", DAYS, 50, at=a), LAB.steps("gap", GAPS, 50, at=b), LAB.epsilon(at=c)
    one, all_days = percent(lesson.found_by_sparse(days, gap, eps)), percent(lesson.found_by_each(days, gap, eps))
    facts(
        (one, LAB.say("sparse"), LAB.say("sparse_note", scale=number(round(4 / eps, 1)))),
        (all_days, LAB.say("each"), LAB.say("each_note", scale=number(round(days / eps, 1)))),
    )
    reading = LAB.say("reading", days=number(days), gap=number(gap), sparse=one, each=all_days)
    LAB.tell(reading, figure, gap, eps, days, height=400)
