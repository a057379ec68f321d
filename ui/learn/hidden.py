"""Lab 25: what differential privacy does not hide: a conclusion about everybody."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import draw
from ui.learn.numbers import bounds as lesson
from ui.shared.text import percent, t
from ui.shared.theme import facts, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

PEOPLE = (20, 50, 100, 500, 2_000, 10_000)
SHARES = (10, 20, 40, 60, 80)
BEFORE = 0.05  # what somebody believes of Ann before: the share of the ill in the whole country
DEVIATIONS = 2


def figure(people: int, ill: float, eps: float) -> go.Figure:
    """What somebody believes of Ann's illness before, after a release with her, and after one without her."""
    import plotly.graph_objects as go

    colours = palette()
    with_ann, without, spread = lesson.conclusion(people, ill, eps)
    names = ["<br>".join(wrap(t(f"learn.hidden.{k}"), 14)) for k in ("before", "with", "without")]  # level on a phone
    error = {"type": "data", "array": [0, DEVIATIONS * spread, DEVIATIONS * spread], "color": colours.ink}
    marker = {
        "size": 14,
        "color": [colours.real, colours.accent, colours.accent],
        "symbol": ["circle", "diamond", "square"],
    }
    out = go.Figure(go.Scatter(x=names, y=[BEFORE, with_ann, without], mode="markers", marker=marker, error_y=error))
    out.update_yaxes(title=t("learn.hidden.y"), tickformat=".0%", range=[0, 1.05])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    with a:
        people = int(steps(t("learn.hidden.people"), PEOPLE, 500, key="hidden_people"))
    with b:
        ill = int(steps(t("learn.hidden.ill"), SHARES, 40, key="hidden_ill")) / 100
    with c:
        eps = epsilon("hidden_epsilon")
    with_ann, without, spread = lesson.conclusion(people, ill, eps)
    facts([
        (percent(with_ann), t("learn.hidden.with"), t("learn.hidden.noise", spread=percent(spread, 2))),
        (percent(without), t("learn.hidden.without"), t("learn.hidden.difference", gap=percent(with_ann - without, 2))),
        (percent(BEFORE), t("learn.hidden.before"), t("learn.hidden.country")),
    ])  # fmt: skip
    reading = t(
        "learn.hidden.reading", before=percent(BEFORE), after=percent(without), gap=percent(with_ann - without, 2)
    )
    draw(figure, people, ill, eps, alt=t("learn.hidden.alt", reading=reading), key="hidden_plot", height=380)
    st.write(reading)
