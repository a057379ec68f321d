"""Lab 4: two noisy tables that share an attribute are made to agree, step by step."""

import math
from typing import Any

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers.choosing import EXAMPLES, STEPS, Floats, tables
from ui.shared.charts import Figure, marks, squares
from ui.shared.text import local, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("consistency")
BEST = 3 / 5  # weights go by the inverse of the variance: 1/2 against 1/3


def figure(values: list[Floats]) -> Figure:
    """Both tables as numbers on a heat map, and the counts of A in each."""
    from plotly.subplots import make_subplots

    colours, names = palette(), ("A x B", "A x C")
    out = make_subplots(rows=1, cols=3, subplot_titles=(*names, LAB.say("says")), horizontal_spacing=0.09)
    scale = [[0, colours.paper], [1, colours.accent]]
    look: dict[str, Any] = {"zmin": -4, "zmax": 24, "texttemplate": "%{text}", "textfont": {"size": 15}}
    look["hovertemplate"] = "%{y}, %{x}: %{z:.2f}<extra></extra>"
    for i, (v, other) in enumerate(zip(values, "BC", strict=True)):
        x = [f"{other}{j + 1}" for j in range(v.shape[1])]
        text = [[local(c, ".1f") for c in row] for row in v]
        out.add_trace(squares(v, x, ["A1", "A2"], scale, gap=2, text=text, **look), 1, i + 1)
        out.update_yaxes(autorange="reversed", showgrid=False, row=1, col=i + 1)
        out.update_xaxes(showgrid=False, row=1, col=i + 1)
    for v, name, symbol, hue in zip(values, names, ("circle", "x"), hues()[:2], strict=True):
        out.add_trace(marks(["A1", "A2"], v.sum(axis=1), name, hue, symbol, size=12), 1, 3)
    out.update_yaxes(range=[0, 24], row=1, col=3)
    out.update_layout(legend={"y": 0, "yanchor": "bottom"}, margin={"t": 40, "l": 8, "r": 8, "b": 8})
    out.update_annotations(yshift=6, font={"size": 13})
    return out


def averaged(weight: float) -> float:
    """Noise of a mean of A1's two counts: of 2 cells (A x B), which has this weight, and of 3 (A x C)."""
    return math.sqrt(2 * weight**2 + 3 * (1 - weight) ** 2)


def show() -> None:
    """Step, example, figure, totals."""
    a, b = st.columns([3, 2], gap="medium")
    step = LAB.segments("step", STEPS, "noisy", at=a)
    example = LAB.pick("example", tuple(EXAMPLES), "worked", at=b)
    values = tables(example, step)
    one, two = (local(float(v.sum()), ".1f") for v in values)
    gap = float(np.abs(values[0].sum(axis=1) - values[1].sum(axis=1)).max())
    alt = LAB.say("alt", one=one, two=two, gap=local(gap, ".1f"))
    LAB.draw(figure, values, of=(example, step), alt=alt, height=320)
    st.write(LAB.say(f"note_{step}"))
    mine, best = averaged(LAB.slide("weight", 0, 100, 100) / 100), averaged(BEST)
    facts(
        (local(mine, ".3f"), LAB.say("mine"), LAB.say("mine_note")),
        (percent(mine / best - 1), LAB.say("more"), LAB.say("more_note", best=local(best, ".3f"))),
    )
    st.write(alt)
