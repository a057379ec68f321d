"""Lab 24: a release every year: what the years add up to."""

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import accounting as lesson
from ui.shared.charts import Figure
from ui.shared.text import local
from ui.shared.theme import facts, hues, palette

LAB = Lab("years")
DELTAS = (1e-9, 1e-6, 1e-4)
MOST = 30


def figure(eps: float, delta: float, years: int) -> Figure:
    """Epsilon after each year, added up and composed, and one measurement that is used again every year."""
    added, composed = lesson.yearly(eps, delta, MOST)
    first, second, third, *_ = hues()
    lines = ("added", added, first, "dash"), ("composed", composed, second, "solid")
    out = LAB.curves(list(range(1, MOST + 1)), *lines, ("once", [eps] * MOST, third, "dot"))
    out.add_vline(x=years, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=LAB.say("x"), range=[0, MOST + 1])
    out.update_yaxes(title=LAB.say("y"), type="log", dtick=1, tickformat=",~r", range=[-1.5, 2.6])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps, years, delta = LAB.epsilon(at=a), LAB.slide("years", 1, MOST, 10, at=b), LAB.delta(DELTAS, 1e-9, at=c)
    added, composed = (local(line[-1], ".3g") for line in lesson.yearly(eps, delta, years))
    each, whole = local(lesson.yearly_budget(eps, delta, years), ".3g"), local(eps, ".3g")
    facts(
        (composed, LAB.counted("total", years), LAB.say("total_note", added=added)),
        (each, LAB.say("each"), LAB.counted("each_note", years, epsilon=whole)),
    )
    reading = LAB.counted("reading", years, epsilon=whole, composed=composed, added=added, each=each)
    LAB.tell(reading, figure, eps, delta, years, height=400)
