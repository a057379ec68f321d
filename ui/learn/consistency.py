"""Lab 4: two noisy tables that share an attribute are made to agree, step by step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ui.learn.controls import pick, segments, slide
from ui.learn.kept import draw
from ui.learn.numbers.choosing import EXAMPLES, STEPS, Floats, tables
from ui.shared.text import local, percent, t
from ui.shared.theme import facts, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go


BEST = 3 / 5  # weights go by the inverse of the variance: 1/2 against 1/3


def figure(values: list[Floats]) -> go.Figure:
    """Both tables as numbers on a heat map, and the counts of A in each."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    colours = palette()
    titles = ("A x B", "A x C", t("learn.consistency.says"))
    out = make_subplots(rows=1, cols=3, subplot_titles=titles, horizontal_spacing=0.09)
    scale = [[0, colours.paper], [1, colours.accent]]
    for i, (v, other) in enumerate(zip(values, "BC", strict=True)):
        x = [f"{other}{j + 1}" for j in range(v.shape[1])]
        text = [[local(c, ".1f") for c in row] for row in v]
        out.add_trace(
            go.Heatmap(
                z=v, x=x, y=["A1", "A2"], text=text, texttemplate="%{text}", colorscale=scale, zmin=-4, zmax=24,
                showscale=False, hovertemplate="%{y}, %{x}: %{z:.2f}<extra></extra>", textfont={"size": 15},
                xgap=2, ygap=2,
            ),
            1, i + 1,
        )  # fmt: skip
        out.update_yaxes(autorange="reversed", showgrid=False, row=1, col=i + 1)
        out.update_xaxes(showgrid=False, row=1, col=i + 1)
    for v, name, symbol in zip(values, ("A x B", "A x C"), ("circle", "x"), strict=True):
        out.add_trace(
            go.Scatter(
                x=["A1", "A2"], y=v.sum(axis=1), mode="markers", name=name, marker={"symbol": symbol, "size": 12}
            ),
            1,
            3,
        )
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
    with a:
        step = segments(
            t("learn.consistency.step"),
            STEPS,
            "noisy",
            key="consistency_step",
            words=lambda s: t(f"learn.consistency.{s}"),
        )
    with b:
        example = pick(
            t("learn.consistency.example"),
            tuple(EXAMPLES),
            key="consistency_example",
            words=lambda e: t(f"learn.consistency.{e}"),
        )
    values = tables(example, step)
    sums = [float(v.sum()) for v in values]
    gap = float(np.abs(values[0].sum(axis=1) - values[1].sum(axis=1)).max())
    alt = t("learn.consistency.alt", one=local(sums[0], ".1f"), two=local(sums[1], ".1f"), gap=local(gap, ".1f"))
    draw(figure, values, of=(example, step), alt=alt, key="consistency_plot", height=320)
    st.write(t(f"learn.consistency.note_{step}"))
    weight = slide(t("learn.consistency.weight"), 0, 100, 100, key="consistency_weight") / 100
    best = averaged(BEST)
    facts(
        [
            (local(averaged(weight), ".3f"), t("learn.consistency.mine"), t("learn.consistency.mine_note")),
            (
                percent(averaged(weight) / best - 1),
                t("learn.consistency.more"),
                t("learn.consistency.more_note", best=local(best, ".3f")),
            ),
        ]
    )
    st.write(alt)
