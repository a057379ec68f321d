"""Lab 28: which pairs are worth a measurement, and what it helps to put rare values together."""

import numpy as np
import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import tell
from ui.learn.numbers import pairs as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import number, percent, t
from ui.shared.theme import facts, hues, palette


def figure(kept: int, rare: float, eps: float) -> Figure:
    """A mark a pair: its dependence against the error that measuring it has; above the line measuring is better."""
    found = lesson.pairs(rare)
    own = np.minimum(found.noise(eps, kept) + found.lost, 1.0)
    out = chart()
    measured = np.arange(len(own)) < kept
    for name, which, hue, symbol in (
        ("measured", measured, hues()[0], "circle"),
        ("left", ~measured, palette().real, "circle-open"),
    ):
        text = [" x ".join(found.names[i]) for i in np.flatnonzero(which)]
        out.add_trace(
            marks(
                own[which],
                found.dependence[which],
                t(f"learn.dependence.{name}"),
                hue,
                symbol,
                text=text,
                hovertemplate="%{text}<br>%{y:.1%} / %{x:.1%}<extra></extra>",
            )
        )
    ends = [0.001, 1.0]
    out.add_trace(curve(ends, ends, t("learn.dependence.even"), palette().warning, "dash", width=1.6))
    out.update_xaxes(title=t("learn.dependence.x"), type="log", range=[-3.3, 0.05], tickformat=".2~%", dtick=1)
    out.update_yaxes(title=t("learn.dependence.y"), type="log", range=[-3.1, 0.05], tickformat=".2~%", dtick=1)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    kept = int(steps(t("learn.dependence.kept"), lesson.KEPT, 20, key="dependence_kept", at=a))
    rare = float(
        steps(
            t("learn.dependence.rare"), lesson.RARE, 0.0, key="dependence_rare", words=lambda r: percent(float(r)), at=b
        )
    )
    eps = epsilon("dependence_epsilon", at=c)
    found = lesson.pairs(rare)
    errors, best = found.errors(eps, kept), found.best(eps)
    mean, alone = percent(float(errors.mean())), percent(float(found.dependence.mean()))
    least = percent(float(found.errors(eps, best).mean()))
    cells, full = int(found.cells.sum()), int(lesson.pairs().cells.sum())
    facts(
        (mean, t("learn.dependence.mean"), t("learn.dependence.alone", error=alone)),
        (number(best), t("learn.dependence.best"), t("learn.dependence.least", error=least)),
        (number(cells), t("learn.dependence.cells"), t("learn.dependence.full", cells=number(full))),
    )
    reading = t("learn.dependence.reading", kept=kept, mean=mean, best=best, least=least, alone=alone)
    tell("dependence", reading, figure, kept, rare, eps, height=440)
