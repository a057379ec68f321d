"""Lab 22: a long watch for one alarm: the sparse vector pays once, noise on every day pays every day."""

import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import tell
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure, chart, curve
from ui.shared.text import number, percent, t
from ui.shared.theme import facts, hues, palette

DAYS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
GAPS = (5, 10, 20, 50, 100, 200)


def figure(gap: float, eps: float, days: int) -> Figure:
    """Chance of naming the right day against the length of the watch, for both ways."""
    out = chart()
    ways = (("sparse", lesson.found_by_sparse, hues()[0], "solid"), ("each", lesson.found_by_each, hues()[1], "dash"))
    for name, chance, colour, dash in ways:
        y = [chance(d, gap, eps) for d in DAYS]
        out.add_trace(curve(DAYS, y, t(f"learn.sparse.{name}"), colour, dash, mode="lines+markers"))
    out.add_vline(x=days, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=t("learn.sparse.x"), type="log", tickvals=DAYS, range=[-0.05, 2.75])
    out.update_yaxes(title=t("learn.sparse.y"), tickformat=".0%", range=[0, 1.03])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    days = int(steps(t("learn.sparse.days"), DAYS, 50, key="sparse_days", at=a))
    gap = int(steps(t("learn.sparse.gap"), GAPS, 50, key="sparse_gap", at=b))
    eps = epsilon("sparse_epsilon", at=c)
    one, all_days = percent(lesson.found_by_sparse(days, gap, eps)), percent(lesson.found_by_each(days, gap, eps))
    facts(
        (one, t("learn.sparse.sparse"), t("learn.sparse.sparse_note", scale=number(round(4 / eps, 1)))),
        (all_days, t("learn.sparse.each"), t("learn.sparse.each_note", scale=number(round(days / eps, 1)))),
    )
    reading = t("learn.sparse.reading", days=number(days), gap=number(gap), sparse=one, each=all_days)
    tell("sparse", reading, figure, gap, eps, days, height=400)
