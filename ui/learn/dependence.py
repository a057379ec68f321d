"""Lab 28: which pairs are worth a measurement, and what it helps to put rare values together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import draw
from ui.learn.numbers import pairs as lesson
from ui.shared.text import number, percent, t
from ui.shared.theme import facts, hues, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go


def figure(kept: int, rare: float, eps: float) -> go.Figure:
    """A mark a pair: its dependence against the error that measuring it has; above the line measuring is better."""
    import plotly.graph_objects as go

    found = lesson.pairs(rare)
    own = np.minimum(found.noise(eps, kept) + found.lost, 1.0)
    out = go.Figure()
    measured = np.arange(len(own)) < kept
    for name, which, hue, symbol in (
        ("measured", measured, hues()[0], "circle"),
        ("left", ~measured, palette().real, "circle-open"),
    ):
        text = [" x ".join(found.names[i]) for i in np.flatnonzero(which)]
        marker = {"color": hue, "size": 9, "symbol": symbol}
        out.add_trace(
            go.Scatter(
                x=own[which], y=found.dependence[which], mode="markers", name=t(f"learn.dependence.{name}"),
                text=text, marker=marker, hovertemplate="%{text}<br>%{y:.1%} / %{x:.1%}<extra></extra>",
            )
        )  # fmt: skip
    ends = [0.001, 1.0]
    line = {"color": palette().warning, "dash": "dash", "width": 1.6}
    out.add_trace(go.Scatter(x=ends, y=ends, mode="lines", name=t("learn.dependence.even"), line=line))
    out.update_xaxes(title=t("learn.dependence.x"), type="log", range=[-3.3, 0.05], tickformat=".2~%", dtick=1)
    out.update_yaxes(title=t("learn.dependence.y"), type="log", range=[-3.1, 0.05], tickformat=".2~%", dtick=1)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    with a:
        kept = int(steps(t("learn.dependence.kept"), lesson.KEPT, 20, key="dependence_kept"))
    with b:
        rare = float(
            steps(
                t("learn.dependence.rare"), lesson.RARE, 0.0, key="dependence_rare", words=lambda r: percent(float(r))
            )
        )
    with c:
        eps = epsilon("dependence_epsilon")
    found = lesson.pairs(rare)
    errors, best = found.errors(eps, kept), found.best(eps)
    mean, alone = percent(float(errors.mean())), percent(float(found.dependence.mean()))
    least = percent(float(found.errors(eps, best).mean()))
    cells, full = int(found.cells.sum()), int(lesson.pairs().cells.sum())
    facts(
        [
            (mean, t("learn.dependence.mean"), t("learn.dependence.alone", error=alone)),
            (number(best), t("learn.dependence.best"), t("learn.dependence.least", error=least)),
            (number(cells), t("learn.dependence.cells"), t("learn.dependence.full", cells=number(full))),
        ]
    )
    reading = t("learn.dependence.reading", kept=kept, mean=mean, best=best, least=least, alone=alone)
    draw(figure, kept, rare, eps, alt=t("learn.dependence.alt", reading=reading), key="dependence_plot", height=440)
    st.write(reading)
