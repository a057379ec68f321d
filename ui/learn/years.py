"""Lab 24: a release every year: what the years add up to."""

import streamlit as st

from ui.learn.controls import deltas, epsilon, slide
from ui.learn.kept import tell
from ui.learn.numbers import accounting as lesson
from ui.shared.charts import Figure, chart, curve
from ui.shared.text import counted, local, t
from ui.shared.theme import facts, hues, palette

DELTAS = (1e-9, 1e-6, 1e-4)
MOST = 30


def figure(eps: float, delta: float, years: int) -> Figure:
    """Epsilon after each year, added up and composed, and one measurement that is used again every year."""
    added, composed = lesson.yearly(eps, delta, MOST)
    out = chart()
    x = list(range(1, MOST + 1))
    lines = (("added", added, "dash"), ("composed", composed, "solid"), ("once", [eps] * MOST, "dot"))
    for (name, y, dash), colour in zip(lines, hues(), strict=False):
        out.add_trace(curve(x, y, t(f"learn.years.{name}"), colour, dash))
    out.add_vline(x=years, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=t("learn.years.x"), range=[0, MOST + 1])
    out.update_yaxes(title=t("learn.years.y"), type="log", dtick=1, tickformat=",~r", range=[-1.5, 2.6])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps = epsilon("years_epsilon", at=a)
    years = slide(t("learn.years.years"), 1, MOST, 10, key="years_years", at=b)
    delta = deltas(DELTAS, 1e-9, key="years_delta", at=c)
    added, composed = lesson.yearly(eps, delta, years)
    each = lesson.yearly_budget(eps, delta, years)

    def said(x: float) -> str:
        return local(x, ".3g")

    facts(
        (said(composed[-1]), counted("learn.years.total", years), t("learn.years.total_note", added=said(added[-1]))),
        (said(each), t("learn.years.each"), counted("learn.years.each_note", years, epsilon=said(eps))),
    )
    reading = counted("learn.years.reading", years, epsilon=said(eps), composed=said(composed[-1]),
        added=said(added[-1]), each=said(each))  # fmt: skip
    tell("years", reading, figure, eps, delta, years, height=400)
